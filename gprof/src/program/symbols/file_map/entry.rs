//! The lines of a map, the roles of symbols, and the errors of maps.

use std::fmt;

/// A line of a map: a symbol that an object file defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'data> {
    /// The object file.
    pub(super) file: &'data [u8],
    /// The type of the symbol, as a letter of `nm`.
    pub(super) kind: u8,
    /// The name as in the symbol table.
    pub(super) name: &'data [u8],
}

/// The error for a text that is not a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// The line, counted from one.
    pub line: usize,
    /// The error.
    pub fault: MapFault,
}

/// The error in a line of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapFault {
    /// The line is not an entry. Contains the start of the line.
    NoEntry(String),
    /// The line names a symbol without its file. Contains the start of the line.
    NoFile(String),
    /// The text ends here, and no line names a file.
    Empty,
}

impl MapFault {
    /// The number of bytes of a line that messages show.
    const SHOWN: usize = 60;

    pub(super) fn begins(line: &[u8]) -> String {
        line[..line.len().min(MapFault::SHOWN)].escape_ascii().to_string()
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.fault {
            MapFault::NoEntry(text) => write!(f, "not 'file:address type name' ('{text}')")?,
            MapFault::NoFile(text) => write!(f, "no file name before the address ('{text}')")?,
            MapFault::Empty => f.write_str("the map names no object file")?,
        }
        f.write_str("; make the map with nm --defined-only -v --print-file-name")
    }
}

impl std::error::Error for MapError {}

/// The role of a symbol in a report by object file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role<'data> {
    /// The symbol stays as it is.
    Itself,
    /// The symbol belongs to a file that starts before.
    Within,
    /// A file of this name starts or continues here.
    File(&'data [u8]),
}
