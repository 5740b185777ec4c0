//! Suggestions for misspelled words: the most similar option, or the file with the most similar name.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::Error;

/// The maximum number of entries of a directory that are compared with a name.
const MOST_ENTRIES: usize = 10_000;

/// Adds the file with the most similar name in the same directory to the error for a file that does not exist.
///
/// Only a file that one of the words of the command line names can be misspelled: profiles name other files.
pub(crate) fn suggest_file(error: Error, words: &[OsString]) -> Error {
    let Error::Read { file, source } = error else { return error };
    let is_typed = words.iter().skip(1).any(|word| word.to_string_lossy().contains(&file));
    let near = Some(&file).filter(|_| is_typed && source.kind() == ErrorKind::NotFound).and_then(|file| near(file));
    match near {
        Some(near) => Error::Misspelled { file, near, source },
        None => Error::Read { file, source },
    }
}

/// The path of the file with the most similar name, spelled with the same directory.
fn near(file: &str) -> Option<String> {
    let wrong = Path::new(file).file_name()?.to_str()?;
    let directory = file.strip_suffix(wrong)?;
    let listed = std::fs::read_dir(if directory.is_empty() { "." } else { directory }).ok()?;
    let entries = listed.take(MOST_ENTRIES).filter_map(Result::ok).filter(|entry| entry.path().is_file());
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // Names of one or two letters are similar to all others of that length.
    let meant = nearest(wrong, names.iter().map(String::as_str)).filter(|_| wrong.len() > 2)?;
    Some(format!("{directory}{meant}"))
}

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

    /// Catches a suggestion for files that exist, for other errors, for files that no word names, and of directories.
    #[test]
    fn files_with_similar_names() {
        let place = std::env::temp_dir().join(format!("gprof-nearest-{}", std::process::id()));
        std::fs::create_dir_all(place.join("progran")).unwrap();
        for name in ["program", "prog.out", "gmon.out"] {
            std::fs::write(place.join(name), "").unwrap();
        }
        let place = format!("{}/", place.display());
        let told = |kind: ErrorKind, file: &str, word: &str| {
            let (file, word) = (format!("{place}{file}"), format!("--base={place}{word}"));
            let error = Error::Read { file, source: kind.into() };
            suggest_file(error, &["gprof".into(), word.into()]).to_string().replace(&place, "")
        };
        let missing = ErrorKind::NotFound;
        assert!(told(missing, "progrm", "progrm").ends_with("; did you mean 'program'?"));
        assert!(told(missing, "gmom.out", "gmom.out").ends_with("; did you mean 'gmon.out'?"));
        for (kind, file, word) in [
            (ErrorKind::PermissionDenied, "progrm", "progrm"),
            (missing, "progrm", "other"),
            (missing, "xylophone", "xylophone"),
            (missing, "none/progrm", "none/progrm"),
        ] {
            let said = told(kind, file, word);
            assert!(!said.contains("did you mean"), "{said}");
        }
        std::fs::remove_dir_all(place).unwrap();
    }
}
