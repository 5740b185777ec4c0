//! Reads the profiled program: its symbols, its code, and its debug information.
//!
//! No other module uses the object file format or the debug information. All input here comes from files that may be
//! damaged or hostile: sizes are checked before memory is allocated, and nothing panics.

pub mod address_space;
mod addresses;
mod code_bytes;
mod debug_file;
mod descriptor_symbols;
mod elf;
mod error;
pub(crate) mod files;
mod foreign;
mod format;
pub mod frames;
mod headers;
mod limits;
mod line_tables;
pub mod lines;
mod listing;
mod loaded_addresses;
mod machine_code;
mod nearest;
mod other_formats;
mod partial;
mod program;
mod program_code;
mod program_identity;
mod sections;
mod source_files;
mod split_units;
mod symbols;
mod synthetic_symbols;
mod units;
mod unknown_jumps;
mod unreached;

pub(crate) use code_bytes::CodeBytes;
pub use debug_file::DEFAULT_DIRECTORY;
pub use error::ImageError;
pub(crate) use foreign::universal::{Slice, names as slice_names, slices};
pub use headers::Headers;
pub use listing::LocalFiles;
pub use machine_code::{Code, Machine, UNIT};
pub(crate) use machine_code::{call_aarch64, call_x86};
pub use nearest::Nearest;
pub use partial::read;
pub(crate) use partial::{begins_as_image, read_open};
pub use program::{Image, identity};
pub(crate) use program_code::ProgramCode;
pub(crate) use program_identity::padded_build_id;
pub use source_files::SourceFiles;
pub use symbols::{Policy, Symbol};
pub use synthetic_symbols::ImageStorage;
