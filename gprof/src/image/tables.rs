//! The line tables of the debug information, read in one pass.
//!
//! The tables are read one after the other as they lie in their section, not by way of the units that name them, so
//! that a file in which a thousand units share one table costs no more than its length. Damage ends the pass where it
//! cannot be read on; it is no error, since a report is whole without lines.

use gimli::{AttributeValue, DebugLine, DebugLineOffset, SectionId};

use super::sections::{Reader, Sections};

/// The head of one table.
pub(super) type Header<'a> = gimli::LineProgramHeader<Reader<'a>>;

/// The longest part of a path that is believed. Tables may be made so that each of a million names is a million bytes
/// long.
const LONGEST: usize = 4096;

/// Code that comes from one line of one file.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) start: u64,
    /// The address behind it.
    pub(super) end: u64,
    /// The number of the file in its table.
    pub(super) file: u64,
    pub(super) line: u32,
}

/// All line tables of a file.
pub(super) struct Tables<'a> {
    lines: DebugLine<Reader<'a>>,
    line_strings: Reader<'a>,
    strings: Reader<'a>,
    address_size: u8,
}

impl<'a> Tables<'a> {
    pub(super) fn new(sections: &'a Sections<'_>) -> Tables<'a> {
        Tables {
            lines: sections.get(SectionId::DebugLine).into(),
            line_strings: sections.get(SectionId::DebugLineStr),
            strings: sections.get(SectionId::DebugStr),
            address_size: sections.address_size,
        }
    }

    /// Hands over every row that names a line, in the order of the section.
    pub(super) fn each_row(&self, mut each: impl FnMut(&Header<'a>, Row)) {
        let mut offset = 0;
        while let Ok(program) = self.lines.program(DebugLineOffset(offset), self.address_size, None, None) {
            let header = program.header();
            let head = usize::from(header.format().initial_length_size());
            offset = offset.saturating_add(head).saturating_add(header.unit_length());
            let mut rows = program.rows();
            // The row before, which reaches up to this one.
            let mut open: Option<Row> = None;
            while let Ok(Some((header, row))) = rows.next_row() {
                let end = row.address();
                if let Some(row) = open.filter(|row| row.start < end) {
                    each(header, Row { end, ..row });
                }
                // A table whose code the linker threw away begins at 0.
                let counts = !row.end_sequence() && row.address() != 0;
                let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
                open = line.filter(|_| counts).map(|line| Row {
                    start: row.address(),
                    end: 0,
                    file: row.file_index(),
                    line,
                });
            }
        }
    }

    /// The name of a file of a table, as the table has it, and the number of its directory.
    pub(super) fn file(&self, header: &Header<'a>, file: u64) -> Option<(u64, &'a [u8])> {
        let file = header.file(file)?;
        Some((file.directory_index(), self.text(file.path_name())?))
    }

    /// A directory of a table.
    pub(super) fn directory(&self, header: &Header<'a>, directory: u64) -> Option<&'a [u8]> {
        self.text(header.directory(directory)?)
    }

    fn text(&self, value: AttributeValue<Reader<'a>>) -> Option<&'a [u8]> {
        let (section, offset) = match value {
            AttributeValue::String(text) => (text.slice(), 0),
            AttributeValue::DebugStrRef(offset) => (self.strings.slice(), offset.0),
            AttributeValue::DebugLineStrRef(offset) => (self.line_strings.slice(), offset.0),
            _ => return None,
        };
        text_at(section, offset)
    }
}

/// The text that begins at an offset of a section of texts, if it is not longer than a path may be.
pub(super) fn text_at(section: &[u8], offset: usize) -> Option<&[u8]> {
    let rest = section.get(offset..)?;
    let text = rest.get(..LONGEST).unwrap_or(rest).split(|byte| *byte == 0).next()?;
    (text.len() < LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(text_at(b"one\0two\0", 4), Some(b"two".as_slice()));
        assert_eq!(text_at(b"one\0two", 4), Some(b"two".as_slice()));
        assert_eq!(text_at(b"one", 4), None);
        assert_eq!(text_at(&vec![b'a'; LONGEST], 0), None);
    }
}
