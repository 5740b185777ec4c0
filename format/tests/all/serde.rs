//! Tests of the feature `serde`.

use crate::common::{encoding, profile};
use gmon::{Encoding, Histogram, Profile};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn profiles_survive((encoding, profile) in encoding().prop_flat_map(|encoding| (Just(encoding), profile(encoding)))) {
        let text = serde_json::to_string(&(encoding, &profile)).unwrap();
        prop_assert_eq!(serde_json::from_str::<(Encoding, Profile)>(&text).unwrap(), (encoding, profile));
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
