//! Finds the functions that a spec names.

use std::borrow::Cow;

use crate::functions::{FunctionId, Functions};
use crate::sources::Sources;
use crate::symspec::{Spec, What};

/// Finds functions by name and place.
pub(super) struct Matcher<'a, 'data> {
    pub(super) functions: &'a Functions<'data>,
    pub(super) sources: &'a Sources,
    /// Whether names are those of the symbol table and nothing else, and a file is one file.
    pub(super) is_gnu: bool,
}

impl Matcher<'_, '_> {
    /// For each function whether the spec names it.
    pub(super) fn find(&self, spec: &Spec) -> Vec<bool> {
        let mut found = self.in_files(spec);
        // Without `:`, a name with a dot may be a file as well as a copy of a function.
        if !self.is_gnu
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
            if self.is_gnu {
                // The one it met last.
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
                if self.is_gnu || found.contains(&true) {
                    return found;
                }
                choose(&|id| self.is_called(id, name))
            }
        }
    }

    /// Whether a function's name, mangled or readable, with or without parameters, fits a pattern.
    fn is_called(&self, id: FunctionId, pattern: &[u8]) -> bool {
        let readable = self.functions.readable(id);
        let labelled = self.functions.labelled(id, Cow::Borrowed(&readable));
        fits(pattern, &labelled)
            || fits(pattern, &readable)
            || fits(pattern, proper(&readable))
            || fits(pattern, self.functions[id].name)
    }
}

/// A readable name without the type that the function gives back, its parameters, and what stands behind them.
fn proper(name: &[u8]) -> &[u8] {
    let mut depth = 0_i32;
    let (mut start, mut end) = (0, name.len());
    let mut at = 0;
    while at < name.len() {
        let operator =
            name[at..].strip_prefix(b"operator").filter(|_| at == 0 || !name[at - 1].is_ascii_alphanumeric());
        if let Some(rest) = operator.filter(|rest| rest.first().is_some_and(|next| !next.is_ascii_alphanumeric())) {
            // Brackets that belong to the operator's name are none.
            let signs = if rest.starts_with(b"()") {
                2
            } else {
                rest.iter().take_while(|b| b"<>=-+*/!&|^~%".contains(b)).count()
            };
            at += b"operator".len() + signs;
            continue;
        }
        match name[at] {
            b'(' if depth == 0 && !name[at..].starts_with(b"(anonymous namespace)") && at > start => {
                end = at;
                break;
            }
            b'<' | b'(' | b'{' => depth += 1,
            b'>' | b')' | b'}' => depth -= 1,
            b' ' if depth == 0 => start = at + 1,
            _ => {}
        }
        at += 1;
    }
    &name[start.min(end)..end]
}

/// Whether a text fits a pattern in which `*` stands for any text and `?` for any character. Takes time in proportion
/// to the product of both lengths at worst.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to go on when what follows the last `*` does not fit: let it stand for one more character.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(sign) if *sign == b'?' || *sign == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match &mut retry {
                Some((after, from)) => {
                    *from += 1;
                    (p, t) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|sign| *sign == b'*')
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
        ] {
            assert_eq!(proper(name.as_bytes()), short.as_bytes(), "{name}");
        }
    }
}
