//! What a run is asked for, whoever asks: the options and their values.
//!
//! A question is complete and free of contradictions. [`cli`](crate::cli) makes a question of the words of a command
//! line, and [`Options::new`](options::Options::new) makes a question without a command line.

mod builder;
pub mod files;
pub mod format;
pub mod gate;
pub mod options;
pub mod pattern;
pub mod reports;
pub mod rules;
