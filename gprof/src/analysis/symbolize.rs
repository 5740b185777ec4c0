//! What is known of the functions of one image, and of what the user says of them in files.

use std::io::Write;

use gmon::{Histogram, Profile};

use crate::analysis::line_times::LineTimes;
use crate::cli::options::{Options, Wanted};
use crate::image::address_space::Images;
use crate::image::lines::Lines;
use crate::image::{Image, Symbol};
use crate::load::Loaded;
use crate::symbols::file_map::{FileMap, ObjectFiles};
use crate::symbols::functions::Functions;
use crate::symbols::functions::joined::ImageFunctions;
use crate::symbols::inlines::{InlineStacks, Inlined};
use crate::symbols::line_symbols::{LineSymbol, LineSymbolizer, Owners, ProfiledCode};
use crate::symbols::sources::Sources;
use crate::symbols::symbol_file;

/// What is known of the functions of one image, or of all.
#[derive(Debug)]
pub(crate) struct Symbolized<'data> {
    /// The functions.
    pub(crate) functions: Functions<'data>,
    /// Where they stand in source files; empty if neither a choice nor a report needs it.
    pub(crate) sources: Sources,
    /// The object files, if functions are put together to files; never of several images.
    pub(crate) object_files: Option<ObjectFiles<'data>>,
    /// What was inlined, if functions of that are to be told of.
    pub(crate) inlined: Option<Inlined<'data>>,
    /// Where lines were inlined, if that is to be told.
    pub(crate) chains: InlineStacks<'data>,
    /// The self time of source lines, if a report shows it.
    pub(crate) line_times: LineTimes,
}

impl<'data> Symbolized<'data> {
    /// No functions at all.
    pub(crate) fn none() -> Symbolized<'data> {
        Symbolized {
            functions: Functions::new(Vec::new(), 0),
            sources: Sources::default(),
            object_files: None,
            inlined: None,
            chains: InlineStacks::new(),
            line_times: LineTimes::default(),
        }
    }

    /// What is known of the functions of all images, from what is known of those of each.
    pub(crate) fn join(images: &Images<'data>, mut symbolized: Vec<Symbolized<'data>>) -> Symbolized<'data> {
        if images.is_alone()
            && let Some(only) = symbolized.pop()
        {
            return only;
        }
        let (mut image_functions, mut sources, mut inlined, mut chains) =
            (Vec::new(), Vec::new(), Vec::new(), InlineStacks::new());
        let mut times = Vec::new();
        for (one, (shift, last, label)) in symbolized.into_iter().zip(images.moves()) {
            image_functions.push(ImageFunctions { functions: one.functions, shift, last, label: label.to_owned() });
            sources.push(one.sources);
            times.push(one.line_times);
            inlined.push((one.inlined, shift));
            chains.extend(one.chains.into_iter().map(|(address, callers)| (address.wrapping_add(shift), callers)));
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
        Symbolized { functions, sources, object_files: None, inlined: all_inlined, chains, line_times }
    }
}

/// What the functions of images are worked out from.
pub(crate) struct Symbolizer<'a, 'data> {
    options: &'a Options,
    wanted: Wanted,
    /// The symbols that the user gives instead of the program's.
    symbols: Option<&'data [u8]>,
    /// The object files that the user tells of.
    map: Option<&'data FileMap<'data>>,
    images: &'data Images<'data>,
    /// The sum of the profiles of all images.
    profile: &'a Profile,
    /// The code that the profile says anything about, if only this code is shown.
    profiled: Option<ProfiledCode>,
}

impl<'a, 'data> Symbolizer<'a, 'data> {
    pub(crate) fn new(loaded: &'data Loaded, options: &'a Options, wanted: Wanted) -> Symbolizer<'a, 'data>
    where
        'data: 'a,
    {
        // Where nothing is shown of other lines, not even their number, what the profile says nothing about costs nothing.
        let only_profiled = options.by_line && options.shows_only_profiled_code(wanted);
        Symbolizer {
            options,
            wanted,
            symbols: loaded.symbols(),
            map: loaded.file_map(),
            images: loaded.images(),
            profile: loaded.profile(),
            profiled: only_profiled.then(|| ProfiledCode::new(loaded.profile())),
        }
    }

    /// What is known of the functions of all images.
    pub(crate) fn all(&self, warnings: &mut dyn Write) -> Symbolized<'data> {
        let images = self.images.iter().zip(self.images.moves()).enumerate();
        let each = images.map(|(at, (image, (shift, ..)))| {
            let histograms = self.images.histograms(at, self.profile);
            self.image(image, histograms, shift, warnings)
        });
        Symbolized::join(self.images, each.collect())
    }

    /// All that is known of the functions of an image before it is put beside others. Addresses of the profile are the image's,
    /// moved by `shift`.
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
        // Functions of the last section that can be run reach to its end.
        let rules = options.rules;
        let code = if rules.takes_all_segments { &image.code } else { &image.text };
        // Symbols from elsewhere come without source files.
        let has_lines = options.needs_sources(wanted) && options.symbols.is_none();
        let lines = if has_lines { image.files.lines() } else { Lines::default() };
        let mut functions = Functions::new(symbols, code.end);
        let mut chains = InlineStacks::new();
        // With the section `.text` alone, functions without code are left out also where there are no lines.
        if options.by_line && (!lines.is_empty() || (!rules.takes_all_segments && has_lines)) {
            let profiled = self.profiled.as_ref().map(|profiled| (profiled, shift));
            let pieces = pieces(options, image, &lines, &functions, profiled);
            let (pieces, callers): (Vec<Symbol<'data>>, Vec<_>) = pieces.into_iter().unzip();
            order.extend(pieces.iter().map(|piece| piece.address));
            let inlined = pieces.iter().zip(callers).filter(|(_, callers)| !callers.is_empty());
            chains = inlined.map(|(piece, callers)| (piece.address, callers)).collect();
            functions = functions.with_lines(pieces, code.end);
        }
        if options.merge_clones && rules.merges_parts {
            functions.merge_copies(&image.local_files());
        }
        if let Some(files) = object_files.as_ref().filter(|_| rules.merges_parts) {
            functions.merge_parts(|function| files.is_file(function));
        }
        let by_function = options.inlines && !options.by_line;
        let inlined = by_function.then(|| Inlined::find(code.clone(), &lines, &image.files, &functions));
        let sources = Sources::new(&order, &functions, &lines);
        let has_times = wanted.source && options.annotation.times;
        let line_times = has_times.then(|| LineTimes::new(histograms, shift, code.clone(), &lines, &functions));
        let line_times = line_times.unwrap_or_default();
        Symbolized { functions, sources, object_files, inlined, chains, line_times }
    }

    /// The symbols that count, some of which stand for object files if the user has a map of those.
    fn symbols(
        &self,
        image: &Image<'data>,
        warnings: &mut dyn Write,
    ) -> (Vec<Symbol<'data>>, Option<ObjectFiles<'data>>) {
        let options = self.options;
        let mut symbols = self.symbols.map_or_else(|| image.symbols.clone(), symbol_file::read);
        symbols
            .retain(|symbol| !(symbol.is_static && (options.no_static || (options.functions_only && !symbol.is_func))));
        let (Some(path), Some(map)) = (&options.file_map, self.map) else {
            return (symbols, None);
        };
        if !options.rules.reads_maps_by_line && self.symbols.is_some() {
            // GNU's files take the places of the image's own symbols only.
            return (symbols, Some(map.files()));
        }
        let (symbols, files) = map.apply(symbols);
        if files.is_foreign() {
            let doubt = "it names no function of the program: is it of another one?";
            let _ = writeln!(warnings, "gprof: warning: {}: {doubt}", path.display());
        }
        (symbols, Some(files))
    }
}

/// The symbols of all lines that matter.
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
    // A file may claim to have more code than it has.
    let every_byte = text_only && image.machine_code.bytes.len() as u64 >= code.end - code.start;
    let (files, by_caller) = (&image.files, options.inlines);
    let symbolizer = LineSymbolizer { lines, files, functions, owners: &owners, every_byte, by_caller, profiled };
    symbolizer.symbols(code.clone())
}
