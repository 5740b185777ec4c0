//! Warnings at the head of every output: profiles that may not belong to their images.

use std::io::{self, Write};

use super::place;
use crate::analysis::{Analysis, Difference};

/// Returns the warnings of an analysis, each in one line.
pub(super) fn of(analysis: &Analysis<'_>) -> Vec<String> {
    analysis.mismatches().iter().map(|mismatch| line(mismatch)).collect()
}

/// Returns the warnings of both sides of a difference, each in one line. Those of the base come first.
pub(super) fn of_difference(difference: &Difference<'_, '_>) -> Vec<String> {
    let base = difference.base_analysis().mismatches().iter().map(|mismatch| format!("in the base: {mismatch}"));
    let new = difference.new_analysis().mismatches().iter().cloned();
    base.chain(new).map(|mismatch| line(&mismatch)).collect()
}

fn line(mismatch: &str) -> String {
    format!("warning: {}", place::text(mismatch.as_bytes()))
}

/// Writes warnings at the head of a text.
pub(super) fn write(warnings: &[String], out: &mut dyn Write) -> io::Result<()> {
    warnings.iter().try_for_each(|warning| writeln!(out, "{warning}"))?;
    if warnings.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Returns a title with all warnings behind it, for formats whose only text for people is a title.
pub(super) fn titled(title: String, warnings: &[String]) -> String {
    if warnings.is_empty() { title } else { format!("{title} ({})", warnings.join("; ")) }
}
