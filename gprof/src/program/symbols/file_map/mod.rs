//! Maps functions to object files, from a text that `nm --print-file-name` writes.

mod assign;
mod entry;
mod gnu;
mod lines;

use std::collections::HashSet;

use crate::program::image::Symbol;
use crate::program::symbols::functions::Function;
use entry::{Entry, Role};
pub use entry::{MapError, MapFault};

/// A map.
#[derive(Clone, Debug)]
pub struct FileMap<'data> {
    /// Whether the map was read line by line, or in pieces as GNU gprof does.
    by_line: bool,
    entries: Vec<Entry<'data>>,
}

impl<'data> FileMap<'data> {
    /// Reads a map, `by_line` or in pieces as GNU gprof does.
    ///
    /// # Errors
    ///
    /// At the first invalid line, and when no line names a file.
    pub fn read(text: &'data [u8], by_line: bool) -> Result<FileMap<'data>, MapError> {
        let entries = if by_line { lines::read(text)? } else { gnu::read(text)? };
        Ok(FileMap { by_line, entries })
    }

    /// Replaces functions by their object files: the first symbol of each run of a file's functions gets the name of
    /// the file, and the other symbols are removed.
    #[must_use]
    pub fn apply(&self, symbols: Vec<Symbol<'data>>) -> (Vec<Symbol<'data>>, ObjectFiles<'data>) {
        let roles = if self.by_line { assign::roles } else { gnu::roles }(&self.entries, &symbols);
        let mut files = self.files();
        let with_files = |(symbol, role): (Symbol<'data>, Role<'data>)| match role {
            Role::Itself => Some(symbol),
            Role::Within => None,
            Role::File(name) => {
                files.places.insert((symbol.address, name));
                let whole = Symbol { address: symbol.address, name, is_static: false, is_func: true };
                Some(if self.by_line { whole } else { Symbol { name, ..symbol } })
            }
        };
        (symbols.into_iter().zip(roles).filter_map(with_files).collect(), files)
    }

    /// All files, before any function is assigned to a file.
    #[must_use]
    pub fn files(&self) -> ObjectFiles<'data> {
        let mut names: Vec<&[u8]> = self.entries.iter().map(|entry| entry.file).collect();
        names.sort_unstable();
        names.dedup();
        ObjectFiles { places: HashSet::new(), names }
    }
}

/// The object files of a program.
#[derive(Clone, Debug, Default)]
pub struct ObjectFiles<'data> {
    /// The addresses where files start or continue, with the names of the files.
    places: HashSet<(u64, &'data [u8])>,
    /// The names of all files, also of files without functions in the program, sorted.
    pub names: Vec<&'data [u8]>,
}

impl ObjectFiles<'_> {
    /// Whether a function stands for an object file.
    #[must_use]
    pub fn is_file(&self, function: &Function<'_>) -> bool {
        self.places.contains(&(function.address, function.name))
    }

    /// Whether no file has a function in the program.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_without_a_function_of_the_program_is_foreign() {
        let symbol = |name| Symbol { address: 16, name, is_static: false, is_func: true };
        for by_line in [true, false] {
            let map = FileMap::read(b"a.o:0 T f\n", by_line).unwrap();
            let is_foreign = |name| map.apply(vec![symbol(name)]).1.is_foreign();
            assert_eq!([is_foreign(b"f"), is_foreign(b"g")], [false, true]);
        }
    }
}
