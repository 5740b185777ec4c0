//! Reads and stores profiles as the BSDs' gprof does.

use std::fs;
use std::io::Write;

use gmon::{Accumulator, Counter, CounterWidth, Encoding, Form, Hints, Profile};

use crate::cli::bsd::{Arguments, Dialect};
use crate::error::Error;
use crate::image::Image;
use crate::load::{address_mismatch, profile_file, sum};
use crate::terminal::progress::Progress;

/// The sum of all profiles.
pub(crate) fn profiles(
    arguments: &Arguments,
    image: &Image<'_>,
    progress: &mut Progress<'_>,
) -> Result<Profile, Error> {
    let hints = Hints { form: None, word: Some(image.word), order: Some(image.order) };
    let mut sum = Accumulator::default();
    let sources = arguments.profiles();
    for (done, source) in sources.iter().enumerate() {
        progress.count("reading profiles", done, sources.len());
        let (profile, ..) = profile_file::profile(source, &hints)?;
        if let Some(mismatch) = address_mismatch::find(&profile, &image.code) {
            let _ = writeln!(progress, "gprof: warning: {source}: {mismatch}");
        }
        sum.add(profile).map_err(|error| Error::Profile { file: source.to_string(), source: error })?;
    }
    Ok(sum.finish())
}

/// Stores a sum in the system's own form, with wide counters if narrow ones do not do.
pub(crate) fn store(profile: &Profile, dialect: Dialect, image: &Image<'_>) -> Result<(), Error> {
    let of_width = |width| Form::FreeBsd(Counter { width, signed: false });
    let usual = match dialect {
        Dialect::FreeBsd => of_width(CounterWidth::Bits16),
        Dialect::OpenBsd => Form::OpenBsd,
    };
    let fits = profile.histograms.iter().flat_map(|histogram| &histogram.bins).all(|bin| *bin <= u64::from(u16::MAX));
    let form = if fits { usual } else { of_width(CounterWidth::Bits64) };
    let bytes = gmon::write(profile, Encoding { form, word: image.word, order: image.order })
        .map_err(|source| Error::Profile { file: sum::NAME.to_owned(), source })?;
    fs::write(sum::NAME, bytes).map_err(|source| Error::Write { file: sum::NAME.to_owned(), source })
}
