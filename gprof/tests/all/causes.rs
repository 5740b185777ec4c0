//! Where a change is: which calls changed, and which callers only hand a change on.

use std::io::sink;

use gmon::{Arc, Histogram, Profile, Unit};
use gprof::{Cause, Difference, Options};

use crate::common::{LOW, SIZE, Table, image};

const FUNCTIONS: [&str; 5] = ["main", "parse", "hash", "sort", "copy"];

/// The samples of each function, and the calls between functions.
type Counts<'c> = (&'c [u64], &'c [(u64, u64, u64)]);

/// Compares two programs with one run each.
fn compare<T>(runs: [Counts<'_>; 2], check: impl FnOnce(&Difference<'_, '_>) -> T) -> T {
    let options = Options::new("image", ["profile"]).compared();
    let table = Table::of_names(FUNCTIONS);
    let (end, image) = (table.end, image(&table));
    let loaded = runs.map(|(samples, calls)| {
        let histogram = Histogram::new(LOW..end, Unit::seconds(100), samples.to_vec()).unwrap();
        let arc = |(from, to, count): &(u64, u64, u64)| Arc::new(LOW + SIZE * from + 4, LOW + SIZE * to, *count);
        let arcs: Vec<Arc> = calls.iter().map(arc).collect();
        let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
        gprof::from_memory(&options, image.clone(), profile).unwrap()
    });
    let [base, new] = [0, 1].map(|side: usize| gprof::analyze(&loaded[side], &options, &mut sink()).unwrap());
    check(&gprof::difference(&base, &new).unwrap())
}

fn text(name: &[u8]) -> String {
    String::from_utf8(name.to_vec()).unwrap()
}

/// The calls that changed: the caller, the called function, and the numbers.
fn calls(difference: &Difference<'_, '_>) -> Vec<String> {
    let arc = |arc: &gprof::ArcChange| {
        let [caller, called] = difference.arc_names(arc).map(|name| text(&name));
        format!("{caller} > {called} {} {}", arc.calls.base, arc.calls.new)
    };
    difference.runs.calls.iter().map(arc).collect()
}

/// The functions that changed: the name, the cause, where the calls changed, and the callers.
fn findings(difference: &Difference<'_, '_>) -> Vec<(String, Cause, Option<String>, String)> {
    let found = difference.runs.findings.iter().map(|found| {
        let origin = found.origin.map(|arc| difference.arc_names(&arc).map(|name| text(&name)).join(" > "));
        let path: Vec<String> = difference.path_names(found).iter().map(|name| text(name)).collect();
        (text(&difference.row_name(&found.row)), found.cause, origin, path.join(" > "))
    });
    found.collect()
}

/// Fails if a caller that was called more often is said to call more often itself, or if `parse` or `main` is called
/// slower because `hash` is.
#[test]
fn callers_that_only_hand_a_change_on_are_not_named() {
    let base = (&[10, 400, 500, 800, 0][..], &[(0, 1, 100), (1, 2, 1000), (0, 3, 7)][..]);
    let new = (&[10, 410, 1000, 1200, 0][..], &[(0, 1, 200), (1, 2, 2000), (0, 3, 7)][..]);
    compare([base, new], |difference| {
        assert_eq!(calls(difference), ["main > parse 100 200"]);
        let origin = Some("main > parse".to_owned());
        let expected = [
            ("hash".to_owned(), Cause::Calls, origin, "main > parse".to_owned()),
            ("sort".to_owned(), Cause::EachCall, None, "main".to_owned()),
        ];
        assert_eq!(findings(difference), expected);
    });
}

/// Fails if less time with more calls counts as a change by calls, or if both changes are not told apart.
#[test]
fn calls_and_the_time_of_each_call_may_both_change() {
    let base = (&[10, 400, 1600, 100, 0][..], &[(0, 1, 100), (0, 2, 100)][..]);
    let new = (&[10, 3200, 400, 100, 0][..], &[(0, 1, 200), (0, 2, 200)][..]);
    let causes = |found: Vec<(String, Cause, Option<String>, String)>| {
        found.into_iter().map(|(name, cause, ..)| (name, cause)).collect::<Vec<_>>()
    };
    compare([base, new], |difference| {
        // `main` calls both more often, and nothing calls `main` more often.
        assert_eq!(calls(difference), ["main > hash 100 200", "main > parse 100 200"]);
        let expected = [("parse".to_owned(), Cause::Both), ("hash".to_owned(), Cause::EachCall)];
        assert_eq!(causes(findings(difference)), expected);
    });
    // Without counted calls, nothing tells the cause.
    compare([(base.0, &[]), (new.0, &[])], |difference| {
        assert!(calls(difference).is_empty());
        let expected = [("parse".to_owned(), Cause::Unknown), ("hash".to_owned(), Cause::Unknown)];
        assert_eq!(causes(findings(difference)), expected);
    });
}
