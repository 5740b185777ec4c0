//! Reads and writes profiles as the BSDs' gprof does.

use std::fs;
use std::io::Write;

use gmon::{Accumulator, Counter, CounterWidth, Encoding, Form, Histogram, Profile};

use crate::error::Error;
use crate::program::image::address_space::Images;
use crate::program::image::{self, CodeBytes, Image, Policy};
use crate::question::files::{KnownForm, ProfilePath};
use crate::question::options::BsdOptions;
use crate::question::reports::Contents;
use crate::question::rules::Dialect;
use crate::sources::image_runs::{self, Doubts, tell};
use crate::sources::input_files::{ImageFile, InputFiles};
use crate::sources::loaded::{Parsed, ParsedFiles};
use crate::sources::mismatch::{self, CallCheck};
use crate::sources::shared_objects::{Program, RunFiles};
use crate::sources::{Loaded, profile_file, rebase, write};
use crate::terminal::progress::Progress;

/// Reads all input files of a report. Warnings go to `progress`.
///
/// # Errors
///
/// When a file cannot be read, has the wrong type, or is not compatible with the other files.
pub(crate) fn load(arguments: &BsdOptions, progress: &mut Progress<'_>) -> Result<Loaded, Error> {
    progress.tell("reading the program");
    let read = ImageFile::read(&arguments.image(), arguments.static_calls)?;
    let named = vec![read.slice_for(&arguments.profiles(), &KnownForm::default())?];
    let mut profile = Profile::default();
    let parsed = ParsedFiles::try_new(InputFiles { named, ..InputFiles::default() }, |files| {
        let policy = Policy::Bsd { statics: !arguments.without_statics, dots: !arguments.without_dots };
        let mut images = Images::default();
        for file in &files.named {
            let image = file.parse_with(policy)?;
            file.tell(progress);
            profile = profiles(arguments, file, &image, progress)?;
            images = Images::alone(image);
        }
        Ok::<_, Error>(Parsed { images, file_map: None })
    })?;
    Ok(Loaded::without_sides(parsed, profile, Contents::default()))
}

/// Reads all profiles of an image, and returns their sum.
fn profiles(
    arguments: &BsdOptions,
    file: &ImageFile,
    image: &Image<'_>,
    progress: &mut Progress<'_>,
) -> Result<Profile, Error> {
    let identity = image::identity(&file.bytes);
    let own = identity.as_ref().ok().and_then(Option::as_deref);
    let calls = CallCheck::new(image, CodeBytes::new(image, file.unread.as_ref()));
    let paths = arguments.profiles();
    let (mut sum, mut files) = (Accumulator::default(), Vec::new());
    for (done, path) in paths.iter().enumerate() {
        progress.count("reading profiles", done, paths.len());
        let bytes = profile_file::bytes_or_say(path, &mut |message| progress.wait_for(message))?;
        files.push(match path {
            ProfilePath::Stdin => RunFiles::default(),
            ProfilePath::File(file) => RunFiles { side: None, ..RunFiles::read(file, &bytes, own, false) },
            ProfilePath::Memory(profile) => RunFiles { side: None, ..RunFiles::of_memory(profile, own) },
        });
        let mut profile = profile_file::read_profile(path, &bytes, &image.hints)?.profile;
        rebase::undo_slide(&mut profile, image.sampled.as_ref());
        let elsewhere = rebase::keep_program(&mut profile, &image.code);
        let is_known = files.last().is_some_and(|beside| matches!(beside.program, Program::Other(..)));
        let by_calls = || if is_known { None } else { calls.find(&profile) };
        let other = rebase::samples_elsewhere(&profile, elsewhere, &image.code);
        let expected = mismatch::expected_addresses(&image.code, image.sampled.as_ref());
        let by_addresses = || mismatch::find_wrong_addresses(&profile, &expected);
        if let Some(mismatch) = other.or_else(by_addresses).or_else(by_calls) {
            let _ = writeln!(progress, "gprof: warning: {path}: {mismatch}");
        }
        sum.add(profile).map_err(|source| Error::Profile { file: path.to_string(), source })?;
    }
    if identity.is_ok() {
        tell(&image_runs::find_other_builds((&file.path, own), &paths, &files, Doubts::Reported), progress);
    }
    Ok(sum.finish_in_order())
}

/// Writes the sum of all profiles in the system's own form. Uses wide counters if a count does not fit into narrow
/// ones.
///
/// # Errors
///
/// When the file cannot be written.
pub(crate) fn write_sum(loaded: &Loaded, dialect: Dialect) -> Result<(), Error> {
    let Some(image) = loaded.images().iter().next() else { return Ok(()) };
    let of_width = |width| Form::FreeBsd(Counter { width, signed: false });
    let usual = match dialect {
        Dialect::FreeBsd => of_width(CounterWidth::Bits16),
        Dialect::OpenBsd => Form::OpenBsd,
    };
    let profile = loaded.profile();
    let fits = profile.histograms().iter().flat_map(Histogram::hit).all(|(_, count)| count <= u16::MAX.into());
    let form = if fits { usual } else { of_width(CounterWidth::Bits64) };
    let bytes = gmon::write(profile, Encoding::new(form, image.word.into(), image.order))
        .map_err(|source| Error::Profile { file: write::NAME.to_owned(), source })?;
    fs::write(write::NAME, bytes).map_err(|source| Error::Write { file: write::NAME.to_owned(), source })
}
