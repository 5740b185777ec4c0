//! Lists of functions, calls, and frames as columns of numbers.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use crate::model::ordered::Ordered;
use crate::model::{Analysis, Certainty, Flame, FlameOrigin, FlameSubject, FunctionTimes};
use crate::program::symbols::functions::FunctionId;
use crate::sink::json::{Value, write_list, write_numbers};

/// Samples as time. Without samples, times are 0.
pub(super) fn time(analysis: &Analysis<'_>, samples: f64) -> f64 {
    if analysis.clock().rate > 0.0 { analysis.clock().time(samples) } else { 0.0 }
}

/// The functions of the page: those with time or calls, also beyond a limit of the reports, and those of the pictures.
pub(super) struct Known {
    pub(super) functions: Vec<FunctionTimes>,
    pub(super) place: HashMap<FunctionId, usize>,
}

impl Known {
    /// Finds the functions. The longest self time comes first.
    pub(super) fn new(analysis: &Analysis<'_>) -> Known {
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

/// Writes a flame graph.
pub(super) fn write_flame(
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
