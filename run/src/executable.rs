//! What kind of program a file is, and what keeps the runtime out of it.

use std::env;
use std::ffi::{CString, OsStr};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, pod};
use rustix::process::{getegid, geteuid, getgid, getuid};

use crate::error::Error;
use crate::status::field;
use crate::system;

/// A program that can be executed.
#[derive(Debug)]
pub(crate) struct Executable {
    path: PathBuf,
    hindrance: Option<Hindrance>,
}

/// Why a program will have no profile, or not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hindrance {
    Static,
    OtherMachine,
    MoreRights,
    Go,
}

impl fmt::Display for Hindrance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Hindrance::Static => {
                "a static program loads no objects, so it will have no profile: link it with gmon-cc, or with -lgmon and \
                 monstartup"
            }
            Hindrance::OtherMachine => "a program for another machine, which will have no profile",
            Hindrance::MoreRights => {
                "the program gets more rights than its user has, so the dynamic linker loads nothing into it: no profile; \
                 run it as its owner, or as root"
            }
            Hindrance::Go => {
                "Go programs end without the C library, which loses the profile: use --live, or Go's own runtime/pprof"
            }
        })
    }
}

/// How many interpreters of scripts may follow each other, as in the kernel.
const MOST_INTERPRETERS: usize = 4;

impl Executable {
    /// Finds a program as the shell does.
    ///
    /// # Errors
    ///
    /// When there is no such program, or when it cannot be executed.
    pub(crate) fn find(name: &OsStr) -> Result<Executable, Error> {
        let path = if name.as_bytes().contains(&b'/') { PathBuf::from(name) } else { in_search_path(name)? };
        let is_executable =
            fs::metadata(&path).map(|status| status.is_file() && status.permissions().mode() & 0o111 != 0);
        match is_executable {
            Ok(true) => {}
            Ok(false) => return Err(Error::NotExecutable(path, io::ErrorKind::PermissionDenied.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NotFound(path)),
            Err(error) => return Err(Error::NotExecutable(path, error)),
        }
        let hindrance = inspect(&path, MOST_INTERPRETERS);
        Ok(Executable { path, hindrance })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn hindrance(&self) -> Option<Hindrance> {
        self.hindrance
    }
}

fn in_search_path(name: &OsStr) -> Result<PathBuf, Error> {
    let places = env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut refused = None;
    for place in env::split_paths(&places) {
        let path = place.join(name);
        let Ok(status) = fs::metadata(&path) else { continue };
        if status.is_file() && status.permissions().mode() & 0o111 != 0 {
            return Ok(path);
        }
        refused.get_or_insert(path);
    }
    Err(match refused {
        Some(path) => Error::NotExecutable(path, io::ErrorKind::PermissionDenied.into()),
        None => Error::NotFound(name.into()),
    })
}

/// What keeps the runtime out of the file, or out of the interpreter of a script. `None` also if the file is of no
/// known kind.
fn inspect(path: &Path, interpreters: usize) -> Option<Hindrance> {
    /// Enough for the headers and the notes of a program.
    const ENOUGH: u64 = 1 << 20;
    let status = fs::metadata(path).ok()?;
    let rights = || gives_rights(path, &status).then_some(Hindrance::MoreRights);
    // A user may execute some programs that the user cannot read.
    let Ok(file) = File::open(path) else { return rights() };
    let mut bytes = Vec::new();
    file.take(ENOUGH).read_to_end(&mut bytes).ok()?;
    if let Some(line) = bytes.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next()?.trim_ascii();
        let interpreter = line.split(|byte| matches!(byte, b' ' | b'\t')).next()?;
        return inspect(Path::new(OsStr::from_bytes(interpreter)), interpreters.checked_sub(1)?);
    }
    rights().or_else(|| inspect_elf(&bytes))
}

/// Whether the dynamic linker will ignore the list of objects, because the program gets rights that its user lacks.
fn gives_rights(path: &Path, status: &fs::Metadata) -> bool {
    const SET_USER: u32 = 0o4000;
    /// Without the right to execute, the bit means something else.
    const SET_GROUP: u32 = 0o2010;
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let (mut new_user, mut new_group, mut has_capabilities) = (geteuid().as_raw(), getegid().as_raw(), false);
    if !system::is_without_rights(&name) && field("NoNewPrivs").as_deref() != Some("1") {
        let mode = status.mode();
        new_user = if mode & SET_USER != 0 { status.uid() } else { new_user };
        new_group = if mode & SET_GROUP == SET_GROUP { status.gid() } else { new_group };
        // The superuser's programs have all capabilities anyway.
        has_capabilities = user != 0 && system::has_capabilities(&name);
    }
    new_user != user || new_group != group || has_capabilities
}

fn inspect_elf(bytes: &[u8]) -> Option<Hindrance> {
    let (header, _) = pod::from_bytes::<elf::FileHeader64<Endianness>>(bytes).ok()?;
    if !header.is_supported() {
        return bytes.starts_with(&elf::ELFMAG).then_some(Hindrance::OtherMachine);
    }
    let endian = header.endian().ok()?;
    let machine = if cfg!(target_arch = "x86_64") { elf::EM_X86_64 } else { elf::EM_AARCH64 };
    if header.e_machine(endian) != machine {
        return Some(Hindrance::OtherMachine);
    }
    let segments = header.program_headers(endian, bytes).ok()?;
    if !segments.iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP) {
        return Some(Hindrance::Static);
    }
    let mut notes = segments.iter().filter_map(|segment| segment.notes(endian, bytes).ok().flatten());
    let is_of_go =
        notes.any(|mut notes| std::iter::from_fn(|| notes.next().ok().flatten()).any(|note| note.name() == b"Go"));
    is_of_go.then_some(Hindrance::Go)
}
