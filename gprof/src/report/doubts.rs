//! Warnings at the head of every output: profiles that may not belong to their images.

use std::io::{self, Write};

use super::place;
use crate::analysis::{Analysis, Difference};

/// Returns the warnings of an analysis, each in one line.
pub(super) fn of(analysis: &Analysis<'_>) -> Vec<String> {
    analysis.doubts().iter().map(|doubt| line(doubt)).collect()
}

/// Returns the warnings of both sides of a difference, each in one line. Those of the base come first.
pub(super) fn of_difference(difference: &Difference<'_, '_>) -> Vec<String> {
    let base = difference.base_analysis().doubts().iter().map(|doubt| format!("in the base: {doubt}"));
    let new = difference.new_analysis().doubts().iter().cloned();
    base.chain(new).map(|doubt| line(&doubt)).collect()
}

fn line(doubt: &str) -> String {
    format!("warning: {}", place::text(doubt.as_bytes()))
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
