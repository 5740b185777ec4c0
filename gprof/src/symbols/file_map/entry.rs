//! A line of a map, and what becomes of the symbol of that name.

use std::fmt;

/// A line of a map: a name that an object file defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'data> {
    /// The object file.
    pub(super) file: &'data [u8],
    /// What the name stands for, in `nm`'s letters.
    pub(super) kind: u8,
    /// The name as it stands in the symbol table.
    pub(super) name: &'data [u8],
}

/// Why a text is no map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong with it.
    pub fault: MapFault,
}

/// What is wrong with a line of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapFault {
    /// It is no entry. Here is how it begins.
    NoEntry(String),
    /// It names a symbol, but not its file. Here is how it begins.
    NoFile(String),
    /// It is where the text ends, and no line names a file.
    Empty,
}

impl MapFault {
    /// How many bytes of a line are shown.
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

/// What becomes of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role<'data> {
    /// Nothing.
    Itself,
    /// It lies in a file that begins before.
    Within,
    /// It is where a file of this name begins, or goes on.
    File(&'data [u8]),
}
