//! The statistics as a table.

use std::io::{self, Write};

use super::text::{Detail, rows};
use crate::model::Analysis;
use crate::reports::table::cells::printable;
use crate::reports::table::drawing::{Frame, draw_words};
use crate::reports::table::widths::{column, name_column};
use crate::sources::profile_file::FileInfo;

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
