//! A program's image and its functions. No other folder knows object files and debug information.

pub mod image;
pub mod symbols;
