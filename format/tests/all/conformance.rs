//! The conformance suite: the crate reads each file of testdata/format as the suite says, and writes it again.

use std::mem::discriminant;
use std::{fs, io};

use crate::suite::{Case, cases, dump, meaning};
use gmon::{Encoding, Error, Form, Hints, Profile, Records, detect, detect_reader, read_as, write};
use serde_json::Value;

fn read(case: &Case) -> Result<(Encoding, Profile), Error> {
    let hints: Hints = meaning::hints(case.member("hints"));
    let encoding = detect(&case.bytes, &hints)?.encoding();
    Ok((encoding, read_as(&case.bytes, encoding)?))
}

/// Fails with all problems at once: a change often concerns many files.
fn check(problem: impl Fn(&Case) -> Option<String>) {
    let cases = cases();
    let problems = cases.iter().filter_map(|case| Some(format!("{}: {}", case.name, problem(case)?)));
    let problems: Vec<_> = problems.collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn each_file_means_what_the_suite_says() {
    check(|case| {
        if case.is_bad() {
            return None;
        }
        let mut expected = case.meaning.clone();
        expected.as_object_mut().unwrap().retain(|key, _| key != "hints" && key != "canonical");
        let found = match read(case) {
            Ok((encoding, profile)) => meaning::of(encoding, &profile),
            Err(error) => return Some(format!("expected {expected}, found the error {error}")),
        };
        (found != expected).then(|| format!("expected {expected}, found {found}"))
    });
}

#[test]
fn each_bad_file_is_an_error_of_its_kind() {
    check(|case| {
        if !case.is_bad() {
            return None;
        }
        let expected = case.member("error");
        let error = match read(case) {
            Ok((encoding, _)) => return Some(format!("expected {expected}, read as {encoding}")),
            Err(error) => error,
        };
        let found = meaning::of_error(&error);
        let fits = expected.as_object().unwrap().iter().all(|(key, value)| found.get(key) == Some(value));
        (!fits).then(|| format!("expected {expected}, found {found}: {error}"))
    });
}

#[test]
fn canonical_files_are_written_again() {
    check(|case| {
        if case.member("canonical") != &Value::Bool(true) {
            return None;
        }
        let (encoding, profile) = read(case).unwrap();
        let written = write(&profile, encoding);
        (written.as_ref() != Ok(&case.bytes)).then(|| format!("wrote {written:02x?}"))
    });
}

/// A form of the list without a dump would be a form that no other reader can check.
#[test]
fn each_form_has_a_dump_that_is_written_again() {
    let canonical = cases().into_iter().filter(|case| case.member("canonical") == &Value::Bool(true));
    let written: Vec<_> = canonical.map(|case| discriminant(&read(&case).unwrap().0.form)).collect();
    let missing: Vec<_> = Form::ALL.iter().filter(|form| !written.contains(&discriminant(*form))).collect();
    assert!(missing.is_empty(), "testdata/format has no canonical dump of {missing:?}");
}

/// Reads a file record by record, without having the file in memory.
fn read_in_pieces(case: &Case) -> Result<(Encoding, Profile), Error> {
    let mut file = io::Cursor::new(&case.bytes);
    let encoding = detect_reader(&mut file, &meaning::hints(case.member("hints")))?.encoding();
    file.set_position(0);
    let mut profile = Profile::new();
    let mut records = Records::from_reader(file, encoding)?;
    let mut offset = 0;
    while let Some(record) = records.next() {
        profile.add_record(record?).map_err(|error| Error::Histograms { error: Box::new(error), offset })?;
        offset = records.offset();
    }
    Ok((encoding, profile))
}

#[test]
fn each_file_is_the_same_if_read_in_pieces() {
    check(|case| {
        let (whole, in_pieces) = (read(case), read_in_pieces(case));
        (whole != in_pieces).then(|| format!("read {whole:?}, in pieces {in_pieces:?}"))
    });
}

#[test]
fn the_reference_names_each_file() {
    let reference = fs::read_to_string(crate::suite::path("docs/format.md")).unwrap();
    check(|case| (!reference.contains(&format!("`{}`", case.name))).then(|| "docs/format.md does not name it".into()));
}

#[test]
fn a_dump_with_a_wrong_line_is_rejected() {
    assert_eq!(dump::bytes("0000  01 02  # a\n\n# b\n0002  ff * 3\n"), Ok(vec![1, 2, 0xff, 0xff, 0xff]));
    for wrong in ["0001  01", "000  01", "0000 01", "0000  1", "0000  +1", "0000  01  02", "0000  01 * x", "0000"] {
        assert!(dump::bytes(wrong).is_err(), "{wrong}");
    }
}
