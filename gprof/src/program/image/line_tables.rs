//! Reads the line tables of the debug information in one pass.
//!
//! The tables are read in the order of their section, not through the units that refer to them, so that a thousand
//! units that share one table cost only the length of that table. Damage ends the pass, but is not an error: a report
//! is complete without lines.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use gimli::{AttributeValue, DebugLine, DebugLineOffset, LineInstruction, LineRow, Section, SectionId};

use super::sections::{Reader, Sections};

/// The header of one table.
pub(super) type Header<'a> = gimli::LineProgramHeader<Reader<'a>>;

/// The program of one table.
type Program<'a> = gimli::IncompleteLineProgram<Reader<'a>>;

/// The maximum length of a part of a path. In a hostile file, a million names may each be a million bytes long.
const LONGEST: usize = 4096;

/// A range of code that comes from one line of one file.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) start: u64,
    /// The address after the last byte of the range.
    pub(super) end: u64,
    /// The number of the file in its table.
    pub(super) file: u64,
    pub(super) line: u32,
}

/// All line tables of a file.
pub(super) struct LineTables<'a> {
    lines: DebugLine<Reader<'a>>,
    line_strings: Reader<'a>,
    strings: Reader<'a>,
    address_size: u8,
    /// The address ranges of code, ascending and without overlaps; empty if unknown.
    code: &'a [Range<u64>],
    /// Set when damage is found.
    is_damaged: &'a AtomicBool,
    /// Whether code belongs to the first file of its table until a row names a file.
    starts_in_first_file: bool,
}

impl<'a> LineTables<'a> {
    pub(super) fn new(sections: &'a Sections<'_>, starts_in_first_file: bool) -> LineTables<'a> {
        let lines = sections.get(SectionId::DebugLine);
        if lines.slice().is_empty() && sections.has_lines() {
            sections.has_damaged_lines.store(true, Relaxed); // packed, and cannot be unpacked
        }
        LineTables {
            lines: lines.into(),
            line_strings: sections.get(SectionId::DebugLineStr),
            strings: sections.get(SectionId::DebugStr),
            address_size: sections.address_size,
            code: &sections.code,
            is_damaged: &sections.has_damaged_lines,
            starts_in_first_file,
        }
    }

    /// Calls `each` for every row with a line, in the order of the section.
    pub(super) fn each_row(&self, mut each: impl FnMut(&Header<'a>, Row)) {
        let mut offset = 0;
        let note_damage = || self.is_damaged.store(true, Relaxed);
        while let Ok(program) = self.lines.program(DebugLineOffset(offset), self.address_size, None, None) {
            let header = program.header();
            let head = usize::from(header.format().initial_length_size());
            offset = offset.saturating_add(head).saturating_add(header.unit_length());
            let mut rows = Rows::new(program, self.starts_in_first_file);
            // The previous row, which ends at this row.
            let mut open: Option<Row> = None;
            // The code section of the current sequence of rows; `None` before its first row.
            let mut code: Option<Range<u64>> = None;
            while let Some((header, row)) = rows.next_row().inspect_err(|_| note_damage()).unwrap_or(None) {
                let end = row.address();
                let code_of_rows = code.get_or_insert_with(|| self.code_at(end));
                if let Some(row) = open.filter(|row| row.start < end && row.start < code_of_rows.end) {
                    each(header, Row { end, ..row });
                }
                let counts = !row.end_sequence() && !code_of_rows.is_empty();
                let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
                open = line.filter(|_| counts).map(|line| Row { start: end, end: 0, file: row.file_index(), line });
                if row.end_sequence() {
                    code = None;
                }
            }
        }
        // Some linkers pad sections.
        let left = self.lines.reader().slice().get(offset..);
        if left.is_none_or(|left| left.iter().any(|byte| *byte != 0)) {
            note_damage();
        }
    }

    /// The code section that contains an address. Returns `None` for rows whose code the linker discarded: such rows
    /// start at 0 or at the end of the address space, and continue into code of other functions.
    fn code_at(&self, address: u64) -> Range<u64> {
        if self.code.is_empty() {
            return if address == 0 { 0..0 } else { address..u64::MAX };
        }
        let at = self.code.partition_point(|code| code.end <= address);
        self.code.get(at).filter(|code| code.start <= address).cloned().unwrap_or_default()
    }

    /// The name of a file in a table, and the number of its directory.
    pub(super) fn file(&self, header: &Header<'a>, file: u64) -> Option<(u64, &'a [u8])> {
        let file = header.file(file)?;
        Some((file.directory_index(), self.text(file.path_name())?))
    }

    /// A directory in a table.
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

/// The rows of one table.
struct Rows<'a> {
    program: Program<'a>,
    instructions: gimli::LineInstructions<Reader<'a>>,
    row: LineRow,
    /// Whether the current row is complete, so that the next row starts.
    is_done: bool,
    /// Whether rows are skipped because the linker discarded their code.
    is_lost: bool,
    /// Whether code belongs to file 0 until a row names a file; by the standard it belongs to file 1.
    starts_in_file_zero: bool,
}

impl<'a> Rows<'a> {
    /// The first file of a table has number 0 since version 5, and number 1 before.
    fn new(program: Program<'a>, starts_in_first_file: bool) -> Rows<'a> {
        let header = program.header();
        let starts_in_file_zero = starts_in_first_file && header.version() >= 5;
        let (instructions, mut row) = (header.instructions(), LineRow::new(header));
        // A row that ends a sequence makes the next row the first of a new sequence.
        let mut program = program;
        let is_done = row.execute(LineInstruction::EndSequence, &mut program).is_ok();
        Rows { program, instructions, row, is_done, is_lost: false, starts_in_file_zero }
    }

    /// The next row, if there is one.
    fn next_row(&mut self) -> gimli::Result<Option<(&Header<'a>, &LineRow)>> {
        loop {
            if self.is_done {
                let begins = self.row.end_sequence();
                self.row.reset(self.program.header());
                self.is_lost &= !begins;
                if begins && self.starts_in_file_zero {
                    self.row.execute(LineInstruction::SetFile(0), &mut self.program)?;
                }
            }
            let Some(instruction) = self.instructions.next_instruction(self.program.header())? else {
                return Ok(None);
            };
            self.is_done = self.row.execute(instruction, &mut self.program)?;
            if let LineInstruction::SetAddress(address) = instruction {
                // An address outside the address size of this table was ignored.
                self.is_lost = self.row.address() != address;
            }
            if self.is_done && !self.is_lost {
                return Ok(Some((self.program.header(), &self.row)));
            }
        }
    }
}

/// The string at an offset of a string section, if it is not longer than a path may be.
pub(super) fn text_at(section: &[u8], offset: usize) -> Option<&[u8]> {
    let rest = section.get(offset..)?;
    let text = rest.get(..LONGEST).unwrap_or(rest).split(|byte| *byte == 0).next()?;
    (text.len() < LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::Endianness;
    use object::read::CompressedData;

    /// A version 2 table with sequences of rows. Each sequence starts at an address, has this length in bytes, and
    /// has a row every sixteen bytes.
    fn table(sequences: &[(u64, u64)]) -> Vec<u8> {
        let mut program = Vec::new();
        for (start, length) in sequences {
            program.extend([0, 9, 2]);
            program.extend(start.to_le_bytes());
            for _ in 0..length / 16 {
                // A row for the next line, sixteen bytes further.
                program.extend([3, 1, 1, 2, 16]);
            }
            program.extend([0, 1, 1]);
        }
        // The minimum instruction length, the default of `is_stmt`, the line base, the line range, the first special
        // opcode, the operands of the standard opcodes; no directory, one file.
        let head = [&[1, 1, 0, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1][..], b"\0a.c\0\0\0\0\0"].concat();
        let length = (2 + 4 + head.len() + program.len()) as u32;
        let version = [&length.to_le_bytes()[..], &[2, 0], &(head.len() as u32).to_le_bytes()].concat();
        [version, head, program].concat()
    }

    /// The code of the rows.
    fn rows(sequences: &[(u64, u64)], code: &[Range<u64>]) -> Vec<Range<u64>> {
        let bytes = table(sequences);
        let stored = |name: &str| (name == ".debug_line").then(|| CompressedData::none(&bytes));
        let mut sections = Sections::new(Endianness::Little, gmon::Word::W64, false, bytes.len(), stored);
        sections.code = code.to_vec();
        let mut found: Vec<Range<u64>> = Vec::new();
        LineTables::new(&sections, false).each_row(|_, row| {
            match found.last_mut().filter(|last| last.end == row.start) {
                Some(last) => last.end = row.end,
                None => found.push(row.start..row.end),
            }
        });
        found
    }

    #[test]
    fn rows_whose_code_was_thrown_away() {
        let code = [0x1000..0x1020, 0x1100..0x3000];
        let all = [(0, 0x4000), (0x1000, 0x20), (1, 0x2000), (u64::MAX, 0x20), (0x1100, 0x100), (u64::MAX - 1, 0x20)];
        assert_eq!(rows(&all, &code), [0x1000..0x1020, 0x1100..0x1200]);
        // A row ends with the code section that it starts in.
        assert_eq!(rows(&[(0x1010, 0x400), (0x2ff0, 0x40)], &code), [0x1010..0x1020, 0x2ff0..0x3000]);
        assert_eq!(rows(&[(0x1040, 0x200)], &code), []);
        // A file without known code sections.
        assert_eq!(rows(&[(0, 0x4000), (0x1000, 0x20), (0x1100, 0x20)], &[]), [0x1000..0x1020, 0x1100..0x1120]);
    }

    #[test]
    fn texts() {
        assert_eq!(text_at(b"one\0two\0", 4), Some(b"two".as_slice()));
        assert_eq!(text_at(b"one\0two", 4), Some(b"two".as_slice()));
        assert_eq!(text_at(b"one", 4), None);
        assert_eq!(text_at(&vec![b'a'; LONGEST], 0), None);
    }
}
