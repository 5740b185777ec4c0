//! Runs the check of each fuzz target for each file of its corpus, without a fuzzer.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::fs;
use std::path::Path;

use gmon_fuzz_checks::CHECKS;

/// Runs the check of a target for each file of its corpus.
fn replay(target: &str) {
    let (_, check) = CHECKS.iter().find(|(name, _)| *name == target).unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz").join(target);
    let files = fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in files {
        let input = fs::read(&path).unwrap();
        let result = std::panic::catch_unwind(|| check(&input));
        assert!(result.is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count > 0, "{} has files", corpus.display());
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*

        #[test]
        fn all_targets_are_here() {
            assert_eq!(CHECKS.map(|(name, _)| name), [$(stringify!($name)),*]);
        }
    };
}

targets! { read detect rewrite sum side_file perf_map demangle symbols lines inlines tables walk run }
