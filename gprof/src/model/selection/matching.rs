//! Finds the functions that a SPEC names.

use std::borrow::Cow;

use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::sources::Sources;
use crate::question::pattern::{Spec, What, fits};

/// Finds functions by name and source location.
pub(super) struct Matcher<'a, 'data> {
    pub(super) functions: &'a Functions<'data>,
    pub(super) sources: &'a Sources,
    /// Whether demangled names and patterns match as well as symbols, and a file name matches all files of this name.
    pub(super) finds_readable: bool,
}

impl Matcher<'_, '_> {
    /// Returns for each function whether the SPEC names the function.
    pub(super) fn find(&self, spec: &Spec) -> Vec<bool> {
        let mut found = self.in_files(spec);
        // Without a colon, a name with a dot may be a source file as well as a copy of a function.
        if self.finds_readable
            && let Spec { file: None, what: What::Function(name) } = spec
            && !found.contains(&true)
        {
            found = self.in_files(&Spec { file: Some(name.clone()), what: What::All });
        }
        found
    }

    fn in_files(&self, spec: &Spec) -> Vec<bool> {
        let files = spec.file.as_ref().map(|name| {
            let mut files = self.sources.named(name);
            if !self.finds_readable {
                // GNU looks at the last file only.
                files.drain(..files.len().saturating_sub(1));
            }
            files
        });
        let in_file = |id: FunctionId| match &files {
            None => true,
            Some(files) => self.sources.place(id).is_some_and(|place| files.binary_search(&place.file).is_ok()),
        };
        let choose = |matches: &dyn Fn(FunctionId) -> bool| -> Vec<bool> {
            self.functions.ids().map(|id| in_file(id) && matches(id)).collect()
        };
        match &spec.what {
            What::All => choose(&|_| true),
            What::Line(line) => {
                choose(&|id| self.sources.place(id).is_some_and(|place| u64::from(place.line) == *line))
            }
            What::Function(name) => {
                let found = choose(&|id| self.functions[id].name == name.as_slice());
                if !self.finds_readable || found.contains(&true) {
                    return found;
                }
                choose(&|id| self.is_called(id, name))
            }
        }
    }

    /// Returns whether a name of a function fits a pattern: the symbol, or the demangled name with or without
    /// parameters.
    fn is_called(&self, id: FunctionId, pattern: &[u8]) -> bool {
        let readable = self.functions.readable(id);
        let labeled = self.functions.labelled(id, Cow::Borrowed(&readable));
        fits(pattern, &labeled)
            || fits(pattern, &readable)
            || fits(pattern, proper(&readable))
            || fits(pattern, self.functions[id].name)
    }
}

/// Returns a demangled name without the return type, the parameters, and all that follows the parameters.
fn proper(name: &[u8]) -> &[u8] {
    let mut depth = 0_i32;
    let (mut start, mut at) = (0, 0);
    // Blanks after `operator` belong to the function's name: `operator new`, `operator unsigned long`.
    let mut is_operator = false;
    while at < name.len() {
        if let Some(length) = operator(name, at) {
            is_operator |= depth == 0;
            at += length;
            continue;
        }
        match name[at] {
            b'(' if depth == 0 && !name[at..].starts_with(b"(anonymous namespace)") && at > start => {
                let Some(inner) = behind_parameters(name, at) else {
                    return name[start..at].trim_ascii_end();
                };
                // The name goes on with an item that is declared inside this function.
                is_operator = false;
                at = inner;
                continue;
            }
            b'<' | b'(' | b'{' => depth += 1,
            b'>' if at > 0 && name[at - 1] == b'-' => {}
            b'>' | b')' | b'}' => depth -= 1,
            b' ' if depth == 0 && !is_operator => start = at + 1,
            _ => {}
        }
        at += 1;
    }
    &name[start..]
}

/// Returns the length of `operator` with the signs after it, if the word begins at `at`. Angle brackets among the signs
/// do not count as brackets.
fn operator(name: &[u8], at: usize) -> Option<usize> {
    const WORD: &[u8] = b"operator";
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let rest = name.get(at..)?.strip_prefix(WORD)?;
    if at.checked_sub(1).is_some_and(|before| is_letter(&name[before])) || rest.first().is_none_or(is_letter) {
        return None;
    }
    let signs = if rest.starts_with(b"()") {
        2
    } else {
        rest.iter().take_while(|byte| b"<>=-+*/!&|^~%,".contains(byte)).count()
    };
    Some(WORD.len() + signs)
}

/// Returns the position of the `::` that follows the parameters at `at` and their qualifiers, if there is one.
fn behind_parameters(name: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0;
    let length = name[at..].iter().position(|byte| {
        depth += match byte {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let mut end = at + length + 1;
    for qualifier in [" const", " volatile", " &&", " &"] {
        end += if name[end..].starts_with(qualifier.as_bytes()) { qualifier.len() } else { 0 };
    }
    name[end..].starts_with(b"::").then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, does) in [
            ("main", "main", true),
            ("main", "mains", false),
            ("m*n", "main", true),
            ("*::add*", "ns::add(int)", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("??", "ab", true),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), does, "{pattern} {text}");
        }
    }

    #[test]
    fn names_proper() {
        for (name, short) in [
            ("main", "main"),
            ("ns::f(int, char)", "ns::f"),
            ("int ns::add<int>(int, int)", "ns::add<int>"),
            ("ns::C::operator()(int) const", "ns::C::operator()"),
            ("f(int) [clone .cold]", "f"),
            ("V::operator<(V const&)", "V::operator<"),
            ("S::operator new(unsigned long)", "S::operator new"),
            ("operator delete[](void*)", "operator delete[]"),
            ("ns::operator\"\" _km(long double)", "ns::operator\"\" _km"),
            ("S::operator unsigned long() const", "S::operator unsigned long"),
            ("S::operator void (*)()() const", "S::operator void"),
            ("bool ns::operator< <int>(ns::A<int>, int)", "ns::operator< <int>"),
            ("std::ostream& S::operator<< <char>(char)", "S::operator<< <char>"),
            ("S::operator->() const", "S::operator->"),
            ("S::operator,(int)", "S::operator,"),
            ("decltype ((parm#1)->x) f<int>(int)", "f<int>"),
            ("my_operator(int)", "my_operator"),
            ("f(int)::{lambda()#1}::operator()() const", "f(int)::{lambda()#1}::operator()"),
            (
                "S::operator()(int) const::{lambda(int)#2}::operator()(int) const",
                "S::operator()(int) const::{lambda(int)#2}::operator()",
            ),
            ("int g<char>(char)::L::run<int>(int)", "g<char>(char)::L::run<int>"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("(", "("),
            (")f(", ")f("),
        ] {
            assert_eq!(proper(name.as_bytes()), short.as_bytes(), "{name}");
        }
    }

    #[test]
    fn words_that_contain_operator_are_names() {
        for (name, short) in [
            ("my_operator<int>(int)", "my_operator<int>"),
            ("operators f(int)", "f"),
            ("operator_1<int>(int)", "operator_1<int>"),
            (">f", ">f"),
        ] {
            assert_eq!(proper(name.as_bytes()), short.as_bytes(), "{name}");
        }
    }

    #[test]
    fn a_name_without_directories_is_that_of_all_files_or_of_the_last_one() {
        let symbol = |address, name| crate::program::image::Symbol { address, name, is_static: true, is_func: true };
        let symbols = [symbol(16, b"f"), symbol(32, b"f"), symbol(48, b"g"), symbol(64, b"h")];
        let functions = &Functions::new(symbols.to_vec(), 80);
        let sources = &Sources::made_up(&["/a/x.c", "/b/x.c", "/a/y.c"], &[(0, 7), (1, 8), (1, 7), (2, 7)]);
        let found = |finds_readable, what| {
            let spec = Spec { file: Some(b"x.c".to_vec()), what };
            Matcher { functions, sources, finds_readable }.find(&spec)
        };
        assert_eq!(found(true, What::All), [true, true, true, false]);
        assert_eq!(found(false, What::All), [false, true, true, false]);
        assert_eq!(found(true, What::Line(7)), [true, false, true, false]);
        assert_eq!(found(false, What::Function(b"f".to_vec())), [false, true, false, false]);
    }
}
