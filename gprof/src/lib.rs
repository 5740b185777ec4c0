//! Reports where a program built with `cc -pg` spent its time, in the words and the layout of GNU gprof.
//!
//! The program is read once ([`image`]), its functions are sorted and numbered ([`functions`]), samples become time
//! ([`flat`]) and calls a graph in which time is handed from the called to the callers ([`graph`]). All of that is frozen
//! in an [`analysis`], from which renderers ([`report`]) write text.
//!
//! No step takes more than the time of a sort, and none trusts its input.

pub mod analysis;
pub mod bsd;
pub mod cli;
pub mod doubts;
pub mod error;
pub mod flat;
pub mod functions;
pub mod graph;
pub mod image;
mod input;
mod number;
pub mod options;
pub mod report;
pub mod selection;
pub mod sum;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use gmon::{Accumulator, Hints, Profile};

use analysis::Analysis;
use cli::Request;
use error::Error;
use functions::Functions;
use image::{Image, ImageError, Names, Policy};
use options::{Contents, Options};

/// Does what a command line asks for, whose first word is the name of this program.
///
/// Reports go to `out`, warnings to `warnings`, each on a line of its own.
///
/// # Errors
///
/// Whatever keeps the reports from being written.
pub fn run(
    words: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    if let Some(arguments) = bsd::cli::parse(&words)? {
        return bsd::run(&arguments, out, warnings);
    }
    match cli::parse(words)? {
        Request::Text(text) => out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output),
        Request::Report(options) => report(&options, out, warnings),
    }
}

/// The whole way from files to text.
fn report(options: &Options, out: &mut dyn Write, warnings: &mut dyn Write) -> Result<(), Error> {
    let bytes = input::image(&options.image)?;
    let room = Names::default();
    let image = read_image(options, &bytes, &room, warnings)?;
    let (profile, contents) = profiles(options, &image, warnings)?;
    if options.sum {
        sum::write(&profile, image.word, image.order)?;
    }
    let wanted = options.wanted(contents)?;
    if !wanted.flat && !wanted.graph {
        return Ok(());
    }
    let functions = Functions::new(image.symbols, image.text.end);
    let analysis = Analysis::new(&profile, functions, &image.files, options.unused);
    write(|out| report::render(&analysis, options, wanted, out), out).map_err(Error::Output)
}

/// The program. One without symbols is made the best of.
fn read_image<'data>(
    options: &Options,
    bytes: &'data [u8],
    room: &'data Names,
    warnings: &mut dyn Write,
) -> Result<Image<'data>, Error> {
    let image = match Image::parse(bytes, Policy::Compat, room) {
        Err(ImageError::NoSymbols) => Image::parse(bytes, Policy::Full, room),
        image => image,
    };
    let image = image.map_err(|source| Error::Image { file: options.image.display().to_string(), source })?;
    if let Some(doubt) = image.doubt() {
        let _ = writeln!(warnings, "gprof: warning: {}: {doubt}", options.image.display());
    }
    Ok(image)
}

/// The sum of all profiles, and what they have room for.
fn profiles(options: &Options, image: &Image<'_>, warnings: &mut dyn Write) -> Result<(Profile, Contents), Error> {
    let hints = Hints { form: None, word: Some(image.word), order: Some(image.order) };
    let mut sum = Accumulator::default();
    let mut contents = Contents::default();
    for source in &options.profiles {
        let (profile, has) = input::profile(source, &hints)?;
        contents.samples |= has.samples;
        contents.calls |= has.calls;
        if let Some(doubt) = doubts::doubts(&profile, &image.code) {
            // Where even a warning cannot be written, nobody is left to be told.
            let _ = writeln!(warnings, "gprof: warning: {source}: {doubt}");
        }
        sum.add(profile).map_err(|error| Error::Profile { file: source.to_string(), source: error })?;
    }
    Ok((sum.finish(), contents))
}

/// Writes in large pieces, and to the end.
fn write(text: impl FnOnce(&mut dyn Write) -> io::Result<()>, out: &mut dyn Write) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    text(&mut buffer)?;
    buffer.flush()
}
