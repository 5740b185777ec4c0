//! Names as people wrote them.

use std::borrow::Cow;

/// Turns a mangled C++ or Rust name into what the programmer wrote; any other name is given back as it is.
///
/// Parameters are shown, and the hashes that Rust's compiler adds are not.
#[must_use]
pub fn demangle(name: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(name).ok().and_then(readable) {
        Some(text) => Cow::Owned(text.into_bytes()),
        None => Cow::Borrowed(name),
    }
}

fn readable(name: &str) -> Option<String> {
    // Names of either language begin so, perhaps behind characters that a system puts before every name.
    let core = name.trim_start_matches(['.', '$']);
    if !core.starts_with("_Z") && !core.starts_with("_R") {
        return None;
    }
    let text = rust(core).or_else(|| cpp(core))?;
    let before = &name[..name.len() - core.len()];
    Some(format!("{before}{text}"))
}

fn rust(name: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(name).ok()?;
    Some(format!("{name:#}"))
}

fn cpp(name: &str) -> Option<String> {
    cpp_demangle::Symbol::new(name).ok()?.demangle().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> String {
        String::from_utf8(demangle(name.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn cpp_names() {
        assert_eq!(shown("_ZN2ns1fEi"), "ns::f(int)");
        assert_eq!(shown("_ZN2ns3addIiEET_S1_S1_"), "int ns::add<int>(int, int)");
        assert_eq!(shown("_ZNK2ns1A1fEi"), "ns::A::f(int) const");
    }

    #[test]
    fn rust_names() {
        assert_eq!(shown("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE"), "core::fmt::Formatter::write_str");
        assert_eq!(shown("_RNvC7mycrate3foo"), "mycrate::foo");
    }

    #[test]
    fn other_names_stay() {
        for name in ["main", "_Z", "_Zqqq", "_R", "", "_start"] {
            assert_eq!(shown(name), name);
        }
        assert_eq!(demangle(b"\xff_Z").as_ref(), b"\xff_Z");
    }
}
