//! The functions of images, their source lines, the code inlined into them, and the user's files about them.

pub mod file_map;
pub mod functions;
pub mod inlines;
pub mod line_symbols;
pub mod sources;

#[cfg(test)]
mod tests;
