//! Reports where a program built with `cc -pg` spent its time, in the words and the layout of GNU gprof.
//!
//! The program is read once ([`image`]), its functions are sorted and numbered ([`functions`]), samples become time
//! ([`flat`]) and calls a graph in which time is handed from the called to the callers ([`graph`]). All of that is frozen
//! in an [`analysis`], from which renderers ([`report`]) write text.
//!
//! No step takes more than the time of a sort, and none trusts its input.

pub mod analysis;
pub mod annotate;
pub mod bsd;
pub mod cli;
pub mod doubts;
pub mod error;
pub mod file_map;
pub mod flat;
pub mod functions;
pub mod graph;
pub mod image;
pub mod inlines;
pub mod input;
pub mod line_symbols;
mod number;
pub mod options;
pub mod report;
pub mod selection;
pub mod sources;
pub mod static_calls;
pub mod sum;
mod symbol_file;
pub mod symspec;

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use gmon::{Accumulator, Hints, Profile};

use analysis::{Analysis, Input};
use cli::Request;
use error::Error;
use file_map::{FileMap, ObjectFiles};
use functions::Functions;
use image::lines::Lines;
use image::{Image, Names, Policy, Symbol};
use inlines::{Chains, Inlined};
use input::Parts;
use line_symbols::{Source, Touched};
use options::{Contents, Options, Wanted};
use report::Writer;
use selection::Selections;
use sources::Sources;

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
    let symbols = options.symbols.as_deref().map(input::text).transpose()?;
    let map = options.file_map.as_deref().map(input::text).transpose()?;
    let tables = Tables { symbols: symbols.as_deref(), map: read_map(options, map.as_deref())? };
    let (profile, contents, parts) = profiles(options, &image, warnings)?;
    if options.reports.sum {
        sum::write(&profile, image.word, image.order)?;
    }
    let wanted = options.wanted(contents)?;
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    let mut writer = Writer::new(&mut buffer);
    if !profile.blocks.is_empty() && !options.by_line {
        let _ = writeln!(warnings, "gprof: warning: counts of basic blocks are left out: they are told by line (-l)");
    }
    if wanted.info {
        writer.info(&parts).map_err(Error::Output)?;
    }
    if wanted.analysis() {
        let analysis = analyse(options, &image, &tables, &profile, wanted, warnings)?;
        writer.reports(&analysis, options, wanted).map_err(Error::Output)?;
        if wanted.source {
            annotated(&analysis, options, &mut writer, warnings)?;
        }
        if wanted.function_order {
            writer.function_order(&analysis).map_err(Error::Output)?;
        }
        if wanted.file_order {
            writer.file_order(&analysis).map_err(Error::Output)?;
        }
        if wanted.stats {
            writer.stats(&analysis, &parts).map_err(Error::Output)?;
        }
    }
    writer.finish().map_err(Error::Output)
}

/// The program, with its debug information if that is in a file of its own.
fn read_image<'data>(
    options: &Options,
    bytes: &'data [u8],
    room: &'data Names,
    warnings: &mut dyn Write,
) -> Result<Image<'data>, Error> {
    let policy = if options.is_gnu() { Policy::Compat } else { Policy::Full };
    let image = Image::parse(bytes, policy, room);
    let mut image = image.map_err(|source| Error::Image { file: options.image.display().to_string(), source })?;
    let system = PathBuf::from(image::DEFAULT_DIRECTORY);
    let directories: Vec<PathBuf> = options.debug_directories.iter().cloned().chain([system]).collect();
    image.find_debug_file(&options.image, &directories, policy, room);
    if let Some(doubt) = image.doubt() {
        let _ = writeln!(warnings, "gprof: warning: {}: {doubt}", options.image.display());
    }
    Ok(image)
}

/// What the user says of the program's functions in files of their own.
struct Tables<'data> {
    /// The symbols.
    symbols: Option<&'data [u8]>,
    /// The object files.
    map: Option<FileMap<'data>>,
}

/// The map of object files.
fn read_map<'data>(options: &Options, text: Option<&'data [u8]>) -> Result<Option<FileMap<'data>>, Error> {
    let (Some(path), Some(text)) = (&options.file_map, text) else {
        return Ok(None);
    };
    let map = FileMap::read(text, options.is_gnu());
    map.map(Some).map_err(|source| Error::Map { file: path.display().to_string(), source })
}

/// From a program and the sum of its profiles to all that reports show.
fn analyse<'data>(
    options: &Options,
    image: &'data Image<'data>,
    tables: &Tables<'data>,
    profile: &Profile,
    wanted: Wanted,
    warnings: &mut dyn Write,
) -> Result<Analysis<'data>, Error> {
    let (symbols, object_files) = symbols(options, image, tables, warnings);
    let mut order: Vec<u64> = symbols.iter().map(|symbol| symbol.address).collect();
    // Functions of the last section that can be run reach to its end.
    let code = if options.is_gnu() { &image.text } else { &image.code };
    // Symbols from elsewhere come without source files.
    let lines =
        if options.needs_sources(wanted) && options.symbols.is_none() { image.files.lines() } else { Lines::default() };
    let mut functions = Functions::new(symbols, code.end);
    let mut chains = Chains::new();
    if options.by_line && !lines.is_empty() {
        let owners = Functions::new(image.every_symbol(), code.end);
        let (files, by_caller) = (&image.files, options.inlines);
        // Where nothing is shown of other lines, not even their number, what the profile says nothing about costs nothing.
        let touched = options.shows_touched(wanted).then(|| Touched::new(profile));
        let (functions_so_far, touched) = (&functions, touched.as_ref());
        let source = Source { lines: &lines, files, functions: functions_so_far, owners: &owners, by_caller, touched };
        let (pieces, callers): (Vec<Symbol<'data>>, Vec<_>) = source.symbols(code.clone()).into_iter().unzip();
        order.extend(pieces.iter().map(|piece| piece.address));
        let inlined = pieces.iter().zip(callers).filter(|(_, callers)| !callers.is_empty());
        chains = inlined.map(|(piece, callers)| (piece.address, callers)).collect();
        functions = functions.with_lines(pieces, code.end);
    }
    if options.merge_clones {
        functions.merge_copies();
    }
    if let Some(files) = object_files.as_ref().filter(|_| !options.is_gnu()) {
        functions.merge_parts(|function| files.is_file(function));
    }
    let by_function = options.inlines && !options.by_line;
    let inlined = by_function.then(|| Inlined::find(code.clone(), &lines, &image.files, &functions));
    let sources = Sources::new(&order, &functions, &lines);
    let selections = Selections::new(options, &functions, &sources)?;
    let (code, files) = (image.machine_code, &image.files);
    let input = Input { profile, files, object_files, code, sources, selections, inlined, chains, options, wanted };
    Ok(Analysis::new(functions, input))
}

/// The symbols that count, some of which stand for object files if the user has a map of those.
fn symbols<'data>(
    options: &Options,
    image: &Image<'data>,
    tables: &Tables<'data>,
    warnings: &mut dyn Write,
) -> (Vec<Symbol<'data>>, Option<ObjectFiles<'data>>) {
    let mut symbols = tables.symbols.map_or_else(|| image.symbols.clone(), symbol_file::read);
    symbols.retain(|symbol| !(symbol.is_static && (options.no_static || (options.functions_only && !symbol.is_func))));
    let (Some(path), Some(map)) = (&options.file_map, &tables.map) else {
        return (symbols, None);
    };
    if options.is_gnu() && tables.symbols.is_some() {
        // GNU's files take the places of the image's own symbols only.
        return (symbols, Some(map.files()));
    }
    let (symbols, files) = map.apply(symbols, options.is_gnu());
    if files.is_foreign() {
        let doubt = "it names no function of the program: is it of another one?";
        let _ = writeln!(warnings, "gprof: warning: {}: {doubt}", path.display());
    }
    (symbols, Some(files))
}

/// Writes the annotated source files, each to a file of its own if that is wanted.
fn annotated(
    analysis: &Analysis<'_>,
    options: &Options,
    writer: &mut Writer<'_>,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    for file in annotate::annotate(analysis, options) {
        let file = match file {
            Ok(file) => file,
            Err(missing) => {
                let _ = writeln!(warnings, "gprof: warning: {}: source file not found", missing.path.display());
                continue;
            }
        };
        if options.annotation.separate {
            annotate::store(&file, |out| report::render_source(&file, options, out))?;
        } else {
            writer.source(&file, options).map_err(Error::Output)?;
        }
    }
    Ok(())
}

/// The sum of all profiles, what they have room for, and what each consists of.
fn profiles(
    options: &Options,
    image: &Image<'_>,
    warnings: &mut dyn Write,
) -> Result<(Profile, Contents, Vec<Parts>), Error> {
    let hints = Hints { form: options.form, word: Some(image.word), order: Some(image.order) };
    let mut sum = Accumulator::default();
    let mut contents = Contents::default();
    let mut all_parts = Vec::new();
    for source in &options.profiles {
        let (profile, has, parts) = input::profile(source, &hints)?;
        all_parts.push(parts);
        contents.samples |= has.samples;
        contents.calls |= has.calls;
        if let Some(doubt) = doubts::doubts(&profile, &image.code) {
            // Where even a warning cannot be written, nobody is left to be told.
            let _ = writeln!(warnings, "gprof: warning: {source}: {doubt}");
        }
        sum.add(profile).map_err(|error| Error::Profile { file: source.to_string(), source: error })?;
    }
    Ok((sum.finish(), contents, all_parts))
}
