//! The statistics as a table.

use std::io::{self, Write};

use super::super::stats::{Detail, rows};
use super::cells::printable;
use super::drawing::{Frame, draw_words};
use super::widths::{column, name_column};
use crate::analysis::Analysis;
use crate::load::profile_file::FileInfo;

pub(crate) fn render(
    analysis: &Analysis<'_>,
    files: &[FileInfo],
    detail: Detail,
    frame: Frame,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "Statistics:\n")?;
    let row = |(number, text): (String, String)| vec![number, printable(text.as_bytes())];
    let rows: Vec<Vec<String>> = rows(analysis, files, detail).map(row).collect();
    draw_words(&[column("number"), name_column("what")], &rows, frame, out)
}
