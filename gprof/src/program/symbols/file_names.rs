//! Looks up the source files of functions without keeping the lines of the whole program in memory.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::program::image::address_space::Images;
use crate::program::symbols::functions::{FunctionId, Functions};

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
