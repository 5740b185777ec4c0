//! The personality of the BSDs' gprof: their command line, their idea of a function, their layout.
//!
//! Reading, the graph and the handing up of times are the same as for GNU's; what differs is decided here.

mod analysis;
pub mod cli;
mod cut;

use std::fs;
use std::io::{BufWriter, Write};

use gmon::{Accumulator, Counter, CounterWidth, Encoding, Form, Hints, Profile};

use crate::error::Error;
use crate::image::{Image, Names, Policy};
use crate::progress::Progress;
use crate::report::bsd::{self as report, Dialect};
use crate::{doubts, input, mismatch, sum};
use cli::Arguments;

/// Does what a command line of the BSDs asks for.
///
/// # Errors
///
/// Whatever keeps the reports from being written.
pub fn run(arguments: &Arguments, out: &mut dyn Write, progress: &mut Progress<'_>) -> Result<(), Error> {
    let path = arguments.image();
    progress.tell("reading the program");
    let bytes = input::image(&path, arguments.static_calls)?;
    let room = Names::default();
    let policy = Policy::Bsd { statics: !arguments.without_statics, dots: !arguments.without_dots };
    let image = Image::parse(&bytes, policy, &room)
        .map_err(|source| Error::Image { file: path.display().to_string(), source })?;
    let profile = profiles(arguments, &image, progress)?;
    mismatch::check(&path, &bytes, &arguments.profiles(), progress);
    if arguments.sum {
        store(&profile, arguments.dialect, &image)?;
    }
    if profile.histograms.is_empty() {
        // Where even a warning cannot be written, nobody is left to be told.
        let _ = writeln!(progress, "gprof: warning: time is in ticks, not seconds");
    }
    progress.tell("working out the reports");
    let mut report = analysis::report(arguments, &profile, image);
    if progress.is_among_reports() {
        report.functions.spell_controls();
    }
    progress.begin_reports();
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    report::render(&report, &mut buffer).and_then(|()| buffer.flush()).map_err(Error::Output)
}

/// The sum of all profiles.
fn profiles(arguments: &Arguments, image: &Image<'_>, progress: &mut Progress<'_>) -> Result<Profile, Error> {
    let hints = Hints { form: None, word: Some(image.word), order: Some(image.order) };
    let mut sum = Accumulator::default();
    let sources = arguments.profiles();
    for (done, source) in sources.iter().enumerate() {
        progress.count("reading profiles", done, sources.len());
        let (profile, ..) = input::profile(source, &hints)?;
        if let Some(doubt) = doubts::doubts(&profile, &image.code) {
            let _ = writeln!(progress, "gprof: warning: {source}: {doubt}");
        }
        sum.add(profile).map_err(|error| Error::Profile { file: source.to_string(), source: error })?;
    }
    Ok(sum.finish())
}

/// Stores a sum in the system's own form, with wide counters if narrow ones do not do.
fn store(profile: &Profile, dialect: Dialect, image: &Image<'_>) -> Result<(), Error> {
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
