//! Writes an analysis in one of the formats.

use std::io::{BufWriter, Write};

use super::table::Frame;
use super::writer::Writer;
use super::{
    annotate, callgrind, csv, difference, dot, drawing, firefox, flame, folded, html, info, json, pprof, source,
    speedscope, table, warnings,
};
use crate::analysis::{Analysis, Difference};
use crate::cli::format::Format;
use crate::cli::options::Options;
use crate::error::Error;
use crate::load::contents::Content;
use crate::terminal::Terminal;

/// Writes an analysis to `out`. Tables are as wide as `terminal`. Warnings about source files that cannot be shown go to
/// `warnings`.
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
        Format::Text => texts(analysis, None, &mut buffer, warnings)?,
        Format::Table => texts(analysis, Some(terminal), &mut buffer, warnings)?,
        Format::Json => json::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Dot => dot::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Html => html::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Svg => drawing::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Flame => flame::render(analysis, &mut buffer).map_err(Error::Output)?,
        Format::Csv => csv::render(analysis, &mut buffer).map_err(Error::Output)?,
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
        Format::Text => difference::text(difference, &mut buffer),
        Format::Table => table::difference(difference, terminal, &mut buffer),
        Format::Json => difference::json(difference, &mut buffer),
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
        Format::Table => table::contents(contents, Frame::new(terminal, options), &mut buffer),
        _ => info::render_alone(contents, &mut buffer),
    };
    rendered.and_then(|()| buffer.flush()).map_err(Error::Output)
}

/// Writes the version, with the formats as a table of this width, or as wide as `terminal`.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn render_formats(width: Option<usize>, terminal: &Terminal, out: &mut dyn Write) -> Result<(), Error> {
    let mut buffer = BufWriter::new(out);
    let rendered = table::formats(Frame::of_width(terminal, width), &mut buffer);
    rendered.and_then(|()| buffer.flush()).map_err(Error::Output)
}

/// Writes all reports that the options ask for as text, or for a terminal as tables.
fn texts(
    analysis: &Analysis<'_>,
    tables_for: Option<&Terminal>,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    let Analysis { options, wanted, files, side_files, .. } = analysis;
    // Linkers read orders, and GNU's text has no such lines.
    let is_for_people = wanted.info || wanted.threads || wanted.shows_reports();
    if is_for_people && options.rules.tells_mismatches {
        warnings::write(&warnings::of(analysis), out).map_err(Error::Output)?;
    }
    let mut writer = Writer::new(tables_for.map(|terminal| Frame::new(terminal, options)), out);
    if wanted.info {
        writer.info(files, side_files, &options.rules).map_err(Error::Output)?;
    }
    if wanted.threads {
        writer.threads(side_files).map_err(Error::Output)?;
    }
    writer.reports(analysis, options, *wanted).map_err(Error::Output)?;
    if wanted.source {
        annotated(analysis, &mut writer, warnings)?;
    }
    if wanted.function_order {
        writer.function_order(analysis).map_err(Error::Output)?;
    }
    if let Some(orderer) = wanted.linker_order {
        writer.linker_order(analysis, orderer).map_err(Error::Output)?;
    }
    if wanted.file_order {
        writer.file_order(analysis).map_err(Error::Output)?;
    }
    if wanted.stats {
        writer.stats(analysis, files).map_err(Error::Output)?;
    } else if options.has_footer(*wanted) {
        writer.footer(analysis, files).map_err(Error::Output)?;
    }
    Ok(())
}

/// Writes the annotated source files, with `-y` each to a file of its own.
fn annotated(analysis: &Analysis<'_>, writer: &mut Writer<'_>, warnings: &mut dyn Write) -> Result<(), Error> {
    let options = analysis.options;
    for file in annotate::annotate(analysis, options) {
        let file = match file {
            Ok(file) => file,
            Err(missing) => {
                let _ = writeln!(warnings, "gprof: warning: {}: {}", missing.path.display(), missing.why);
                continue;
            }
        };
        if options.annotation.separate {
            annotate::store(&file, |out| source::render(&file, options, out))?;
        } else {
            writer.source(&file, options).map_err(Error::Output)?;
        }
    }
    Ok(())
}
