//! How outputs spell texts and numbers: what JSON and markup must escape.

pub mod json;
pub mod markup;
