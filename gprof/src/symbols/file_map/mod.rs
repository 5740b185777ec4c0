//! Which object file each function comes from, as a text says that `nm --print-file-name` writes.

mod assign;
mod gnu;
mod lines;

use std::collections::HashSet;
use std::fmt;

use crate::image::Symbol;
use crate::symbols::functions::Function;

/// A line of a map: a name that an object file defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry<'data> {
    /// The object file.
    file: &'data [u8],
    /// What the name stands for, in `nm`'s letters.
    kind: u8,
    /// The name as it stands in the symbol table.
    name: &'data [u8],
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

    fn begins(line: &[u8]) -> String {
        line[..line.len().min(MapFault::SHOWN)].escape_ascii().to_string()
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.fault {
            MapFault::NoEntry(text) => write!(f, "not 'file:address type name' ('{text}')")?,
            MapFault::NoFile(text) => write!(f, "no file name before the address ('{text}')")?,
            MapFault::Empty => f.write_str("no object file is named")?,
        }
        f.write_str("; make the map with nm --defined-only -v --print-file-name")
    }
}

impl std::error::Error for MapError {}

/// A map.
#[derive(Clone, Debug)]
pub struct FileMap<'data> {
    entries: Vec<Entry<'data>>,
}

impl<'data> FileMap<'data> {
    /// Reads a map.
    ///
    /// # Errors
    ///
    /// At the first line that cannot be made sense of, and when no line names a file.
    pub fn read(text: &'data [u8], is_gnu: bool) -> Result<FileMap<'data>, MapError> {
        let entries = if is_gnu { gnu::read(text)? } else { lines::read(text)? };
        Ok(FileMap { entries })
    }

    /// Lets files take the places of their functions: the symbols with which functions of a file begin get the name of
    /// that file, and the others of it are left out.
    #[must_use]
    pub fn apply(&self, symbols: Vec<Symbol<'data>>, is_gnu: bool) -> (Vec<Symbol<'data>>, ObjectFiles<'data>) {
        let roles = if is_gnu { gnu::roles(&self.entries, &symbols) } else { assign::roles(&self.entries, &symbols) };
        let mut files = self.files();
        let with_files = |(symbol, role): (Symbol<'data>, Role<'data>)| match role {
            Role::Itself => Some(symbol),
            Role::Within => None,
            Role::File(name) => {
                files.places.insert((symbol.address, name));
                let whole = Symbol { address: symbol.address, name, is_static: false, is_func: true };
                Some(if is_gnu { Symbol { name, ..symbol } } else { whole })
            }
        };
        (symbols.into_iter().zip(roles).filter_map(with_files).collect(), files)
    }

    /// All files, none of which is any function of a program.
    #[must_use]
    pub fn files(&self) -> ObjectFiles<'data> {
        let mut names: Vec<&[u8]> = self.entries.iter().map(|entry| entry.file).collect();
        names.sort_unstable();
        names.dedup();
        ObjectFiles { places: HashSet::new(), names }
    }
}

/// What becomes of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role<'data> {
    /// Nothing.
    Itself,
    /// It lies in a file that begins before.
    Within,
    /// It is where a file of this name begins, or goes on.
    File(&'data [u8]),
}

/// The object files of a program.
#[derive(Clone, Debug, Default)]
pub struct ObjectFiles<'data> {
    /// Where they begin or go on, with their names.
    places: HashSet<(u64, &'data [u8])>,
    /// The names of all of them, those of no program included, in order.
    pub names: Vec<&'data [u8]>,
}

impl ObjectFiles<'_> {
    /// Whether a function stands for an object file.
    #[must_use]
    pub fn is_file(&self, function: &Function<'_>) -> bool {
        self.places.contains(&(function.address, function.name))
    }

    /// Whether none of the files has a function in the program.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.places.is_empty()
    }
}
