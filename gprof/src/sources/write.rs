//! Writes profiles: the sum of profiles with the sum of their side files (`-s`), and the profile of one shared object
//! (`--extract`).

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use gmon::side_file::{Checksum, PROGRAM, Selection};
use gmon::{Encoding, Form, Histogram, Profile, Unit};

use super::Loaded;
use super::profile_file::HOST_RATE;
use super::shared_objects::RunCounts;
use super::side_info::SideObject;
use crate::error::Error;
use crate::output;
use crate::program::image::files::companion;
use crate::question::files::{Extract, ProfilePath};
use crate::question::options::Options;

/// The name of the file, in the current directory.
pub(crate) const NAME: &str = "gmon.sum";
/// The name of the side file of the sum.
const SIDE_NAME: &str = "gmon.sum.side";

/// How many times the length of its input the sum may have, and the length that the sum may always have. A count that
/// is too wide for the form is repeated in several records. Sums of profiles in GNU's form are never longer than
/// their input; a 64-bit count of another form could require any number of records. The calls of a program that calls
/// a function each nanosecond for ten days fit into these limits, and so do 30 million samples in one bin: an hour
/// and a half of 64 threads in one loop.
const FACTOR: u64 = 256;
const SLACK: u64 = 16 << 20;

/// Writes the sum of the profiles in GNU's form, and the sum of their side files. The sum is exact: a count that is too
/// wide for the form is spread over several records.
///
/// # Errors
///
/// When a file cannot be written, a count is too large to be spread over records, or side files are of different
/// programs.
pub(crate) fn write_sum(sum: &Profile, loaded: &Loaded, warnings: &mut dyn Write) -> Result<(), Error> {
    let Some(image) = loaded.images().iter().next() else { return Ok(()) };
    let limit = loaded.length().saturating_mul(FACTOR).saturating_add(SLACK).min(gmon::REPEAT_LIMIT);
    let encoding = Encoding::new(Form::Gnu, image.word.into(), image.order);
    let bytes =
        gmon::write_within(sum, encoding, limit).map_err(|source| Error::Profile { file: NAME.to_owned(), source })?;
    store(NAME, &bytes)?;
    write_side(&bytes, loaded, warnings)
}

/// Writes the sum of the side files for the sum of profiles with these bytes. Without side files, removes the side file
/// of an earlier sum.
fn write_side(sum: &[u8], loaded: &Loaded, warnings: &mut dyn Write) -> Result<(), Error> {
    let written = match loaded.sides.files.as_slice() {
        [side] => {
            let mut side = side.clone();
            side.set_live(false);
            let is_told = |selections: &[Selection]| selections.iter().any(Selection::is_of_whole_runs);
            if loaded.sides.without > 0 && side.selections().is_some_and(|selections| !is_told(selections)) {
                // Profiles without a side file are of runs that counted all calls. Their time is not known.
                let _ = side.add_selection(Selection::default());
            }
            side.set_profile(Some(Checksum::of(sum)));
            store(SIDE_NAME, &side.write())
        }
        several => {
            if !several.is_empty() {
                return Err(Error::SideFilesDiffer { what: SIDE_NAME });
            }
            match fs::remove_file(SIDE_NAME) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed.map_err(|source| Error::Write { file: SIDE_NAME.to_owned(), source }),
            }
        }
    };
    if !loaded.sides.files.is_empty() {
        loaded.sides.warn_without(SIDE_NAME, "counts in shared objects", warnings);
    }
    written
}

fn store(name: &str, bytes: &[u8]) -> Result<(), Error> {
    output::write(Path::new(name), |out| out.write_all(bytes).map_err(Error::Output))
}

/// The number of objects that an error lists at most.
const MOST_LISTED: usize = 20;

/// Writes the profile of the object that the options name, in GNU's form. Profiles without a side file add nothing; a
/// warning says how many there are.
///
/// # Errors
///
/// When no profile has a side file, when side files of different programs lie there, when there is no such object or
/// more than one, or when the file cannot be written.
pub(crate) fn extract(
    loaded: &Loaded,
    options: &Options,
    extract: &Extract,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    let profile = options.images.iter().flat_map(|image| &image.profiles).find_map(|profile| match profile {
        ProfilePath::File(path) => Some(path.as_path()),
        ProfilePath::Stdin | ProfilePath::Memory(_) => None,
    });
    let profile = profile.unwrap_or(Path::new("gmon.out"));
    let (side, info) = match (loaded.sides.files.as_slice(), loaded.side_files()) {
        ([side], [info]) => (side, info),
        ([], _) => return Err(Error::NoSideFile { file: profile.display().to_string() }),
        _ => return Err(Error::SideFilesDiffer { what: "--extract" }),
    };
    let object = find_object(&info.objects, &extract.object)?;
    let path = extract.output.clone().unwrap_or_else(|| companion(profile, suffix(&info.objects, object)));
    output::check_file(&path, options)?;
    let fail = |source: gmon::Error| Error::Profile { file: object.path.clone(), source };
    let profrate = side.rate().unwrap_or(HOST_RATE);
    let unit = loaded.profile().histograms().first().map_or(Unit::seconds(profrate), Histogram::unit);
    let Some(profile) = RunCounts::of(side).profile(object.number, unit) else {
        return Err(Error::NothingInObject { object: object.path.clone() });
    };
    let bytes = gmon::write(&profile, Encoding::new(Form::Gnu, side.word().into(), side.order()));
    let file = path.display().to_string();
    let bytes = bytes.map_err(fail)?;
    output::write(&path, |out| out.write_all(&bytes).map_err(Error::Output))?;
    loaded.sides.warn_without(&file, "counts", warnings);
    Ok(())
}

/// What follows the name of the profile and a dot: the last component of the object's path. If earlier objects or other
/// files beside the profile have the same name, a dot and a number follow.
fn suffix(objects: &[SideObject], object: &SideObject) -> OsString {
    let name = |object: &SideObject| Path::new(&object.path).file_name().unwrap_or("object".as_ref()).to_owned();
    let mut suffix = name(object);
    let shared = objects.iter().filter(|other| is_shared(other) && other.number < object.number);
    let twins = shared.filter(|other| name(other) == suffix).count();
    let before = twins + usize::from(suffix == "side" || suffix == "objects");
    if before > 0 {
        suffix.push(format!(".{}", before + 1));
    }
    suffix
}

fn is_shared(object: &SideObject) -> bool {
    object.number != PROGRAM && object.path != "[vdso]" && !object.is_generated
}

/// The object with this path, last component of a path, or number.
fn find_object<'a>(objects: &'a [SideObject], wanted: &str) -> Result<&'a SideObject, Error> {
    let shared: Vec<&SideObject> = objects.iter().filter(|object| is_shared(object)).collect();
    let with = |is_it: &dyn Fn(&SideObject) -> bool| -> Vec<&'a SideObject> {
        shared.iter().copied().filter(|object| is_it(object)).collect()
    };
    let by_number = |object: &SideObject| wanted.parse() == Ok(object.number);
    let by_name = |object: &SideObject| Path::new(&object.path).file_name() == Some(wanted.as_ref());
    let found = [with(&|object| object.path == wanted), with(&by_name), with(&by_number)];
    match found.into_iter().find(|found| !found.is_empty()).as_deref() {
        Some([object]) => Ok(object),
        Some(several) => Err(Error::Objects { wanted: wanted.to_owned(), is_known: true, objects: listed(several) }),
        None => Err(Error::Objects { wanted: wanted.to_owned(), is_known: false, objects: listed(&shared) }),
    }
}

/// The numbers and paths of objects, for an error.
fn listed(objects: &[&SideObject]) -> String {
    let names = objects.iter().take(MOST_LISTED).map(|object| format!("{} {}", object.number, object.path));
    let mut names: Vec<String> = names.collect();
    if objects.len() > MOST_LISTED {
        names.push(format!("{} more", objects.len() - MOST_LISTED));
    }
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
