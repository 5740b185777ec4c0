//! The numbers of each thread, which the page shows when a person chooses the thread.

use std::collections::HashMap;
use std::io::{self, Write};

use super::columns::{Known, time, write_flame};
use crate::model::{Analysis, ArcTimes, FunctionTimes, ThreadTimes};
use crate::reports::place;
use crate::sink::json::{write_numbers, write_text};
use crate::sink::limits::THREADS_OF_PAGE;

/// Writes the threads, if the runs counted by thread. Each has columns about its functions and about its calls, which
/// are given by their places in the lists of the whole program. `calls` has the places of the callers and of the called
/// functions.
pub(super) fn write(
    analysis: &Analysis<'_>,
    known: &Known,
    calls: &[(usize, usize)],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b",\n\"parts\":[")?;
    if analysis.has_threads() {
        let calls: HashMap<(usize, usize), usize> = calls.iter().enumerate().map(|(at, call)| (*call, at)).collect();
        let times = analysis.thread_times();
        let parts: Vec<&ThreadTimes<'_>> = times.iter().take(THREADS_OF_PAGE).collect();
        for (at, part) in parts.iter().enumerate() {
            out.write_all(if at == 0 { b"\n{\"name\":" } else { b",\n{\"name\":" })?;
            write_text(place::thread(part.thread).as_bytes(), out)?;
            write_functions(analysis, known, &part.functions, out)?;
            write_arcs(analysis, known, &calls, &part.arcs, out)?;
            if let Some(flame) = analysis.thread_flame(part.thread, parts.len()) {
                write_flame("flame", analysis, known, &flame, out)?;
            }
            out.write_all(b"}")?;
        }
    }
    out.write_all(b"]")
}

fn write_functions(
    analysis: &Analysis<'_>,
    known: &Known,
    functions: &[FunctionTimes],
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = |function: &FunctionTimes| known.place.get(&function.id).map(|place| (*place, *function));
    let functions: Vec<(usize, FunctionTimes)> = functions.iter().filter_map(of).collect();
    let column = |value: fn(&FunctionTimes) -> f64| functions.iter().map(move |(_, of)| time(analysis, value(of)));
    write_numbers("functions", functions.iter().map(|(place, _)| *place as f64), out)?;
    write_numbers("own", column(|of| of.own), out)?;
    write_numbers("ownError", column(|of| of.own_error), out)?;
    write_numbers("inclusive", column(|of| of.inclusive), out)?;
    write_numbers("inclusiveError", column(|of| of.inclusive_error), out)?;
    write_numbers("calls", functions.iter().map(|(_, of)| of.calls as f64), out)?;
    write_numbers("selfCalls", functions.iter().map(|(_, of)| of.self_calls as f64), out)
}

fn write_arcs(
    analysis: &Analysis<'_>,
    known: &Known,
    calls: &HashMap<(usize, usize), usize>,
    arcs: &[ArcTimes],
    out: &mut dyn Write,
) -> io::Result<()> {
    let of = |arc: &ArcTimes| {
        let [caller, callee] = [arc.caller?, arc.callee?].map(|id| known.place.get(&id).copied());
        calls.get(&(caller?, callee?)).map(|call| (*call, *arc))
    };
    let arcs: Vec<(usize, ArcTimes)> = arcs.iter().filter_map(of).collect();
    let inclusive = |arc: &ArcTimes| arc.times.map_or(f64::NAN, |(_, inclusive)| time(analysis, inclusive));
    write_numbers("arcs", arcs.iter().map(|(call, _)| *call as f64), out)?;
    write_numbers("callTime", arcs.iter().map(|(_, arc)| inclusive(arc)), out)?;
    write_numbers("callCount", arcs.iter().map(|(_, arc)| arc.calls as f64), out)
}
