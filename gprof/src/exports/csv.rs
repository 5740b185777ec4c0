//! One row for each function and for each arc, as CSV. docs/exports.md describes the columns.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::model::{Analysis, ArcTimes, FunctionTimes};
use crate::program::symbols::functions::FunctionId;
use crate::reports::place::{self, Place};
use crate::reports::warnings;

const COLUMNS: [&str; 22] = [
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
    "inclusive_least",
    "inclusive_most",
];

/// The number of columns about a function.
const OF_CODE: usize = 6;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for warning in warnings::of(analysis) {
        // The text takes the column of names.
        let blank = ",".repeat(COLUMNS.len() - OF_CODE + 1);
        writeln!(out, "warning,,,,{}{blank}", quoted(warning))?;
    }
    let mut rows = Rows { analysis, codes: HashMap::new(), no_code: ",".repeat(OF_CODE - 1) };
    analysis.function_times().try_for_each(|function| rows.function(&function, out))?;
    analysis.arc_times().try_for_each(|arc| rows.arc(&arc, out))
}

struct Rows<'a, 'data> {
    analysis: &'a Analysis<'data>,
    /// The cells of each function so far. A function is in the rows of all its arcs.
    codes: HashMap<FunctionId, String>,
    /// The cells of no function.
    no_code: String,
}

impl Rows<'_, '_> {
    fn function(&mut self, function: &FunctionTimes, out: &mut dyn Write) -> io::Result<()> {
        let error = |samples: f64| if samples == 0.0 { String::new() } else { self.time(samples) };
        let numbers = [
            function.cycle.map(|at| (at + 1).to_string()).unwrap_or_default(),
            self.time(function.own),
            error(function.own_error),
            self.time(function.inclusive),
            error(function.inclusive_error),
            function.calls.to_string(),
            function.self_calls.to_string(),
            self.range(function.range),
        ];
        write!(out, "function,{},", self.code(Some(function.id)))?;
        writeln!(out, "{},{}", self.no_code, numbers.join(","))
    }

    fn arc(&mut self, arc: &ArcTimes, out: &mut dyn Write) -> io::Result<()> {
        let time = |samples: Option<f64>| samples.map(|samples| self.time(samples)).unwrap_or_default();
        let numbers = [
            String::new(),
            time(arc.times.map(|(own, _)| own)),
            String::new(),
            time(arc.times.map(|(_, inclusive)| inclusive)),
            time(Some(arc.inclusive_error).filter(|error| *error != 0.0)),
            arc.calls.to_string(),
            String::new(),
            self.range(arc.range),
        ];
        write!(out, "arc,{},", self.code(arc.caller))?;
        writeln!(out, "{},{}", self.code(arc.callee), numbers.join(","))
    }

    /// The image, file, line, name, symbol and address of a function, as cells. `None` is code outside of all
    /// functions.
    fn code(&mut self, function: Option<FunctionId>) -> &str {
        let Some(id) = function else { return ",,,<outside>,," };
        let analysis = self.analysis;
        self.codes.entry(id).or_insert_with(|| {
            let Place { name, symbol, source, image, address } = Place::of(analysis, id);
            let (file, line) = source.map(|(file, line)| (file, line.to_string())).unwrap_or_default();
            let image = image.map(|image| place::image(analysis, image)).unwrap_or_default();
            let [image, file, name, symbol] = [image, file, name, symbol].map(inert);
            let cells: [String; OF_CODE] = [image, file, line, name, symbol, format!("0x{address:x}")];
            cells.map(quoted).join(",")
        })
    }

    /// The cells of the least and the longest inclusive time, if tail calls leave a doubt.
    fn range(&self, range: Option<(f64, f64)>) -> String {
        range.map_or_else(|| ",".to_owned(), |(least, most)| format!("{},{}", self.time(least), self.time(most)))
    }

    /// A time in the unit of the samples. A profile without samples has no times.
    fn time(&self, samples: f64) -> String {
        let time = self.analysis.clock().time(samples);
        // Adding 0 removes the sign of a negative zero.
        if time.is_finite() { (time + 0.0).to_string() } else { String::new() }
    }
}

/// Returns a text that spreadsheets do not take for a formula: an apostrophe stands before a sign with which formulas
/// begin.
pub(super) fn inert(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

/// Returns a cell. Cells with a separator, a quote, an apostrophe, a space, or a number sign, which some readers take
/// for a comment, are quoted; no cell has a line end.
pub(super) fn quoted(cell: String) -> String {
    let is_plain = !cell.contains([',', '"', ' ', '#', '\'']);
    if is_plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}
