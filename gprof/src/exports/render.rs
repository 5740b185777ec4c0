//! Writes an analysis in one of the formats.

use std::io::{BufWriter, Write};

use super::{
    callgrind, csv, difference, dot, drawing, firefox, flame, folded, html, json, markdown, pprof, speedscope,
};
use crate::error::Error;
use crate::model::{Analysis, Difference};
use crate::question::format::Format;
use crate::question::options::Options;
use crate::reports::table::{Frame, formats};
use crate::reports::{difference as reported, info, list};
use crate::sources::contents::Content;
use crate::terminal::Terminal;

/// Writes an analysis to `out`. Tables are as wide as `terminal`. Warnings about source files that cannot be shown go
/// to `warnings`.
///
/// # Errors
///
/// If the output or a file cannot be written.
pub fn render(
    analysis: &Analysis<'_>,
    format: Format,
    terminal: &Terminal,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    match format {
        Format::Text => list::render(analysis, None, &mut buffer, warnings)?,
        Format::Table => list::render(analysis, Some(terminal), &mut buffer, warnings)?,
        Format::Json => json::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Dot => dot::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Html => html::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Svg => drawing::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Flame => flame::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Csv => csv::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Markdown => markdown::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Folded => folded::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Speedscope => speedscope::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Pprof => pprof::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Firefox => firefox::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Callgrind => callgrind::render(analysis, &mut buffer).map_err(Error::Output)?,
    }
    buffer.flush().map_err(Error::Output)
}

/// Writes a difference to `out`. Tables are as wide as `terminal`.
///
/// # Errors
///
/// If the output cannot be written, or the format shows no differences ([`Format::shows_differences`]).
pub fn render_difference(
    difference: &Difference<'_, '_>,
    format: Format,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    let rendered = match format {
        Format::Text => reported::text::render(difference, &mut buffer),
        Format::Table => reported::table::render(difference, terminal, &mut buffer),
        Format::Json => difference::json(difference, &mut buffer),
        Format::Markdown => difference::markdown(difference, &mut buffer),
        Format::Csv => difference::csv(difference, &mut buffer),
        Format::Html => difference::page(difference, &mut buffer),
        Format::Pprof => pprof::render_difference(difference, &mut buffer),
        _ => return Err(Error::Usage(format!("the format {} has no differences", format.name()))),
    };
    rendered.and_then(|()| buffer.flush()).map_err(Error::Output)
}

/// Writes what files contain, without their programs: as text, or as tables that are as wide as `terminal`.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn render_contents(
    contents: &[Content],
    format: Format,
    options: &Options,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut buffer = BufWriter::new(out);
    let rendered = match format {
        Format::Table => info::table::alone(contents, Frame::new(terminal, options), &mut buffer),
        _ => info::text::render_alone(contents, &mut buffer),
    };
    rendered.and_then(|()| buffer.flush()).map_err(Error::Output)
}

/// Writes a version, with the formats as a table of this width, or as wide as `terminal`.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn render_formats(
    version: &str,
    width: Option<usize>,
    terminal: &Terminal,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut buffer = BufWriter::new(out);
    let rendered = buffer.write_all(version.as_bytes());
    let rendered = rendered.and_then(|()| formats::render(Frame::of_width(terminal, width), &mut buffer));
    rendered.and_then(|()| buffer.flush()).map_err(Error::Output)
}
