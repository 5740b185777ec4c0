//! One row for each function and for each arc, as CSV. docs/exports.md describes the columns.

use std::io::{self, Write};

use super::place::{self, Place};
use crate::analysis::{Analysis, ArcTimes, FunctionTimes};
use crate::symbols::functions::FunctionId;

const COLUMNS: [&str; 20] = [
    "kind",
    "image",
    "file",
    "line",
    "function",
    "symbol",
    "address",
    "callee_image",
    "callee_file",
    "callee_line",
    "callee",
    "callee_symbol",
    "callee_address",
    "cycle",
    "self",
    "self_error",
    "inclusive",
    "inclusive_error",
    "calls",
    "self_calls",
];

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_row(&COLUMNS.map(str::to_owned), out)?;
    analysis.function_times().try_for_each(|function| write_row(&function_row(analysis, &function), out))?;
    analysis.arc_times().try_for_each(|arc| write_row(&arc_row(analysis, &arc), out))
}

fn function_row(analysis: &Analysis<'_>, function: &FunctionTimes) -> [String; COLUMNS.len()] {
    let [image, file, line, name, symbol, address] = code(analysis, Some(function.id));
    let time = |samples: f64| time(analysis, samples);
    let error = |samples: f64| if samples == 0.0 { String::new() } else { time(samples) };
    [
        "function".to_owned(),
        image,
        file,
        line,
        name,
        symbol,
        address,
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        function.cycle.map(|at| (at + 1).to_string()).unwrap_or_default(),
        time(function.own),
        error(function.own_error),
        time(function.inclusive),
        error(function.inclusive_error),
        function.calls.to_string(),
        function.self_calls.to_string(),
    ]
}

fn arc_row(analysis: &Analysis<'_>, arc: &ArcTimes) -> [String; COLUMNS.len()] {
    let [image, file, line, name, symbol, address] = code(analysis, arc.caller);
    let [callee_image, callee_file, callee_line, callee, callee_symbol, callee_address] = code(analysis, arc.callee);
    let time = |samples: Option<f64>| samples.map(|samples| time(analysis, samples)).unwrap_or_default();
    [
        "arc".to_owned(),
        image,
        file,
        line,
        name,
        symbol,
        address,
        callee_image,
        callee_file,
        callee_line,
        callee,
        callee_symbol,
        callee_address,
        String::new(),
        time(arc.times.map(|(own, _)| own)),
        String::new(),
        time(arc.times.map(|(_, inclusive)| inclusive)),
        time(Some(arc.inclusive_error).filter(|error| *error != 0.0)),
        arc.calls.to_string(),
        String::new(),
    ]
}

/// The image, file, line, name, symbol and address of a function. `None` is code outside of all functions.
fn code(analysis: &Analysis<'_>, function: Option<FunctionId>) -> [String; 6] {
    let Some(id) = function else {
        let mut cells: [String; 6] = Default::default();
        "<outside>".clone_into(&mut cells[3]);
        return cells;
    };
    let Place { name, symbol, source, image, address } = Place::of(analysis, id);
    let (file, line) = source.map(|(file, line)| (file, line.to_string())).unwrap_or_default();
    let image = image.map(|image| place::image(analysis, image)).unwrap_or_default();
    [image, file, line, name, symbol, format!("0x{address:x}")]
}

/// A time in the unit of the samples. A profile without samples has no times.
fn time(analysis: &Analysis<'_>, samples: f64) -> String {
    let time = analysis.clock().time(samples);
    // Adding 0 removes the sign of a negative zero.
    if time.is_finite() { (time + 0.0).to_string() } else { String::new() }
}

/// Writes a row. Cells with a separator, a quote, a space or a number sign, which some readers take for a comment, are quoted; no
/// cell has a line end.
pub(super) fn write_row(cells: &[String], out: &mut dyn Write) -> io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        let is_plain = !cell.contains([',', '"', ' ', '#']);
        let quoted = || format!("\"{}\"", cell.replace('"', "\"\""));
        out.write_all(if is_plain { cell.clone() } else { quoted() }.as_bytes())?;
    }
    out.write_all(b"\n")
}
