//! Reads the list of shared objects beside the profile of one run.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::list::{Header, ObjectList};
use crate::image::files;

/// A size in bytes that the header of a list never exceeds.
const LONGEST_HEADER: u64 = 1 << 15;

/// The path of a file beside a profile: the profile's path with this suffix.
pub(super) fn companion(profile: &Path, suffix: impl AsRef<OsStr>) -> PathBuf {
    let mut name = OsString::from(profile);
    name.push(".");
    name.push(suffix.as_ref());
    name.into()
}

/// The program that wrote a profile, according to the list beside the profile.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    /// There is no list, the list does not name the program, or the list belongs to another run.
    #[default]
    Unknown,
    /// The image is the program, or cannot be told apart from the program.
    Same,
    /// Another program: its identity and its path.
    Other(String, PathBuf),
}

/// The list beside the profile of a run.
#[derive(Debug, Default)]
pub(crate) struct RunList {
    pub(crate) program: Program,
    /// The list, or why it is left out; `None` if there is no list or it is not wanted.
    pub(super) objects: Option<Result<ObjectList, String>>,
}

impl RunList {
    /// Reads the list beside a profile. `bytes` is the profile's content, and `identity` the identity of the image.
    /// Unless `with_objects`, reads only the header of the list.
    pub(crate) fn read(profile: &Path, bytes: &[u8], identity: Option<&str>, with_objects: bool) -> RunList {
        let path = companion(profile, "objects");
        if !fs::metadata(&path).is_ok_and(|kind| kind.is_file()) {
            return RunList::default();
        }
        if !with_objects {
            let header = header(&path).and_then(|text| Header::parse(&text).ok());
            return RunList { program: program(header, bytes, identity), objects: None };
        }
        let text = match files::regular(&path) {
            Ok(text) => text,
            Err(error) => return RunList { objects: Some(Err(error.to_string())), ..RunList::default() },
        };
        let program = program(Header::parse(&text).ok(), bytes, identity);
        if text.is_empty() {
            return RunList { program, objects: None }; // there was no room for it
        }
        let list = ObjectList::parse(&text)
            .map_err(|line| format!("line {line} is not a line of a list of shared objects; gprof ignores the list"));
        let objects = list.and_then(|list| match list.header.is_of(bytes) {
            true => Ok(list),
            false => Err(format!("belongs to another run than {}; gprof ignores the list", profile.display())),
        });
        RunList { program, objects: Some(objects) }
    }
}

/// Reads the first bytes of a list.
fn header(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(LONGEST_HEADER).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Compares the program in a list's header with the image's identity.
fn program(header: Option<Header>, profile: &[u8], own: Option<&str>) -> Program {
    let Some(header) = header else { return Program::Unknown };
    match &header.program {
        None => Program::Unknown,
        Some((identity, _)) if own.is_none_or(|own| own == identity) => Program::Same,
        Some(_) if !header.is_of(profile) => Program::Unknown,
        Some((identity, path)) => Program::Other(identity.clone(), path.clone()),
    }
}
