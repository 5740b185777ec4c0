//! What holds for every input: the checks that the fuzz targets and the replay of their corpus share.
//!
//! Each check takes the bytes of an input and panics if something is wrong: a reader panics, two ways to the same
//! number differ, or the work exceeds the limits of the check. A reader may refuse an input with an error.
//!
//! `make fuzz` runs the checks under libFuzzer (`tests/fuzz/targets`), and the test `corpus` runs them for each file in
//! `testdata/fuzz`.

mod limits;
mod parts;
mod program;

mod demangle;
mod image;
mod perf_map;
mod profiles;
mod run;
mod side_file;
mod unwind;

pub use demangle::demangle;
pub use image::{inlines, lines, symbols};
pub use limits::{Limits, gmon_fuzz_steps};
pub use perf_map::perf_map;
pub use profiles::{detect, read, rewrite, sum};
pub use run::run;
pub use side_file::side_file;
pub use unwind::{tables, walk};

/// A check.
pub type Check = fn(&[u8]);

/// All checks, by the names of their targets.
pub const CHECKS: [(&str, Check); 13] = [
    ("read", read),
    ("detect", detect),
    ("rewrite", rewrite),
    ("sum", sum),
    ("side_file", side_file),
    ("perf_map", perf_map),
    ("demangle", demangle),
    ("symbols", symbols),
    ("lines", lines),
    ("inlines", inlines),
    ("tables", tables),
    ("walk", walk),
    ("run", run),
];
