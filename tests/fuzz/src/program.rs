//! A small ELF program around the debug information of an input.

use std::ops::Range;

use crate::parts;

/// The addresses of the program's code.
pub(crate) const CODE: Range<u64> = 0x1000..0x1400;

/// The addresses of the program's functions.
pub(crate) const FUNCTIONS: [u64; 3] = [0x1000, 0x1100, 0x1300];

/// The sections that an input may have.
const NAMES: [&str; 11] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_line",
    ".debug_line_str",
    ".debug_str",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_addr",
    ".debug_str_offsets",
    ".debug_aranges",
    ".debug_types",
];

/// The bits of the first byte: addresses have 64 bits, and numbers are big-endian.
const WIDE: u8 = 1;
const BIG: u8 = 2;

/// The bit of a section's byte for a section whose content is compressed. The other bits are an index in `NAMES`.
const COMPRESSED: u8 = 0x80;

/// The number of sections at which the rest of an input is ignored.
const MOST: usize = 24;

/// A program.
pub(crate) struct Program {
    /// The file.
    pub(crate) bytes: Vec<u8>,
    /// Whether a section is compressed.
    pub(crate) is_compressed: bool,
}

impl Program {
    /// Makes a program of an input: a byte with the word size and the byte order, and sections. A section is a byte
    /// with its name, and a part with its content.
    pub(crate) fn new(mut input: &[u8]) -> Program {
        let kind = parts::byte(&mut input);
        let mut writer = Writer { bytes: Vec::new(), is_wide: kind & WIDE != 0, is_big: kind & BIG != 0 };
        let symbols = writer.symbols();
        let mut sections = vec![
            Section { name: "", kind: 0, flags: 0, address: 0, link: 0, content: &[] },
            Section { name: ".text", kind: 1, flags: 6, address: CODE.start, link: 0, content: &[0x90; 0x400] },
            Section { name: ".symtab", kind: 2, flags: 0, address: 0, link: 3, content: &symbols },
            Section { name: ".strtab", kind: 3, flags: 0, address: 0, link: 0, content: b"\0main\0one\0two\0" },
        ];
        let mut is_compressed = false;
        while !input.is_empty() && sections.len() < MOST {
            let section = parts::byte(&mut input);
            let name = NAMES[usize::from(section & !COMPRESSED) % NAMES.len()];
            let flags = if section & COMPRESSED != 0 { 0x800 } else { 0 };
            is_compressed |= flags != 0;
            let content = parts::take(&mut input).unwrap_or_default();
            sections.push(Section { name, kind: 1, flags, address: 0, link: 0, content });
        }
        writer.file(&sections);
        Program { bytes: writer.bytes, is_compressed }
    }
}

/// A section of the program.
struct Section<'a> {
    name: &'static str,
    kind: u64,
    flags: u64,
    address: u64,
    link: u64,
    content: &'a [u8],
}

/// Writes an ELF file in one word size and byte order.
struct Writer {
    bytes: Vec<u8>,
    is_wide: bool,
    is_big: bool,
}

impl Writer {
    fn number(&mut self, value: u64, size: usize) {
        let bytes = &value.to_le_bytes()[..size];
        if self.is_big { self.bytes.extend(bytes.iter().rev()) } else { self.bytes.extend(bytes) }
    }

    fn word(&mut self, value: u64) {
        self.number(value, if self.is_wide { 8 } else { 4 });
    }

    fn numbers(&mut self, numbers: &[(u64, usize)]) {
        numbers.iter().for_each(|(value, size)| self.number(*value, *size));
    }

    fn words(&mut self, words: &[u64]) {
        words.iter().for_each(|value| self.word(*value));
    }

    /// The symbols of all functions, which are in section 1.
    fn symbols(&self) -> Vec<u8> {
        let mut table = Writer { bytes: vec![0; if self.is_wide { 24 } else { 16 }], ..*self };
        for (name, address) in [1, 6, 10].into_iter().zip(FUNCTIONS) {
            table.number(name, 4);
            if self.is_wide {
                table.numbers(&[(0x12, 1), (0, 1), (1, 2), (address, 8), (16, 8)]);
            } else {
                table.numbers(&[(address, 4), (16, 4), (0x12, 1), (0, 1), (1, 2)]);
            }
        }
        table.bytes
    }

    /// The whole file: a header, the contents of the sections, their names, and the table of the sections.
    fn file(&mut self, sections: &[Section<'_>]) {
        let mut names = Vec::new();
        let head = if self.is_wide { 64 } else { 52 };
        let contents: usize = sections.iter().map(|section| section.content.len()).sum();
        let mut table = Writer { bytes: Vec::new(), ..*self };
        let mut offset = head;
        for Section { name, kind, flags, address, link, content } in sections {
            let entry = if *kind == 2 { if self.is_wide { 24 } else { 16 } } else { 0 };
            table.section(names.len() as u64, [*kind, *flags, *address, offset, content.len() as u64, *link, entry]);
            offset += content.len() as u64;
            names.extend(name.bytes().chain([0]));
        }
        let name = names.len() as u64;
        names.extend(b".shstrtab\0");
        table.section(name, [3, 0, 0, offset, names.len() as u64, 0, 0]);
        self.header(head + contents as u64 + names.len() as u64, sections.len() as u64 + 1);
        sections.iter().for_each(|section| self.bytes.extend(section.content));
        self.bytes.extend(names);
        self.bytes.extend(table.bytes);
    }

    /// The file header, for a table of sections at an offset. The last section has the names.
    fn header(&mut self, table: u64, sections: u64) {
        self.bytes.extend(b"\x7fELF");
        self.bytes.extend([if self.is_wide { 2 } else { 1 }, if self.is_big { 2 } else { 1 }, 1]);
        self.bytes.resize(16, 0);
        // An executable for x86-64, with its entry at the beginning of the code.
        self.numbers(&[(2, 2), (62, 2), (1, 4)]);
        self.words(&[CODE.start, 0, table]);
        self.number(0, 4);
        let (head, entry) = if self.is_wide { (64, 64) } else { (52, 40) };
        self.numbers(&[head, 0, 0, entry, sections, sections - 1].map(|value| (value, 2)));
    }

    /// An entry of the table of sections: type, flags, address, offset, size, link, and size of an entry.
    fn section(&mut self, name: u64, [kind, flags, address, offset, size, link, entry]: [u64; 7]) {
        self.numbers(&[(name, 4), (kind, 4)]);
        self.words(&[flags, address, offset, size]);
        self.numbers(&[(link, 4), (0, 4)]);
        self.words(&[1, entry]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gprof::internals::{Image, ImageStorage, Policy};

    #[test]
    fn programs_of_every_word_size_and_byte_order_have_their_functions_and_sections() {
        for kind in 0..4 {
            let Program { bytes, is_compressed } = Program::new(&[kind, 2, 3, 0, 7, 7, 7, 0x84, 1, 0, 7]);
            let storage = ImageStorage::default();
            let image = Image::parse(&bytes, Policy::Full, &storage).expect("the program is valid");
            let functions: Vec<_> = image.symbols.iter().map(|symbol| symbol.address).collect();
            assert_eq!((functions, image.text.clone(), is_compressed), (FUNCTIONS.to_vec(), CODE, true));
            // Three bytes are no line table.
            assert!(image.files.lines().is_empty() && image.files.has_damaged_lines());
        }
    }
}
