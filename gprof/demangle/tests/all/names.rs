//! Compares C++ names and their source forms from files: each name is on the line above its form.

use gmon_demangle::{Compat, Options, demangle, demangle_with};

/// The output of `c++filt` of GNU binutils 2.40: names of C++20 and C++23 programs compiled by GCC 12, Clang 14 and
/// Clang 19, and names for each rule of the ABI. A name that is its own form cannot be demangled by this version.
const GNU: &str = include_str!("../data/gnu-2.40.txt");

/// Names of the same programs that GNU binutils 2.40 cannot demangle, as this crate prints them.
const NEWEST: &str = include_str!("../data/newest.txt");

fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 100 && lines.len().is_multiple_of(2), "{} lines", lines.len());
    (0..lines.len()).step_by(2).map(move |at| (lines[at], lines[at + 1]))
}

#[test]
fn names_as_gnu_prints_them() {
    for (name, readable) in pairs(GNU) {
        let gnu = Options { compat: Compat::Gnu, ..Options::default() };
        assert_eq!(String::from_utf8_lossy(&demangle_with(name.as_bytes(), &gnu)), readable, "{name}");
        if readable != name {
            assert_eq!(String::from_utf8_lossy(&demangle(name.as_bytes())), readable, "{name}");
        }
    }
}

#[test]
fn names_that_gnu_leaves_mangled() {
    for (name, readable) in pairs(NEWEST) {
        let gnu = Options { compat: Compat::Gnu, ..Options::default() };
        assert_eq!(String::from_utf8_lossy(&demangle_with(name.as_bytes(), &gnu)), name);
        assert_eq!(String::from_utf8_lossy(&demangle(name.as_bytes())), readable, "{name}");
    }
}
