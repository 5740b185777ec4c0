//! `--extract` writes the profile of one shared object, and `-i` shows what a side file contains.

use std::fs;
use std::path::Path;

use gmon::{Profile, Word};
use gmon_tests::random::Random;
use gmon_tests::{directory, gprof, read};

use super::made::{Image, Run, images, printed, refused};

fn parsed(bytes: &[u8]) -> Profile {
    let mut profile = gmon::read(bytes, &gmon::Hints::new().with_word(Word::W64)).unwrap();
    profile.arcs_mut().sort_by_key(|arc| (arc.frompc, arc.selfpc));
    profile
}

#[test]
fn the_profile_of_one_object() {
    let images = images("extract");
    let directory = directory("side_files_extract");
    let path = directory.join("gmon.out");
    let run = Run::random(&images, &mut Random::new(31));
    run.write_side(&images, &path);
    let leaf = images[1].path.to_str().unwrap();
    let by_path = format!("--extract={leaf}");
    for (words, file) in [
        (&[&by_path[..], "gmon.out"][..], "gmon.out.a.out"),
        (&["--extract=1", "gmon.out"], "gmon.out.a.out"),
        (&["--extract=2", "gmon.out"], "gmon.out.a.out.2"),
        (&["--extract=1", "--output=other.gmon", "gmon.out"], "other.gmon"),
    ] {
        let output = printed(&images, &directory, words);
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
        let bytes = fs::read(directory.join(file)).unwrap();
        let image = if file.ends_with('2') { 2 } else { 1 };
        assert_eq!(parsed(&bytes), parsed(&run.profile(&images, image)));
        fs::remove_file(directory.join(file)).unwrap();
    }
    // Profiles without a side file add nothing.
    fs::copy(&path, directory.join("bare")).unwrap();
    let bare = printed(&images, &directory, &["--extract=1", "gmon.out", "bare"]);
    let expected = "gprof: warning: gmon.out.a.out: lacks the counts of 1 profile without a side file\n";
    assert_eq!(String::from_utf8(bare.stderr).unwrap(), expected);
    assert_eq!(parsed(&fs::read(directory.join("gmon.out.a.out")).unwrap()), parsed(&run.profile(&images, 1)));
    // Reports are printed if they are chosen, and every gprof reads the file.
    let both = printed(&images, &directory, &["--extract=1", "-b", "-p", "gmon.out"]);
    assert!(String::from_utf8(both.stdout).unwrap().starts_with("Flat profile:"));
    let alone = read(gprof(), &directory, &["-b", "-p", leaf, "gmon.out.a.out"]);
    assert!(alone.status.success() && alone.stderr.is_empty(), "{}", String::from_utf8_lossy(&alone.stderr));
}

#[test]
fn objects_that_cannot_be_extracted() {
    let images = images("refuse");
    let directory = directory("side_files_refuse");
    let path = directory.join("gmon.out");
    let mut run = Run::random(&images, &mut Random::new(32));
    run.ticks.remove(&2);
    run.calls.retain(|(from, _, to, _), _| *from != 2 && *to != 2);
    run.write_side(&images, &path);
    let say = |word: &str| refused(&images, &directory, &[word, "gmon.out"]);
    let objects = format!("1 {}, 2 {}", images[1].path.display(), images[2].path.display());
    let expected = format!("gprof: no shared object has the path, name or number 'libm.so': {objects}");
    assert_eq!(say("--extract=libm.so"), expected);
    assert!(say("--extract=0").starts_with("gprof: no shared object has"), "the program is no shared object");
    let expected =
        format!("gprof: more than one shared object has the name 'a.out': choose one by its number: {objects}");
    assert_eq!(say("--extract=a.out"), expected);
    let expected = format!("gprof: {}: the run counted nothing in this shared object", images[2].path.display());
    assert_eq!(say("--extract=2"), expected);
    run.write_list(&images, &path);
    fs::remove_file(directory.join("gmon.out.side")).unwrap();
    let expected =
        "gprof: gmon.out: the profile has no side file gmon.out.side, which contains shared objects and threads";
    assert_eq!(say("--extract=1"), expected);
    assert!(say("--threads").contains("GMON_THREADS=1"));
}

/// What `-i` says about the side file.
fn contents(images: &[Image], directory: &Path) -> Vec<String> {
    let text = String::from_utf8(printed(images, directory, &["-i", "gmon.out"]).stdout).unwrap();
    let side = text.split("Side file of").nth(1).unwrap();
    side.lines().map(|line| line.trim().replace(images[1].path.to_str().unwrap(), "LEAF")).collect()
}

#[test]
fn the_contents_of_a_side_file() {
    use gmon::side_file::{CutReason, KERNEL, Place, property};
    let images = images("info");
    let directory = directory("side_files_info");
    let path = directory.join("gmon.out");
    let mut run = Run { kernel: 1, ..Run::default() };
    run.ticks.insert(1, [(images[1].code.start / 4, 5)].into());
    run.calls.insert((0, 0x1000, 1, images[1].functions[0]), 7);
    let profile = run.write_profile(&images, &path);
    let mut side = run.side_file(&images, &profile);
    side.add_property(property::COMMAND, b"./a.out\x005\0").unwrap();
    side.add_property(property::HOST, b"here").unwrap();
    side.add_context(None, Place { object: KERNEL, address: 0 }, 4).unwrap();
    let cut = side.add_context(None, CutReason::NO_TABLE.place(), 0).unwrap();
    side.add_context(Some(cut), Place { object: KERNEL, address: 0 }, 1).unwrap();
    side.add_cut(CutReason::NO_STACK, 1).unwrap();
    side.add_cut(CutReason::NOT_KEPT, 2).unwrap();
    fs::write(directory.join("gmon.out.side"), side.write()).unwrap();
    let said = contents(&images, &directory);
    let build_id = images[1].build_id.as_deref().unwrap();
    for line in [
        "rate: 100",
        "command: ./a.out 5",
        "host: here",
        &format!("object 1: LEAF (build ID {build_id}), 5 samples, 7 calls"),
        "object 9: [vdso]",
        "1 sample in the kernel",
        "4 whole stacks in 3 nodes of stacks",
        "1 sample without a whole stack: the sample came without a stack",
        "1 sample without a whole stack: code without unwind table and frame pointer",
        "2 samples without a whole stack: the process added its counts to those of other processes (GMON_CHILDREN=sum)",
    ] {
        assert!(said.contains(&line.to_owned()), "{line}: {said:#?}");
    }
    assert!(said[0].ends_with("(1 run) contains:"), "{said:?}");
}
