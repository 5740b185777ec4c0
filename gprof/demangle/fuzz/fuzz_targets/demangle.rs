//! Demangles arbitrary bytes in every style: checks that nothing panics and that no text exceeds the maximum length.
//! Run with `cargo fuzz run demangle`.
#![no_main]

use std::borrow::Cow;

use gmon_demangle::{Options, Style, demangle_with};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|name: &[u8]| {
    for style in [Style::Auto, Style::Cpp, Style::Rust, Style::Java, Style::Gnat, Style::Dlang] {
        for max_length in [40, 4096] {
            match demangle_with(name, &Options { style, max_length, ..Options::default() }) {
                Cow::Borrowed(text) => assert_eq!(text, name),
                Cow::Owned(text) => assert!(style == Style::Gnat || text.len() <= max_length + name.len()),
            }
        }
    }
});
