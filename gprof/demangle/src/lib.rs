//! Names as people wrote them.
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

mod cpp;
mod gnat;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use cpp::Spelling;

/// The longest text that a name may stand for: whoever needs more was made to harm.
pub const LONGEST: usize = 1 << 16;

/// The suffix that readers of symbol tables add to the name of a function for the stub that calls the function.
pub const PLT_SUFFIX: &[u8] = b"@plt";

/// How names are mangled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As C++ and Rust do; names that could be of either are Rust's if they end in a hash.
    #[default]
    Auto,
    /// As C++ does.
    Cpp,
    /// As Rust does.
    Rust,
    /// As C++ does, to be spelt as in Java.
    Java,
    /// As GNAT does for Ada: no name is left as it is unless it is Ada's.
    Gnat,
    /// As D does. Of that only the name of the main function is known.
    Dlang,
}

/// Turns a mangled C++ or Rust name into what the programmer wrote; any other name is given back as it is.
///
/// Parameters are shown, and the hashes that Rust's compiler adds are not. A name is also given back as it is when its
/// text is longer than `most`, or takes much more work than a text of that length; of [`LONGEST`] all that is of any
/// use is.
#[must_use]
pub fn demangle(name: &[u8], most: usize) -> Cow<'_, [u8]> {
    demangle_as(name, most, Style::Auto)
}

/// Turns a name that was mangled in a style into what the programmer wrote, as [`demangle`] does.
#[must_use]
pub fn demangle_as(name: &[u8], most: usize, style: Style) -> Cow<'_, [u8]> {
    // What was added to the name of a stub is no part of it.
    if let Some(core) = name.strip_suffix(PLT_SUFFIX) {
        return match demangle_as(core, most, style) {
            Cow::Owned(text) => Cow::Owned([&text, PLT_SUFFIX].concat()),
            Cow::Borrowed(_) => Cow::Borrowed(name),
        };
    }
    readable(name, most, style).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Whether a name begins as mangled ones do.
#[must_use]
pub fn looks_mangled(name: &[u8]) -> bool {
    let (_, core) = name.split_at(marks(name));
    core.starts_with(b"_Z") || core.starts_with(b"_R")
}

fn readable(name: &[u8], most: usize, style: Style) -> Option<Vec<u8>> {
    let (before, core) = name.split_at(marks(name));
    let is_mangled = core.starts_with(b"_Z") || core.starts_with(b"_R");
    let rust = || rust(core, most).filter(|_| is_mangled);
    let cpp = |spelling| cpp::demangle(core, most, spelling);
    let text = match style {
        Style::Auto => rust().or_else(|| cpp(Spelling::Cpp)),
        Style::Cpp => cpp(Spelling::Cpp),
        Style::Rust => rust(),
        Style::Java => cpp(Spelling::Java),
        Style::Gnat => Some(gnat::demangle(core)),
        Style::Dlang => (core == b"_Dmain").then(|| b"D main".to_vec()),
    }?;
    Some(if before.is_empty() { text } else { [before, &text].concat() })
}

/// How many characters a system has put before a name.
fn marks(name: &[u8]) -> usize {
    name.iter().take_while(|byte| matches!(byte, b'.' | b'$')).count()
}

fn rust(name: &[u8], most: usize) -> Option<Vec<u8>> {
    let name = str::from_utf8(name).ok()?;
    // Copies of functions have suffixes, which stand behind the last letter of the name proper. The older of the two
    // ways to mangle ends in `E` and has dots of its own; the newer has neither.
    let is_old = !name.starts_with("_R");
    let end = if is_old { name.rfind("E.").map(|at| at.saturating_add(1)) } else { name.find('.') };
    let name = name.get(..end.unwrap_or(name.len()))?;
    // Hardly any name becomes longer.
    let room = name.len().min(most);
    if is_old && !has_hash(name) {
        return None;
    }
    let name = rustc_demangle::try_demangle(name).ok()?;
    let mut text = Bounded { text: String::with_capacity(room), most };
    write!(text, "{name:#}").ok()?;
    Some(text.text.into_bytes())
}

/// A text that is no longer than it may be: what does not fit ends the writing.
struct Bounded {
    text: String,
    most: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> core::fmt::Result {
        if self.text.len().saturating_add(more.len()) > self.most {
            return Err(core::fmt::Error);
        }
        self.text.push_str(more);
        Ok(())
    }
}

/// Whether a name ends as Rust's older mangling does, which is else that of C++: with a hash of sixteen digits, of
/// which chance makes at least five different ones.
fn has_hash(name: &str) -> bool {
    let Some((_, hash)) = name.strip_suffix('E').and_then(|name| name.rsplit_once("17h")) else {
        return false;
    };
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let kinds = (b'0'..=b'f').filter(|digit| hash.as_bytes().contains(digit)).count();
    hash.len() == 16 && hash.bytes().all(is_digit) && kinds >= 5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> String {
        String::from_utf8(demangle(name.as_bytes(), LONGEST).into_owned()).unwrap()
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
            styles.map(|style| String::from_utf8(demangle_as(name.as_bytes(), LONGEST, style).into_owned()).unwrap())
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
            assert_eq!(demangle_as(name.as_bytes(), LONGEST, Style::Gnat).as_ref(), text.as_bytes(), "{name}");
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
        assert_eq!(demangle(b"_RNvC7mycrate3foo", 12).as_ref(), b"mycrate::foo");
        assert_eq!(demangle(b"_RNvC7mycrate3foo", 11).as_ref(), b"_RNvC7mycrate3foo");
        assert_eq!(demangle(b"_ZN1a1bEi", 20).as_ref(), b"a::b(int)");
        assert_eq!(demangle(b"_ZN1a1bEi", 3).as_ref(), b"_ZN1a1bEi");
        // A function of a quarter of a million lifetimes.
        assert_eq!(shown("_RMC0FGZZZ_Eu"), "_RMC0FGZZZ_Eu");
    }

    #[test]
    fn other_names_stay() {
        for name in ["main", "_Z", "_Zqqq", "_R", "", "_start"] {
            assert_eq!(shown(name), name);
        }
        assert_eq!(demangle(b"\xff_Z", LONGEST).as_ref(), b"\xff_Z");
    }
}
