//! Demangles symbol names of C++ (Itanium ABI), Rust (legacy and v0) and Ada (GNAT), with the spelling of GNU's
//! tools.
//!
//! Profilers, debuggers and symbolizers print names that users compare with the output of `c++filt`, `nm -C` and
//! `gprof`. So this crate spells a C++ name exactly as the demangler of GNU binutils does, including function types,
//! template arguments, lambdas, clones and ABI tags. The parser and the printer for C++ are this crate's own; for the
//! 8,025 C++ names of GCC 12's libstdc++.a, the output is equal to the output of `c++filt` byte for byte.
//!
//! The crate is `no_std`, forbids unsafe code, and takes names as bytes. Any name may be hostile: no function panics,
//! and depth, work and the length of the result are limited.
//!
//! # Example
//!
//! A filter like `c++filt` for lists of names:
//!
//! ```no_run
#![doc = include_str!("../examples/filter.rs")]
//! ```
//!
//! Single names, and a name in the spelling of Java:
//!
//! ```
//! use gmon_demangle::{Options, Style, demangle, demangle_with};
//!
//! assert_eq!(&*demangle(b"_ZN5shape6Circle4areaEv"), b"shape::Circle::area()");
//! assert_eq!(&*demangle(b"_ZN4core3fmt5write17h0123456789abcdefE"), b"core::fmt::write");
//! assert_eq!(&*demangle(b"main"), b"main");
//!
//! let java = Options { style: Style::Java, ..Options::default() };
//! assert_eq!(&*demangle_with(b"_ZN4java4lang6String6equalsEPNS0_6ObjectE", &java),
//! b"java.lang.String.equals(java.lang.Object)");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

extern crate alloc;

mod bounded;
mod cpp;
mod fallback;
mod gnat;
mod rust;

use alloc::borrow::Cow;
use alloc::vec::Vec;

use cpp::{Failure, Grammar, Spelling};

/// The default maximum length of a demangled name, in bytes. Names that need more are made to exhaust memory.
pub const MAX_LENGTH: usize = 1 << 16;

/// The suffix that readers of symbol tables add to the name of a function for the function's stub.
pub const PLT_SUFFIX: &[u8] = b"@plt";

/// The mangling scheme, and the language for the spelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// C++ or Rust. A name that is valid in both is a Rust name if it ends with a hash.
    #[default]
    Auto,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
    /// Java as compiled by gcj: mangled like C++, spelled like Java.
    Java,
    /// Ada as GNAT encodes it. Any name that is not an Ada name is put in angle brackets.
    Gnat,
    /// D. Only the name of the main function is demangled.
    Dlang,
}

/// The demangler that decides which C++ names are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// This crate. Names of newer compilers are valid too, and names that this crate cannot read are left to the
    /// crate cpp_demangle, with that crate's spelling.
    #[default]
    None,
    /// GNU binutils 2.40. Names that it cannot read stay mangled.
    Gnu,
}

/// The options of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The mangling scheme.
    pub style: Style,
    /// The demangler that decides which C++ names are valid.
    pub compat: Compat,
    /// The maximum length of a demangled name, in bytes. A name stays mangled if its text is longer, or requires much
    /// more work than a text of that length.
    pub max_length: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { style: Style::default(), compat: Compat::default(), max_length: MAX_LENGTH }
    }
}

/// Returns the source form of a mangled C++ or Rust name. Returns any other name unchanged.
///
/// Parameters of functions are included. Hashes that rustc adds are not.
#[must_use]
pub fn demangle(name: &[u8]) -> Cow<'_, [u8]> {
    demangle_with(name, &Options::default())
}

/// Returns the source form of a mangled name, as [`demangle`] does, with the caller's options.
#[must_use]
pub fn demangle_with<'a>(name: &'a [u8], options: &Options) -> Cow<'a, [u8]> {
    // The suffix of a stub is not part of the mangled name.
    if let Some(core) = name.strip_suffix(PLT_SUFFIX) {
        return match demangle_with(core, options) {
            Cow::Owned(text) => Cow::Owned([&text, PLT_SUFFIX].concat()),
            Cow::Borrowed(_) => Cow::Borrowed(name),
        };
    }
    readable(name, options).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Whether a name starts like a mangled C++ or Rust name.
#[must_use]
pub fn looks_mangled(name: &[u8]) -> bool {
    let (_, core) = name.split_at(marks(name));
    core.starts_with(b"_Z") || core.starts_with(b"_R") || core.starts_with(b"_GLOBAL_")
}

fn readable(name: &[u8], options: &Options) -> Option<Vec<u8>> {
    let (marks, core) = name.split_at(marks(name));
    let rust = || looks_mangled(core).then(|| rust::demangle(core, options.max_length)).flatten();
    let cpp = |spelling| read_cpp(core, options, spelling);
    let text = match options.style {
        Style::Auto => rust().or_else(|| cpp(Spelling::Cpp)),
        Style::Cpp => cpp(Spelling::Cpp),
        Style::Rust => rust(),
        Style::Java => cpp(Spelling::Java),
        Style::Gnat => Some(gnat::demangle(core)),
        Style::Dlang => (core == b"_Dmain").then(|| b"D main".to_vec()),
    }?;
    Some(if marks.is_empty() { text } else { [marks, &text].concat() })
}

fn read_cpp(name: &[u8], options: &Options, spelling: Spelling) -> Option<Vec<u8>> {
    let read = |grammar| cpp::demangle(name, options.max_length, spelling, grammar);
    let gnu = read(Grammar::Gnu);
    if options.compat == Compat::Gnu || gnu != Err(Failure::Unreadable) {
        return gnu.ok();
    }
    match read(Grammar::Newest) {
        Err(Failure::Unreadable) if spelling == Spelling::Cpp => fallback::demangle(name, options.max_length),
        newest => newest.ok(),
    }
}

/// The number of characters that a system adds before a name.
fn marks(name: &[u8]) -> usize {
    name.iter().take_while(|byte| matches!(byte, b'.' | b'$')).count()
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    fn demangle_as(name: &[u8], style: Style) -> Cow<'_, [u8]> {
        demangle_with(name, &Options { style, ..Options::default() })
    }

    fn demangle_within(name: &[u8], max_length: usize) -> Cow<'_, [u8]> {
        demangle_with(name, &Options { max_length, ..Options::default() })
    }

    fn shown(name: &str) -> String {
        String::from_utf8(demangle(name.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn rust_names() {
        assert_eq!(shown("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE"), "core::fmt::Formatter::write_str");
        assert_eq!(shown("_ZN4core3fmt17h0123456789abcdefE.llvm.17"), "core::fmt");
        assert_eq!(shown("_RNvC7mycrate3foo"), "mycrate::foo");
        assert_eq!(shown("_RNvC7mycrate3foo.480"), "mycrate::foo");
    }

    #[test]
    fn cpp_names_that_look_like_rust() {
        assert_eq!(shown("_ZN12_GLOBAL__N_11aE"), "(anonymous namespace)::a");
        assert_eq!(shown("_ZN1a17h0000000000000000E"), "a::h0000000000000000");
    }

    #[test]
    fn styles() {
        let shown = |name: &str| {
            let styles = [Style::Auto, Style::Cpp, Style::Rust, Style::Java, Style::Gnat, Style::Dlang];
            styles.map(|style| String::from_utf8(demangle_as(name.as_bytes(), style).into_owned()).unwrap())
        };
        let cpp = "_ZN1a1bEi";
        assert_eq!(shown(cpp), ["a::b(int)", "a::b(int)", cpp, "a.b(int)", "<_ZN1a1bEi>", cpp]);
        let (old, new) = ("_ZN1a1b17h0123456789abcdefE", "_RNvC1a1b");
        let hash = ["a::b::h0123456789abcdef", "a.b.h0123456789abcdef"];
        assert_eq!(shown(old), ["a::b", hash[0], "a::b", hash[1], "<_ZN1a1b17h0123456789abcdefE>", old]);
        assert_eq!(shown(new), ["a::b", new, "a::b", new, "<_RNvC1a1b>", new]);
        assert_eq!(shown("main"), ["main"; 6]);
        assert_eq!(shown("_Dmain")[4..], ["<_Dmain>", "D main"]);
    }

    #[test]
    fn names_of_ada() {
        for (name, text) in [
            ("_ada_hello", "hello"),
            ("ada__text_io__put_line__2", "ada.text_io.put_line"),
            ("a__b__3X", "a.b"),
            ("a__bXnb", "a.b"),
            ("a__b__3Xb", "a.b"),
            ("a__b__3_4", "a.b"),
            ("pack__Oadd", "pack.\"+\""),
            ("pack__Oexpon__2", "pack.\"**\""),
            ("pack__Onope", "<pack__Onope>"),
            ("tasksTKB", "tasks"),
            ("tasksTK__inner", "tasks.inner"),
            ("tasksTKx", "<tasksTKx>"),
            ("lockP", "lock"),
            ("lockN", "lock"),
            ("kindE", "<kindE>"),
            ("kindS", "<kindS>"),
            ("recSR", "rec'Read"),
            ("recSO__2", "rec'Output"),
            ("recSQ", "<recSQ>"),
            ("recDF", "rec.Finalize"),
            ("recDA", "rec.Adjust"),
            ("pack___elabb", "pack'Elab_Body"),
            ("pack___size", "pack'Size"),
            ("pack___assign", "pack.\":=\""),
            ("pack___other", "<pack___other>"),
            ("prot_E3s", "prot"),
            ("prot_B12s", "prot"),
            ("prot_B12", "<prot_B12>"),
            ("outer__inner.17", "outer.inner"),
            ("f.part.0", "<f.part.0>"),
            ("Big", "<Big>"),
            ("_start", "<_start>"),
            ("", "<>"),
            ("a_", "<a_>"),
            ("a__", "<a__>"),
        ] {
            assert_eq!(demangle_as(name.as_bytes(), Style::Gnat).as_ref(), text.as_bytes(), "{name}");
        }
    }

    #[test]
    fn stubs() {
        assert_eq!(shown("_ZN1a1bEi@plt"), "a::b(int)@plt");
        assert_eq!(shown("printf@plt"), "printf@plt");
        assert_eq!(shown("@plt@plt"), "@plt@plt");
    }

    #[test]
    fn names_that_stand_for_too_much() {
        assert_eq!(demangle_within(b"_RNvC7mycrate3foo", 12).as_ref(), b"mycrate::foo");
        assert_eq!(demangle_within(b"_RNvC7mycrate3foo", 11).as_ref(), b"_RNvC7mycrate3foo");
        assert_eq!(demangle_within(b"_ZN1a1bEi", 20).as_ref(), b"a::b(int)");
        assert_eq!(demangle_within(b"_ZN1a1bEi", 3).as_ref(), b"_ZN1a1bEi");
        // A function with a quarter of a million lifetimes.
        assert_eq!(shown("_RMC0FGZZZ_Eu"), "_RMC0FGZZZ_Eu");
    }

    #[test]
    fn names_that_only_cpp_demangle_reads() {
        for (name, readable) in [
            ("_Z1fDSDAs", "f(_Sat short _Accum)"),
            ("_ZGR1a_", "reference temporary #0 for a"),
            ("_Z1fDRs@plt", "f(short _Fract)@plt"),
        ] {
            assert_eq!(shown(name), readable);
            let gnu = Options { compat: Compat::Gnu, ..Options::default() };
            assert_eq!(demangle_with(name.as_bytes(), &gnu).as_ref(), name.as_bytes());
            assert_eq!(demangle_within(name.as_bytes(), 5).as_ref(), name.as_bytes());
        }
    }

    #[test]
    fn global_constructors() {
        for (name, readable) in [
            ("_GLOBAL__I_main", "global constructors keyed to main"),
            ("_GLOBAL_.D__ZN1aC1Ev", "global destructors keyed to a::a()"),
            ("_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main"),
            ("_GLOBAL__I_", "_GLOBAL__I_"),
            ("_GLOBAL__I__Zq", "_GLOBAL__I__Zq"),
        ] {
            assert_eq!(shown(name), readable);
        }
    }

    #[test]
    fn other_names_stay() {
        for name in ["main", "_Z", "_Zqqq", "_R", "", "_start"] {
            assert_eq!(shown(name), name);
        }
        assert_eq!(demangle(b"\xff_Z").as_ref(), b"\xff_Z");
    }
}
