//! The formats of the output: their names, and the endings of their files.

use std::path::Path;

/// A format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Plain text, in the layout of GNU gprof.
    #[default]
    Text,
    /// Text with the flat profile, the call graph and the index as tables, as wide as the terminal and with its colors.
    Table,
    /// The flat profile, the call graph and the statistics as JSON, whatever other reports the options ask for.
    /// docs/json.md has the schema.
    Json,
    /// The call graph in the language of Graphviz, with the labels of gprof2dot.
    Dot,
    /// A page for browsers with all reports and pictures, which needs no other file and no network.
    Html,
    /// A flame graph as an SVG file that needs no other file.
    Flame,
    /// The call graph as an SVG file that needs no other file.
    Svg,
    /// A row for each function and for each arc of the call graph, as CSV.
    Csv,
    /// The flat profile and the call graph, or a difference, as Markdown, for comments on changes.
    Markdown,
    /// The stacks of the samples as lines, for flame graphs.
    Folded,
    /// The stacks of the samples for speedscope.
    Speedscope,
    /// The stacks of the samples, and the calls, for `go tool pprof` and other readers of profile.proto.
    Pprof,
    /// The stacks of the samples for Firefox Profiler.
    Firefox,
    /// Self times, and the time and number of the calls of each arc, for KCachegrind and callgrind_annotate.
    Callgrind,
}

/// What is known of a format.
struct Definition {
    format: Format,
    /// The name on the command line.
    name: &'static str,
    help: &'static str,
    /// The endings of the names of files. The longest ending that fits a name counts.
    endings: &'static [&'static str],
    /// Whether the output is no text.
    is_binary: bool,
}

const fn text(format: Format, name: &'static str, endings: &'static [&'static str], help: &'static str) -> Definition {
    Definition { format, name, help, endings, is_binary: false }
}

const fn binary(
    format: Format,
    name: &'static str,
    endings: &'static [&'static str],
    help: &'static str,
) -> Definition {
    Definition { is_binary: true, ..text(format, name, endings, help) }
}

/// All formats, in the order of the help.
const DEFINITIONS: &[Definition] = &[
    text(Format::Text, "text", &[".txt"], "Text for people (the default)"),
    text(Format::Table, "table", &[], "Text with tables"),
    text(Format::Json, "json", &[".json"], "The reports as JSON; docs/json.md has the schema"),
    text(Format::Csv, "csv", &[".csv"], "A row for each function and for each arc"),
    text(
        Format::Markdown,
        "markdown",
        &[".md", ".markdown"],
        "The flat profile and the call graph for comments on changes",
    ),
    text(Format::Folded, "folded", &[".folded", ".collapsed"], "Stacks as lines, for flame graphs"),
    text(Format::Speedscope, "speedscope", &[".speedscope.json", ".speedscope"], "Stacks for speedscope"),
    binary(Format::Pprof, "pprof", &[".pprof", ".pb.gz"], "Stacks and calls for `go tool pprof`, compressed"),
    text(Format::Firefox, "firefox", &[".firefox.json"], "Stacks for Firefox Profiler"),
    text(Format::Callgrind, "callgrind", &[".callgrind"], "Times and calls for KCachegrind and callgrind_annotate"),
    text(Format::Html, "html", &[".html", ".htm"], "A page for browsers with all reports and pictures"),
    text(Format::Flame, "flame", &[".flame.svg"], "A flame graph, an SVG file for browsers"),
    text(Format::Svg, "svg", &[".svg"], "A drawing of the call graph, an SVG file"),
    text(Format::Dot, "dot", &[".dot", ".gv"], "The call graph for Graphviz and readers of gprof2dot's graphs"),
];

/// The names of files in callgrind's format begin so.
const CALLGRIND: &[u8] = b"callgrind.out";

impl Format {
    /// Returns all formats.
    pub fn all() -> impl Iterator<Item = Format> {
        DEFINITIONS.iter().map(|known| known.format)
    }

    fn definition(self) -> Option<&'static Definition> {
        DEFINITIONS.iter().find(|known| known.format == self)
    }

    /// Returns the name of the format on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.definition().map_or("", |known| known.name)
    }

    /// Returns a description of the format in one line.
    #[must_use]
    pub fn help(self) -> &'static str {
        self.definition().map_or("", |known| known.help)
    }

    /// Returns the endings of the names of files in this format.
    pub(crate) fn file_endings(self) -> &'static [&'static str] {
        self.definition().map_or(&[], |known| known.endings)
    }

    /// Returns whether the output is no text, so that a terminal cannot show the output.
    #[must_use]
    pub fn is_binary(self) -> bool {
        self.definition().is_some_and(|known| known.is_binary)
    }

    /// Returns whether the output is text for people, with the reports that the options ask for.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Format::Text | Format::Table)
    }

    /// Returns whether the output is a drawing of the call graph.
    #[must_use]
    pub(crate) fn draws_call_graph(self) -> bool {
        matches!(self, Format::Dot | Format::Svg)
    }

    /// Returns whether the output is for programs and has everything that the options leave, whatever reports the
    /// options ask for.
    #[must_use]
    pub fn is_export(self) -> bool {
        !self.is_text() && self != Format::Json
    }

    /// Returns whether the format can show what changed between two profiles.
    #[must_use]
    pub fn shows_differences(self) -> bool {
        let is_text = matches!(self, Format::Text | Format::Table | Format::Markdown);
        is_text || matches!(self, Format::Json | Format::Csv | Format::Pprof | Format::Html)
    }

    /// Returns whether the output is about functions and their stacks, so that it cannot be about lines or object
    /// files.
    #[must_use]
    pub fn needs_functions(self) -> bool {
        self.is_export() && self != Format::Csv
    }

    /// Returns the format with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Format> {
        Format::all().find(|format| format.name() == name)
    }

    /// Returns the format that the ending of a file's name stands for. A name without a dot stands for text.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Format> {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let endings =
            DEFINITIONS.iter().flat_map(|known| known.endings.iter().map(move |ending| (*ending, known.format)));
        let fitting = endings.filter(|(ending, _)| name.ends_with(ending.as_bytes()));
        let found = fitting.max_by_key(|(ending, _)| ending.len()).map(|(_, format)| format);
        let found = found.or_else(|| name.starts_with(CALLGRIND).then_some(Format::Callgrind));
        found.or_else(|| path.extension().is_none().then_some(Format::Text))
    }

    /// Returns the endings of the names of files, for an error.
    pub(crate) fn endings() -> String {
        let endings: Vec<&str> = DEFINITIONS.iter().flat_map(|known| known.endings).copied().collect();
        endings.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_stand_for_formats() {
        for format in Format::all() {
            assert_eq!(Format::named(format.name()), Some(format));
            assert!(!format.help().is_empty());
        }
        let of = |name| Format::of_file(Path::new(name));
        assert_eq!(of("a.json"), Some(Format::Json));
        assert_eq!(of("a.json/report"), Some(Format::Text));
        assert_eq!(of("report.txt"), Some(Format::Text));
        assert_eq!(of("a.speedscope.json"), Some(Format::Speedscope));
        assert_eq!(of("a.pb.gz"), Some(Format::Pprof));
        assert_eq!(of("callgrind.out.123"), Some(Format::Callgrind));
        assert_eq!(of("gmon.out"), None);
    }

    #[test]
    fn no_ending_stands_for_two_formats() {
        let mut endings: Vec<&str> = DEFINITIONS.iter().flat_map(|known| known.endings).copied().collect();
        let count = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), count);
    }
}
