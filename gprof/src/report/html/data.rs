//! The numbers of the page, as JSON for its scripts.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use super::sources;
use crate::analysis::entries::{Calls, Endpoint, LineKind};
use crate::analysis::graph::Node;
use crate::analysis::ordered::Ordered;
use crate::analysis::{Analysis, Certainty, Flame, FlameOrigin, FlameSubject, FunctionTimes};
use crate::load::side_info::SideThread;
use crate::report::json_value::{Value, write_list, write_record};
use crate::symbols::functions::FunctionId;
use crate::symbols::sources::base;

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
    write_calls(analysis, &known, out)?;
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
    sources::write(analysis, out)?;
    out.write_all(b"}")
}

/// Samples as time. Without samples, times are 0.
fn time(analysis: &Analysis<'_>, samples: f64) -> f64 {
    if analysis.clock().rate > 0.0 { analysis.clock().time(samples) } else { 0.0 }
}

/// The functions of the page: those with time or calls, also beyond a limit of the reports, and those of the pictures.
struct Known {
    functions: Vec<FunctionTimes>,
    place: HashMap<FunctionId, usize>,
}

impl Known {
    /// Finds the functions. The longest self time comes first.
    fn new(analysis: &Analysis<'_>) -> Known {
        let mut functions: Vec<FunctionTimes> = analysis.function_times().collect();
        functions.sort_by_key(|function| Reverse(Ordered(function.own)));
        let mut place: HashMap<FunctionId, usize> =
            functions.iter().enumerate().map(|(at, function)| (function.id, at)).collect();
        for frame in analysis.flame().frames.iter().chain(&analysis.dominators().frames) {
            let FlameSubject::Function(id) = frame.subject else { continue };
            place.entry(id).or_insert_with(|| {
                functions.push(analysis.times_of(id));
                functions.len() - 1
            });
        }
        Known { functions, place }
    }
}

/// Writes a list of numbers. A number that is not finite is null.
fn write_numbers(name: &str, numbers: impl Iterator<Item = f64>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (at, number) in numbers.enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        match number.is_finite() {
            true => write!(out, "{}", number + 0.0)?,
            false => out.write_all(b"null")?,
        }
    }
    out.write_all(b"]")
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
    write_numbers("calls", functions().map(|of| of.calls as f64), out)?;
    write_numbers("selfCalls", functions().map(|of| of.self_calls as f64), out)?;
    write_numbers("cycle", functions().map(|of| of.cycle.map_or(0.0, |at| at as f64 + 1.0)), out)
}

/// Writes the calls between functions, with the time that each hands to its caller.
fn write_calls(analysis: &Analysis<'_>, known: &Known, out: &mut dyn Write) -> io::Result<()> {
    let mut calls: Vec<[f64; 4]> = Vec::new();
    for (caller, function) in known.functions.iter().enumerate() {
        for line in analysis.entry(Node::Function(function.id)).iter().filter(|line| line.kind == LineKind::Callee) {
            let Endpoint::Function(callee) = line.endpoint else { continue };
            let Some(callee) = known.place.get(&callee) else { continue };
            let count = match line.calls {
                Calls::WithinCycle(count) | Calls::Part { some: count, .. } => count,
                Calls::Total { .. } | Calls::None => 0,
            };
            let time = line.times.map_or(f64::NAN, |(own, children)| own + children);
            calls.push([caller as f64, *callee as f64, time, count as f64]);
        }
    }
    for (column, name) in ["caller", "callee", "callTime", "callCount"].into_iter().enumerate() {
        write_numbers(name, calls.iter().map(|call| call[column]), out)?;
    }
    Ok(())
}

fn write_flame(
    name: &str,
    analysis: &Analysis<'_>,
    known: &Known,
    flame: &Flame,
    out: &mut dyn Write,
) -> io::Result<()> {
    // What is not a function has a name of its own, behind those of the functions.
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut numbers: HashMap<FlameSubject, usize> = HashMap::new();
    let mut subjects: Vec<f64> = Vec::with_capacity(flame.frames.len());
    for frame in &flame.frames {
        let place = match frame.subject {
            FlameSubject::Function(id) => known.place.get(&id).copied(),
            _ => None,
        };
        let place = place.unwrap_or_else(|| {
            let next = names.len();
            let number = *numbers.entry(frame.subject).or_insert(next);
            if number == next {
                names.push(analysis.flame_name(flame, frame.subject).into_owned());
            }
            known.functions.len() + number
        });
        subjects.push(place as f64);
    }
    let origin = match flame.origin {
        FlameOrigin::Measured => "measured",
        FlameOrigin::Estimated => "estimated",
        FlameOrigin::Dominators => "dominators",
    };
    write!(out, ",\n\"{name}\":{{\"origin\":\"{origin}\"")?;
    write_list("names", names.into_iter().map(|name| vec![("name", Value::from(name))]), out)?;
    let frames = || flame.frames.iter();
    write_numbers("parent", frames().map(|frame| frame.parent.map_or(-1.0, |parent| parent as f64)), out)?;
    write_numbers("subject", subjects.into_iter(), out)?;
    write_numbers("time", frames().map(|frame| time(analysis, frame.inclusive)), out)?;
    write_numbers("own", frames().map(|frame| time(analysis, frame.own)), out)?;
    write_numbers("error", frames().map(|frame| time(analysis, frame.error)), out)?;
    let certainty = |certainty| match certainty {
        Certainty::Certain => 0.0,
        Certainty::Doubtful => 1.0,
        Certainty::Estimated => 2.0,
    };
    write_numbers("certainty", frames().map(|frame| certainty(frame.certainty)), out)?;
    let bound = |bound: Option<f64>| bound.map_or(f64::NAN, |samples| time(analysis, samples));
    write_numbers("lower", frames().map(|frame| bound(frame.bounds.map(|bounds| bounds.0))), out)?;
    write_numbers("upper", frames().map(|frame| bound(frame.bounds.map(|bounds| bounds.1))), out)?;
    out.write_all(b"}")
}
