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

/// The image, file, line, name, symbol and address of a function.
type Code = [String; 6];

/// The cells of a row after its kind: the function or the caller, the callee, and the numbers.
type Row = (Code, Code, [String; COLUMNS.len() - 13]);

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_row(COLUMNS.map(str::to_owned), out)?;
    let mut write = |kind: &str, (caller, callee, numbers): Row| {
        write_row([kind.to_owned()].into_iter().chain(caller).chain(callee).chain(numbers), out)
    };
    analysis.function_times().try_for_each(|function| write("function", function_row(analysis, &function)))?;
    analysis.arc_times().try_for_each(|arc| write("arc", arc_row(analysis, &arc)))
}

fn function_row(analysis: &Analysis<'_>, function: &FunctionTimes) -> Row {
    let time = |samples: f64| time(analysis, samples);
    let error = |samples: f64| if samples == 0.0 { String::new() } else { time(samples) };
    let numbers = [
        function.cycle.map(|at| (at + 1).to_string()).unwrap_or_default(),
        time(function.own),
        error(function.own_error),
        time(function.inclusive),
        error(function.inclusive_error),
        function.calls.to_string(),
        function.self_calls.to_string(),
    ];
    (code(analysis, Some(function.id)), Code::default(), numbers)
}

fn arc_row(analysis: &Analysis<'_>, arc: &ArcTimes) -> Row {
    let time = |samples: Option<f64>| samples.map(|samples| time(analysis, samples)).unwrap_or_default();
    let numbers = [
        String::new(),
        time(arc.times.map(|(own, _)| own)),
        String::new(),
        time(arc.times.map(|(_, inclusive)| inclusive)),
        time(Some(arc.inclusive_error).filter(|error| *error != 0.0)),
        arc.calls.to_string(),
        String::new(),
    ];
    (code(analysis, arc.caller), code(analysis, arc.callee), numbers)
}

/// Describes a function. `None` is code outside of all functions.
fn code(analysis: &Analysis<'_>, function: Option<FunctionId>) -> Code {
    let Some(id) = function else {
        let mut cells = Code::default();
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
fn write_row(cells: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    for (at, cell) in cells.into_iter().enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        let is_plain = !cell.contains([',', '"', ' ', '#']);
        let cell = if is_plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) };
        out.write_all(cell.as_bytes())?;
    }
    out.write_all(b"\n")
}
