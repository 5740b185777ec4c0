//! Reads the files beside the profile of one run: a side file, or the list of shared objects of an older runtime.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use gmon::object_list::{Header, Object, ObjectList};
use gmon::side_file::SideFile;

use super::counts::{ObjectCounts, OutsideImages, RunCounts, RunObject};
use super::side;
use crate::program::image;
use crate::program::image::files::{self, companion};
use crate::question::files::InMemory;

/// The identity and the path of the program that a list names.
fn listed_program(header: Header) -> Option<(String, PathBuf)> {
    header.program.map(|program| (program.identity, path(program.path)))
}

/// The counts of a list.
pub(super) fn listed_counts(list: ObjectList) -> RunCounts {
    let ObjectList { objects, calls, kernel, vdso, elsewhere, calls_elsewhere, .. } = list;
    let arcs = calls.iter().map(|call| ([call.caller.0, call.caller.1, call.callee.0, call.callee.1], call.count));
    RunCounts {
        objects: objects.into_iter().map(object).collect(),
        arcs: arcs.collect(),
        outside_images: OutsideImages { kernel, vdso, elsewhere, calls: calls_elsewhere },
        ..RunCounts::default()
    }
}

/// An object, with the last part of the name of its profile.
fn object(listed: Object) -> RunObject {
    let path = path(listed.path);
    let mut suffix = path.file_name().unwrap_or_default().to_owned();
    if listed.twins > 0 {
        suffix.push(format!(".{}", listed.twins.saturating_add(1)));
    }
    RunObject {
        number: listed.number,
        identity: listed.build_id.as_deref().map(image::padded_build_id),
        counts: ObjectCounts::File { suffix, checksum: listed.profile },
        functions: Vec::new(),
        path,
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

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
            Some(Ok(side)) => return RunFiles::of_side(side, identity),
            Some(Err(why)) => Some(why),
            None => None,
        };
        // An older runtime wrote its list beside a side file that another run left.
        let list = RunFiles::list(profile, bytes, identity, with_objects);
        let has_list = list.listed.is_some() || !with_objects && list.program != Program::Unknown;
        RunFiles { warning: if has_list { None } else { warning.or(list.warning) }, ..list }
    }

    /// Reads the side file of a profile in memory.
    pub(crate) fn of_memory(memory: &InMemory, identity: Option<&str>) -> RunFiles {
        match belonging(&memory.side, &memory.name, &memory.profile) {
            Ok(side) => RunFiles::of_side(side, identity),
            Err(why) => RunFiles { warning: Some(format!("{}: {why}", memory.name)), ..RunFiles::default() },
        }
    }

    fn of_side(side: SideFile, identity: Option<&str>) -> RunFiles {
        let program = side.program().and_then(|program| Some((side::identity(program)?, side::path(program))));
        RunFiles { program: compare(program, identity), side: Some(side), ..RunFiles::default() }
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
            true => Ok(listed_counts(list)),
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
    Some(belonging(&content, &profile.display().to_string(), bytes).map_err(left_out))
}

/// Parses the side file of the profile with this name and these bytes.
fn belonging(content: &[u8], name: &str, profile: &[u8]) -> Result<SideFile, String> {
    let side = SideFile::parse(content).map_err(|error| format!("{error}; gprof ignores the side file"));
    side.and_then(|mut side| match side.is_of(profile) {
        true => {
            // Code without a name has the time that was counted there, too.
            side.name_generated_code(&[]);
            Ok(side)
        }
        false => Err(format!("belongs to another run than {name}; gprof ignores the side file")),
    })
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
    match compare(listed_program(header), own) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::side_file::Checksum;

    #[test]
    fn a_list() {
        let text = "gmon objects 2\nprofile 3 00000000000000ff\nprogram beef /a b\n\
            object 1 0 9 1f beef /lib/a b.so\nobject 7 1 8 2 - /x\\012y/a b.so\n\
            arc 0 16 7 32 5\nsamples kernel 3\nsamples vdso 2\nsamples elsewhere 1\ncalls elsewhere 4\nend\n";
        let list = ObjectList::parse(text.as_bytes()).unwrap();
        assert_eq!(listed_program(list.header.clone()), Some(("beef".to_owned(), "/a b".into())));
        let counts = listed_counts(list);
        let object = |number, identity: Option<&str>, path: &str, suffix: &str, checksum| RunObject {
            number,
            identity: identity.map(str::to_owned),
            path: path.into(),
            functions: Vec::new(),
            counts: ObjectCounts::File { suffix: suffix.into(), checksum },
        };
        let one = object(1, Some("beef0000"), "/lib/a b.so", "a b.so", Checksum { length: 9, sum: 0x1f });
        let two = object(7, None, "/x\ny/a b.so", "a b.so.2", Checksum { length: 8, sum: 2 });
        assert_eq!(counts.objects, [one, two]);
        assert_eq!(counts.arcs, [([0, 16, 7, 32], 5)]);
        assert_eq!(counts.outside_images, OutsideImages { kernel: 3, vdso: 2, elsewhere: 1, calls: 4 });
    }
}
