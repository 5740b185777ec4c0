//! docs/profil.md names tests. They must exist, and every trial of a program must be tested.

use std::collections::BTreeSet;
use std::fs;

use crate::support::root;

/// The words of a text that look like names.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect()
}

/// The rows of the table: the page, its statement, the tests.
fn rows(text: &str) -> Vec<[&str; 3]> {
    let table = text.split("| page | what it says | tests |").nth(1).unwrap();
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            cells.try_into().unwrap_or_else(|_| panic!("{line}"))
        })
        .collect()
}

#[test]
fn every_sentence_has_tests_that_are_there() {
    let text = fs::read_to_string(root().join("docs/profil.md")).unwrap();
    let rows = rows(&text);
    for page in ["4.4BSD", "4.4BSD, before", "OpenBSD", "illumos", "AIX"] {
        assert!(rows.iter().filter(|row| row[0] == page).count() >= 5, "{page}");
    }
    for [page, sentence, tests] in rows {
        let tests: Vec<_> = tests.split(", ").map(|test| test.trim_matches('`')).collect();
        assert!(!tests.is_empty() && !sentence.is_empty(), "{page}: {sentence}");
        for test in tests {
            let (place, test) = test.split_once("::").unwrap_or_else(|| panic!("{page}: {sentence}: {test}"));
            let path = match place.split_once(' ') {
                Some(("unit", file)) => format!("runtime/profil/src/{file}.rs"),
                Some(("runtime", file)) => format!("tests/tests/runtime/{file}.rs"),
                _ => format!("tests/tests/profil/{place}.rs"),
            };
            let source = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(names(&source).contains(test), "{page}: {sentence}: no {test} in {path}");
        }
    }
}

#[test]
fn the_manual_page_has_every_function_and_every_error() {
    let page = root().join("docs/man/profil.3");
    let text = fs::read_to_string(&page).unwrap();
    let header = fs::read_to_string(root().join("runtime/include/gmon.h")).unwrap();
    let declared: Vec<_> = names(&header)
        .into_iter()
        .filter(|name| name.starts_with("gmon_p") || name.starts_with("GMON_PROFIL_"))
        .collect();
    assert!(declared.len() >= 9, "{declared:?}");
    for name in declared {
        let name = name.trim_start_matches("GMON_PROFIL");
        assert!(names(&text).iter().any(|word| word.ends_with(name)), "{name}");
    }
    for error in ["EINVAL", "EFAULT", "EPERM", "EALREADY", "EBADF", "ENOTDIR", "ENOMEM"] {
        assert!(text.contains(&format!(".It Bq Er {error}\n")), "{error}");
    }
}

#[test]
fn every_trial_of_a_program_is_tried() {
    let programs = root().join("tests/programs/profil");
    let common = fs::read_to_string(programs.join("common.h")).unwrap();
    let tests = |file: &str| fs::read_to_string(root().join("tests/tests/profil").join(file)).unwrap();
    let together = tests("together.rs");
    for program in ["bsd", "openbsd", "illumos", "aix", "engine", "together", "host"] {
        let source = fs::read_to_string(programs.join(format!("{program}.c"))).unwrap();
        let source = if source.contains("common.h") { source + &common } else { source };
        let file = if program == "host" { String::new() } else { tests(&format!("{program}.rs")) };
        let tried: BTreeSet<_> = names(&file).union(&names(&together)).copied().collect();
        let trials: Vec<_> = source.split("TRIAL(").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
        assert!(!trials.is_empty());
        for trial in trials.into_iter().filter(|trial| *trial != "after_exec") {
            assert!(tried.contains(trial), "{program}: {trial}");
        }
    }
}
