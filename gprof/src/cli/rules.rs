//! Where GNU's gprof, the BSDs' and ours decide differently: each decision by its name, made once from the command line.
//!
//! What follows from them is in analyses and reports, which know no names of systems. docs/gnu-differences.md tells
//! users of all of these.

use crate::cli::compat::{Compat, Dialect};

/// How many bytes of code one bin of a histogram is said to stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// As many as it does: ours.
    Bytes,
    /// As many units of two bytes as it has, and be that part of one: FreeBSD's.
    Units,
    /// Whole units of two bytes: GNU's and OpenBSD's.
    WholeUnits,
}

/// The unit in which times for each call are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallUnit {
    /// The one that fits what is called often: ours.
    Fitting,
    /// The one that fits the longest call: GNU's.
    Longest,
    /// Milliseconds: OpenBSD's, and GNU's and ours with `-T`.
    Milliseconds,
    /// The faster the clock, the smaller the unit: FreeBSD's.
    Clock,
}

/// The decisions. A field that says nothing of the BSDs is about something that their gprof does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether a bin is divided among functions to the byte, and the last function has time as well. GNU and the BSDs round
    /// the borders of bins to units of two bytes, and their last function has no time.
    pub divides_bins_exactly: bool,
    /// Whether calls with one end in no function are shown, as `<outside>`. GNU and the BSDs drop them.
    pub shows_outside: bool,
    /// Whether what is left out of the call graph takes along what only it calls, and what nobody calls begins the program.
    /// GNU and the BSDs hand choices down by shares of calls.
    pub leaves_out_callees: bool,
    /// How large bins are said to be.
    pub granularity: Granularity,
    /// The unit of times for each call.
    pub call_unit: CallUnit,
    /// Whether the flat profile has functions that were not called and took no time, and called some that did: FreeBSD's
    /// alone.
    pub lists_callers_without_time: bool,
    /// Whether columns of the flat profile grow with the numbers in them. In the layouts of all others a number that is too
    /// wide moves the rest of its row.
    pub widens_columns: bool,
    /// Whether cycles have entries in the call graph by line. GNU takes them for lines, which have none.
    pub shows_cycles_by_line: bool,
    /// How many counts of basic blocks a line may have: 10 for GNU, any number for us.
    pub most_blocks_of_line: usize,
    /// Whether the list of counts has functions of unknown files at its end. GNU compares these by address with those of
    /// known files, which is no order; what comes of it is up to the C library.
    pub lists_unknown_files_last: bool,
    /// Whether `-m` holds for the list of counts. GNU's manual says so; its program does not know.
    pub limits_counts: bool,
    /// Whether a line that nobody counted has the count of its function. With GNU it has the one that came last.
    pub labels_lines_by_function: bool,
    /// Whether `-c` looks into all functions for calls in both directions, also without samples. GNU needs samples, leaves
    /// out the last function and takes all distances for positive.
    pub finds_all_static_calls: bool,
    /// Whether all functions of the start-up objects are the profiling runtime. For GNU that is `mcount` under its names.
    pub knows_whole_runtime: bool,
    /// Whether functions may be chosen by readable names and patterns and by several files, and a choice of nothing is an
    /// error. GNU knows names of the symbol table, takes the last of several files, and ignores what it does not know.
    pub finds_readable_names: bool,
    /// Whether chosen functions are sets. GNU keeps ranges of neighbours, of which some hide others.
    pub chooses_sets: bool,
    /// Whether all segments that can be run are the program's code. GNU knows the section `.text` alone, and finds lines in
    /// each byte of it.
    pub takes_all_segments: bool,
    /// Whether copies that compilers make of functions may count for the function, and parts of one file for the file.
    pub merges_parts: bool,
    /// Whether a map of object files is read line by line, and holds for symbols of `-S` too. GNU reads pieces of a fixed
    /// length, for the program's own symbols.
    pub reads_maps_by_line: bool,
}

impl Rules {
    /// Ours.
    pub const OURS: Rules = Rules {
        divides_bins_exactly: true,
        shows_outside: true,
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
        reads_maps_by_line: true,
    };

    /// GNU's.
    pub const GNU: Rules = Rules {
        divides_bins_exactly: false,
        shows_outside: false,
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
        reads_maps_by_line: false,
    };

    /// Those of a command line.
    #[must_use]
    pub fn new(compat: Compat, traditional: bool) -> Rules {
        let rules = if compat == Compat::Gnu { Rules::GNU } else { Rules::OURS };
        let layout = Rules { call_unit: CallUnit::Milliseconds, widens_columns: false, ..rules };
        if traditional { layout } else { rules }
    }

    /// Those of one of the BSDs. They find static calls as we do; what they do not have is decided as GNU does.
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
