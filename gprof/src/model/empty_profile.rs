//! Warns of profiles that have nothing to report.

use std::io::Write;

use super::analysis::Analysis;
use super::stats::FlatSums;
use crate::question::files::ProfiledImage;
use crate::sources::OutsideImages;

/// Warns if the profiles are empty, or if no sample is in any function: the reports would look like those of a program
/// that did nothing.
pub(super) fn warn_if_empty(
    analysis: &Analysis<'_>,
    has_blocks: bool,
    images: &[ProfiledImage],
    warnings: &mut dyn Write,
) {
    if FlatSums::new(analysis.flat()).has_time {
        return;
    }
    let stats = analysis.stats();
    let images: Vec<String> = images.iter().map(|profiled| profiled.image.display().to_string()).collect();
    let images = images.join(", ");
    let is_nothing_beyond = stats.outside_images == OutsideImages::default();
    let what = if stats.samples == 0.0 && stats.calls == 0 && !has_blocks && is_nothing_beyond {
        format!("{images}: no samples and no calls: the profile has nothing but a header")
    } else if stats.samples > 0.0 && stats.left_out == 0.0 {
        format!("{images}: no sample is in any function: does the profile belong to another program?")
    } else {
        return;
    };
    // If a warning cannot be written, there is no way to report the failure.
    let _ = writeln!(warnings, "gprof: warning: {what}");
}
