//! Warnings at the head of every output: profiles that may not belong to their images, and samples without whole
//! stacks.

use std::io::{self, Write};

use super::cut_stacks;
use crate::model::{Analysis, Difference};
use crate::sink::text::text;

/// Returns the warnings of an analysis, each in one line.
pub(crate) fn of(analysis: &Analysis<'_>) -> Vec<String> {
    all(analysis).map(|warning| line(&warning)).collect()
}

/// Returns the warnings of an analysis, and those that the run wrote to its standard error, each in one line and once.
pub(crate) fn with_said(analysis: &Analysis<'_>) -> Vec<String> {
    let mut warnings = of(analysis);
    for said in analysis.said.iter().map(|warning| line(warning)) {
        if !warnings.contains(&said) {
            warnings.push(said);
        }
    }
    warnings
}

/// Returns the warnings of both sides of a difference, each in one line. Those of the base come first.
pub(crate) fn of_difference(difference: &Difference<'_, '_>) -> Vec<String> {
    let base = all(difference.base_analysis()).map(|warning| format!("in the base: {warning}"));
    let new = all(difference.new_analysis());
    base.chain(new).map(|warning| line(&warning)).collect()
}

fn all(analysis: &Analysis<'_>) -> impl Iterator<Item = String> {
    analysis.mismatches().iter().cloned().chain(cut_stacks::notes(analysis))
}

/// Returns the warnings for a title: without the reasons why stacks are not whole.
pub(crate) fn brief(analysis: &Analysis<'_>) -> Vec<String> {
    let stacks = cut_stacks::notes(analysis).into_iter().take(1);
    analysis.mismatches().iter().cloned().chain(stacks).map(|warning| line(&warning)).collect()
}

fn line(warning: &str) -> String {
    format!("warning: {}", text(warning.as_bytes()))
}

/// Writes warnings at the head of a text.
pub(crate) fn write(warnings: &[String], out: &mut dyn Write) -> io::Result<()> {
    warnings.iter().try_for_each(|warning| writeln!(out, "{warning}"))?;
    if warnings.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Returns a title with the warnings behind it, for formats whose only text for people is a title.
pub(crate) fn titled(title: String, analysis: &Analysis<'_>) -> String {
    let warnings = brief(analysis);
    if warnings.is_empty() { title } else { format!("{title} ({})", warnings.join("; ")) }
}
