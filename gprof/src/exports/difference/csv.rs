//! The difference as CSV: the fields of JSON as columns.

use std::io::{self, Write};

use super::fields::fields;
use crate::model::{Analysis, Difference};
use crate::reports::{on_demand, place, warnings};
use crate::sink::csv::{Cells, write_head, write_row};
use crate::sink::json::Value;

/// The columns that JSON has. The first row has the names of the columns, also if there are no other rows.
const COLUMNS: [&str; 55] = [
    "name",
    "presence",
    "symbol",
    "image",
    "address",
    "file",
    "line",
    "functions",
    "base_symbol",
    "base_image",
    "base_address",
    "base_file",
    "base_line",
    "base_functions",
    "self_base",
    "self",
    "self_change",
    "self_percent",
    "self_error",
    "self_is_noise",
    "inclusive_base",
    "inclusive",
    "inclusive_change",
    "inclusive_percent",
    "inclusive_error",
    "inclusive_is_noise",
    "calls_base",
    "calls",
    "calls_change",
    "calls_percent",
    "self_low",
    "self_high",
    "self_p",
    "self_corrected_p",
    "self_visible",
    "self_is_log",
    "self_changed",
    "inclusive_low",
    "inclusive_high",
    "inclusive_p",
    "inclusive_corrected_p",
    "inclusive_visible",
    "inclusive_is_log",
    "inclusive_changed",
    "calls_are_exact",
    "calls_changed",
    "each_call_base",
    "each_call",
    "each_call_low",
    "each_call_high",
    "each_call_p",
    "each_call_corrected_p",
    "each_call_visible",
    "each_call_is_log",
    "each_call_changed",
];

pub(crate) fn render(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    write_head(&COLUMNS, out)?;
    for warning in warnings::of_difference(difference) {
        write_row(&[&Cells::new().text(&warning).text("warning").blank(COLUMNS.len() - 2)], out)?;
    }
    for note in on_demand::notes_of_difference(difference) {
        write_row(&[&Cells::new().text(&note).text("note").blank(COLUMNS.len() - 2)], out)?;
    }
    for row in &difference.rows {
        let fields = fields(difference, row).into_iter();
        let cells = fields.fold(Cells::new(), |cells, (name, value)| match (name, value) {
            ("image", Value::Count(image)) => cells.name(&path(difference.new_analysis(), image)),
            ("base_image", Value::Count(image)) => cells.name(&path(difference.base_analysis(), image)),
            (_, value) => cells.value(value),
        });
        write_row(&[&cells], out)?;
    }
    Ok(())
}

fn path(analysis: &Analysis<'_>, image: u64) -> String {
    usize::try_from(image).map(|image| place::image(analysis, image)).unwrap_or_default()
}
