//! Names as people wrote them.

mod cpp;
#[cfg(test)]
mod fuzz;

use std::borrow::Cow;

use std::fmt::Write;

use super::made;

/// The longest text that a name may stand for: whoever needs more was made to harm.
pub const LONGEST: usize = 1 << 16;

/// Turns a mangled C++ or Rust name into what the programmer wrote; any other name is given back as it is.
///
/// Parameters are shown, and the hashes that Rust's compiler adds are not. A name is also given back as it is when its
/// text is longer than `most`, or takes much more work than a text of that length; of [`LONGEST`] all that is of any
/// use is.
#[must_use]
pub fn demangle(name: &[u8], most: usize) -> Cow<'_, [u8]> {
    // What was added to the name of a stub is no part of it.
    if let Some(core) = name.strip_suffix(made::STUB) {
        return match demangle(core, most) {
            Cow::Owned(text) => Cow::Owned([&text, made::STUB].concat()),
            Cow::Borrowed(_) => Cow::Borrowed(name),
        };
    }
    readable(name, most).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Whether a name begins as mangled ones do.
#[must_use]
pub fn looks_mangled(name: &[u8]) -> bool {
    let (_, core) = name.split_at(marks(name));
    core.starts_with(b"_Z") || core.starts_with(b"_R")
}

fn readable(name: &[u8], most: usize) -> Option<Vec<u8>> {
    let (before, core) = name.split_at(marks(name));
    if !core.starts_with(b"_Z") && !core.starts_with(b"_R") {
        return None;
    }
    let text = rust(core, most).or_else(|| cpp::demangle(core, most))?;
    Some(if before.is_empty() { text } else { [before, &text].concat() })
}

/// How many characters a system has put before a name.
fn marks(name: &[u8]) -> usize {
    name.iter().take_while(|byte| matches!(byte, b'.' | b'$')).count()
}

fn rust(name: &[u8], most: usize) -> Option<Vec<u8>> {
    let name = std::str::from_utf8(name).ok()?;
    // Copies of functions have suffixes, which stand behind the last letter of the name proper. The older of the two
    // ways to mangle ends in `E` and has dots of its own; the newer has neither.
    let is_old = !name.starts_with("_R");
    let end = if is_old { name.rfind("E.").map(|at| at + 1) } else { name.find('.') };
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
    fn write_str(&mut self, more: &str) -> std::fmt::Result {
        if self.text.len() + more.len() > self.most {
            return Err(std::fmt::Error);
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
