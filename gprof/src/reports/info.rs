//! The records in each profile, and the contents of side files.

use std::io::{self, Write};

use gmon::{Image, Profile};

use super::report::{Report, Trait};
use crate::question::reports::INFO;
use crate::reports::number::{General, counted};
use crate::sink::text::ascii;
use crate::sources::contents::Content;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::{SideInfo, SideObject};

pub const REPORT: Report = Report {
    name: INFO,
    short: Some('i'),
    help: "Print what each profile contains",
    traits: &[Trait::TextOnly],
    write: |analysis, writer| {
        writer.report(|out, _| {
            render(analysis.files, analysis.options.rules.tells_forms, out)?;
            analysis.side_files.iter().try_for_each(|side| render_side(side, out))
        })
    },
    ..Report::OF_FILES
};

/// Writes the records in each profile. `tells_form`: the form of each, and how it was found.
fn render(files: &[FileInfo], tells_form: bool, out: &mut dyn Write) -> io::Result<()> {
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
            render_image(image, out)?;
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
        let (range, bins) = (histogram.range(), histogram.len());
        let bytes = (range.end - range.start) as f64 / bins.max(1) as f64;
        let unit = histogram.unit();
        writeln!(
            out,
            "\tsamples: {} at 0x{:x}..0x{:x} in {} of {} bytes, {} in a {}",
            histogram.total(),
            range.start,
            range.end,
            counted(bins, "bin"),
            General(bytes),
            unit.profrate,
            String::from_utf8_lossy(unit.dimension.as_bytes()).trim_end_matches('s'),
        )?;
    }
    let calls = profile.arcs().iter().fold(0_u64, |sum, arc| sum.saturating_add(arc.count));
    writeln!(out, "\tcalls: {calls} on {}", counted(profile.arcs().len() as u64, "arc"))
}

/// Writes an executable or a shared object that a profile lists.
fn render_image(image: &Image, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\timage {}", ascii(image.path()))?;
    if let Some(range) = image.range() {
        write!(out, ", at 0x{:x}..0x{:x}", range.start, range.end)?;
    }
    if let Some(header) = image.header() {
        write!(out, ", header at 0x{header:x}")?;
    }
    if let Some(slide) = image.slide() {
        write!(out, ", moved by 0x{slide:x}")?;
    }
    writeln!(out)
}

/// Writes the contents of the side files of a program's runs.
fn render_side(side: &SideInfo, out: &mut dyn Write) -> io::Result<()> {
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

fn render_object(object: &SideObject, out: &mut dyn Write) -> io::Result<()> {
    let SideObject { number, path, identity, samples, calls } = object;
    write!(out, "\tobject {number}: {path}")?;
    match identity.as_deref().map(|identity| (identity, identity.strip_prefix("headers:"))) {
        None => {}
        Some((_, Some(headers))) => write!(out, " (headers {headers})")?,
        Some((build_id, None)) => write!(out, " (build ID {build_id})")?,
    }
    for (count, what) in [(*samples, "sample"), (*calls, "call")] {
        if count > 0 {
            write!(out, ", {}", counted(count, what))?;
        }
    }
    writeln!(out)
}
