//! The source files of functions, by the line-number programs of `.debug_line` (DWARF 2 to 5).
//!
//! A line-number program makes rows. Each row has an address and the number of a source file, in ascending order of
//! addresses up to the end of a sequence. The header of the program has the names of the files and of their
//! directories.
//!
//! Nothing here panics, allocates, or has unsafe code. If a section is torn or wrong, the files of some functions are
//! unknown. The time is in proportion to the sizes of the sections, except for a search for each sequence and function.

use gmon_unwind::{Cursor, Section};

use crate::text::Text;

/// The longest path that is known.
pub(super) const LONGEST_PATH: usize = 512;
/// The contents of entries: a name, and the number of a directory.
const NAME: u64 = 1;
const DIRECTORY: u64 = 2;

/// The bytes of the sections with lines and their strings. Sections that the object does not have are empty.
#[derive(Clone, Copy, Default)]
pub(super) struct Sections<'a> {
    /// `.debug_line`.
    pub(super) lines: &'a [u8],
    /// `.debug_line_str`.
    pub(super) line_strings: &'a [u8],
    /// `.debug_str`.
    pub(super) strings: &'a [u8],
}

/// The section with a string.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
enum Table {
    #[default]
    Nowhere,
    Line,
    LineStr,
    Str,
}

/// Where a string begins. Zeros are nowhere.
#[derive(Clone, Copy, Default)]
struct Place {
    table: Table,
    offset: u32,
}

/// The name of a directory, or of a file in the directory with a number.
#[derive(Clone, Copy, Default)]
pub(super) struct Name {
    place: Place,
    directory: u32,
}

/// The path of a source file: where the compiler ran, the directory, and the name. Unknown parts are nowhere.
#[derive(Clone, Copy, Default)]
pub(super) struct SourceFile {
    parts: [Place; 3],
}

/// A link-time address in a function, and the source file of the function.
#[derive(Clone, Copy, Default)]
pub(super) struct Located {
    pub(super) address: usize,
    file: SourceFile,
}

impl Located {
    /// Whether a part of the path is in `.debug_str`.
    pub(super) fn needs_strings(&self) -> bool {
        self.file.parts.iter().any(|place| place.table == Table::Str)
    }
}

impl Sections<'_> {
    /// The largest number of names in the header of a line-number program.
    pub(super) fn most_names(&self) -> usize {
        let mut most = 0;
        self.for_each(&mut [], |header, _| most = most.max(header.names));
        most
    }

    /// Finds the source files of functions, which are sorted by address. `names` has room for the names of a header.
    pub(super) fn locate(&self, names: &mut [Name], functions: &mut [Located]) {
        let mut finder = Finder { functions, next: 0, reached: 0 };
        self.for_each(names, |header, names| {
            let _ = header.run(|start, end, file| finder.locate(start, end, || header.source_file(names, file)));
        });
    }

    /// Passes each header and its names to `each`.
    fn for_each(&self, names: &mut [Name], mut each: impl FnMut(&Header<'_>, &[Name])) {
        let mut all = Section { address: 0, bytes: self.lines }.at(0);
        while let Some((program, offsets)) = next_program(&mut all) {
            if let Some(header) = Header::read(program, offsets, names) {
                each(&header, names);
            }
        }
    }

    /// The string at a place, unless it is empty.
    #[inline(never)]
    fn string(&self, place: Place) -> Option<&[u8]> {
        let section = match place.table {
            Table::Nowhere => return None,
            Table::Line => self.lines,
            Table::LineStr => self.line_strings,
            Table::Str => self.strings,
        };
        let rest = section.get(place.offset as usize..)?;
        let length = Section { address: 0, bytes: rest }.at(0).string().filter(|length| *length > 0)?;
        rest.get(..length)
    }

    /// The path of the source file of a function, as far as it is known, with a slash before each name and without `.`
    /// and `..`; empty if the file is unknown.
    #[inline(never)]
    pub(super) fn path(&self, function: &Located) -> Text<LONGEST_PATH> {
        let mut path = Text::new();
        let mut has_name = false;
        for place in function.file.parts {
            let part = self.string(place);
            has_name = part.is_some();
            let part = part.unwrap_or(&[]);
            if part.starts_with(b"/") {
                path.clear();
            }
            for name in part.split(|byte| *byte == b'/') {
                match name {
                    b"" | b"." => {}
                    b".." => path.shorten(path.as_bytes().iter().rposition(|byte| *byte == b'/').unwrap_or(0)),
                    _ => {
                        path.push(b"/");
                        path.push(name);
                    }
                }
            }
        }
        if !has_name || !path.is_whole() {
            path.clear();
        }
        path
    }
}

/// Finds functions by ranges of addresses.
struct Finder<'a> {
    functions: &'a mut [Located],
    /// The first function behind `reached`.
    next: usize,
    /// The end of the last range.
    reached: usize,
}

impl Finder<'_> {
    /// Sets the file of the first function in a range. The next one has a range of its own.
    fn locate(&mut self, start: usize, end: usize, file: impl FnOnce() -> SourceFile) {
        if start != self.reached {
            self.next = self.functions.partition_point(|function| function.address < start);
        }
        self.reached = end;
        if let Some(found) = self.functions.get_mut(self.next)
            && found.address < end
        {
            found.file = file();
            self.next = self.functions.partition_point(|function| function.address < end);
        }
    }
}

/// The bytes of the next line-number program without its length, and the size of offsets in the program.
#[inline(never)]
fn next_program<'a>(all: &mut Cursor<'a>) -> Option<(Cursor<'a>, u64)> {
    const IS_64: u64 = 0xffff_ffff;
    let first = fixed(all, 4)?;
    let (length, offsets) = if first == IS_64 { (fixed(all, 8)?, 8) } else { (first, 4) };
    Some((split(all, length)?, offsets))
}

// One copy of these functions serves all callers, because they are linked into every program.

/// The next number of a size in bytes: 1, 2, 4, or 8.
#[inline(never)]
fn fixed(cursor: &mut Cursor<'_>, size: u64) -> Option<u64> {
    match size {
        1 => cursor.u8().map(u64::from),
        2 => cursor.u16().map(u64::from),
        4 => cursor.u32().map(u64::from),
        _ => cursor.u64(),
    }
}

/// The next LEB128 number.
#[inline(never)]
fn leb(cursor: &mut Cursor<'_>) -> Option<u64> {
    cursor.uleb()
}

/// The next `length` bytes.
#[inline(never)]
fn split<'a>(cursor: &mut Cursor<'a>, length: u64) -> Option<Cursor<'a>> {
    cursor.split(usize::try_from(length).ok()?)
}

/// Where the next string begins. The cursor continues behind the string.
#[inline(never)]
fn string(cursor: &mut Cursor<'_>) -> Option<Place> {
    let offset = u32::try_from(cursor.address()).ok()?;
    let table = if cursor.string()? == 0 { Table::Nowhere } else { Table::Line };
    Some(Place { table, offset })
}

/// The header of a line-number program.
struct Header<'a> {
    /// The size of an instruction.
    unit: usize,
    line_range: u8,
    /// The first opcode that is special.
    special: u8,
    /// The number of operands of each standard opcode.
    operands: Cursor<'a>,
    /// The number of names, and how many of these are directories, before the files.
    names: usize,
    directories: usize,
    program: Cursor<'a>,
}

impl<'a> Header<'a> {
    /// Reads a header. `names` gets the names, as many as fit.
    #[inline(never)]
    fn read(mut program: Cursor<'a>, offsets: u64, names: &mut [Name]) -> Option<Header<'a>> {
        let version = fixed(&mut program, 2).filter(|version| (2..=5).contains(version))?;
        if version >= 5 {
            // The sizes of addresses and segments.
            split(&mut program, 2)?;
        }
        let length = fixed(&mut program, offsets)?;
        let mut header = split(&mut program, length)?;
        let unit = fixed(&mut header, 1)? as usize;
        // From version 4 on: instructions in a bundle. Then whether rows are statements, and the base of lines.
        split(&mut header, if version >= 4 { 3 } else { 2 })?;
        let (line_range, special) = (header.u8()?, header.u8()?);
        let operands = split(&mut header, u64::from(special).checked_sub(1)?)?;
        let mut names = Names { all: names, number: 0 };
        let mut directories = 0;
        for are_files in [false, true] {
            directories = names.number;
            if version >= 5 {
                names.read_described(&mut header, offsets)?;
            } else {
                names.read_plain(&mut header, are_files)?;
            }
        }
        Some(Header { unit, line_range, special, operands, directories, names: names.number, program })
    }

    /// The source file with a number.
    fn source_file(&self, names: &[Name], file: usize) -> SourceFile {
        let (directories, files) =
            names.get(..self.names).unwrap_or(names).split_at_checked(self.directories).unwrap_or_default();
        let file = files.get(file).copied().unwrap_or_default();
        let directory = |number: u32| directories.get(number as usize).map_or(Place::default(), |name| name.place);
        // The directory 0 is where the compiler ran.
        let below = if file.directory == 0 { Place::default() } else { directory(0) };
        SourceFile { parts: [below, directory(file.directory), file.place] }
    }

    /// Runs the program, and passes the ranges of addresses of its rows and the numbers of their files to `each`.
    /// `None` if the program ends too early.
    #[inline(never)]
    fn run(&self, mut each: impl FnMut(usize, usize, usize)) -> Option<()> {
        let mut program = self.program;
        let mut rows = Rows { address: 0, file: 1, start: None };
        while !program.is_at_end() {
            let opcode = program.u8()?;
            if opcode >= self.special || opcode == 8 {
                // The operation 8 advances the address as the last special opcode does, without a row.
                let special = if opcode >= self.special { opcode } else { u8::MAX };
                let steps = special.checked_sub(self.special)?.checked_div(self.line_range)?;
                rows.address = rows.address.wrapping_add(self.unit.wrapping_mul(steps.into()));
            }
            match opcode {
                0 => {
                    let length = leb(&mut program)?;
                    let mut operation = split(&mut program, length)?;
                    match operation.u8() {
                        Some(1) => {
                            rows.add(&mut each);
                            rows = Rows { address: 0, file: 1, start: None };
                        }
                        Some(2) => rows.address = operation.u64()? as usize,
                        _ => {}
                    }
                }
                _ if opcode >= self.special || opcode == 1 => rows.add(&mut each),
                2 | 4 => {
                    let number = leb(&mut program)? as usize;
                    if opcode == 4 {
                        rows.file = number;
                    } else {
                        rows.address = rows.address.wrapping_add(number.wrapping_mul(self.unit));
                    }
                }
                8 => {}
                9 => rows.address = rows.address.wrapping_add(program.u16()?.into()),
                _ => {
                    let mut operands = self.operands;
                    split(&mut operands, u64::from(opcode.saturating_sub(1)))?;
                    for _ in 0..operands.u8()? {
                        leb(&mut program)?;
                    }
                }
            }
        }
        Some(())
    }
}

/// The state of a line-number program.
struct Rows {
    address: usize,
    file: usize,
    /// The address and the file of the first row at the latest address with rows.
    start: Option<(usize, usize)>,
}

impl Rows {
    /// Adds a row, which ends the range of the rows before it.
    #[inline(never)]
    fn add(&mut self, each: &mut impl FnMut(usize, usize, usize)) {
        const LAST_BUT_ONE: usize = usize::MAX - 1;
        match self.start {
            // The linker has discarded the code of this sequence: it begins at 0, or at most two bytes before.
            Some((0 | LAST_BUT_ONE.., _)) => return,
            // The first of several rows at the entry of a function is that of the function.
            Some((start, _)) if start == self.address => return,
            Some((start, file)) if start < self.address => each(start, self.address, file),
            _ => {}
        }
        self.start = Some((self.address, self.file));
    }
}

/// The names of the header of a program, as many as fit, and their number.
struct Names<'a> {
    all: &'a mut [Name],
    number: usize,
}

impl Names<'_> {
    fn put(&mut self, place: Place, directory: u64) {
        if let Some(name) = self.all.get_mut(self.number) {
            *name = Name { place, directory: u32::try_from(directory).unwrap_or(u32::MAX) };
        }
        self.number += 1;
    }

    /// Reads a table of versions 2 to 4: strings, behind those of files the number of the directory, the time, and the
    /// size. Such tables begin at the number 1.
    #[inline(never)]
    fn read_plain(&mut self, header: &mut Cursor<'_>, are_files: bool) -> Option<()> {
        self.put(Place::default(), 0);
        loop {
            let place = string(header)?;
            if place.table == Table::Nowhere {
                return Some(());
            }
            let mut directory = 0;
            if are_files {
                directory = leb(header)?;
                leb(header)?;
                leb(header)?;
            }
            self.put(place, directory);
        }
    }

    /// Reads a table of version 5, which describes its entries.
    #[inline(never)]
    fn read_described(&mut self, header: &mut Cursor<'_>, offsets: u64) -> Option<()> {
        let fields = fixed(header, 1)?;
        let descriptions = *header;
        for _ in 0..2 * fields {
            leb(header)?;
        }
        let number = leb(header)?;
        // Each field has at least one byte, so the end of the header limits the number.
        if fields == 0 && number > 0 {
            return None;
        }
        for _ in 0..number {
            let (mut descriptions, mut place, mut directory) = (descriptions, Place::default(), 0);
            for _ in 0..fields {
                let (content, form) = (leb(&mut descriptions)?, leb(&mut descriptions)?);
                let (table, value) = field(header, form, offsets)?;
                match content {
                    NAME => place = Place { table, offset: u32::try_from(value).ok()? },
                    DIRECTORY => directory = value,
                    _ => {}
                }
            }
            self.put(place, directory);
        }
        Some(())
    }
}

/// Reads a field of a form (`DW_FORM_*`): a string, or a number that is nowhere. The value of others is 0.
#[inline(never)]
fn field(header: &mut Cursor<'_>, form: u64, offsets: u64) -> Option<(Table, u64)> {
    let (table, size) = match form {
        0x08 => return string(header).map(|place| (place.table, place.offset.into())),
        0x0f => return leb(header).map(|number| (Table::Nowhere, number)),
        0x09 | 0x1e => {
            let length = if form == 0x09 { leb(header)? } else { 16 };
            return split(header, length).map(|_| (Table::Nowhere, 0));
        }
        0x0e => (Table::Str, offsets),
        0x1f => (Table::LineStr, offsets),
        0x0b => (Table::Nowhere, 1),
        0x05 => (Table::Nowhere, 2),
        0x06 => (Table::Nowhere, 4),
        0x07 => (Table::Nowhere, 8),
        _ => return None,
    };
    fixed(header, size).map(|value| (table, value))
}

#[cfg(test)]
mod tests;
