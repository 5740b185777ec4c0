//! Compressed names of callgrind's format: the first use of a name has a number and the name, later uses have only the
//! number.
//!
//! The manual of Valgrind describes the format ("Callgrind Format Specification", name compression). Names reach to the
//! end of their line, so they need no escapes but those of control characters.

use std::collections::HashMap;

/// The numbers of names of one kind: of objects, of files, or of functions.
///
/// Some readers forget the numbers of a part at its end, and others permit no number to have a second name. So each
/// part of a file has numbers of its own.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    used: usize,
    known: HashMap<String, usize>,
}

impl Numbers {
    /// Begins the next part: forgets all names. Used numbers stay used.
    pub(crate) fn begin_part(&mut self) {
        self.known.clear();
    }

    /// Returns the number of a name, and the name if the part does not have it yet.
    pub(crate) fn of(&mut self, name: String) -> (usize, Option<String>) {
        if let Some(number) = self.known.get(&name) {
            return (*number, None);
        }
        let number = self.fresh();
        self.known.insert(name.clone(), number);
        (number, Some(name))
    }

    /// Returns a number that no name has. Two functions may have one name, and each has its number.
    pub(crate) fn fresh(&mut self) -> usize {
        self.used += 1;
        self.used
    }
}

/// Returns the line that names an object, a file or a function.
pub(crate) fn position(option: &str, number: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{option}=({number}) {name}\n"),
        None => format!("{option}=({number})\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_numbers_of_its_own() {
        let mut numbers = Numbers::default();
        let of = |numbers: &mut Numbers, name: &str| numbers.of(name.to_owned());
        assert_eq!(of(&mut numbers, "a"), (1, Some("a".to_owned())));
        assert_eq!(of(&mut numbers, "b"), (2, Some("b".to_owned())));
        assert_eq!(of(&mut numbers, "a"), (1, None));
        assert_eq!(numbers.fresh(), 3);
        numbers.begin_part();
        assert_eq!(of(&mut numbers, "a"), (4, Some("a".to_owned())));
    }

    #[test]
    fn a_line_has_a_name_once() {
        assert_eq!(position("fn", 3, Some("f(int)")) + &position("cfn", 3, None), "fn=(3) f(int)\ncfn=(3)\n");
    }
}
