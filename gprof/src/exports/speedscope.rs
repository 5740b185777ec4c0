//! The stacks in speedscope's file format: the frames open and close while the time of their samples passes.

use std::io::{self, Write};

use crate::model::{Analysis, SamplePlace, SampleTree};
use crate::reports::place::{self, Place};
use crate::reports::warnings;
use crate::sink::json::{Record, write_records, write_text};
use crate::sink::text::text;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let samples = analysis.sample_trees();
    write!(out, "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"gprof {}\",\"name\":", env!("CARGO_PKG_VERSION"))?;
    let name = analysis.images().first().map(|image| image.path.as_os_str().as_encoded_bytes());
    let name = warnings::titled(text(name.unwrap_or_default()), analysis);
    write_text(name.as_bytes(), out)?;
    out.write_all(b",\n\"shared\":{\"frames\":")?;
    write_records(samples.places.iter().map(|place| frame(analysis, *place)), out)?;
    out.write_all(b"},\n\"profiles\":[")?;
    for (at, tree) in samples.trees.iter().enumerate() {
        out.write_all(if at == 0 { b"" } else { b",\n" })?;
        let name = if samples.has_threads { place::thread(tree.thread) } else { "samples".to_owned() };
        profile(analysis, tree, &name, out)?;
    }
    out.write_all(b"]}\n")
}

fn profile(analysis: &Analysis<'_>, tree: &SampleTree<'_>, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let unit = if analysis.clock().is_seconds() { "seconds" } else { "none" };
    out.write_all(b"{\"type\":\"evented\",\"name\":")?;
    write_text(name.as_bytes(), out)?;
    write!(out, ",\"unit\":\"{unit}\",\"startValue\":0,")?;
    write!(out, "\"endValue\":{},\"events\":[", analysis.clock().seconds_or_samples(tree.total))?;
    events(analysis, tree, out)?;
    out.write_all(b"]}")
}

fn frame<'a>(analysis: &Analysis<'_>, place: SamplePlace<'_>) -> Record<'a> {
    let Place { name, source, .. } = Place::of_frame(analysis, place);
    let mut record = vec![("name", name.into())];
    if let Some((file, line)) = source {
        record.extend([("file", file.into()), ("line", u64::from(line).into())]);
    }
    record
}

/// Writes when each frame opens and closes. A frame closes when its own samples, and those of its callees, have passed.
fn events(analysis: &Analysis<'_>, tree: &SampleTree<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut now = 0;
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut separator = "\n";
    let mut event = |kind: char, place: usize, at: u64| {
        let at = analysis.clock().seconds_or_samples(at);
        write!(out, "{separator}{{\"type\":\"{kind}\",\"frame\":{place},\"at\":{at}}}")?;
        separator = ",\n";
        io::Result::Ok(())
    };
    for node in &tree.nodes {
        for (place, end) in open.drain(node.depth..).rev() {
            event('C', place, end)?;
            now = end;
        }
        let place = tree.places[node.place];
        event('O', place, now)?;
        open.push((place, now.saturating_add(node.inclusive)));
    }
    open.into_iter().rev().try_for_each(|(place, end)| event('C', place, end))
}
