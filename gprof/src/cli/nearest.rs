//! Finds the option that a misspelled option may stand for.

/// Returns the element of `known` with the smallest edit distance from `wrong`, unless the distance is too large.
pub(super) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A very long word is not a misspelling, and would cost its length squared.
    if wrong.len() > 60 {
        return None;
    }
    known
        .map(|candidate| (distance(wrong.as_bytes(), candidate.as_bytes()), candidate))
        .min()
        .filter(|(changes, candidate)| *changes <= 1 + candidate.len().min(wrong.len()) / 3)
        .map(|(_, candidate)| candidate)
}

/// The edit distance of two texts: the number of bytes to insert, remove or replace.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, byte) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, known) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(byte != known);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips() {
        let known = ["flat-profile", "graph", "brief", "time"];
        let meant = |wrong| nearest(wrong, known.into_iter());
        assert_eq!(meant("flat-profil"), Some("flat-profile"));
        assert_eq!(meant("grahp"), Some("graph"));
        assert_eq!(meant("xylophone"), None);
        assert_eq!(distance(b"kitten", b"sitting"), 3);
    }
}
