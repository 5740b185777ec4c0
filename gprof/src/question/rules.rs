//! The decisions in which GNU's gprof, the BSDs' gprof and this one differ. Each decision has a name and is made
//! once, from the command line.
//!
//! Other modules ask for a decision and never for the gprof. docs/gnu-differences.md describes these differences for
//! users.

use crate::program::image::Policy;

/// The gprof whose output the user wants where gprofs differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// This project's gprof.
    #[default]
    None,
    /// GNU gprof's.
    Gnu,
}

/// A BSD whose gprof is reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// FreeBSD's.
    #[default]
    FreeBsd,
    /// OpenBSD's.
    OpenBsd,
}

impl Dialect {
    /// The dialect of the system that this program runs on, if that system is one of these BSDs.
    #[must_use]
    pub fn native() -> Option<Dialect> {
        if cfg!(target_os = "freebsd") {
            Some(Dialect::FreeBsd)
        } else if cfg!(target_os = "openbsd") {
            Some(Dialect::OpenBsd)
        } else {
            None
        }
    }
}

/// The number of bytes of code that reports state for one histogram bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// The exact number: ours.
    Bytes,
    /// The number of two-byte units, with a fraction: FreeBSD's.
    Units,
    /// The number of whole two-byte units: GNU's and OpenBSD's.
    WholeUnits,
}

/// The unit of times per call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallUnit {
    /// The unit that fits functions with many calls: ours.
    Fitting,
    /// The unit that fits the longest call: GNU's.
    Longest,
    /// Milliseconds: OpenBSD's, and GNU's and ours with `-T`.
    Milliseconds,
    /// A unit that depends on the sampling rate: FreeBSD's.
    Clock,
}

/// The decisions. A field that does not mention the BSDs is about a feature that their gprof does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether a bin is divided among functions by exact bytes, and the last function gets time too. GNU and the BSDs
    /// round the borders of bins to units of two bytes, and their last function gets no time.
    pub divides_bins_exactly: bool,
    /// Whether calls from or to code outside all functions are shown, as `<outside>`. GNU and the BSDs drop these
    /// calls.
    pub shows_outside: bool,
    /// Whether the times of called functions are measured if there are stacks. GNU and the BSDs estimate these times.
    pub measures_times: bool,
    /// Whether leaving a function out of the call graph also leaves out the functions that only it calls, and
    /// functions without callers count as the start of the program. GNU and the BSDs pass choices down by shares of
    /// calls.
    pub leaves_out_callees: bool,
    /// The stated size of bins.
    pub granularity: Granularity,
    /// The unit of times per call.
    pub call_unit: CallUnit,
    /// Whether the flat profile lists functions that were not called and took no time, but called functions with
    /// time: FreeBSD's alone.
    pub lists_callers_without_time: bool,
    /// Whether columns of the flat profile grow with their numbers. In the other layouts, a number that is too wide
    /// shifts the rest of its row.
    pub widens_columns: bool,
    /// Whether cycles have entries in the call graph by line. GNU treats cycles as lines, which have no entries.
    pub shows_cycles_by_line: bool,
    /// The maximum number of basic-block counts for one line: 10 for GNU, any number for us.
    pub most_blocks_of_line: usize,
    /// Whether the list of counts ends with the functions of unknown files. GNU compares these by address with
    /// functions of known files, which is not a consistent order: the result depends on the C library's sort.
    pub lists_unknown_files_last: bool,
    /// Whether `-m` applies to the list of counts. GNU's manual says so, but GNU's program ignores it there.
    pub limits_counts: bool,
    /// Whether a line without a count gets the count of its function. With GNU it gets the previous count.
    pub labels_lines_by_function: bool,
    /// Whether `-c` searches all functions for calls in both directions, also without samples. GNU needs samples,
    /// leaves out the last function, and treats all distances as positive.
    pub finds_all_static_calls: bool,
    /// Whether all functions of the start-up objects count as the profiling runtime. For GNU, only `mcount` does,
    /// under its several names.
    pub knows_whole_runtime: bool,
    /// Whether functions may be chosen by source names, by patterns and in several files, and a choice of no function
    /// is an error. GNU uses names of the symbol table, uses the last of several files, and ignores unknown names.
    pub finds_readable_names: bool,
    /// Whether chosen functions form a set. GNU keeps ranges of neighbors, some of which hide others.
    pub chooses_sets: bool,
    /// Whether all executable segments are the program's code. GNU uses only the section `.text`, and looks up lines
    /// for each of its bytes.
    pub takes_all_segments: bool,
    /// Whether compilers' copies of a function may count for the function, and the parts of a file for the file.
    pub merges_parts: bool,
    /// Which symbols of an image are functions, and how its debug information is read. The BSDs' gprof has options for
    /// its symbols.
    pub symbols: Policy,
    /// Whether names are demangled that only newer compilers write. GNU's tools leave them mangled.
    pub demangling: gmon_demangle::Compat,
    /// Whether a footer says how much of the profiles the reports account for. GNU and the layout of `-T` have no
    /// footer.
    pub has_footer: bool,
    /// Whether debug files may be fetched from servers. GNU gprof fetches none.
    pub fetches_debug_files: bool,
    /// Whether the profiles of shared objects that a run left are part of the report. GNU knows the program alone.
    pub reads_shared_objects: bool,
    /// Whether a sum (`-s`) has the calls of lines, and reports beside the sum are by line: GNU's are.
    pub sums_lines: bool,
    /// Whether `-l` together with `-R` is allowed, as it is for GNU.
    pub orders_files_by_line: bool,
    /// Whether arguments of options are checked: a number must be a number, and an option for functions or for arcs
    /// must get these. GNU takes the digits at the start of a text, and reads any text as functions or arcs.
    pub checks_arguments: bool,
    /// Whether a map of object files is read line by line, and also applies to symbols of `-S`. GNU reads pieces of a
    /// fixed length, and applies the map to the program's own symbols only.
    pub reads_maps_by_line: bool,
    /// Whether the number of a called function that has no entry is in parentheses. GNU's report has the number of
    /// the missing entry in brackets.
    pub marks_missing_entries: bool,
    /// Whether text begins with warnings about profiles that may not belong to their programs.
    pub tells_mismatches: bool,
    /// Whether text escapes control characters in names everywhere, not only on terminals.
    pub escapes_names: bool,
    /// Whether `-i` tells the form of each profile, and how the form was found.
    pub tells_forms: bool,
}

impl Rules {
    /// This project's rules.
    pub const OURS: Rules = Rules {
        divides_bins_exactly: true,
        shows_outside: true,
        measures_times: true,
        leaves_out_callees: true,
        granularity: Granularity::Bytes,
        call_unit: CallUnit::Fitting,
        lists_callers_without_time: false,
        widens_columns: true,
        shows_cycles_by_line: true,
        most_blocks_of_line: usize::MAX,
        lists_unknown_files_last: true,
        limits_counts: true,
        labels_lines_by_function: true,
        finds_all_static_calls: true,
        knows_whole_runtime: true,
        finds_readable_names: true,
        chooses_sets: true,
        takes_all_segments: true,
        merges_parts: true,
        symbols: Policy::Full,
        demangling: gmon_demangle::Compat::None,
        has_footer: true,
        fetches_debug_files: true,
        reads_shared_objects: true,
        sums_lines: false,
        orders_files_by_line: false,
        checks_arguments: true,
        reads_maps_by_line: true,
        marks_missing_entries: true,
        tells_mismatches: true,
        escapes_names: true,
        tells_forms: true,
    };

    /// GNU gprof's rules.
    pub const GNU: Rules = Rules {
        divides_bins_exactly: false,
        shows_outside: false,
        measures_times: false,
        leaves_out_callees: false,
        granularity: Granularity::WholeUnits,
        call_unit: CallUnit::Longest,
        lists_callers_without_time: false,
        widens_columns: false,
        shows_cycles_by_line: false,
        most_blocks_of_line: 10,
        lists_unknown_files_last: false,
        limits_counts: false,
        labels_lines_by_function: false,
        finds_all_static_calls: false,
        knows_whole_runtime: false,
        finds_readable_names: false,
        chooses_sets: false,
        takes_all_segments: false,
        merges_parts: false,
        symbols: Policy::Compat,
        demangling: gmon_demangle::Compat::Gnu,
        has_footer: false,
        fetches_debug_files: false,
        reads_shared_objects: false,
        sums_lines: true,
        orders_files_by_line: true,
        checks_arguments: false,
        reads_maps_by_line: false,
        marks_missing_entries: false,
        tells_mismatches: false,
        escapes_names: false,
        tells_forms: false,
    };

    /// The rules for a command line.
    #[must_use]
    pub fn new(compat: Compat, traditional: bool) -> Rules {
        let rules = if compat == Compat::Gnu { Rules::GNU } else { Rules::OURS };
        let layout = Rules { call_unit: CallUnit::Milliseconds, widens_columns: false, has_footer: false, ..rules };
        if traditional { layout } else { rules }
    }

    /// The rules of a BSD. The BSDs find static calls as we do; for features that they do not have, GNU's rules
    /// apply.
    #[must_use]
    pub fn bsd(dialect: Dialect) -> Rules {
        let rules = Rules { finds_all_static_calls: true, ..Rules::GNU };
        match dialect {
            Dialect::FreeBsd => Rules {
                granularity: Granularity::Units,
                call_unit: CallUnit::Clock,
                lists_callers_without_time: true,
                ..rules
            },
            Dialect::OpenBsd => Rules { call_unit: CallUnit::Milliseconds, ..rules },
        }
    }
}
