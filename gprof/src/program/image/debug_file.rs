//! Finds debug information in a separate file.
//!
//! Distributions strip programs, and keep symbols and debug information in separate files. Two links in a program
//! lead to the file: the build ID, and the name of the file with a checksum.

use std::fs;
use std::path::{Path, PathBuf};

use super::elf::DebugLinks;
use super::format;
use crate::program::image::files;

/// The directory where systems keep debug information.
pub const DEFAULT_DIRECTORY: &str = "/usr/lib/debug";

/// Finds the separate debug file of a program, and returns its path and content.
///
/// The build ID leads to `.build-id/xx/yyyy.debug` in each of `directories`. The name leads to a file beside the
/// program, in the subdirectory `.debug`, or in one of `directories` at the program's own path. On Darwin, the file is in a
/// bundle beside the program (`prog.dSYM`). A file of another build is skipped.
pub(super) fn find(links: &DebugLinks<'_>, image: &Path, directories: &[PathBuf]) -> Option<(PathBuf, Vec<u8>)> {
    let by_id = links.build_id.and_then(|id| {
        let path = id_path(id)?;
        directories
            .iter()
            .map(|directory| directory.join(&path))
            .find_map(|path| read(path, |_, other| other == Some(id)))
    });
    let in_bundle = || {
        let id = links.build_id.filter(|_| links.has_bundle)?;
        read(bundle_path(image)?, |_, other| other == Some(id))
    };
    by_id.or_else(in_bundle).or_else(|| {
        let (name, sum) = links.link?;
        link_paths(name, image, directories).into_iter().find_map(|path| read(path, |bytes, _| checksum(bytes) == sum))
    })
}

/// Reads a file, and returns its content if the build ID and the checksum match.
fn read(path: PathBuf, is_right: impl Fn(&[u8], Option<&[u8]>) -> bool) -> Option<(PathBuf, Vec<u8>)> {
    let bytes = files::regular(&path).ok()?;
    let is_right = is_right(&bytes, format::open(&bytes).ok()?.links().build_id);
    is_right.then_some((path, bytes))
}

/// The relative path for a build ID: its first byte is the directory.
fn id_path(id: &[u8]) -> Option<PathBuf> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (first, rest) = id.split_at_checked(1)?;
    let is_sane = (1..=64).contains(&rest.len());
    is_sane.then(|| Path::new(".build-id").join(hex(first)).join(format!("{}.debug", hex(rest))))
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
    let below = home.strip_prefix("/").unwrap_or(&home);
    let mut paths = vec![home.join(name), home.join(".debug").join(name)];
    paths.extend(directories.iter().map(|directory| directory.join(below).join(name)));
    paths
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
