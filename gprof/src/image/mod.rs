//! Reads the profiled program: its symbols, its code, and its debug information.
//!
//! No other module uses the object file format or the debug information. All input here comes from files that may be
//! damaged or hostile: sizes are checked before memory is allocated, and nothing panics.

pub mod address_space;
mod addresses;
mod code_bytes;
mod debug_file;
mod elf;
mod error;
pub(crate) mod files;
pub mod frames;
mod identity;
mod limits;
mod line_tables;
pub mod lines;
mod listing;
mod machine_code;
mod nearest;
mod other_formats;
mod partial;
mod program;
mod program_code;
mod sections;
mod source_files;
mod split_units;
mod symbols;
mod synthetic_symbols;
mod units;
mod unknown_jumps;

pub(crate) use code_bytes::CodeBytes;
pub use debug_file::DEFAULT_DIRECTORY;
pub use elf::Headers;
pub use error::ImageError;
pub(crate) use identity::padded_build_id;
pub use listing::LocalFiles;
pub use machine_code::{Code, Machine, UNIT};
pub(crate) use machine_code::{call_aarch64, call_x86};
pub use nearest::Nearest;
pub use partial::read;
pub(crate) use partial::read_open;
pub use program::{Image, identity};
pub(crate) use program_code::ProgramCode;
pub use source_files::SourceFiles;
pub use symbols::{Policy, Symbol};
pub use synthetic_symbols::ImageStorage;
