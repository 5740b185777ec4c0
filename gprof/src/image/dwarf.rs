//! Source files of functions, from the line tables of the debug information.
//!
//! One pass over `.debug_line` answers for any number of addresses. The tables are read one after the other as they lie
//! in the section, not by way of the units that name them, so that a file in which a thousand units share one table
//! costs no more than its length.

use std::collections::HashMap;

use gimli::{AttributeValue, DebugLine, DebugLineOffset, DebugLineStr, DebugStr, EndianSlice, RunTimeEndian};
use object::Endianness;

type Reader<'data> = EndianSlice<'data, RunTimeEndian>;
type Program<'data> = gimli::IncompleteLineProgram<Reader<'data>>;
type Header<'data> = gimli::LineProgramHeader<Reader<'data>>;

/// The debug information that tells source files.
pub struct SourceFiles<'data> {
    lines: DebugLine<Reader<'data>>,
    line_strings: DebugLineStr<Reader<'data>>,
    strings: DebugStr<Reader<'data>>,
    address_size: u8,
}

impl<'data> SourceFiles<'data> {
    /// Takes the sections it needs from `section`, which gives no bytes for a section that is not there.
    pub(super) fn new(
        endian: Endianness,
        word: gmon::Word,
        section: impl Fn(&str) -> &'data [u8],
    ) -> SourceFiles<'data> {
        let endian = match endian {
            Endianness::Little => RunTimeEndian::Little,
            Endianness::Big => RunTimeEndian::Big,
        };
        SourceFiles {
            lines: DebugLine::new(section(".debug_line"), endian),
            line_strings: DebugLineStr::new(section(".debug_line_str"), endian),
            strings: DebugStr::new(section(".debug_str"), endian),
            address_size: match word {
                gmon::Word::W32 => 4,
                gmon::Word::W64 => 8,
            },
        }
    }

    /// The base name of the source file that each of these addresses comes from.
    ///
    /// An address whose file or line is not known has no entry. Debug information that is damaged ends the search where
    /// it cannot be read on; it is no error, since the report is whole without it.
    #[must_use]
    pub fn base_names(&self, mut addresses: Vec<u64>) -> HashMap<u64, &'data [u8]> {
        let mut found = HashMap::new();
        addresses.sort_unstable();
        addresses.dedup();
        let mut offset = 0;
        while !addresses.is_empty() {
            let Ok(program) = self.lines.program(DebugLineOffset(offset), self.address_size, None, None) else {
                break;
            };
            let header = program.header();
            let head = usize::from(header.format().initial_length_size());
            offset = offset.saturating_add(head).saturating_add(header.unit_length());
            self.search(program, &addresses, &mut found);
        }
        found
    }

    /// Adds the files of those addresses that one line table covers.
    fn search(&self, program: Program<'data>, addresses: &[u64], found: &mut HashMap<u64, &'data [u8]>) {
        let mut rows = program.rows();
        // The row before, which reaches up to this one: its address, its file, and whether it names a line.
        let mut previous: Option<(u64, u64, bool)> = None;
        while let Ok(Some((header, row))) = rows.next_row() {
            if let Some((start, file, true)) = previous
                && start < row.address()
            {
                let first = addresses.partition_point(|address| *address < start);
                for address in addresses.iter().skip(first).take_while(|address| **address < row.address()) {
                    if let Some(name) = self.base_name(header, file) {
                        found.entry(*address).or_insert(name);
                    }
                }
            }
            // A table whose code the linker threw away begins at 0.
            let discarded = row.address() == 0;
            previous =
                (!row.end_sequence() && !discarded).then(|| (row.address(), row.file_index(), row.line().is_some()));
        }
    }

    /// The name of a file of a line table, without its directories.
    fn base_name(&self, header: &Header<'data>, file: u64) -> Option<&'data [u8]> {
        let path = match header.file(file)?.path_name() {
            AttributeValue::String(text) => text,
            AttributeValue::DebugStrRef(offset) => self.strings.get_str(offset).ok()?,
            AttributeValue::DebugLineStrRef(offset) => self.line_strings.get_str(offset).ok()?,
            _ => return None,
        };
        path.slice().rsplit(|byte| *byte == b'/').next().filter(|name| !name.is_empty())
    }
}
