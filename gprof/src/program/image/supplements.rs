//! Debug information that several files share, in a file of its own.
//!
//! `dwz` moves what the debug information of several programs has in common into one file, which distributions put into
//! a package beside the debug files. What remains in the debug information of a program refers to names and entries of
//! the shared file. A section names the file, and has an ID that the shared file has too.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gimli::Dwarf;

use super::debug_files::{DEFAULT_DIRECTORY, id_path};
use super::elf::{self, SharedLink};
use super::sections::Owned;
use super::{files, format, headers, limits};

/// Where the shared file of an image may be.
pub(super) struct Search {
    /// The path in the link: absolute, or relative to the directory of the file with the link.
    name: PathBuf,
    id: Vec<u8>,
    /// The file with the link.
    linked_from: PathBuf,
    /// The directories of debug information.
    directories: Vec<PathBuf>,
}

/// The result of a search.
pub(super) enum Supplement {
    Found(Owned),
    /// The file is missing, of another build, or damaged. Contains what a warning says.
    Missing(String),
}

/// The reason why a file is not the shared file of an image.
enum Refusal {
    /// The file cannot be read, or is no ELF file.
    Unreadable,
    /// The file has another ID. Contains the ID, if there is one.
    OtherBuild(Option<String>),
    Damaged,
}

impl Search {
    /// The search for the file that `link` names. The link is in the file `linked_from`.
    pub(super) fn new(link: &SharedLink<'_>, linked_from: &Path, directories: &[PathBuf]) -> Search {
        Search {
            name: PathBuf::from(OsStr::from_bytes(link.name)),
            id: link.id.to_vec(),
            linked_from: linked_from.to_owned(),
            directories: directories.to_vec(),
        }
    }

    /// The ID of the file in hexadecimal.
    pub(super) fn id(&self) -> String {
        headers::hexadecimal(&self.id)
    }

    /// Finds the file: by the path in the link, and then by the ID, as debug files are found.
    pub(super) fn find(&self) -> Supplement {
        let mut refused = None;
        for path in self.paths() {
            match self.read(&path) {
                Ok(file) => return Supplement::Found(file),
                Err(Refusal::Unreadable) => {}
                Err(why) => _ = refused.get_or_insert((path, why)),
            }
        }
        let (name, install) = (self.name.display(), "install the debug packages of one build");
        Supplement::Missing(match refused {
            None => format!(
                "some names of its debug information are in {name}, which is missing: install all of its debug \
                 packages, or name their directory with --debug-dir"
            ),
            Some((path, Refusal::OtherBuild(Some(id)))) => format!(
                "some names of its debug information are missing: {} is of another build (build ID {id}, not {}): \
                 {install}",
                path.display(),
                self.id()
            ),
            Some((path, Refusal::OtherBuild(None))) => format!(
                "some names of its debug information are missing: {} has no build ID, and {} is needed: {install}",
                path.display(),
                self.id()
            ),
            Some((path, Refusal::Unreadable | Refusal::Damaged)) => format!(
                "some names of its debug information are missing: {} is damaged: install its package again",
                path.display()
            ),
        })
    }

    /// The paths where the file may be, the best first.
    fn paths(&self) -> Vec<PathBuf> {
        // A link to a debug file leads to the directory from which a relative path starts.
        let linked_from = fs::canonicalize(&self.linked_from);
        let home = linked_from.as_deref().unwrap_or(&self.linked_from).parent().unwrap_or(Path::new(""));
        let mut paths = vec![home.join(&self.name)];
        // Packages may be unpacked below another directory than the system's.
        let below = self.name.strip_prefix(DEFAULT_DIRECTORY).ok();
        for name in [below.map(Path::to_owned), id_path(&self.id)].into_iter().flatten() {
            paths.extend(self.directories.iter().map(|directory| directory.join(&name)));
        }
        paths
    }

    /// Reads a file if it is the shared file.
    fn read(&self, path: &Path) -> Result<Owned, Refusal> {
        // The image names the path, which may lead to any file.
        let beginning = files::beginning(path, 4).map_err(|_| Refusal::Unreadable)?;
        if !elf::is_elf(&beginning) {
            return Err(Refusal::Unreadable);
        }
        self.accept(&files::regular(path).map_err(|_| Refusal::Unreadable)?)
    }

    /// Takes the debug information of a file if it is the shared file.
    fn accept(&self, bytes: &[u8]) -> Result<Owned, Refusal> {
        let file = format::open(bytes).map_err(|_| Refusal::Damaged)?;
        let links = file.links();
        let ids = [links.shared_id, links.build_id];
        if !ids.contains(&Some(&self.id)) {
            return Err(Refusal::OtherBuild(ids.into_iter().flatten().next().map(headers::hexadecimal)));
        }
        let sections = file.debug_sections();
        let dwarf = Dwarf::load(|id| Ok::<_, gimli::Error>(sections.get(id))).map_err(|_| Refusal::Damaged)?;
        let is_readable = limits::is_within_limits(&sections, &dwarf, &|| &[]);
        if is_readable { Ok(Owned::new(&sections)) } else { Err(Refusal::Damaged) }
    }

    /// Takes the debug information of a file that was found elsewhere. Returns `None` if the file is another one.
    pub(super) fn supplement(&self, bytes: &[u8]) -> Option<Supplement> {
        self.accept(bytes).ok().map(Supplement::Found)
    }
}
