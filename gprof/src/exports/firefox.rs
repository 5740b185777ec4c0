//! The stacks in the processed format of Firefox Profiler, of which newer versions of the profiler read version 55.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::model::{Analysis, SampleTree};
use crate::reports::place::{self, Place};
use crate::reports::warnings;
use crate::sink::json::{Nullable, write_column, write_text};
use crate::sink::text::text;

/// The version of the format. In later versions, threads share their tables.
const VERSION: u32 = 55;

const MILLISECONDS: f64 = 1e3;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let name = analysis.images().first().map(|image| text(image.path.as_os_str().as_encoded_bytes()));
    write!(out, "{{\"meta\":{{\"preprocessedProfileVersion\":{VERSION},\"version\":24,")?;
    write!(out, "\"interval\":{},", interval(analysis))?;
    out.write_all(b"\"startTime\":0,\"processType\":0,\"stackwalk\":0,\"product\":")?;
    let name = warnings::titled(name.unwrap_or_default(), analysis);
    write_text(name.as_bytes(), out)?;
    out.write_all(
        b",\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\
        \"markerSchema\":[],\"symbolicated\":true,\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\
        \"importedFrom\":\"gprof\"},\n\"libs\":[],\n\"threads\":[",
    )?;
    let samples = analysis.sample_trees();
    for (at, tree) in samples.trees.iter().enumerate() {
        out.write_all(if at == 0 { b"" } else { b",\n" })?;
        let name = if samples.has_threads { place::thread(tree.thread) } else { "samples".to_owned() };
        thread(analysis, (at, tree), &name, out)?;
    }
    out.write_all(b"]}\n")
}

/// Writes a thread. The first one is the main thread of the process, which the profiler always shows.
fn thread(
    analysis: &Analysis<'_>,
    (at, tree): (usize, &SampleTree<'_>),
    name: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(
        b"{\"processType\":\"default\",\"processStartupTime\":0,\
        \"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":",
    )?;
    write_text(name.as_bytes(), out)?;
    write!(out, ",\"isMainThread\":{},\"pid\":\"1\",\"tid\":{}", at == 0, at + 1)?;
    samples(analysis, tree, out)?;
    code(analysis, tree, out)?;
    out.write_all(
        b",\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},\
        \"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},\
        \"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[]}\
        }",
    )
}

/// The time between two samples in milliseconds, or 1 if samples stand for something else.
fn interval(analysis: &Analysis<'_>) -> f64 {
    if analysis.clock().is_seconds() { MILLISECONDS / analysis.clock().rate } else { 1.0 }
}

/// Writes the tables of stacks and of samples. A sample stands for all samples of its stack. Samples follow each other
/// in the order of the tree.
fn samples(analysis: &Analysis<'_>, tree: &SampleTree<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (nodes, interval) = (&tree.nodes, interval(analysis));
    write!(out, ",\n\"stackTable\":{{\"length\":{}", nodes.len())?;
    write_column("frame", nodes.iter().map(|node| node.place), out)?;
    write_column("prefix", nodes.iter().map(|node| Nullable(node.parent)), out)?;
    let with_samples = || nodes.iter().enumerate().filter(|(_, node)| node.own > 0);
    write!(out, "}},\n\"samples\":{{\"weightType\":\"samples\",\"length\":{}", with_samples().count())?;
    write_column("stack", with_samples().map(|(at, _)| at), out)?;
    write_column("weight", with_samples().map(|(_, node)| node.own), out)?;
    let mut before = 0_u64;
    let start = |own: u64| {
        let start = before;
        before = before.saturating_add(own);
        start as f64 * interval
    };
    write_column("time", with_samples().map(|(_, node)| node.own).map(start), out)?;
    out.write_all(b"}")
}

/// Writes the tables of frames, of functions, and of their names and files.
fn code(analysis: &Analysis<'_>, tree: &SampleTree<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = &analysis.sample_trees().places;
    let places: Vec<Place> = tree.places.iter().map(|place| Place::of_frame(analysis, all[*place])).collect();
    let (mut strings, mut numbers): (Vec<&str>, HashMap<&str, usize>) = (Vec::new(), HashMap::new());
    let mut number = |text| {
        *numbers.entry(text).or_insert_with(|| {
            strings.push(text);
            strings.len() - 1
        })
    };
    let names: Vec<usize> = places.iter().map(|place| number(&place.name)).collect();
    let files = places.iter().map(|place| place.source.as_ref().map(|(file, _)| number(file)));
    let files: Vec<_> = files.map(Nullable).collect();
    let lines = || places.iter().map(|place| Nullable(place.source.as_ref().map(|(_, line)| *line)));
    let all = |text: &'static str| places.iter().map(move |_| text);
    write!(out, ",\n\"frameTable\":{{\"length\":{}", places.len())?;
    write_column("func", 0..places.len(), out)?;
    write_column("line", lines(), out)?;
    for (name, value) in [("address", "-1"), ("inlineDepth", "0"), ("category", "0"), ("subcategory", "0")] {
        write_column(name, all(value), out)?;
    }
    for name in ["nativeSymbol", "innerWindowID", "column"] {
        write_column(name, all("null"), out)?;
    }
    write!(out, "}},\n\"funcTable\":{{\"length\":{}", places.len())?;
    write_column("name", names, out)?;
    write_column("fileName", files, out)?;
    write_column("lineNumber", lines(), out)?;
    for (name, value) in [("isJS", "false"), ("relevantForJS", "false"), ("resource", "-1"), ("columnNumber", "null")] {
        write_column(name, all(value), out)?;
    }
    out.write_all(b"},\n\"stringArray\":[")?;
    for (at, text) in strings.iter().enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        write_text(text.as_bytes(), out)?;
    }
    out.write_all(b"]")
}
