//! The formats of the output as a table.

use std::io::{self, Write};

use super::drawing::{Frame, draw_words};
use super::widths::{column, name_column};
use crate::question::format::Format;

pub(crate) fn render(frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Output formats:\n")?;
    let words = |format: Format| [format.name().to_owned(), format.file_endings().join(" "), format.help().to_owned()];
    let rows: Vec<Vec<String>> = Format::all().map(|format| words(format).into()).collect();
    draw_words(&[column("format"), name_column("endings"), name_column("contents")], &rows, frame, out)
}
