//! Strings in the language of Graphviz.
//!
//! Graphviz reads a string up to the next quote without a backslash, and reads a backslash in a label as the beginning
//! of an escape, such as `\n` for a line end (<https://graphviz.org/doc/info/lang.html>, and `escString` among the
//! attribute types).

use std::collections::{HashMap, HashSet};

use super::text::text;

/// The line end inside a label.
pub(crate) const LINE_END: &str = "\\n";

/// Returns a name as a part of a string.
pub(crate) fn part(name: &[u8]) -> String {
    text(name).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the identifiers of nodes with these names, as strings in quotes. Nodes of one name have different
/// identifiers: the second function `f` is `f #2`, or has the next number for which no other node has the name.
pub(crate) fn identifiers<N: AsRef<[u8]>>(names: impl Iterator<Item = N>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    let mut free = |name: String| {
        let last = last.entry(name.clone()).or_insert(0);
        loop {
            *last += 1;
            let numbered = if *last == 1 { name.clone() } else { format!("{name} #{last}") };
            if taken.insert(numbered.clone()) {
                return format!("\"{numbered}\"");
            }
        }
    };
    names.map(|name| free(part(name.as_ref()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_string() {
        assert_eq!(part(b"operator\"\"_s"), "operator\\\"\\\"_s");
        // The backslash of a control character's escape is data, too.
        assert_eq!(part(b"a\\b\n"), "a\\\\b\\\\n");
    }

    #[test]
    fn each_node_has_its_own_name() {
        let names = |names: &[&str]| identifiers(names.iter());
        assert_eq!(names(&["f", "g", "f", "f"]), ["\"f\"", "\"g\"", "\"f #2\"", "\"f #3\""]);
        assert_eq!(names(&["f", "f", "f #2", "f"]), ["\"f\"", "\"f #2\"", "\"f #2 #2\"", "\"f #3\""]);
        let expected = ["\"f #2\"", "\"f\"", "\"f #3\"", "\"f #3 #2\"", "\"f #4\""];
        assert_eq!(names(&["f #2", "f", "f", "f #3", "f"]), expected);
    }
}
