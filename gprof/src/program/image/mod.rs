//! Reads the profiled program: its symbols, its code, and its debug information.
//!
//! No other module uses the object file format or the debug information. All input here comes from files that may be
//! damaged or hostile: sizes are checked before memory is allocated, and nothing panics.

pub mod address_space;
mod addresses;
mod debug_files;
mod elf;
mod error;
pub(crate) mod files;
mod foreign_file;
mod format;
pub mod frames;
mod headers;
mod jumps;
mod limits;
mod line_tables;
mod listing;
mod machine_code;
mod macho;
mod mini_debug_info;
mod notes;
mod pe;
mod profiled;
mod program;
mod program_code;
mod sections;
pub mod source_files;
mod start_code;
mod supplements;
mod symbols;
mod synthetic_symbols;
mod units;
mod unreached;

pub use debug_files::DEFAULT_DIRECTORY;
pub(crate) use elf::padded_build_id;
pub use error::ImageError;
pub use headers::{Headers, read};
pub(crate) use headers::{begins_as_image, read_open};
pub use listing::LocalFiles;
pub use machine_code::{Code, Machine, UNIT};
pub(crate) use machine_code::{call_aarch64, call_x86};
pub(crate) use macho::{Slice, slice_names, slices};
pub(crate) use notes::notes;
#[cfg(test)]
pub(crate) use notes::tests as note_files;
pub(crate) use profiled::{Profiling, profiling};
pub use program::{Image, identity};
pub(crate) use program_code::{CodeBytes, ProgramCode};
pub use source_files::SourceFiles;
pub use symbols::{Nearest, Policy, Symbol};
pub use synthetic_symbols::ImageStorage;
