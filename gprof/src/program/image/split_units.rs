//! Reads debug information that the compiler left in separate files (split DWARF).
//!
//! The image has a skeleton of each unit, with the name of the file that has the rest, and an ID that both share. A
//! package beside the image may contain all of these files.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::{Dwarf, DwarfPackage, Unit};

use super::sections::{Owned, Reader};
use super::{format, limits};
use crate::program::image::files;

/// The number of bytes of unrelated files that are read before the search stops.
const WASTE: usize = 64 << 20;

/// The units in separate files, by their IDs.
pub(super) type Units<'a> = HashMap<u64, Arc<Dwarf<Reader<'a>>>>;

/// The files with the split units of an image.
#[derive(Default)]
pub(super) struct Split {
    package: Option<Owned>,
    files: Vec<(u64, Owned)>,
}

impl Split {
    /// Finds the files of an image: a package, `<image>.dwp`, or the files that the skeletons name. These are
    /// searched for where the compiler wrote them, and beside the image.
    pub(super) fn find(main: &Dwarf<Reader<'_>>, image: &Path) -> Split {
        let skeletons = skeletons(main);
        let mut split = Split::default();
        if skeletons.is_empty() {
            return split;
        }
        let mut package = image.as_os_str().to_owned();
        package.push(".dwp");
        split.package = read(Path::new(&package));
        let (mut known, mut waste) = (HashSet::new(), 0);
        for (id, unit) in skeletons.iter().filter(|_| split.package.is_none()) {
            if waste > WASTE || !known.insert(*id) {
                continue;
            }
            for path in paths(main, unit, image) {
                let Some(file) = read(&path) else {
                    continue;
                };
                if file.dwarf().ok().and_then(|dwarf| first_id(&dwarf)) == Some(*id) {
                    split.files.push((*id, file));
                    break;
                }
                waste += file.len();
            }
        }
        split
    }

    /// The units in these files, except units that take more work to read than their length allows.
    pub(super) fn units<'a>(&'a self, main: &Dwarf<Reader<'a>>) -> Units<'a> {
        let package = self
            .package
            .as_ref()
            .and_then(|package| DwarfPackage::load(|id| Ok::<_, gimli::Error>(package.get(id)), package.empty()).ok());
        let files: HashMap<u64, &'a Owned> = self.files.iter().map(|(id, file)| (*id, file)).collect();
        let mut found = HashMap::new();
        for (id, skeleton) in skeletons(main) {
            let unit = match &package {
                Some(package) => package.find_cu(gimli::DwoId(id), main).ok().flatten(),
                None => files.get(&id).and_then(|file| {
                    let mut dwarf = file.dwarf().ok()?;
                    dwarf.make_dwo(main);
                    Some(dwarf)
                }),
            };
            if let Some(unit) = unit.filter(|unit| limits::is_split_within_limits(unit, &skeleton)) {
                found.insert(id, Arc::new(unit));
            }
        }
        found
    }
}

/// The units that are only skeletons in the image, with their IDs.
fn skeletons<'a>(main: &Dwarf<Reader<'a>>) -> Vec<(u64, Unit<Reader<'a>>)> {
    let mut found = Vec::new();
    let mut headers = main.units();
    while let Ok(Some(header)) = headers.next() {
        if let Ok(unit) = main.unit(header)
            && let Some(id) = unit.dwo_id
        {
            found.push((id.0, unit));
        }
    }
    found
}

/// The ID of the first unit of a file.
fn first_id(dwarf: &Dwarf<Reader<'_>>) -> Option<u64> {
    let header = dwarf.units().next().ok()??;
    Some(dwarf.unit(header).ok()?.dwo_id?.0)
}

/// The paths where the file of a unit may be.
fn paths(main: &Dwarf<Reader<'_>>, unit: &Unit<Reader<'_>>, image: &Path) -> Vec<PathBuf> {
    let name = unit.dwo_name().ok().flatten().and_then(|name| main.attr_string(unit, name).ok());
    let path = |text: Reader<'_>| PathBuf::from(OsStr::from_bytes(text.slice()));
    let Some(name) = name.map(path) else {
        return Vec::new();
    };
    // An image must not be able to name any path.
    if name.extension() != Some(OsStr::new("dwo")) {
        return Vec::new();
    }
    let made = unit.comp_dir.map(path).unwrap_or_default().join(&name);
    let beside = name.file_name().map(|name| image.with_file_name(name));
    [Some(made), beside].into_iter().flatten().collect()
}

fn read(path: &Path) -> Option<Owned> {
    let bytes = files::regular(path).ok()?;
    Some(Owned::new(&format::open(&bytes).ok()?.split_sections()))
}
