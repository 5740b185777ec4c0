//! Reports where a program built with `cc -pg` spent its time, in the words and the layout of GNU gprof.
//!
//! Files are read ([`load`]): images ([`mod@image`]) and profiles. The functions of the images are sorted and numbered
//! ([`symbols`]), samples become time and calls a graph in which time is handed from the called to the callers. All of that is
//! frozen in an [`analysis`], from which renderers ([`report`]) write text.
//!
//! No step takes more than the time of a sort, and none trusts its input.

pub mod analysis;
pub mod cli;
pub mod error;
pub mod image;
pub mod load;
pub mod report;
pub mod symbols;
pub mod terminal;

use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gmon::Profile;

use analysis::selection::Selections;
use analysis::symbolize::{Table, Texts};
use analysis::{Analysis, Input, gnu_sum};
use cli::Request;
use cli::bsd::Arguments;
use cli::options::{Format, Group, Options, Wanted};
use error::Error;
use image::address_space::{Images, TooLarge};
use image::{Image, Names, Policy};
use load::outside::Beyond;
use load::profile_file::Parts;
use load::profiles::Runs;
use load::shared_objects::{self, Beside};
use load::{build_mismatch, profile_file, sum};
use report::{Writer, annotate};
use terminal::pager::{self, Pager};
use terminal::progress::Progress;
use terminal::{Terminal, Visible};

/// Does what a command line asks for, whose first word is the name of this program.
///
/// Reports go to `out`, warnings to `warnings`, each on a line of its own. If those are terminals, `terminal` says so:
/// then a run that takes long tells about it among the warnings.
///
/// # Errors
///
/// Whatever keeps the reports from being written.
pub fn run(
    words: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    warnings: &mut dyn Write,
    terminal: &Terminal,
) -> Result<(), Error> {
    let start = Instant::now();
    let clock = || start.elapsed();
    let mut progress = Progress::new(warnings, terminal, &clock);
    let done = obey(words, out, &mut progress, terminal);
    progress.clear();
    done
}

fn obey(
    words: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    if terminal.reports.is_some() {
        let mut visible = Visible::new(out);
        let done = answer(words, &mut visible, progress, terminal);
        return done.and_then(|()| visible.flush().map_err(Error::Output));
    }
    answer(words, out, progress, terminal)
}

fn answer(
    words: Vec<OsString>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    if let Some(arguments) = cli::bsd::parse(&words)? {
        return report_as_bsd(&arguments, out, progress);
    }
    match cli::parse(words)? {
        Request::Text(text) => out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output),
        Request::Report(options) => match options.pager.as_ref().filter(|_| terminal.reports.is_some()) {
            Some(choice) => paged(choice, &options, out, progress, terminal),
            None => report(&options, out, progress, terminal),
        },
    }
}

/// Reports through a pager. What is to be said among the reports is said when the pager has ended, so that the pager
/// does not paint over the words.
fn paged(
    choice: &pager::Choice,
    options: &Options,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    let mut pager = Pager::new(choice, out);
    progress.hold_back();
    // The pager's pipe ends at the terminal too.
    let mut visible = Visible::new(&mut pager);
    let done = report(options, &mut visible, progress, terminal);
    let done = done.and(visible.flush().map_err(Error::Output));
    let fault = pager.finish();
    progress.release();
    match fault {
        Ok(None) => {}
        Ok(Some(fault)) => _ = writeln!(progress, "gprof: warning: {fault}"),
        Err(fault) => return Err(Error::Pager(fault)),
    }
    done
}

/// The whole way from files to text.
fn report(
    options: &Options,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    progress.tell("reading the program");
    let mut beside = shared_objects::find(options, progress);
    let own = options
        .groups
        .iter()
        .map(|group| Ok((group.clone(), profile_file::image(&group.image, options.static_calls)?)));
    let more = beside.objects.iter_mut().map(|object| Ok((object.group.clone(), mem::take(&mut object.bytes))));
    let files: Vec<(Group, Vec<u8>)> = own.chain(more).collect::<Result<_, _>>()?;
    let rooms: Vec<Names> = files.iter().map(|_| Names::default()).collect();
    let symbols = options.symbols.as_deref().map(profile_file::text).transpose()?;
    let map = options.file_map.as_deref().map(profile_file::text).transpose()?;
    let texts = Texts::new(options, symbols.as_deref(), map.as_deref())?;
    let mut runs = Runs::default();
    let (images, mut profiles) = read_all(options, &files, &rooms, &mut beside, &mut runs, progress)?;
    let Runs { contents, parts, .. } = runs;
    let images = Images::new(images, &profiles);
    let images = images.map_err(|TooLarge { file }| Error::TooLarge { file: file.display().to_string() })?;
    let wanted = options.wanted(contents)?;
    progress.tell("working out the reports");
    let needs_analysis = wanted.analysis() || options.sums_lines();
    let tables = images.iter().zip(&profiles).filter(|_| needs_analysis);
    let tables = tables.map(|(image, profile)| texts.table(options, image, profile, wanted, progress)).collect();
    let code: Vec<_> = images.iter().map(|image| image.code.clone()).collect();
    beside.settle(&mut profiles, &code);
    let mut profile = images.merge(profiles);
    profile.arcs.extend(beside.arcs(&images));
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    let mut writer = Writer::new(&mut buffer, terminal);
    if !profile.blocks.is_empty() && !options.by_line {
        let _ = writeln!(progress, "gprof: warning: counts of basic blocks are left out: they are told by line (-l)");
    }
    if wanted.info {
        progress.begin_reports();
        writer.info(&parts).map_err(Error::Output)?;
    }
    if needs_analysis {
        let mut analysis = analyse(options, &images, tables, &profile, beside.beyond, wanted, length(&parts))?;
        analysis::tell_of_nothing(analysis.stats.as_ref(), !profile.blocks.is_empty(), &options.groups, progress);
        // JSON has escapes of its own.
        if terminal.reports.is_some() && options.format != Format::Json {
            analysis.functions.spell_controls();
        }
        progress.begin_reports();
        write(&analysis, options, wanted, &parts, &mut writer, progress)?;
    }
    for (_, group) in images.iter().zip(&options.groups).filter(|(image, _)| image.files.has_damaged_lines()) {
        let file = group.image.display();
        let _ = writeln!(progress, "gprof: warning: {file}: damaged section .debug_line: some lines are not known");
    }
    writer.finish().map_err(Error::Output)
}

/// Does what a command line of the BSDs asks for.
fn report_as_bsd(arguments: &Arguments, out: &mut dyn Write, progress: &mut Progress<'_>) -> Result<(), Error> {
    let path = arguments.image();
    progress.tell("reading the program");
    let bytes = profile_file::image(&path, arguments.static_calls)?;
    let room = Names::default();
    let policy = Policy::Bsd { statics: !arguments.without_statics, dots: !arguments.without_dots };
    let image = Image::parse(&bytes, policy, &room)
        .map_err(|source| Error::Image { file: path.display().to_string(), source })?;
    let profile = load::bsd::profiles(arguments, &image, progress)?;
    build_mismatch::check(&path, &bytes, &arguments.profiles(), progress);
    if arguments.sum {
        load::bsd::store(&profile, arguments.dialect, &image)?;
    }
    if profile.histograms.is_empty() {
        // Where even a warning cannot be written, nobody is left to be told.
        let _ = writeln!(progress, "gprof: warning: time is in ticks, not seconds");
    }
    progress.tell("working out the reports");
    let mut report = analysis::bsd::report(arguments, &profile, image);
    if progress.is_among_reports() {
        report.functions.spell_controls();
    }
    progress.begin_reports();
    let mut buffer = BufWriter::with_capacity(1 << 16, out);
    report::bsd::render(&report, &mut buffer).and_then(|()| buffer.flush()).map_err(Error::Output)
}

/// Writes all reports that need an analysis.
fn write(
    analysis: &Analysis<'_>,
    options: &Options,
    wanted: Wanted,
    parts: &[Parts],
    writer: &mut Writer<'_>,
    warnings: &mut dyn Write,
) -> Result<(), Error> {
    if options.format == Format::Json {
        return writer.json(analysis, wanted).map_err(Error::Output);
    }
    writer.reports(analysis, options, wanted).map_err(Error::Output)?;
    if wanted.source {
        annotated(analysis, options, writer, warnings)?;
    }
    if wanted.function_order {
        writer.function_order(analysis).map_err(Error::Output)?;
    }
    if wanted.file_order {
        writer.file_order(analysis).map_err(Error::Output)?;
    }
    if wanted.stats {
        writer.stats(analysis, parts).map_err(Error::Output)?;
    } else if options.has_footer(wanted) {
        writer.footer(analysis, parts).map_err(Error::Output)?;
    }
    Ok(())
}

/// Images, each with the path of its file, and the sum of the profiles of each.
type Read<'data> = (Vec<(PathBuf, Image<'data>)>, Vec<Profile>);

/// Reads all images and their profiles: those that the user named, and then those that were found beside them, of which one
/// that cannot be read is given up with a warning.
fn read_all<'data>(
    options: &Options,
    files: &'data [(Group, Vec<u8>)],
    rooms: &'data [Names],
    beside: &mut Beside,
    runs: &mut Runs,
    progress: &mut Progress<'_>,
) -> Result<Read<'data>, Error> {
    let (mut images, mut profiles) = (Vec::new(), Vec::new());
    for ((group, bytes), room) in files.iter().zip(rooms) {
        let is_beside = images.len() >= options.groups.len();
        let image = match read_image(options, &group.image, bytes, room) {
            Ok(image) => image,
            Err(why) if is_beside => {
                let _ = writeln!(progress, "gprof: warning: {why}: its time is outside");
                beside.give_up(images.len() - options.groups.len());
                continue;
            }
            Err(why) => return Err(why),
        };
        // Of objects that were found only what is of no use is said: that they are stripped is usual.
        if let Some(doubt) = image.doubt().filter(|_| !is_beside) {
            let _ = writeln!(progress, "gprof: warning: {}: {doubt}", group.image.display());
        }
        let (form, before) = (options.form.filter(|_| !is_beside), runs.parts.len());
        let profile = match runs.read(form, &group.profiles, &image, progress) {
            Err(why) if is_beside => {
                let _ = writeln!(progress, "gprof: warning: {why}: its time is outside");
                beside.give_up(images.len() - options.groups.len());
                continue;
            }
            read => read?,
        };
        if !is_beside {
            build_mismatch::check(&group.image, bytes, &group.profiles, progress);
        }
        runs.parts.iter_mut().skip(before).for_each(|part| part.is_beside = is_beside);
        if options.reports.sum && !options.sums_lines() {
            progress.tell("writing the sum");
            sum::write(&profile, image.word, image.order, length(&runs.parts))?;
        }
        images.push((group.image.clone(), image));
        profiles.push(profile);
    }
    Ok((images, profiles))
}

/// An image, with its debug information if that is in a file of its own.
fn read_image<'data>(
    options: &Options,
    path: &Path,
    bytes: &'data [u8],
    room: &'data Names,
) -> Result<Image<'data>, Error> {
    let policy = if options.is_gnu() { Policy::Compat } else { Policy::Full };
    let image = Image::parse(bytes, policy, room);
    let mut image = image.map_err(|source| Error::Image { file: path.display().to_string(), source })?;
    let system = PathBuf::from(image::DEFAULT_DIRECTORY);
    let directories: Vec<PathBuf> = options.debug_directories.iter().cloned().chain([system]).collect();
    image.find_debug_file(path, &directories, policy, room);
    Ok(image)
}

/// The length of all profiles that were read, in bytes.
fn length(parts: &[Parts]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(part.length))
}

/// From images and the sum of their profiles, whose files have `summed` bytes, to all that reports show.
fn analyse<'data>(
    options: &Options,
    images: &'data Images<'data>,
    tables: Vec<Table<'data>>,
    profile: &Profile,
    beyond: Beyond,
    wanted: Wanted,
    summed: u64,
) -> Result<Analysis<'data>, Error> {
    let Table { mut functions, sources, object_files, inlined, chains, line_times } = Table::join(images, tables);
    functions.set_style(options.style);
    let selections = Selections::new(options, &functions, &sources)?;
    if options.sums_lines()
        && let Some(image) = images.iter().next()
    {
        sum::write(&gnu_sum::as_gnu(profile, &functions, &selections.arcs), image.word, image.order, summed)?;
    }
    let input = Input {
        profile,
        images,
        object_files,
        sources,
        selections,
        inlined,
        chains,
        line_times,
        beyond,
        options,
        wanted,
    };
    Ok(Analysis::new(functions, input))
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
                let _ = writeln!(warnings, "gprof: warning: {}: {}", missing.path.display(), missing.why);
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
