//! `GMON_ONLY`: which programs are profiled.

/// Whether a program is to be profiled: the name behind the last slash of its path matches the pattern, or, behind a
/// `!`, does not.
pub(super) fn is_wanted(pattern: &[u8], path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match pattern.strip_prefix(b"!") {
        Some(unwanted) => !matches(unwanted, name),
        None => matches(pattern, name),
    }
}

/// Whether a pattern matches a whole name: `*` matches any bytes, and `?` one byte.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    // What follows the last `*`, and the bytes of the name that this `*` has not taken. An earlier `*` need not take
    // more: what the last one takes can be anything.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => return true,
            (Some((b'*', rest)), _) => {
                retry = Some((rest, name));
                pattern = rest;
            }
            (Some((wanted, pattern_rest)), Some((byte, name_rest))) if wanted == byte || *wanted == b'?' => {
                pattern = pattern_rest;
                name = name_rest;
            }
            _ => {
                let Some((rest, [_, left @ ..])) = retry else { return false };
                retry = Some((rest, left));
                pattern = rest;
                name = left;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_name() {
        for (pattern, name) in [
            ("cc1", "cc1"),
            ("*", ""),
            ("*", "cc1"),
            ("cc?", "cc1"),
            ("*1", "cc11"),
            ("c*1", "c1"),
            ("**", "x"),
            ("", ""),
        ] {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("cc1", "cc1plus"),
            ("cc1", "xcc1"),
            ("cc?", "cc"),
            ("*1", "cc12"),
            ("c*1*", "c2"),
            ("?", ""),
            ("", "x"),
            ("[c]", "c"),
        ] {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }

    #[test]
    fn a_star_takes_more_bytes_until_the_rest_matches() {
        assert!(matches(b"*ab*ab", b"aab-ab-ab"));
        assert!(matches(b"a*?b", b"axxb"));
        assert!(!matches(b"a*?b", b"ab"));
        assert!(!matches(b"*ab*abc", b"ab-ab-ab"));
    }

    #[test]
    fn the_directory_does_not_matter_and_an_exclamation_mark_turns_the_answer_round() {
        assert!(is_wanted(b"server", b"/opt/server"));
        assert!(is_wanted(b"server", b"server"));
        assert!(!is_wanted(b"opt", b"/opt/server"));
        assert!(!is_wanted(b"!server", b"./server"));
        assert!(is_wanted(b"!server", b"./client"));
        assert!(!is_wanted(b"server!", b"server"));
    }
}
