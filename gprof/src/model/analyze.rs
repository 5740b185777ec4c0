//! Makes an analysis of the files that were loaded.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use gmon::Profile;

use super::analysis::Analysis;
use super::empty_profile::warn_if_empty;
use super::input::Input;
use super::selection::Selections;
use super::symbolize::{Symbolized, Symbolizer};
use crate::error::Error;
use crate::program::image::Image;
use crate::program::image::address_space::Images;
use crate::program::symbols::functions::Functions;
use crate::program::symbols::sources::Sources;
use crate::question::options::Options;
use crate::question::reports::{FLAT, SOURCE, Shows, Wanted};
use crate::sources::Loaded;
use crate::terminal::progress::Progress;

/// Finds the functions of a program whose counts [`analyze_counts`] will analyze.
pub(crate) fn functions<'a>(
    loaded: &'a Loaded,
    options: &'a Options,
    progress: &mut Progress<'_>,
) -> Arc<Functions<'a>> {
    progress.tell("reading the symbols");
    let mut functions = Symbolizer::new(loaded, options, &Wanted::default()).all(progress).functions;
    functions.set_demangling(options.demangling());
    functions.spell_controls();
    Arc::new(functions)
}

/// Analyzes counts, with functions that were found before. The options must not need source lines.
///
/// # Errors
///
/// If the options select a function that does not exist.
pub(crate) fn analyze_counts<'a>(
    loaded: &'a Loaded,
    options: &'a Options,
    wanted: Wanted,
    functions: &Arc<Functions<'a>>,
) -> Result<Analysis<'a>, Error> {
    let selections = Selections::new(options, functions, &Sources::default())?;
    // The counts of functions are those of the flat profile, and need no entries.
    let mut counts = Wanted::new(wanted.calls, false);
    counts.add(FLAT, Shows { analysis: true, ..Shows::default() });
    Ok(Analysis::new(Input::new(Arc::clone(functions), loaded, options, counts, selections)))
}

/// The profile for reports that need no analysis.
static NOTHING: Profile = Profile::new();

/// Analyzes what was loaded as the options ask. Warnings go to `progress`.
///
/// # Errors
///
/// If the options select a function that does not exist.
pub(crate) fn analyze<'a>(
    loaded: &'a Loaded,
    options: &'a Options,
    wanted: Wanted,
    progress: &mut Progress<'_>,
) -> Result<Analysis<'a>, Error> {
    progress.tell("analyzing the profile");
    let (images, profile) = (loaded.images(), loaded.profile());
    // The list of each profile's records (-i) needs no analysis.
    let is_needed = wanted.analysis() || options.sums_lines();
    let symbolized = match is_needed {
        true => Symbolizer::new(loaded, options, &wanted).all(progress),
        false => Symbolized::none(),
    };
    if !profile.blocks().is_empty() && !options.by_line {
        let _ = writeln!(
            progress,
            "gprof: warning: the counts of basic blocks are left out: only reports by line (-l) show these counts"
        );
    }
    let Symbolized { mut functions, sources, object_files, inlined, inline_stacks, line_times } = symbolized;
    functions.set_demangling(options.demangling());
    let selections = match is_needed {
        true => Selections::new(options, &functions, &sources)?,
        false => Selections::program(&functions),
    };
    let input = Input::new(Arc::new(functions), loaded, options, wanted, selections);
    let input = Input {
        profile: if is_needed { input.profile } else { &NOTHING },
        stacks: input.stacks.filter(|_| is_needed),
        object_files,
        sources,
        inlined,
        inline_stacks,
        line_times,
        ..input
    };
    let mut analysis = Analysis::new(input);
    if is_needed {
        analysis.compute_wanted();
        warn_if_empty(&analysis, !profile.blocks().is_empty(), &options.images, progress);
    }
    warn_without_lines(loaded, options, &analysis.wanted, progress);
    warn_without_shared(images, progress);
    for (_, named) in images.iter().zip(&options.images).filter(|(image, _)| image.files.has_damaged_lines()) {
        let file = named.image.display();
        let _ = writeln!(
            progress,
            "gprof: warning: {file}: the section .debug_line is damaged: some source lines are not known"
        );
    }
    let new = progress.said().iter().filter(|warning| !loaded.said().contains(warning)).cloned();
    analysis.said.extend(new);
    Ok(analysis)
}

/// Warns about debug information that images share with others, if some was needed and is missing. Images that lack the
/// same file get one warning.
fn warn_without_shared(images: &Images<'_>, warnings: &mut dyn Write) {
    let mut told = HashSet::new();
    for (image, path) in images.iter().zip(images.paths()) {
        if let Some(why) = image.files.missing_names().filter(|why| told.insert(*why)) {
            // A warning that cannot be written is dropped: nobody can read it.
            let _ = writeln!(warnings, "gprof: warning: {}: {why}", path.display());
        }
    }
}

/// Warns if reports about lines need line tables, and no image has one, or an image has lines in stabs.
fn warn_without_lines(loaded: &Loaded, options: &Options, wanted: &Wanted, warnings: &mut dyn Write) {
    let needs = [
        // GNU's sums are by line, whatever the user asks for.
        ("-l", options.by_line && !options.sums_lines(), "reports functions"),
        ("--inlines", options.inlines, "adds nothing"),
        ("--source-times", options.annotation.times, "shows nothing"),
        ("-A", wanted.has(SOURCE), "shows nothing"),
    ];
    let Some((option, _, effect)) = needs.into_iter().find(|(_, is_given, _)| *is_given) else { return };
    let with_stabs = loaded.images().iter().zip(&options.images).filter(|(image, _)| image.files.has_stabs());
    for (_, named) in with_stabs {
        let image = named.image.display();
        let _ = writeln!(
            warnings,
            "gprof: warning: {image}: has stabs, which gprof does not read: {option} needs DWARF: compile with -gdwarf"
        );
    }
    let is_known = |image: &Image<'_>| image.files.has_lines() || image.files.has_stabs();
    if options.symbols.is_none() && !loaded.images().iter().any(is_known) {
        let images: Vec<String> = options.images.iter().map(|named| named.image.display().to_string()).collect();
        let images = images.join(", ");
        // A warning that cannot be written is dropped: nobody can read it.
        let _ = writeln!(
            warnings,
            "gprof: warning: {images}: no line tables, so {option} {effect}: compile with -g, or name a file with --debug-dir"
        );
    }
}
