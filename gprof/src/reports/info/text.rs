//! The records in each profile, and the contents of side files, as text.

use std::io::{self, Write};

use gmon::{Histogram, Image, Profile};

use crate::reports::number::{General, counted};
use crate::reports::on_demand;
use crate::sink::text::ascii;
use crate::sources::contents::Content;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::{SideInfo, SideObject, SideOnDemand};

/// Writes the records in each profile. `tells_form`: the form of each, and how it was found.
pub(crate) fn render(files: &[FileInfo], tells_form: bool, out: &mut dyn Write) -> io::Result<()> {
    for file in files {
        writeln!(out, "File `{}' (version {}) contains:", file.file, file.version)?;
        let rank = file.rank.map(|rank| format!("rank {rank}"));
        let process: Vec<String> =
            rank.into_iter().chain(file.host.as_ref().map(|host| format!("host {host}"))).collect();
        if !process.is_empty() {
            writeln!(out, "\t{}", process.join(", "))?;
        }
        for (count, what) in [
            (file.records.histograms, "histogram record"),
            (file.records.arcs, "call-graph record"),
            (file.records.blocks, "basic-block count record"),
        ] {
            writeln!(out, "\t{}", counted(count as u64, what))?;
        }
        if tells_form {
            writeln!(out, "\tform: {}", file.form)?;
            file.evidence.iter().try_for_each(|fact| writeln!(out, "\t\t{fact}"))?;
        }
        for image in &file.images {
            writeln!(out, "\t{}", image_text(image))?;
        }
    }
    Ok(())
}

/// Writes the contents of files without their programs.
pub(crate) fn render_alone(contents: &[Content], out: &mut dyn Write) -> io::Result<()> {
    contents.iter().try_for_each(|content| match content {
        Content::Profile(file) => {
            let (info, profile) = &**file;
            render(std::slice::from_ref(info), true, out)?;
            render_profile(info, profile, out)
        }
        Content::Side(side) => render_side(side, out),
    })
}

/// Writes the size of a file, and what its records count.
fn render_profile(info: &FileInfo, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\tsize: {}", counted(info.length, "byte"))?;
    for histogram in profile.histograms() {
        writeln!(out, "\tsamples: {} {}", histogram.total(), histogram_text(histogram))?;
    }
    writeln!(out, "\tcalls: {} on {}", calls(profile), counted(profile.arcs().len() as u64, "arc"))
}

/// Returns the number of calls on all arcs.
pub(super) fn calls(profile: &Profile) -> u64 {
    profile.arcs().iter().fold(0, |sum, arc| sum.saturating_add(arc.count))
}

/// Returns where a histogram counts samples, and how often.
pub(super) fn histogram_text(histogram: &Histogram) -> String {
    let (range, bins) = (histogram.range(), histogram.len());
    let bytes = (range.end - range.start) as f64 / bins.max(1) as f64;
    let unit = histogram.unit();
    format!(
        "at 0x{:x}..0x{:x} in {} of {} bytes, {} in a {}",
        range.start,
        range.end,
        counted(bins, "bin"),
        General(bytes),
        unit.profrate,
        String::from_utf8_lossy(unit.dimension.as_bytes()).trim_end_matches('s'),
    )
}

/// Returns an executable or a shared object that a profile lists.
pub(super) fn image_text(image: &Image) -> String {
    let mut text = format!("image {}", ascii(image.path()));
    if let Some(range) = image.range() {
        text += &format!(", at 0x{:x}..0x{:x}", range.start, range.end);
    }
    if let Some(header) = image.header() {
        text += &format!(", header at 0x{header:x}");
    }
    if let Some(slide) = image.slide() {
        text += &format!(", moved by 0x{slide:x}");
    }
    text
}

/// Writes the contents of the side files of a program's runs.
pub(crate) fn render_side(side: &SideInfo, out: &mut dyn Write) -> io::Result<()> {
    let runs = counted(side.runs, "run");
    let live = if side.is_live { ", running or killed" } else { "" };
    writeln!(out, "Side file of `{}' ({runs}{live}) contains:", side.program)?;
    for (name, value) in &side.properties {
        writeln!(out, "\t{name}: {value}")?;
    }
    for object in &side.objects {
        render_object(object, out)?;
    }
    for (count, place) in [(side.kernel, "in the kernel"), (side.elsewhere, "in no known object")] {
        if count > 0 {
            writeln!(out, "\t{} {place}", counted(count, "sample"))?;
        }
    }
    if let Some(calls) = side.on_demand.as_ref().filter(|calls| has_intervals(side, calls)) {
        let (time, intervals) = on_demand::intervals(calls);
        writeln!(out, "\tcalls counted on demand, during {time}")?;
        intervals.iter().try_for_each(|interval| writeln!(out, "\t\t{interval}"))?;
    }
    if let Some(estimates) = &side.estimates {
        let (line, selections) = on_demand::of_side(estimates);
        writeln!(out, "\tcalls estimated from {line}")?;
        selections.iter().try_for_each(|selection| writeln!(out, "\t\t{selection}"))?;
    }
    if !side.threads.is_empty() {
        let threads = side.threads.iter().fold(0_u64, |sum, thread| sum.saturating_add(thread.threads));
        writeln!(out, "\t{}", counted(threads, "thread"))?;
    }
    if side.nodes > 0 || !side.cuts.is_empty() {
        writeln!(out, "\t{} in {} of stacks", counted(side.whole, "whole stack"), counted(side.nodes, "node"))?;
    }
    for (reason, ticks) in &side.cuts {
        writeln!(out, "\t{} without a whole stack: {reason}", counted(*ticks, "sample"))?;
    }
    Ok(())
}

/// Whether calls were counted in intervals, and not only in the windows of estimates.
pub(super) fn has_intervals(side: &SideInfo, calls: &SideOnDemand) -> bool {
    side.estimates.is_none() || !calls.intervals.is_empty()
}

/// Returns what tells an object from other builds.
pub(super) fn identity(object: &SideObject) -> Option<String> {
    let identity = object.identity.as_deref()?;
    Some(match identity.strip_prefix("headers:") {
        Some(headers) => format!("headers {headers}"),
        None => format!("build ID {identity}"),
    })
}

fn render_object(object: &SideObject, out: &mut dyn Write) -> io::Result<()> {
    let SideObject { number, path, samples, calls, .. } = object;
    write!(out, "\tobject {number}: {path}")?;
    if let Some(identity) = identity(object) {
        write!(out, " ({identity})")?;
    }
    for (count, what) in [(*samples, "sample"), (*calls, "call")] {
        if count > 0 {
            write!(out, ", {}", counted(count, what))?;
        }
    }
    writeln!(out)
}
