//! Looks up the source file and line of functions. [`FileNames`] looks up the file alone, and does not keep the lines
//! of the whole program in memory.

use std::borrow::Cow;
use std::collections::HashMap;

use super::functions::{FunctionId, Functions};
use crate::program::image::address_space::Images;
use crate::program::image::source_files::{Lines, OfFiles};

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the file in [`Sources::files`].
    pub file: usize,
    /// The line, counted from one.
    pub line: u32,
}

/// The source file and line in which each function starts, as far as known.
#[derive(Debug, Default)]
pub struct Sources {
    /// The paths of files, in the order in which the symbol table first refers to them.
    pub files: Vec<Vec<u8>>,
    places: Vec<Option<Place>>,
}

impl Sources {
    /// Looks up all functions. `order` has the addresses of the symbols in the order of the symbol table.
    #[must_use]
    pub fn new(order: &[u64], functions: &Functions<'_>, lines: &Lines<'_>) -> Sources {
        Sources::of_addresses(order, functions.as_slice().iter().map(|function| function.address), lines)
    }

    /// Looks up the functions of several images, which reads the line tables of these images.
    #[must_use]
    pub fn of_images(functions: &Functions<'_>, images: &Images<'_>) -> Sources {
        let ids: Vec<FunctionId> = functions.ids().collect();
        let of_image = |ids: &[FunctionId]| {
            let image = ids.first().and_then(|id| images.get(functions.image(*id)));
            let lines = image.map(|image| image.files.lines()).unwrap_or_default();
            let addresses = ids.iter().map(|id| functions.linked(*id, functions[*id].address));
            Sources::of_addresses(&[], addresses, &lines)
        };
        Sources::join(
            ids.chunk_by(|one, other| functions.image(*one) == functions.image(*other)).map(of_image).collect(),
        )
    }

    fn of_addresses(order: &[u64], addresses: impl Iterator<Item = u64>, lines: &Lines<'_>) -> Sources {
        let mut files: Vec<Vec<u8>> = Vec::new();
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        // Most functions come from few files: each path is built once.
        let mut numbers = OfFiles::default();
        let mut place = |address: u64| {
            let found = lines.find(address).filter(|range| range.line != 0)?;
            let file = numbers.get(found.file, || {
                let path = lines.path(found.file).full();
                *known.entry(path).or_insert_with_key(|path| {
                    files.push(path.clone());
                    files.len() - 1
                })
            });
            Some(Place { file, line: found.line })
        };
        for address in order {
            place(*address);
        }
        let places = addresses.map(place).collect();
        Sources { files, places }
    }

    /// Joins the sources of several tables of functions. Files with the same path become one file.
    #[must_use]
    pub fn join(parts: Vec<Sources>) -> Sources {
        let mut whole = Sources::default();
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for Sources { files, places } in parts {
            let mut add = |path: Vec<u8>| {
                *known.entry(path).or_insert_with_key(|path| {
                    whole.files.push(path.clone());
                    whole.files.len() - 1
                })
            };
            let numbers: Vec<usize> = files.into_iter().map(&mut add).collect();
            let moved = |place: Place| Some(Place { file: *numbers.get(place.file)?, ..place });
            whole.places.extend(places.into_iter().map(|place| place.and_then(moved)));
        }
        whole
    }

    /// The file and line of each function, made up for a test.
    #[cfg(test)]
    pub(crate) fn made_up(files: &[&str], places: &[(usize, u32)]) -> Sources {
        let places = places.iter().map(|(file, line)| Some(Place { file: *file, line: *line })).collect();
        Sources { files: files.iter().map(|file| file.as_bytes().to_vec()).collect(), places }
    }

    /// The line where a function starts.
    #[must_use]
    pub fn place(&self, id: FunctionId) -> Option<Place> {
        self.places.get(id.index()).copied().flatten()
    }

    /// The path of a file, or its name without directories.
    #[must_use]
    pub fn name(&self, file: usize, whole: bool) -> &[u8] {
        let path: &[u8] = self.files.get(file).map_or(b"", Vec::as_slice);
        if whole { path } else { base(path) }
    }

    /// The files with this name. A name without directories matches all files of that name.
    #[must_use]
    pub fn named(&self, name: &[u8]) -> Vec<usize> {
        let is_base = !name.contains(&b'/');
        let shown = |path: &Vec<u8>| if is_base { base(path) == name } else { path == name };
        (0..self.files.len()).filter(|at| shown(&self.files[*at])).collect()
    }
}

/// The last part of a path.
pub(crate) fn base(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// Finds the source files of functions.
#[derive(Clone, Copy)]
pub struct FileNames<'data> {
    images: &'data Images<'data>,
}

impl<'data> FileNames<'data> {
    /// Makes a lookup for the functions of these images.
    #[must_use]
    pub fn new(images: &'data Images<'data>) -> FileNames<'data> {
        FileNames { images }
    }

    /// Returns the base names of the functions' source files, as far as known, in one pass over the line tables.
    #[must_use]
    pub fn of(&self, functions: &Functions<'_>, mut ids: Vec<FunctionId>) -> HashMap<FunctionId, Cow<'data, [u8]>> {
        // Sorting makes functions of one image neighbors.
        ids.sort_unstable();
        let mut found = HashMap::new();
        for ids in ids.chunk_by(|one, other| functions.image(*one) == functions.image(*other)) {
            let address = |id: &FunctionId| functions.linked(*id, functions[*id].address);
            let image = ids.first().and_then(|id| self.images.get(functions.image(*id)));
            let addresses = ids.iter().map(address).collect();
            let names = image.map(|image| image.files.base_names(addresses)).unwrap_or_default();
            let name = |id: &FunctionId| Some((*id, Cow::Borrowed(*names.get(&address(id))?)));
            found.extend(ids.iter().filter_map(name));
        }
        found
    }
}
