//! Reads the files beside the profile of one run: a side file, or the list of shared objects of an older runtime.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use gmon::object_list::{Header, ObjectList};
use gmon::side_file::SideFile;

use super::counts::RunCounts;
use super::{list, side};
use crate::program::image::files::{self, companion};

/// A size in bytes that the header of a list never exceeds.
const LONGEST_HEADER: u64 = 1 << 15;

/// The program that wrote a profile, according to the files beside the profile.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    /// There is no file, the file does not name the program, or the file belongs to another run.
    #[default]
    Unknown,
    /// The image is the program, or cannot be told apart from the program.
    Same,
    /// Another program: its identity and its path.
    Other(String, PathBuf),
}

/// The files beside the profile of a run.
#[derive(Debug, Default)]
pub(crate) struct RunFiles {
    pub(crate) program: Program,
    pub(crate) side: Option<SideFile>,
    /// The counts in a list of shared objects, if there is no side file.
    pub(crate) listed: Option<RunCounts>,
    /// Why a file is left out, with the path of the file.
    pub(crate) warning: Option<String>,
}

impl RunFiles {
    /// Reads the files beside a profile. `bytes` is the profile's content, and `identity` the identity of the image.
    /// Unless `with_objects`, reads only the header of a list.
    pub(crate) fn read(profile: &Path, bytes: &[u8], identity: Option<&str>, with_objects: bool) -> RunFiles {
        let warning = match side_file(profile, bytes) {
            Some(Ok(side)) => {
                let program = side.program().and_then(|program| Some((side::identity(program)?, side::path(program))));
                return RunFiles { program: compare(program, identity), side: Some(side), ..RunFiles::default() };
            }
            Some(Err(why)) => Some(why),
            None => None,
        };
        // An older runtime wrote its list beside a side file that another run left.
        let list = RunFiles::list(profile, bytes, identity, with_objects);
        let has_list = list.listed.is_some() || !with_objects && list.program != Program::Unknown;
        RunFiles { warning: if has_list { None } else { warning.or(list.warning) }, ..list }
    }

    /// Reads the list beside a profile.
    fn list(profile: &Path, bytes: &[u8], identity: Option<&str>, with_objects: bool) -> RunFiles {
        let path = companion(profile, "objects");
        if !fs::metadata(&path).is_ok_and(|kind| kind.is_file()) {
            return RunFiles::default();
        }
        let program = |header| program(header, bytes, identity);
        if !with_objects {
            let header = header(&path).and_then(|text| Header::parse(&text).ok());
            return RunFiles { program: program(header), ..RunFiles::default() };
        }
        let left_out = |why: String| Some(format!("{}: {why}", path.display()));
        let text = match files::regular(&path) {
            Ok(text) => text,
            Err(error) => return RunFiles { warning: left_out(error.to_string()), ..RunFiles::default() },
        };
        let program = program(Header::parse(&text).ok());
        if text.is_empty() {
            return RunFiles { program, ..RunFiles::default() }; // there was no room for it
        }
        let list = ObjectList::parse(&text).map_err(|error| format!("{error}; gprof ignores the list"));
        let list = list.and_then(|list| match list.header.is_of(bytes) {
            true => Ok(list::counts(list)),
            false => Err(format!("belongs to another run than {}; gprof ignores the list", profile.display())),
        });
        match list {
            Ok(counts) => RunFiles { program, listed: Some(counts), ..RunFiles::default() },
            Err(why) => RunFiles { program, warning: left_out(why), ..RunFiles::default() },
        }
    }
}

/// Reads the side file of a profile, if there is one.
fn side_file(profile: &Path, bytes: &[u8]) -> Option<Result<SideFile, String>> {
    let path = companion(profile, "side");
    if !fs::metadata(&path).is_ok_and(|kind| kind.is_file()) {
        return None;
    }
    let left_out = |why: String| format!("{}: {why}", path.display());
    let content = match files::regular(&path) {
        Ok(content) if content.is_empty() => return None, // there was no room for it
        Ok(content) => content,
        Err(error) => return Some(Err(left_out(error.to_string()))),
    };
    let side = SideFile::parse(&content).map_err(|error| format!("{error}; gprof ignores the side file"));
    let side = side.and_then(|side| match side.is_of(bytes) {
        true => Ok(side),
        false => Err(format!("belongs to another run than {}; gprof ignores the side file", profile.display())),
    });
    Some(side.map_err(left_out))
}

/// Reads the first bytes of a list.
fn header(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(LONGEST_HEADER).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Compares the program in a list's header with the image's identity. If both are the same, the list may be of an
/// earlier run: the program was not built again since.
fn program(header: Option<Header>, profile: &[u8], own: Option<&str>) -> Program {
    let Some(header) = header else { return Program::Unknown };
    let is_of = header.is_of(profile);
    match compare(list::program(header), own) {
        Program::Other(..) if !is_of => Program::Unknown,
        program => program,
    }
}

/// Compares the program that ran with the image's identity.
fn compare(program: Option<(String, PathBuf)>, own: Option<&str>) -> Program {
    match program {
        None => Program::Unknown,
        Some((identity, _)) if own.is_none_or(|own| own == identity) => Program::Same,
        Some((identity, path)) => Program::Other(identity, path),
    }
}
