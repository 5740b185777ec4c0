//! The names of the source files of single functions, which are looked up without keeping the lines of the whole program.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::image::address_space::Images;
use crate::symbols::functions::{FunctionId, Functions};

/// Knows the source files of functions.
#[derive(Clone, Copy)]
pub struct FileNames<'data> {
    images: &'data Images<'data>,
}

impl<'data> FileNames<'data> {
    /// The source files of the functions of these images.
    #[must_use]
    pub fn new(images: &'data Images<'data>) -> FileNames<'data> {
        FileNames { images }
    }

    /// The base names of the source files that functions come from, as far as they are known. One pass through the line tables
    /// tells those of all functions.
    #[must_use]
    pub fn of(&self, functions: &Functions<'_>, mut ids: Vec<FunctionId>) -> HashMap<FunctionId, Cow<'data, [u8]>> {
        // Functions of one image are neighbours then.
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
