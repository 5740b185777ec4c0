//! The check of the demangler.

use std::borrow::Cow;

use gmon_demangle::{Compat, Options, Style, demangle_with};

use crate::Limits;

/// A byte of a name becomes one or two nodes of a tree, a growing vector temporarily has twice the size, and a node may
/// be in the list for abbreviations. The constant is for a text of the maximum length, and for the printer's scopes.
const LIMITS: Limits = Limits { bytes_per_byte: 640, bytes: 160 << 10, steps_per_byte: 2_000, steps: 500_000 };

/// The input is a name. No text exceeds the maximum length, in any style.
pub fn demangle(name: &[u8]) {
    for style in [Style::Auto, Style::Cpp, Style::Rust, Style::Java, Style::Gnat, Style::Dlang] {
        for (compat, max_length) in [(Compat::None, 40), (Compat::None, 4096), (Compat::Gnu, 4096)] {
            let options = Options { style, compat, max_length };
            match LIMITS.hold(name.len(), || demangle_with(name, &options)) {
                Cow::Borrowed(text) => assert_eq!(text, name),
                Cow::Owned(text) => assert!(style == Style::Gnat || text.len() <= max_length + name.len()),
            }
        }
    }
}
