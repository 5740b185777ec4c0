//! Debug information in other files than the image.
//!
//! Distributions strip programs, and keep symbols and debug information in a separate file. Two links in a program lead
//! to the file: the build ID, and the name of the file with a checksum.
//!
//! With split DWARF, the compiler leaves most of the debug information in other files. The image has a skeleton of each
//! unit, with the name of the file that has the rest, and an ID that both share. A package beside the image may contain
//! all of these files.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::{Dwarf, DwarfPackage, Unit};

use super::elf::DebugLinks;
use super::headers::hexadecimal;
use super::sections::{Owned, Reader};
use super::{files, format, limits};

/// The directory where systems keep debug information.
pub const DEFAULT_DIRECTORY: &str = "/usr/lib/debug";

/// Finds the separate debug file of a program, and returns its path and content.
///
/// The build ID leads to `.build-id/xx/yyyy.debug` in each of `directories`. The name leads to a file beside the
/// program, in the subdirectory `.debug`, or in one of `directories` at the program's own path. On Darwin, the file is
/// in a bundle beside the program (`prog.dSYM`). A file of another build is skipped.
pub(super) fn find_debug_file(
    links: &DebugLinks<'_>,
    image: &Path,
    directories: &[PathBuf],
) -> Option<(PathBuf, Vec<u8>)> {
    let by_id = links.build_id.and_then(|id| {
        let path = id_path(id)?;
        directories
            .iter()
            .map(|directory| directory.join(&path))
            .find_map(|path| read_if(path, |_, other| other == Some(id)))
    });
    let in_bundle = || {
        let id = links.build_id.filter(|_| links.has_bundle)?;
        read_if(bundle_path(image)?, |_, other| other == Some(id))
    };
    by_id.or_else(in_bundle).or_else(|| {
        let (name, sum) = links.link?;
        link_paths(name, image, directories)
            .into_iter()
            .find_map(|path| read_if(path, |bytes, _| checksum(bytes) == sum))
    })
}

/// Reads a file, and returns its content if the build ID and the checksum match.
fn read_if(path: PathBuf, is_right: impl Fn(&[u8], Option<&[u8]>) -> bool) -> Option<(PathBuf, Vec<u8>)> {
    let bytes = files::regular(&path).ok()?;
    let is_right = is_right(&bytes, format::open(&bytes).ok()?.links().build_id);
    is_right.then_some((path, bytes))
}

/// The relative path for a build ID: its first byte is the directory.
pub(super) fn id_path(id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_at_checked(1)?;
    let is_sane = (1..=64).contains(&rest.len());
    is_sane.then(|| Path::new(".build-id").join(hexadecimal(first)).join(format!("{}.debug", hexadecimal(rest))))
}

/// The path in the bundle of a Mach-O program.
fn bundle_path(image: &Path) -> Option<PathBuf> {
    let mut bundle = image.as_os_str().to_owned();
    bundle.push(".dSYM");
    Some(PathBuf::from(bundle).join("Contents/Resources/DWARF").join(image.file_name()?))
}

fn link_paths(name: &[u8], image: &Path, directories: &[PathBuf]) -> Vec<PathBuf> {
    let Ok(name) = std::str::from_utf8(name) else {
        return Vec::new();
    };
    // Only a plain name is allowed: a program must not be able to name any path.
    if name.is_empty() || name.contains('/') || name == "." || name == ".." {
        return Vec::new();
    }
    let Some(home) = fs::canonicalize(image).ok().and_then(|image| Some(image.parent()?.to_owned())) else {
        return Vec::new();
    };
    let below = |directory: &PathBuf| {
        let root = fs::canonicalize(root_of(directory)).unwrap_or_default();
        home.strip_prefix(&root).or_else(|_| home.strip_prefix("/")).unwrap_or(&home).to_owned()
    };
    let mut paths = vec![home.join(name), home.join(".debug").join(name)];
    paths.extend(directories.iter().map(|directory| directory.join(below(directory)).join(name)));
    paths
}

/// The root directory of the machine that has this directory of debug files: a copy of another machine's files has the
/// directory at its usual place.
fn root_of(directory: &Path) -> &Path {
    let usual = DEFAULT_DIRECTORY.trim_start_matches('/');
    let above = directory.ancestors().nth(Path::new(usual).components().count());
    above.filter(|_| directory.ends_with(usual)).unwrap_or(Path::new("/"))
}

/// The checksum in a program's link: the CRC-32 of Ethernet and gzip.
fn checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let mut value = at as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { (value >> 1) ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[at] = value;
            at += 1;
        }
        table
    };
    let step = |sum: u32, byte: &u8| (sum >> 8) ^ TABLE[usize::from(sum as u8 ^ byte)];
    !bytes.iter().fold(!0, step)
}

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
        split.package = read_split(Path::new(&package));
        let (mut known, mut waste) = (HashSet::new(), 0);
        for (id, unit) in skeletons.iter().filter(|_| split.package.is_none()) {
            if waste > WASTE || !known.insert(*id) {
                continue;
            }
            for path in paths(main, unit, image) {
                let Some(file) = read_split(&path) else {
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

fn read_split(path: &Path) -> Option<Owned> {
    let bytes = files::regular(path).ok()?;
    Some(Owned::new(&format::open(&bytes).ok()?.split_sections()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn identifiers_lead_to_files() {
        assert_eq!(id_path(&[0xab, 0x01, 0xff]), Some(PathBuf::from(".build-id/ab/01ff.debug")));
        assert_eq!(id_path(&[0xab]), None);
        assert_eq!(id_path(&[0; 100]), None);
    }

    #[test]
    fn names_lead_nowhere_else() {
        for name in [b"".as_slice(), b"..", b"../x", b"/etc/x", b"\xff"] {
            assert!(link_paths(name, Path::new("/"), &[]).is_empty());
        }
        let paths = link_paths(b"x", &std::env::current_exe().unwrap(), &[PathBuf::from("/d")]);
        assert!(paths.len() == 3 && paths[2].starts_with("/d/") && paths[1].ends_with(".debug/x"), "{paths:?}");
    }
}
