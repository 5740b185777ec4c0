//! Tests of the feature `serde`. The crate's dependency on itself in Cargo.toml enables the feature for all tests.
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::mem::discriminant;

use crate::common::{encoding, profile};
use crate::suite::{self, meaning};
use gmon::{Form, Hints, Histogram, Profile, Record, Records, count_records, detect, read_as};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

/// Writes a value as JSON and reads the value again.
fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let again: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
    assert_eq!(again, *value, "{name}: {text}");
}

/// Everything that is read from a file survives. Returns the form and the records of the file.
fn file_survives(name: &str, bytes: &[u8], hints: &Hints) -> (Form, Vec<Record>) {
    let encoding = detect(bytes, hints).unwrap_or_else(|error| panic!("{name}: {error}")).encoding();
    let records: Vec<Record> = Records::new(bytes, encoding).unwrap().map(Result::unwrap).collect();
    survives(name, &(encoding, read_as(bytes, encoding).unwrap()));
    survives(name, &records);
    survives(name, &count_records(bytes, encoding).unwrap());
    (encoding.form, records)
}

/// The files of the conformance suite have all forms, and together all kinds of records.
#[test]
fn files_of_all_forms_survive() {
    let (mut forms, mut kinds) = (Vec::new(), BTreeSet::new());
    for case in suite::cases().iter().filter(|case| !case.is_bad()) {
        let (form, records) = file_survives(&case.name, &case.bytes, &meaning::hints(case.member("hints")));
        forms.push(discriminant(&form));
        kinds.extend(records.iter().map(kind));
    }
    for form in Form::ALL {
        assert!(forms.contains(&discriminant(form)), "{form}");
    }
    assert_eq!(kinds, BTreeSet::from(["arc", "block", "histogram", "image", "ordered arc"]));
}

/// The name of a kind of records.
fn kind(record: &Record) -> &'static str {
    match record {
        Record::Histogram(_) => "histogram",
        Record::Arc(_) => "arc",
        Record::OrderedArc { .. } => "ordered arc",
        Record::Block(_) => "block",
        Record::Image(_) => "image",
        other => panic!("a new kind of record: {other:?}"),
    }
}

/// Profiles that real programs left, on several machines and systems.
#[test]
fn profiles_of_real_programs_survive() {
    for (directory, least) in [("bsd", 8), ("gnu", 3), ("machines", 5)] {
        let entries = fs::read_dir(suite::path("testdata").join(directory)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        let profiles: Vec<_> =
            files.filter(|path| path.extension().is_some_and(|extension| extension == "gmon")).collect();
        assert!(profiles.len() >= least, "{directory}: {profiles:?}");
        for path in profiles {
            let (_, records) = file_survives(&path.display().to_string(), &fs::read(&path).unwrap(), &Hints::default());
            assert!(records.len() > 1, "{}", path.display());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn profiles_survive((encoding, profile) in encoding().prop_flat_map(|encoding| (Just(encoding), profile(encoding)))) {
        survives("profile", &(encoding, profile));
    }
}

/// Values that the constructors refuse cannot be deserialized.
#[test]
fn impossible_profiles_are_errors() {
    let unit = r#""unit":{"profrate":100,"dimension":[115,0,7,0,0,0,0,0,0,0,0,0,0,0,0],"abbrev":115}"#;
    let histogram = |low: u64, high: u64| format!(r#"{{"lowpc":{low},"highpc":{high},{unit},"bins":{{"U16":[1,2]}}}}"#);
    let parsed: Histogram = serde_json::from_str(&histogram(0, 8)).unwrap();
    assert_eq!(parsed.unit().dimension.field(), b"s\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    assert!(serde_json::from_str::<Histogram>(&histogram(8, 8)).is_err());
    let profile = |second: &str| {
        let first = histogram(0, 8);
        format!(r#"{{"histograms":[{first},{second}],"arcs":[],"blocks":[],"orders":[[[1,2],3]],"images":[]}}"#)
    };
    let parsed: Profile = serde_json::from_str(&profile(&histogram(8, 16))).unwrap();
    assert_eq!((parsed.histograms().len(), parsed.order(1, 2)), (2, Some(3)));
    assert!(serde_json::from_str::<Profile>(&profile(&histogram(4, 12))).is_err(), "overlapping ranges");
}
