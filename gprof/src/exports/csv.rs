//! One row for each function and for each arc, as CSV. docs/exports.md describes the columns.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::model::{Analysis, ArcTimes, CallEstimate, FunctionTimes};
use crate::program::symbols::functions::FunctionId;
use crate::reports::place::{self, Place};
use crate::reports::{estimates, on_demand, warnings};
use crate::sink::csv::{Cells, write_head, write_row};

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

/// The columns of estimated calls, which a file without estimates does not have.
const ESTIMATES: [&str; 4] = ["calls_estimate", "calls_low", "calls_high", "calls_seen_in_windows"];

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let estimates: &[&str] = if analysis.has_estimates() { &ESTIMATES } else { &[] };
    write_head(&[&COLUMNS[..], estimates].concat(), out)?;
    // The text takes the column of names.
    let blank = COLUMNS.len() + estimates.len() - OF_CODE + 1;
    for warning in warnings::of(analysis) {
        let row = Cells::new().text("warning").blank(3).text(&warning);
        write_row(&[&row.blank(blank)], out)?;
    }
    if let Some(note) = on_demand::note(analysis) {
        let row = Cells::new().text("note").blank(3).text(&note);
        write_row(&[&row.blank(blank)], out)?;
    }
    let mut rows = Rows { analysis, codes: HashMap::new() };
    analysis.function_times().try_for_each(|function| rows.function(&function, out))?;
    analysis.arc_times().try_for_each(|arc| rows.arc(&arc, out))
}

struct Rows<'a, 'data> {
    analysis: &'a Analysis<'data>,
    /// The cells of each function so far. A function is in the rows of all its arcs.
    codes: HashMap<Option<FunctionId>, Cells>,
}

impl Rows<'_, '_> {
    fn function(&mut self, function: &FunctionTimes, out: &mut dyn Write) -> io::Result<()> {
        let cells = match function.cycle {
            Some(at) => Cells::new().count(at as u64 + 1),
            None => Cells::new().blank(1),
        };
        let cells = self.time(cells, Some(function.own));
        let cells = self.error(cells, function.own_error);
        let cells = self.time(cells, Some(function.inclusive));
        let cells = self.error(cells, function.inclusive_error);
        let calls = calls(cells, function.calls, function.estimate);
        // Calls of the function by itself have a row of their own.
        let is_estimated = function.self_calls == 0 && function.estimate.is_some();
        let self_calls = if is_estimated { calls.blank(1) } else { calls.count(function.self_calls) };
        let numbers = self.range(self_calls, function.range);
        let numbers = self.estimate(numbers, function.estimate);
        write_row(
            &[&Cells::new().text("function"), self.code(Some(function.id)), &Cells::new().blank(OF_CODE), &numbers],
            out,
        )
    }

    fn arc(&mut self, arc: &ArcTimes, out: &mut dyn Write) -> io::Result<()> {
        let cells = self.time(Cells::new().blank(1), arc.times.map(|(own, _)| own));
        let cells = self.time(cells.blank(1), arc.times.map(|(_, inclusive)| inclusive));
        let cells = self.error(cells, arc.inclusive_error);
        let numbers = self.range(calls(cells, arc.calls, arc.estimate).blank(1), arc.range);
        let numbers = self.estimate(numbers, arc.estimate);
        let caller = self.code(arc.caller).clone();
        write_row(&[&Cells::new().text("arc"), &caller, self.code(arc.callee), &numbers], out)
    }

    /// The image, file, line, name, symbol and address of a function, as cells. `None` is code outside of all
    /// functions.
    fn code(&mut self, function: Option<FunctionId>) -> &Cells {
        let analysis = self.analysis;
        self.codes.entry(function).or_insert_with(|| {
            let Some(id) = function else { return Cells::new().blank(3).text("<outside>").blank(2) };
            let Place { name, symbol, source, image, address } = Place::of(analysis, id);
            let cells = Cells::new().name(&image.map(|image| place::image(analysis, image)).unwrap_or_default());
            let cells = match source {
                Some((file, line)) => cells.name(&file).count(line.into()),
                None => cells.blank(2),
            };
            cells.name(&name).name(&symbol).text(&format!("0x{address:x}"))
        })
    }

    /// Adds an estimate, if the file has the columns for it.
    fn estimate(&self, cells: Cells, estimate: Option<CallEstimate>) -> Cells {
        if !self.analysis.has_estimates() {
            return cells;
        }
        estimates::fields(estimate).into_iter().fold(cells, |cells, (_, value)| cells.value(value))
    }

    /// Adds the least and the longest inclusive time, if tail calls leave a doubt.
    fn range(&self, cells: Cells, range: Option<(f64, f64)>) -> Cells {
        let (least, most) = range.unzip();
        self.time(self.time(cells, least), most)
    }

    /// Adds a time in the unit of the samples. A profile without samples has no times.
    fn time(&self, cells: Cells, samples: Option<f64>) -> Cells {
        match samples {
            Some(samples) => cells.number(self.analysis.clock().time(samples)),
            None => cells.blank(1),
        }
    }

    /// Adds an error, if it is known.
    fn error(&self, cells: Cells, samples: f64) -> Cells {
        self.time(cells, Some(samples).filter(|samples| *samples != 0.0))
    }
}

/// Adds a number of calls, unless it was estimated and not counted.
fn calls(cells: Cells, calls: u64, estimate: Option<CallEstimate>) -> Cells {
    if estimate.is_some() { cells.blank(1) } else { cells.count(calls) }
}
