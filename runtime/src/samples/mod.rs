//! What a tick becomes: a count in a bin, or a count of an address outside the program's text.

pub(crate) mod bins;
pub(crate) mod outside_text;
pub mod scale;
