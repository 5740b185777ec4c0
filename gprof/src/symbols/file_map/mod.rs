//! Which object file each function comes from, as a text says that `nm --print-file-name` writes.

mod assign;
mod entry;
mod gnu;
mod lines;

use std::collections::HashSet;

use crate::image::Symbol;
use crate::symbols::functions::Function;
use entry::{Entry, Role};
pub use entry::{MapError, MapFault};

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
