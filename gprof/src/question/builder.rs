//! Options for users of the library, without a command line.

use std::path::PathBuf;

use gmon_demangle::Style;

use super::rules::Rules;
use crate::error::Error;
use crate::question::files::{KnownForm, Named, Output, ProfilePath, ProfiledImage};
use crate::question::format::Format;
use crate::question::options::{Annotation, Choice, DebugServers, Limit, Options, Subject};
use crate::question::pattern::{Malformed, Pattern};
use crate::question::reports::{Argument, BOUNDS, CALLERS, CONTEXTS, Reports};
use crate::question::rules::Compat;

impl Options {
    /// Returns the options for a report about `image` and the profiles of its runs, which are added up. Everything else
    /// is as on a command line without options.
    #[must_use]
    pub fn new<P: Into<PathBuf>>(image: impl Into<PathBuf>, profiles: impl IntoIterator<Item = P>) -> Options {
        Options {
            images: vec![profiled_image(image, profiles)],
            named: Named { image: true, profiles: true },
            watch: None,
            attach: None,
            repeat: None,
            comparison: None,
            known_form: KnownForm::default(),
            symbols: None,
            file_map: None,
            debug_directories: Vec::new(),
            sysroot: None,
            debug_servers: DebugServers::Unused,
            objects: true,
            thread: None,
            compat: Compat::None,
            rules: Rules::OURS,
            reports: Reports::new(true),
            choices: Vec::new(),
            no_static: false,
            functions_only: false,
            merge_clones: false,
            static_calls: false,
            propagates: false,
            brief: false,
            strict: false,
            limit: Limit::default(),
            unused: false,
            demangle: true,
            style: Style::default(),
            traditional: false,
            by_line: false,
            inlines: false,
            file_names: false,
            paths: false,
            errors: false,
            outputs: vec![Output { file: None, format: Format::Text }],
            width: None,
            annotation: Annotation {
                directories: Vec::new(),
                min_count: 1,
                table_length: 10,
                all_lines: false,
                times: false,
                separate: false,
            },
            pager: None,
            opens: false,
        }
    }

    /// Adds an image and the profiles of its runs (`--image`). The report is about all images together.
    #[must_use]
    pub fn add_image<P: Into<PathBuf>>(
        mut self,
        image: impl Into<PathBuf>,
        profiles: impl IntoIterator<Item = P>,
    ) -> Options {
        self.images.push(profiled_image(image, profiles));
        self
    }

    /// Adds a directory of separate debug files (`--debug-dir`).
    #[must_use]
    pub fn add_debug_directory(mut self, directory: impl Into<PathBuf>) -> Options {
        self.debug_directories.push(directory.into());
        self
    }

    /// Looks for shared objects and debug files of profiles below this directory, which has the files of the profiled
    /// machine (`--sysroot`).
    #[must_use]
    pub fn sysroot(mut self, directory: impl Into<PathBuf>) -> Options {
        self.sysroot = Some(directory.into());
        self
    }

    /// Sets whether `debuginfod-find` fetches the debug files that this machine does not have; the default is false. A
    /// command line sets this if the environment has DEBUGINFOD_URLS, unless it has `--no-debuginfod`.
    #[must_use]
    pub fn debuginfod(mut self, fetches: bool) -> Options {
        self.debug_servers = if fetches { DebugServers::Asked } else { DebugServers::Unused };
        self
    }

    /// Sets whether reports include the shared objects whose counts a run left beside the program's profile; the
    /// default is true (`--no-objects`).
    #[must_use]
    pub fn shared_objects(mut self, are_read: bool) -> Options {
        self.objects = are_read;
        self
    }

    /// Reports on the threads with this name, or the thread with this number, instead of all threads (`--thread`). The
    /// runs must have counted by thread.
    #[must_use]
    pub fn thread(mut self, wanted: impl Into<String>) -> Options {
        self.thread = Some(wanted.into());
        self
    }

    /// Sets whether text reports leave out explanations and the footer (`-b`).
    #[must_use]
    pub fn brief(mut self, is_brief: bool) -> Options {
        self.brief = is_brief;
        self
    }

    /// Sets whether a profile that may not belong to its image is an error
    /// ([`Error::Mismatch`](crate::Error::Mismatch)) and not a warning (`--strict`).
    #[must_use]
    pub fn strict(mut self, is_strict: bool) -> Options {
        self.strict = is_strict;
        self
    }

    /// Sets whether reports show functions that were not called and took no time (`-z`).
    #[must_use]
    pub fn unused(mut self, are_shown: bool) -> Options {
        self.unused = are_shown;
        self
    }

    /// Limits the flat profile to the first rows and the call graph to the first entries (`--top`). Without a limit, a
    /// table shows 200; `usize::MAX` is no limit, in tables as well (`--top=all`).
    #[must_use]
    pub fn top(mut self, count: usize) -> Options {
        self.limit.top = Some(count);
        self
    }

    /// Limits the flat profile and the call graph to rows and entries with this percentage of the time or more
    /// (`--min-percent`).
    #[must_use]
    pub fn min_percent(mut self, percent: f64) -> Options {
        self.limit.min_percent = Some(percent);
        self
    }

    /// Sets whether names are demangled; the default is true (`--no-demangle`).
    #[must_use]
    pub fn demangle(mut self, are_demangled: bool) -> Options {
        self.demangle = are_demangled;
        self
    }

    /// Sets whether file and line follow each name in reports (`--inline-file-names`).
    #[must_use]
    pub fn file_names(mut self, are_shown: bool) -> Options {
        self.file_names = are_shown;
        self
    }

    /// Sets whether reports are about source lines instead of functions (`-l`).
    #[must_use]
    pub fn by_line(mut self, is_by_line: bool) -> Options {
        self.by_line = is_by_line;
        self
    }

    /// Sets whether the flat profile has rows for inlined functions (`--inlines`).
    #[must_use]
    pub fn inlines(mut self, are_shown: bool) -> Options {
        self.inlines = are_shown;
        self
    }

    /// Sets whether the call graph has the calls that the machine code contains but the profile does not count (`-c`).
    #[must_use]
    pub fn static_calls(mut self, are_added: bool) -> Options {
        self.static_calls = are_added;
        self
    }

    /// Sets whether the times of called functions are estimated by the number of calls, also if the profile has stacks
    /// (`--propagate`).
    #[must_use]
    pub fn propagate(mut self, are_estimated: bool) -> Options {
        self.propagates = are_estimated;
        self
    }

    /// Prepares for [`difference`](crate::difference()): the analysis gets standard errors, and copies that the
    /// compiler made count for their functions. Both analyses of a difference need these options.
    #[must_use]
    pub fn compared(mut self) -> Options {
        self.comparison.get_or_insert_default();
        self.merge_clones(true)
    }

    /// Sets whether a difference scales the times and calls of the base, so that the base has the same total time
    /// (`--normalize`). The options of the profiles that are compared with the base decide.
    #[must_use]
    pub fn normalize(mut self, is_scaled: bool) -> Options {
        self.comparison.get_or_insert_default().normalizes = is_scaled;
        self
    }

    /// Sets whether the time and the calls of copies that the compiler made (`f.part.0`, `f.cold`) count for the
    /// function of the source file (`--merge-clones`).
    #[must_use]
    pub fn merge_clones(mut self, are_merged: bool) -> Options {
        self.merge_clones = are_merged;
        self
    }

    /// Asks for the bounds of inclusive times ([`Analysis::bounds`](crate::Analysis::bounds)). Reports then show only
    /// the bounds (`--bounds`).
    #[must_use]
    pub fn bounds(mut self, are_shown: bool) -> Options {
        match are_shown {
            true => self.reports.ask(BOUNDS, Argument::None),
            false => self.reports.forget(BOUNDS),
        }
        self
    }

    /// Asks for the tree of calling contexts, up to `depth` functions deep
    /// ([`Analysis::contexts`](crate::Analysis::contexts)). Without other reports, reports show only these
    /// (`--contexts`).
    #[must_use]
    pub fn contexts(mut self, depth: usize) -> Options {
        self.reports.ask(CONTEXTS, Argument::Number(depth));
        self
    }

    /// Asks for the callers of the function with this name ([`Analysis::callers`](crate::Analysis::callers)). The name
    /// may also be that of the source, and have `*` and `?`. Several calls add functions (`--callers`).
    ///
    /// # Errors
    ///
    /// If the name is empty, or names arcs.
    pub fn add_callers(mut self, function: &str) -> Result<Options, Error> {
        self.choices.push(choice("--callers", function, Subject::Callers, true)?);
        self.reports.ask(CALLERS, Argument::None);
        Ok(self)
    }

    /// Keeps the samples whose stacks have a function with this name (`--focus`). The name may also be that of the
    /// source, and have `*` and `?`. Several calls add functions. [`load`](crate::load()) applies this filter and the
    /// other filters of stacks.
    ///
    /// # Errors
    ///
    /// If the name is empty, or names arcs.
    pub fn focus(mut self, function: &str) -> Result<Options, Error> {
        self.choices.push(choice("--focus", function, Subject::Focus, true)?);
        Ok(self)
    }

    /// Leaves out the samples whose stacks have a function with this name (`--ignore`), which is as in
    /// [`Options::focus`].
    ///
    /// # Errors
    ///
    /// If the name is empty, or names arcs.
    pub fn ignore(mut self, function: &str) -> Result<Options, Error> {
        self.choices.push(choice("--ignore", function, Subject::Ignored, false)?);
        Ok(self)
    }

    /// Leaves out the frames of the functions with this name (`--hide`), which is as in [`Options::focus`]. What they
    /// ran counts for their callers.
    ///
    /// # Errors
    ///
    /// If the name is empty, or names arcs.
    pub fn hide(mut self, function: &str) -> Result<Options, Error> {
        self.choices.push(choice("--hide", function, Subject::Hidden, false)?);
        Ok(self)
    }

    /// Cuts off stacks above the outermost function with this name (`--show-from`), which is as in [`Options::focus`],
    /// and leaves out the samples whose stacks have none.
    ///
    /// # Errors
    ///
    /// If the name is empty, or names arcs.
    pub fn show_from(mut self, function: &str) -> Result<Options, Error> {
        self.choices.push(choice("--show-from", function, Subject::Start, true)?);
        Ok(self)
    }

    /// Sets the format that [`render`](crate::render) will write, so that the analysis has all that the format shows;
    /// the default is text (`--format`). JSON needs no setting.
    #[must_use]
    pub fn format(mut self, format: Format) -> Options {
        self.outputs = vec![Output { file: None, format }];
        self
    }

    /// Sets whether the standard errors of self times are computed and shown (`--errors`).
    #[must_use]
    pub fn errors(mut self, are_shown: bool) -> Options {
        self.errors = are_shown;
        self
    }
}

/// A choice of functions by an option.
fn choice(option: &str, function: &str, subject: Subject, only: bool) -> Result<Choice, Error> {
    let given = format!("{option} {function}");
    let wrong = |why: Malformed| Error::Usage(format!("'{given}': {why}"));
    let pattern = Pattern::new(function.as_bytes()).map_err(wrong)?;
    if matches!(pattern, Pattern::Arcs(..)) {
        return Err(wrong(Malformed::Arc));
    }
    Ok(Choice { subject, only, pattern, given })
}

fn profiled_image<P: Into<PathBuf>>(image: impl Into<PathBuf>, profiles: impl IntoIterator<Item = P>) -> ProfiledImage {
    let file = |path: P| ProfilePath::File(path.into());
    ProfiledImage { image: image.into(), profiles: profiles.into_iter().map(file).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_without_a_command_line_are_those_of_a_command_line() {
        let of = |words: &[&str]| {
            // What comes from the environment is the command line's alone.
            let mut options = Options::parse(words).unwrap();
            (options.pager, options.annotation.directories) = (None, Vec::new());
            options.debug_servers = DebugServers::Unused;
            options
        };
        let new = || Options::new("prog", ["gmon.out"]);
        assert_eq!(new(), of(&["prog", "gmon.out"]));
        let all = new().brief(true).unused(true).top(5).min_percent(0.5).demangle(false).file_names(true);
        let all =
            all.static_calls(true).merge_clones(true).errors(true).shared_objects(false).add_debug_directory("debug");
        let words = "-b -z --top=5 --min-percent=0.5 --no-demangle --inline-file-names -c --merge-clones --errors";
        let words: Vec<&str> =
            words.split(' ').chain(["--no-objects", "--debug-dir=debug", "prog", "gmon.out"]).collect();
        assert_eq!(all, of(&words));
        assert_eq!(new().top(usize::MAX), of(&["--top=all", "prog", "gmon.out"]));
        assert_eq!(new().thread("main"), of(&["--thread=main", "prog", "gmon.out"]));
        assert_eq!(new().bounds(true), of(&["--bounds", "prog", "gmon.out"]));
        assert_eq!(new().contexts(3), of(&["--contexts=3", "prog", "gmon.out"]));
        assert_eq!(new().add_callers("f").unwrap(), of(&["--callers=f", "prog", "gmon.out"]));
        assert_eq!(new().format(Format::Csv), of(&["--format=csv", "prog", "gmon.out"]));
        assert_eq!(new().propagate(true), of(&["--propagate", "prog", "gmon.out"]));
        assert_eq!(new().by_line(true).inlines(true), of(&["-l", "--inlines", "prog", "gmon.out"]));
        let several = Options::new("one", ["1", "2"]).add_image("other", ["3"]).shared_objects(false);
        let mut words = of(&["--image", "one", "1", "2", "--image", "other", "3"]);
        words.objects = false;
        assert_eq!(several, words);
    }
}
