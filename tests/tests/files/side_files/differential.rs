//! The same counts as a list with profiles and as a side file give the same reports.

use std::path::{Path, PathBuf};

use gmon_tests::directory;
use gmon_tests::random::Random;

use super::made::{Image, Run, images, printed};

const REPORTS: [&[&str]; 9] = [
    &[],
    &["-b"],
    &["-p", "-z"],
    &["-q", "-c"],
    &["--stats"],
    &["--format=json"],
    &["--no-objects"],
    &["--compat=gnu", "-b"],
    &["--bounds"],
];

/// Compares all reports of some profiles in two directories.
fn compare(images: &[Image], list: &Path, side: &Path, profiles: &[&str]) {
    for report in REPORTS {
        let words: Vec<&str> = report.iter().chain(profiles).copied().collect();
        let [list, side] = [list, side].map(|directory| printed(images, directory, &words));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&list.stdout), text(&side.stdout), "{words:?}");
        assert_eq!(text(&list.stderr), text(&side.stderr), "{words:?}");
    }
}

fn directories(name: &str) -> [PathBuf; 2] {
    ["list", "side"].map(|form| directory(&format!("side_files_{name}_in_{form}")))
}

#[test]
fn one_run() {
    let images = images("one_run");
    for seed in 0..6 {
        let run = Run::random(&images, &mut Random::new(seed));
        let [list, side] = directories("one_run");
        run.write_list(&images, &list.join("gmon.out"));
        run.write_side(&images, &side.join("gmon.out"));
        compare(&images, &list, &side, &["gmon.out"]);
    }
}

#[test]
fn many_runs() {
    let images = images("many_runs");
    let [list, side] = directories("many_runs");
    let mut random = Random::new(7);
    let names: Vec<String> = (0..40).map(|number| format!("gmon.{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        let run = Run::random(&images, &mut random);
        run.write_list(&images, &list.join(name));
        // Some runs had an older runtime, and some left nothing beside the profile.
        match number % 8 {
            6 => run.write_list(&images, &side.join(name)),
            7 => {
                run.write_profile(&images, &side.join(name));
                std::fs::remove_file(list.join(format!("{name}.objects"))).unwrap();
            }
            _ => run.write_side(&images, &side.join(name)),
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    compare(&images, &list, &side, &names);
}
