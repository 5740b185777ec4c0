//! The difference as CSV: the fields of JSON as columns.

use std::io::{self, Write};

use super::super::csv::{inert, quoted};
use super::fields::fields;
use crate::model::{Analysis, Difference};
use crate::reports::place;
use crate::reports::warnings;
use crate::sink::json::Value;

/// The columns that JSON has. The first row has the names of the columns, also if there are no other rows.
const COLUMNS: [&str; 30] = [
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
];

pub(crate) fn render(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for warning in warnings::of_difference(difference) {
        writeln!(out, "{},warning{}", quoted(warning), ",".repeat(COLUMNS.len() - 2))?;
    }
    for row in &difference.rows {
        let cells = fields(difference, row).into_iter().map(|(name, value)| match (name, value) {
            ("image", Value::Count(image)) => inert(path(difference.new_analysis(), image)),
            ("base_image", Value::Count(image)) => inert(path(difference.base_analysis(), image)),
            (_, value) => cell(value),
        });
        writeln!(out, "{}", cells.map(quoted).collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

fn path(analysis: &Analysis<'_>, image: u64) -> String {
    usize::try_from(image).map(|image| place::image(analysis, image)).unwrap_or_default()
}

fn cell(value: Value<'_>) -> String {
    match value {
        Value::Text(text) => inert(place::text(&text)),
        Value::Count(count) => count.to_string(),
        Value::Flag(flag) => flag.to_string(),
        // Adding 0 removes the sign of a negative zero.
        Value::Number(number) if number.is_finite() => (number + 0.0).to_string(),
        Value::Null | Value::Number(_) | Value::Records(_) => String::new(),
    }
}
