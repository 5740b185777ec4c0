//! `-s` adds up side files too: the report of the sum is that of the summands.

use std::fs;
use std::path::Path;

use gmon::side_file::{CutReason, Identity, Kind, Object, Place, SideFile};
use gmon_tests::directory;
use gmon_tests::random::Random;

use super::made::{BIN, Image, Run, beside, images, printed, refused};

fn text(images: &[Image], directory: &Path, words: &[&str]) -> (String, String) {
    let output = printed(images, directory, words);
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_sum_has_everything_that_its_summands_have() {
    let images = images("sums");
    let directory = directory("side_files_sums");
    let mut random = Random::new(21);
    let names = ["one", "two", "three", "four"];
    let mut total = 0;
    for name in names {
        let run = Run::random(&images, &mut random);
        run.write_side(&images, &directory.join(name));
        total += run.total();
    }
    let all = text(&images, &directory, &[&["-b"][..], &names].concat());
    assert_eq!(all.1, "");
    assert_eq!(text(&images, &directory, &[&["-s"][..], &names].concat()), Default::default());
    assert_eq!(text(&images, &directory, &["-b", "gmon.sum"]), all);
    let side = SideFile::parse(&fs::read(directory.join("gmon.sum.side")).unwrap()).unwrap();
    assert!(side.runs() == 4 && !side.is_live() && side.is_of(&fs::read(directory.join("gmon.sum")).unwrap()));
    let outside: u64 = side.samples().iter().map(gmon::side_file::Samples::total).sum();
    assert!(0 < outside && outside < total);
    // A sum is a summand.
    text(&images, &directory, &["-s", "one", "two"]);
    text(&images, &directory, &["-s", "gmon.sum", "three", "four"]);
    assert_eq!(text(&images, &directory, &["-b", "gmon.sum"]), all);
    // A profile without a side file.
    fs::remove_file(directory.join("four.side")).unwrap();
    let (_, warning) = text(&images, &directory, &[&["-s"][..], &names].concat());
    let expected = "gmon.sum.side: lacks the counts in shared objects of 1 profile without a side file";
    assert_eq!(warning, format!("gprof: warning: {expected}\n"));
    // A sum without side files leaves none of an earlier sum.
    assert_eq!(text(&images, &directory, &["-s", "four"]), Default::default());
    assert!(!directory.join("gmon.sum.side").exists());
}

#[test]
fn a_sum_tells_how_much_of_it_has_stacks() {
    let images = images("sums_stacks");
    let directory = directory("side_files_sums_stacks");
    let [leaf, other] = [images[0].functions[0], images[0].functions[1]];
    let run = Run { ticks: [(0, [(leaf / BIN, 30)].into())].into(), ..Run::default() };
    let profile = run.write_profile(&images, &directory.join("with"));
    let mut side = run.side_file(&images, &profile);
    let outer = side.add_context(None, Place { object: 0, address: other + 1 }, 0);
    side.add_context(Some(outer.unwrap()), Place { object: 0, address: leaf }, 29).unwrap();
    side.add_cut(CutReason::NO_STACK, 1).unwrap();
    fs::write(beside(&directory.join("with"), "side"), side.write()).unwrap();
    let mut run = Run { ticks: [(0, [(leaf / BIN, 70)].into())].into(), ..Run::default() };
    run.calls.insert((0, other + 1, 0, leaf), 1);
    run.write_side(&images, &directory.join("without"));
    run.write_profile(&images, &directory.join("alone"));
    let said = |profiles: &[&str]| {
        let (graph, _) = text(&images, &directory, &[&["-b", "-q"], profiles].concat());
        graph.lines().find_map(|line| Some(line.split_once("children: ")?.1.to_owned())).unwrap()
    };
    // The second profile has a side file without stacks, or no side file.
    for second in ["without", "alone"] {
        let all = said(&["with", second]);
        assert!(all.contains("1 of 2 profiles, with 70.0 % of the samples,"), "{all}");
        text(&images, &directory, &["-s", "with", second]);
        let sum = said(&["gmon.sum"]);
        assert!(sum.ends_with("; 70.0 % of the samples are of runs without stacks in a sum"), "{sum}");
    }
}

#[test]
fn a_sum_leaves_out_other_programs_and_says_why() {
    let images = images("sums_differ");
    let directory = directory("side_files_sums_differ");
    let mut random = Random::new(22);
    for name in ["own", "more"] {
        Run::random(&images, &mut random).write_side(&images, &directory.join(name));
    }
    for name in ["one", "two"] {
        let run = Run::random(&images, &mut random);
        let profile = run.write_profile(&images, &directory.join(name));
        let side = run.side_file(&images, &profile);
        let mut other = SideFile::new(side.word());
        other.set_profile(side.profile());
        let mut program = Object::new(Kind::Program, b"/bin/program");
        program.identity = Identity::BuildId(name.as_bytes().to_vec());
        other.add_object(0, program).unwrap();
        fs::write(beside(&directory.join(name), "side"), other.write()).unwrap();
    }
    let sums = || ["gmon.sum", "gmon.sum.side"].map(|name| fs::read(directory.join(name)).unwrap());
    assert_eq!(text(&images, &directory, &["-s", "own", "more"]), Default::default());
    let expected = sums();
    let (_, said) = text(&images, &directory, &["-s", "one", "own", "two", "more"]);
    assert_eq!(sums(), expected);
    let said: Vec<&str> = said.lines().collect();
    for (line, (name, build)) in said.iter().zip([("one", "6f6e6500"), ("two", "74776f00")]) {
        let start = format!(
            "gprof: warning: {name}: left out of the sum: written by another build or program: build {build} ran"
        );
        assert!(line.starts_with(&start), "{line}");
    }
    assert_eq!(said.len(), 2, "{said:?}");
    // Nothing is left: the sum of before stays.
    let last = refused(&images, &directory, &["-s", "one", "two"]);
    assert!(last.starts_with("gprof: no sum: all profiles are of other programs or builds than "), "{last}");
    assert_eq!(sums(), expected);
}
