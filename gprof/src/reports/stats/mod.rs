//! The statistics: how much of the profiles the reports account for. The footer is a short form.

mod table;
pub mod text;

use super::report::Report;
use super::writer::Writer;
use crate::error::Error;
use crate::model::Analysis;
use crate::question::reports::{STATS, Shows};
use text::Detail;

pub const REPORT: Report = Report {
    name: STATS,
    help: "Print how much of the profiles the reports account for",
    shows: Shows { times: false, ..Report::OF_FUNCTIONS.shows },
    write: |analysis, writer| write(analysis, Detail::All, writer),
    ..Report::OF_FUNCTIONS
};

/// Writes the footer, which is a short form of the statistics.
pub fn write_footer(analysis: &Analysis<'_>, writer: &mut Writer<'_>) -> Result<(), Error> {
    write(analysis, Detail::Notable, writer)
}

fn write(analysis: &Analysis<'_>, detail: Detail, writer: &mut Writer<'_>) -> Result<(), Error> {
    writer.report(|out, frame| match frame {
        None => text::render(analysis, analysis.files, detail, out),
        Some(frame) => table::render(analysis, analysis.files, detail, frame, out),
    })
}
