//! Finds the functions of each image, and what the user's files and the debug information tell about the functions.

use std::io::Write;

use gmon::{Histogram, Profile};

use crate::model::division::Innermost;
use crate::model::line_times::LineTimes;
use crate::program::image::address_space::Images;
use crate::program::image::source_files::Lines;
use crate::program::image::{Image, Symbol};
use crate::program::symbols::file_map::{FileMap, ObjectFiles, nm};
use crate::program::symbols::functions::Functions;
use crate::program::symbols::functions::joined::ImageFunctions;
use crate::program::symbols::inlines::{InlineStacks, Inlined};
use crate::program::symbols::line_symbols::{LineSymbol, LineSymbolizer, Owners, ProfiledCode};
use crate::program::symbols::sources::Sources;
use crate::question::options::Options;
use crate::question::reports::{SOURCE, Wanted};
use crate::sources::Loaded;

/// The functions of one image, or of all images, with their source locations.
#[derive(Debug)]
pub(crate) struct Symbolized<'data> {
    /// The functions of one image, or of all images.
    pub(crate) functions: Functions<'data>,
    /// The source locations of functions; empty if neither a selection nor a report needs locations.
    pub(crate) sources: Sources,
    /// The object files, if the user has a map of these (`-R`). Several images have none.
    pub(crate) object_files: Option<ObjectFiles<'data>>,
    /// The inlined functions, if reports show these (`--inlines`).
    pub(crate) inlined: Option<Inlined<'data>>,
    /// The inlined calls that lead to each line (`-l --inlines`).
    pub(crate) inline_stacks: InlineStacks<'data>,
    /// The self times of source lines, if a report shows these.
    pub(crate) line_times: LineTimes,
}

impl<'data> Symbolized<'data> {
    /// Returns a value without functions.
    pub(crate) fn none() -> Symbolized<'data> {
        Symbolized {
            functions: Functions::new(Vec::new(), 0),
            sources: Sources::default(),
            object_files: None,
            inlined: None,
            inline_stacks: InlineStacks::new(),
            line_times: LineTimes::default(),
        }
    }

    /// Joins the functions of all images.
    pub(crate) fn join(images: &Images<'data>, mut symbolized: Vec<Symbolized<'data>>) -> Symbolized<'data> {
        if images.is_alone()
            && let Some(only) = symbolized.pop()
        {
            return only;
        }
        let (mut image_functions, mut sources, mut inlined, mut inline_stacks) =
            (Vec::new(), Vec::new(), Vec::new(), InlineStacks::new());
        let mut times = Vec::new();
        for (one, (shift, last, label)) in symbolized.into_iter().zip(images.moves()) {
            image_functions.push(ImageFunctions { functions: one.functions, shift, last, label: label.to_owned() });
            sources.push(one.sources);
            times.push(one.line_times);
            inlined.push((one.inlined, shift));
            inline_stacks
                .extend(one.inline_stacks.into_iter().map(|(address, callers)| (address.wrapping_add(shift), callers)));
        }
        let functions = Functions::join(image_functions);
        let mut all_inlined = None;
        for (at, (inlined, shift)) in inlined.into_iter().enumerate() {
            if let Some(inlined) = inlined {
                let all = all_inlined.get_or_insert_with(Inlined::default);
                all.append(inlined, shift, |id| functions.moved(at, id));
            }
        }
        let mut line_times = LineTimes::default();
        for (at, times) in times.into_iter().enumerate() {
            line_times.append(times, |id| functions.moved(at, id));
        }
        let sources = Sources::join(sources);
        Symbolized { functions, sources, object_files: None, inlined: all_inlined, inline_stacks, line_times }
    }
}

/// Finds the functions of images.
pub(crate) struct Symbolizer<'a, 'data> {
    options: &'a Options,
    wanted: &'a Wanted,
    /// The file of symbols that replaces the images' symbols (`-S`).
    symbols: Option<&'data [u8]>,
    /// The map of object files (`-R`).
    map: Option<&'data FileMap<'data>>,
    images: &'data Images<'data>,
    /// The sum of the profiles of all images.
    profile: &'a Profile,
    /// The samples of stacks by address, if a report shows the times of lines.
    innermost: Option<Innermost>,
    /// The code that has samples or calls, if the reports show no other code.
    profiled: Option<ProfiledCode>,
}

impl<'a, 'data> Symbolizer<'a, 'data> {
    pub(crate) fn new(loaded: &'data Loaded, options: &'a Options, wanted: &'a Wanted) -> Symbolizer<'a, 'data>
    where
        'data: 'a,
    {
        let has_line_times = wanted.has(SOURCE) && options.annotation.times || options.makes_page();
        // If the reports show no other lines, not even their number, looking up other lines would be wasted time.
        let only_profiled = options.by_line && options.shows_only_profiled_code(wanted);
        Symbolizer {
            options,
            wanted,
            symbols: loaded.symbols(),
            map: loaded.file_map(),
            images: loaded.images(),
            profile: loaded.profile(),
            innermost: has_line_times.then(|| Innermost::of(loaded, options)),
            profiled: only_profiled.then(|| ProfiledCode::new(loaded.profile())),
        }
    }

    /// Returns the functions of all images.
    pub(crate) fn all(&self, warnings: &mut dyn Write) -> Symbolized<'data> {
        let images = self.images.iter().zip(self.images.moves()).enumerate();
        let each = images.map(|(at, (image, (shift, ..)))| {
            let histograms = self.images.histograms(at, self.profile);
            self.image(image, histograms, shift, warnings)
        });
        Symbolized::join(self.images, each.collect())
    }

    /// Returns the functions of one image, at the addresses that the linker assigned. An address in the profile is the
    /// address in the image plus `shift`.
    fn image(
        &self,
        image: &'data Image<'data>,
        histograms: &[Histogram],
        shift: u64,
        warnings: &mut dyn Write,
    ) -> Symbolized<'data> {
        let Symbolizer { options, wanted, .. } = *self;
        let (symbols, object_files) = self.symbols(image, warnings);
        let mut order: Vec<u64> = symbols.iter().map(|symbol| symbol.address).collect();
        // The last function reaches to the end of the last executable section.
        let rules = options.rules;
        let code = if rules.takes_all_segments { &image.code } else { &image.text };
        // Symbols of a file (-S) come without source files.
        let has_lines = options.needs_sources(wanted) && options.symbols.is_none();
        let lines = if has_lines { image.files.lines() } else { Lines::default() };
        let mut functions = Functions::new(symbols, code.end);
        let (mut inline_stacks, mut inlined_starts) = (InlineStacks::new(), Vec::new());
        // GNU looks at the section .text alone, and leaves out functions without code even if there are no lines.
        if options.by_line && (!lines.is_empty() || (!rules.takes_all_segments && has_lines)) {
            let pieces;
            (pieces, inline_stacks) = self.pieces(image, shift, &lines, &functions);
            order.extend(pieces.iter().map(|piece| piece.address));
            if names_copies(options) {
                inlined_starts = functions.inlined_starts(&pieces);
            }
            functions = functions.with_lines(pieces, code.end);
        }
        if options.merge_clones && rules.merges_parts {
            functions.merge_copies(&image.local_files());
        }
        if let Some(files) = object_files.as_ref().filter(|_| rules.merges_parts) {
            functions.merge_parts(|function| files.is_file(function));
        }
        functions.rename(inlined_starts);
        let by_function = options.inlines && !options.by_line;
        let inlined = by_function.then(|| Inlined::find(code.clone(), &lines, &image.files, &functions));
        let sources = Sources::new(&order, &functions, &lines);
        let line_times = self.innermost.as_ref().map(|innermost| {
            let samples = (histograms, innermost);
            LineTimes::new(samples, shift, code.clone(), &lines, &functions)
        });
        let line_times = line_times.unwrap_or_default();
        Symbolized { functions, sources, object_files, inlined, inline_stacks, line_times }
    }

    /// Returns the symbols of all lines that the reports may show, and the inlined calls that lead to each line.
    fn pieces(
        &self,
        image: &'data Image<'data>,
        shift: u64,
        lines: &Lines<'data>,
        functions: &Functions<'data>,
    ) -> (Vec<Symbol<'data>>, InlineStacks<'data>) {
        let profiled = self.profiled.as_ref().map(|profiled| (profiled, shift));
        let pieces = pieces(self.options, image, lines, functions, profiled);
        let (pieces, callers): (Vec<Symbol<'data>>, Vec<_>) = pieces.into_iter().unzip();
        let inlined = pieces.iter().zip(callers).filter(|(_, callers)| !callers.is_empty());
        let inline_stacks = inlined.map(|(piece, callers)| (piece.address, callers)).collect();
        (pieces, inline_stacks)
    }

    /// Returns the symbols that become functions. With a map of object files, some of the symbols stand for whole
    /// files.
    fn symbols(
        &self,
        image: &Image<'data>,
        warnings: &mut dyn Write,
    ) -> (Vec<Symbol<'data>>, Option<ObjectFiles<'data>>) {
        let options = self.options;
        let mut symbols = self.symbols.map_or_else(|| image.symbols.clone(), nm::read_symbols);
        symbols
            .retain(|symbol| !(symbol.is_static && (options.no_static || (options.functions_only && !symbol.is_func))));
        let (Some(path), Some(map)) = (&options.file_map, self.map) else {
            return (symbols, None);
        };
        if !options.rules.reads_maps_by_line && self.symbols.is_some() {
            // GNU applies maps to the image's own symbols only.
            return (symbols, Some(map.files()));
        }
        let (symbols, files) = map.apply(symbols);
        if files.is_foreign() {
            let doubt = "the map names no function of the program: does the map belong to another program?";
            let _ = writeln!(warnings, "gprof: warning: {}: {doubt}", path.display());
        }
        (symbols, Some(files))
    }
}

/// Whether copies that the compiler made are functions of their own. GNU gprof knows no copies.
fn names_copies(options: &Options) -> bool {
    options.rules.takes_all_segments && !options.merge_clones
}

/// Returns the symbols of all lines that the reports may show.
fn pieces<'data>(
    options: &Options,
    image: &'data Image<'data>,
    lines: &Lines<'data>,
    functions: &Functions<'data>,
    profiled: Option<(&ProfiledCode, u64)>,
) -> Vec<LineSymbol<'data>> {
    let text_only = !options.rules.takes_all_segments;
    let code = if text_only { &image.text } else { &image.code };
    let owners = if text_only {
        Owners::Nearest(image.nearest())
    } else {
        Owners::Functions(Functions::new(image.every_symbol(), code.end))
    };
    // A damaged file may claim to have more code than it has.
    let every_byte = text_only && image.machine_code.bytes.len() as u64 >= code.end - code.start;
    let (files, by_caller) = (&image.files, options.inlines);
    let owners = &owners;
    let names_copies = names_copies(options);
    let symbolizer = LineSymbolizer { lines, files, functions, owners, every_byte, names_copies, by_caller, profiled };
    symbolizer.symbols(code.clone())
}
