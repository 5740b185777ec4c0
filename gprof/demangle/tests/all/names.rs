//! Compares C++ names and their source forms from files: each name is on the line above its form.

use gmon_demangle::{Compat, Options, Style, demangle, demangle_with, looks_mangled};

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

/// The form of a name in a style.
fn in_style(name: &str, style: Style) -> String {
    String::from_utf8_lossy(&demangle_with(name.as_bytes(), &Options { style, ..Options::default() })).into_owned()
}

#[test]
fn names_that_only_resemble_mangled_names_stay() {
    // A template parameter behind another part of a name, the start of a mangled name behind `_`, and a Rust name
    // without its `_`.
    for name in ["_ZN1aTL0__Ev", "__Z1fDSDAs", "ZN4core3fmt5write17h0123456789abcdefE"] {
        assert_eq!(in_style(name, Style::Auto), name);
    }
    // The crate cpp_demangle reads this name, but does not know the spelling of Java.
    assert_eq!(in_style("_Z1fDSDAs", Style::Java), "_Z1fDSDAs");
}

#[test]
fn characters_that_a_system_adds_stay_before_the_name() {
    for (name, readable) in [("._ZN1a1bEi", ".a::b(int)"), (".$_ZN1a1bEi", ".$a::b(int)"), (".main", ".main")] {
        assert_eq!(in_style(name, Style::Auto), readable);
    }
}

#[test]
fn the_start_tells_mangled_names() {
    for name in ["_Z", "_ZN1a1bEi", "_RNvC1a1b", "_GLOBAL__I_a", "._Z1fv", "$_RNvC1a1b"] {
        assert!(looks_mangled(name.as_bytes()), "{name}");
    }
    for name in ["", "main", "_", "Z1fv", "__Z1fv", "_start", "."] {
        assert!(!looks_mangled(name.as_bytes()), "{name}");
    }
}

/// `c++filt --format=gnat` of GNU binutils 2.40 has the same output.
#[test]
fn names_that_ada_does_not_know_are_in_angle_brackets() {
    for name in ["fv.", "sL1", "a__b__1_", "a__b__1_x", "a__b__1X2", "aE", "aS", "aS_", "aSa", "recS"] {
        assert_eq!(in_style(name, Style::Gnat), format!("<{name}>"));
    }
    assert_eq!(in_style("<a>", Style::Gnat), "<a>");
}
