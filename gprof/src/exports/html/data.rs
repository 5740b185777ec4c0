//! The numbers of the page, as JSON for its scripts.

use std::collections::HashMap;
use std::io::{self, Write};

use super::columns::{Known, time, write_flame};
use super::{sources, threads};
use crate::model::entries::{Calls, Endpoint, LineKind};
use crate::model::graph::Node;
use crate::model::{Analysis, CallEstimate, FunctionTimes};
use crate::program::symbols::sources::base;
use crate::reports::estimates;
use crate::sink::json::{Value, write_list, write_numbers, write_record};
use crate::sources::side_info::SideThread;

/// Writes the numbers. Lists of functions and frames are columns.
pub(super) fn write(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let clock = analysis.clock();
    let head = vec![
        ("unit", clock.dimension.as_bytes().into()),
        ("isMeasured", analysis.stacks().is_some().into()),
        ("rate", clock.rate.into()),
        ("total", time(analysis, analysis.flat_samples()).into()),
    ];
    out.write_all(b"{\"head\":")?;
    write_record(&head, out)?;
    let images = analysis.images().iter().map(|image| base(image.path.as_os_str().as_encoded_bytes()));
    write_list("images", images.map(|path| vec![("name", path.into())]), out)?;
    let known = Known::new(analysis);
    write_functions(analysis, &known, out)?;
    let calls = write_calls(analysis, &known, out)?;
    write_flame("flame", analysis, &known, analysis.flame(), out)?;
    write_flame("dominators", analysis, &known, analysis.dominators(), out)?;
    let threads = analysis.side_files().iter().flat_map(|side| &side.threads);
    let thread = |thread: &SideThread| {
        vec![
            ("name", Value::from(thread.name.clone())),
            ("number", thread.number.into()),
            ("percent", thread.percent.into()),
            ("time", thread.time.into()),
            ("calls", thread.calls.into()),
        ]
    };
    write_list("threads", threads.map(thread), out)?;
    threads::write(analysis, &known, &calls, out)?;
    sources::write(analysis, out)?;
    out.write_all(b"}")
}

fn write_functions(analysis: &Analysis<'_>, known: &Known, out: &mut dyn Write) -> io::Result<()> {
    let mut files: Vec<Vec<u8>> = Vec::new();
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut places: Vec<(f64, f64)> = Vec::new();
    for function in &known.functions {
        let place = analysis.source_location(function.id).map(|place| {
            let file = analysis.shortened(place.file).into_owned();
            let next = files.len();
            let number = *numbers.entry(file.clone()).or_insert(next);
            if number == next {
                files.push(file);
            }
            (number as f64, f64::from(place.line))
        });
        places.push(place.unwrap_or((-1.0, 0.0)));
    }
    let functions = || known.functions.iter();
    write_list("functions", functions().map(|of| vec![("name", analysis.name(of.id).into())]), out)?;
    write_list("files", files.into_iter().map(|file| vec![("name", Value::from(file))]), out)?;
    // Boxes of the drawing have this number.
    write_numbers("id", functions().map(|of| of.id.index() as f64), out)?;
    write_numbers("image", functions().map(|of| analysis.function(of.id).image as f64), out)?;
    write_numbers("file", places.iter().map(|place| place.0), out)?;
    write_numbers("line", places.iter().map(|place| place.1), out)?;
    write_numbers("own", functions().map(|of| time(analysis, of.own)), out)?;
    write_numbers("ownError", functions().map(|of| time(analysis, of.own_error)), out)?;
    write_numbers("inclusive", functions().map(|of| time(analysis, of.inclusive)), out)?;
    write_numbers("inclusiveError", functions().map(|of| time(analysis, of.inclusive_error)), out)?;
    if analysis.has_doubts() {
        // Where nothing is in doubt, the cells are null.
        let end = |of: &FunctionTimes, end: fn((f64, f64)) -> f64| {
            of.range.map_or(f64::NAN, |range| time(analysis, end(range)))
        };
        write_numbers("least", functions().map(|of| end(of, |range| range.0)), out)?;
        write_numbers("most", functions().map(|of| end(of, |range| range.1)), out)?;
    }
    // Where calls were estimated, the number is for sorting, and the text is what people see.
    let calls = |calls: u64, estimate: Option<CallEstimate>| estimate.map_or(calls, |estimate| estimate.calls) as f64;
    write_numbers("calls", functions().map(|of| calls(of.calls, of.estimate)), out)?;
    if analysis.has_estimates() {
        write_texts("estimates", functions().map(|of| estimates::cell(of.estimate)), out)?;
    }
    write_numbers("selfCalls", functions().map(|of| of.self_calls as f64), out)?;
    write_numbers("cycle", functions().map(|of| of.cycle.map_or(0.0, |at| at as f64 + 1.0)), out)
}

/// Writes a field of texts.
fn write_texts(name: &str, texts: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    write_list(name, texts.map(|text| vec![("text", text.into())]), out)
}

/// Writes the calls between functions, with the time that each hands to its caller. Returns the numbers of the callers
/// and of the called functions.
fn write_calls(analysis: &Analysis<'_>, known: &Known, out: &mut dyn Write) -> io::Result<Vec<(usize, usize)>> {
    let mut calls: Vec<[f64; 4]> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for (caller, function) in known.functions.iter().enumerate() {
        for line in analysis.entry(Node::Function(function.id)).iter().filter(|line| line.kind == LineKind::Callee) {
            let Endpoint::Function(callee) = line.endpoint else { continue };
            let Some(callee) = known.place.get(&callee) else { continue };
            let count = match line.calls {
                Calls::WithinCycle(count) | Calls::Part { some: count, .. } => count,
                Calls::Total { .. } | Calls::None => 0,
            };
            let count = line.estimate.map_or(count, |estimate| estimate.calls);
            texts.push(estimates::cell(line.estimate));
            let time = line.times.map_or(f64::NAN, |(own, children)| own + children);
            calls.push([caller as f64, *callee as f64, time, count as f64]);
        }
    }
    for (column, name) in ["caller", "callee", "callTime", "callCount"].into_iter().enumerate() {
        write_numbers(name, calls.iter().map(|call| call[column]), out)?;
    }
    if analysis.has_estimates() {
        write_texts("callEstimates", texts.into_iter(), out)?;
    }
    Ok(calls.into_iter().map(|[caller, callee, ..]| (caller as usize, callee as usize)).collect())
}
