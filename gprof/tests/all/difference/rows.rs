//! Which rows a difference has, and in which order.

use std::io::sink;

use gmon::{Dimension, Histogram, Profile, Unit};
use gprof::{Analysis, Difference, Error, Options};

use super::{DATA, Table, compare, image, options, program, summary, with_stacks};
use crate::common::LOW;

/// Compares two command lines.
fn with_both(words: [&str; 2], check: impl FnOnce(&Difference<'_, '_>)) {
    let parse = |words: &str| {
        let file = |word: &str| if word.starts_with('-') { word.to_owned() } else { format!("{DATA}{word}") };
        Options::parse(words.split(' ').map(file)).unwrap().compared()
    };
    let options = words.map(parse);
    let loaded = [0, 1].map(|side: usize| gprof::load(&options[side], &mut sink()).unwrap());
    let [base, new] = [0, 1].map(|side: usize| gprof::analyze(&loaded[side], &options[side], &mut sink()).unwrap());
    check(&gprof::difference(&base, &new).unwrap());
}

const KNOTS: &str = "--image bsd/knots bsd/knots.gmon";
const CLASSES: &str = "--image gnu/classes gnu/classes.gmon";
const BASIC: &str = "--image bsd/basic bsd/basic.gmon";

/// The programs have functions of the same names.
#[test]
fn functions_are_joined_with_those_of_their_image() {
    for [base, new] in [
        [vec![KNOTS, BASIC], vec![BASIC, KNOTS]],
        [vec![KNOTS], vec![KNOTS, BASIC]],
        [vec![KNOTS], vec![BASIC, KNOTS]],
        [vec![KNOTS, BASIC], vec![CLASSES, KNOTS, BASIC]],
    ] {
        with_both([&base.join(" "), &new.join(" ")], |difference| {
            let (base, new) = (difference.base_analysis(), difference.new_analysis());
            let mut both = 0;
            for row in &difference.rows {
                let path = |analysis: &Analysis<'_>, id| analysis.images()[analysis.function(id).image].path.clone();
                let [old, now] = difference.row_functions(row);
                if let (Some(first), Some(counterpart)) = (old.first(), now.first()) {
                    let name = difference.row_name(row);
                    assert!(old.iter().all(|id| path(base, *id) == path(new, *counterpart)), "{name:?}");
                    assert!(now.iter().all(|id| path(new, *id) == path(base, *first)), "{name:?}");
                    assert_eq!(difference.counterpart(*first), Some(*counterpart));
                    both += 1;
                }
            }
            assert!(both > 3, "{both}");
        });
    }
}

#[test]
fn equal_changes_are_in_the_order_of_names() {
    let base = program(&[("main", false, 0, 0), ("z", false, 5, 0)], 100);
    let new = program(&[("main", false, 0, 0), ("z", false, 10, 0), ("a", false, 5, 0)], 100);
    let rows = summary(&base, &new, options());
    assert_eq!(rows, ["a Added noise 0-0.05 0-0", "z Both noise 0.05-0.1 0-0"]);
}

#[test]
fn each_removed_function_has_a_row() {
    let names = ["_ZN1a1f17h0123456789abcdefE", "_ZN1a1f17h0123456789abcde0E"];
    let base = program(&[("main", false, 0, 0), (names[0], true, 100, 1), (names[1], true, 300, 2)], 100);
    let new = program(&[("main", false, 0, 0), ("other", false, 1, 0)], 100);
    let mut rows = summary(&base, &new, options());
    rows.retain(|row| row.starts_with('a'));
    assert_eq!(rows, ["a::f Removed 3-0 2-0", "a::f Removed 1-0 1-0"]);
    compare(options(), (&base.0, &base.1), (&new.0, &new.1), |difference| {
        let removed: Vec<_> = difference.base_analysis().functions().skip(1).collect();
        assert_eq!([difference.counterpart(removed[0]), difference.counterpart(removed[1])], [None, None]);
    });
}

/// The functions of a program of which one was never called and has no samples.
#[test]
fn unused_functions_have_rows_if_they_are_wanted() {
    let both = program(&[("main", false, 10, 0), ("f", false, 400, 5), ("unused", false, 0, 0)], 100);
    let rows = |options: Options| {
        compare(options, (&both.0, &both.1), (&both.0, &both.1), |difference| {
            let name = |row| String::from_utf8(difference.row_name(row).into_owned()).unwrap();
            (difference.rows.iter().map(name).collect::<Vec<_>>(), difference.left_out)
        })
    };
    assert_eq!(rows(options()), (vec!["f".to_owned(), "main".to_owned()], 0));
    // No code was outside of all functions.
    assert_eq!(rows(options().unused(true)).0, ["f", "main", "unused"]);
    assert_eq!(rows(options().unused(true).top(1)), (vec!["f".to_owned()], 2));
}

#[test]
fn times_of_different_units_or_without_a_unit_are_not_compared() {
    let of = |unit: Option<Unit>| {
        let (table, profile) = program(&[("main", false, 1, 0)], 100);
        let histogram = unit.map(|unit| Histogram::new(LOW..table.end, unit, vec![1_u64]).unwrap());
        let arcs = profile.arcs().to_vec();
        (table, Profile::of_samples(histogram).unwrap().with_arcs(arcs))
    };
    let error = |[base, new]: [&(Table, Profile); 2]| {
        let options = options().compared();
        let load = |(table, profile): &(Table, Profile)| gprof::from_memory(&options, image(table), profile.clone());
        let (base, new) = (load(base).unwrap(), load(new).unwrap());
        let analyze = |loaded| gprof::analyze(loaded, &options, &mut sink()).unwrap();
        gprof::difference(&analyze(&base), &analyze(&new)).map(|_| ()).err()
    };
    let seconds = of(Some(Unit::seconds(100)));
    let dimension = Dimension::from_field(*b"cycles\0\0\0\0\0\0\0\0\0");
    let cycles = of(Some(Unit { profrate: 100, dimension, abbrev: b'c' }));
    let none = of(None);
    assert!(error([&seconds, &seconds]).is_none());
    assert!(matches!(error([&seconds, &cycles]), Some(Error::UnitsDiffer { .. })));
    assert!(matches!(error([&seconds, &none]), Some(Error::NoTimes { .. })));
    assert!(matches!(error([&none, &seconds]), Some(Error::NoTimes { .. })));
}

#[test]
fn a_frame_is_as_wide_as_the_times_of_both_sides() {
    with_stacks(300, |difference| {
        let frame = &difference.flame().frames[0];
        assert!((frame.width() - frame.inclusive.old - frame.inclusive.new).abs() < 1e-9 && frame.inclusive.old > 1.0);
    });
}
