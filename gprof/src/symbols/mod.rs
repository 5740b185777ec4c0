//! What is known of the functions of images: the functions themselves, their source lines, what was inlined into them, and
//! what the user says of them in files.

pub mod file_map;
pub mod file_names;
pub mod functions;
pub mod inlines;
pub mod line_symbols;
pub mod sources;
pub(crate) mod symbol_file;
