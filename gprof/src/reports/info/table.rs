//! The records in each profile, and the contents of side files, as tables.

use std::io::{self, Write};

use gmon::Profile;

use super::text::{calls, has_intervals, histogram_text, identity, image_text};
use crate::reports::number::counted;
use crate::reports::on_demand;
use crate::reports::table::cells::{Cells, printable};
use crate::reports::table::drawing::{Frame, RowSink, RowStyle, draw, draw_words};
use crate::reports::table::widths::{column, name_column, optional_column};
use crate::sources::contents::Content;
use crate::sources::profile_file::FileInfo;
use crate::sources::side_info::SideInfo;

/// Draws the records in each profile. `tells_form`: the form of each, and how the form was found.
pub(crate) fn profiles(files: &[FileInfo], tells_form: bool, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    writeln!(out, "Profiles:\n")?;
    let columns = [
        column("version"),
        column("histogram\nrecords"),
        column("call-graph\nrecords"),
        column("basic-block\nrecords"),
        optional_column(1, "bytes"),
        name_column("file"),
    ];
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for file in files {
            cells.clear();
            let records = [file.records.histograms, file.records.arcs, file.records.blocks];
            cells.count(u64::from(file.version));
            records.iter().for_each(|count| cells.count(*count as u64));
            cells.count(file.length);
            cells.name(|columns| columns.text(file.file.as_bytes()));
            take(RowStyle::default(), &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, frame, out)?;
    let facts: Vec<Vec<String>> = files.iter().flat_map(|file| facts(file, tells_form)).collect();
    if facts.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    draw_words(&[name_column("file"), name_column("fact")], &facts, frame, out)
}

/// Returns a row for each fact about a profile beside its numbers. The first row names the file.
fn facts(file: &FileInfo, tells_form: bool) -> Vec<Vec<String>> {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(file.rank.map(|rank| format!("rank {rank}")));
    facts.extend(file.host.as_ref().map(|host| format!("host {host}")));
    if tells_form {
        facts.push(format!("form: {}", file.form));
        facts.extend(file.evidence.iter().map(|fact| format!("evidence: {fact}")));
    }
    facts.extend(file.images.iter().map(image_text));
    let names = std::iter::once(file.file.as_str()).chain(std::iter::repeat(""));
    names.zip(facts).map(|(name, fact)| row(name, &fact)).collect()
}

/// Draws the contents of files without their programs.
pub(crate) fn alone(contents: &[Content], frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    let (mut files, mut counts, mut sides) = (Vec::new(), Vec::new(), Vec::new());
    for content in contents {
        match content {
            Content::Profile(file) => {
                files.push(file.0.clone());
                counts.extend(numbers(&file.0, &file.1));
            }
            Content::Side(side) => sides.push(side),
        }
    }
    profiles(&files, true, frame, out)?;
    if !counts.is_empty() {
        writeln!(out)?;
        draw_words(&[column("number"), column("what"), name_column("where")], &counts, frame, out)?;
    }
    let mut is_first = files.is_empty();
    for side in sides {
        if !std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        self::side(side, frame, out)?;
    }
    Ok(())
}

/// Returns rows with the samples of each histogram and with the calls.
fn numbers(info: &FileInfo, profile: &Profile) -> Vec<Vec<String>> {
    let samples = profile.histograms().iter().map(|histogram| {
        let place = histogram_text(histogram);
        (histogram.total().to_string(), "samples", place)
    });
    let calls = (calls(profile).to_string(), "calls", format!("on {}", counted(profile.arcs().len() as u64, "arc")));
    let row = |(number, what, place): (String, &str, String)| {
        vec![number, what.to_owned(), printable(format!("{place}, of {}", info.file).as_bytes())]
    };
    samples.chain([calls]).map(row).collect()
}

/// Draws the contents of the side files of a program's runs.
pub(crate) fn side(side: &SideInfo, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Side file of `{}':\n", printable(side.program.as_bytes()))?;
    let live = if side.is_live { ", running or killed" } else { "" };
    let mut rows = vec![row("runs", &format!("{}{live}", side.runs))];
    rows.extend(side.properties.iter().map(|(name, value)| row(name, value)));
    for (count, place) in [(side.kernel, "samples in the kernel"), (side.elsewhere, "samples in no known object")] {
        if count > 0 {
            rows.push(row(place, &count.to_string()));
        }
    }
    if let Some(calls) = side.on_demand.as_ref().filter(|calls| has_intervals(side, calls)) {
        let (time, intervals) = on_demand::intervals(calls);
        rows.push(row("calls on demand", &format!("during {time}")));
        rows.extend(intervals.iter().map(|interval| row("", interval)));
    }
    if let Some(estimates) = &side.estimates {
        let (line, selections) = on_demand::of_side(estimates);
        rows.push(row("estimated calls", &format!("from {line}")));
        rows.extend(selections.iter().map(|selection| row("", selection)));
    }
    if !side.threads.is_empty() {
        let threads = side.threads.iter().fold(0_u64, |sum, thread| sum.saturating_add(thread.threads));
        rows.push(row("threads", &threads.to_string()));
    }
    if side.nodes > 0 || !side.cuts.is_empty() {
        rows.push(row("whole stacks", &format!("{}, in {}", side.whole, counted(side.nodes, "node"))));
    }
    rows.extend(side.cuts.iter().map(|(reason, ticks)| row("cut stacks", &format!("{ticks}: {reason}"))));
    draw_words(&[column("what"), name_column("value")], &rows, frame, out)?;
    if side.objects.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    objects(side, frame, out)
}

fn row(what: &str, value: &str) -> Vec<String> {
    [what, value].map(|text| printable(text.as_bytes())).into()
}

fn objects(side: &SideInfo, frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    let columns =
        [column("number"), column("samples"), column("calls"), optional_column(1, "identity"), name_column("object")];
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for object in &side.objects {
            cells.clear();
            cells.count(u64::from(object.number));
            for count in [object.samples, object.calls] {
                if count > 0 { cells.count(count) } else { cells.blank() }
            }
            cells.text(&printable(identity(object).unwrap_or_default().as_bytes()));
            cells.name(|columns| columns.text(object.path.as_bytes()));
            take(RowStyle::default(), &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, frame, out)
}
