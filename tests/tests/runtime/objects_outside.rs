//! Counts outside the executable file are kept: in shared objects, linked, opened, and closed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use gmon::Profile;
use gmon::side_file::{ELSEWHERE, KERNEL, Kind, PROGRAM};
use gmon_tests::profiles::samples;
use gmon_tests::side::Side;

use crate::support::{Program, Symbols, calls, compare, directory, quiet, root, ticks, tool};

/// Calls from one object to another, by functions.
fn calls_between(side: &Side, from: (u32, &Symbols), to: (u32, &Symbols)) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for call in side.all_calls().filter(|call| (call.caller.object, call.callee.object) == (from.0, to.0)) {
        let name = format!("{} {}", from.1.function(call.caller.address - 1), to.1.function(call.callee.address));
        *found.entry(name).or_default() += call.count;
    }
    found
}

/// Compiles plug.c as a shared object.
pub(crate) fn shared_object(path: &Path) {
    let source = root().join("tests/programs/plug.c");
    let words = ["-pg", "-O1", "-shared", "-fPIC", "-o", path.to_str().unwrap(), source.to_str().unwrap()];
    quiet(&Command::new("cc").args(words).output().unwrap());
}

fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().sum()
}

/// The required profile of a shared object that was called this often.
fn assert_served(profile: &Profile, image: &Path, times: u64, samples: u64, called: u64) {
    let symbols = Symbols::of(image);
    let found = calls(profile, &symbols);
    assert_eq!(found.get("arc serve stride").copied().unwrap_or(0), times);
    assert_eq!(found.get("arc serve sampled_here"), Some(&called));
    assert_eq!(found.get("calls serve"), Some(&called), "calls from outside are in the object's own profile too");
    let found = ticks(profile, &symbols).get("sampled_here").copied().unwrap_or(0);
    assert!((samples..samples + 50).contains(&found), "{found} samples of {samples}");
}

/// Programs move their code to larger pages, which belong to no file.
#[test]
fn in_an_object_of_a_program_whose_code_is_of_no_file() {
    let program = Program::compile("outside-moved", "host.c", &[]);
    let object = program.directory.join("libplug.so");
    shared_object(&object);
    let mut command = program.command(&[&format!("!{}", object.display()), "9", "300"]);
    assert!(quiet(&command.env("MOVE_TEXT", "1").output().unwrap()).ends_with("calls back 9\n"));
    let side = program.side();
    assert_served(&side.profile_of_object("libplug.so"), &object, 9, 300, 1);
    assert_eq!(side.calls_to(ELSEWHERE), 0);
}

#[test]
fn in_an_object_that_is_linked() {
    let place = directory("outside-linked-object");
    let object = place.join("libplug.so");
    shared_object(&object);
    let search = format!("-L{}", place.display());
    let path = format!("-Wl,-rpath,{}", place.display());
    for (mode, flags) in [("pie", &[][..]), ("no-pie", &["-no-pie"][..])] {
        let flags = [&["-DLINKED", &search, "-lplug", &path], flags].concat();
        let program = Program::compile(&format!("outside-linked-{mode}"), "host.c", &flags);
        // One tick of the timer in a second of CPU time, because ticks add to the samples that the program asks for.
        let output = program.command(&["70", "66000"]).env("GMON_HZ", "1").output().unwrap();
        assert_eq!(quiet(&output), "calls back 70\n");
        let side = program.side();
        assert_served(&side.profile_of_object("libplug.so"), &object, 70, 66_000, 1);
        let plug = (side.number("libplug.so"), &Symbols::of(&object));
        let (own, other) =
            (calls_between(&side, (0, program.symbols()), plug), calls_between(&side, plug, (0, program.symbols())));
        assert_eq!(own, BTreeMap::from([("use serve".to_owned(), 1)]));
        assert_eq!(other, BTreeMap::from([("serve back".to_owned(), 70)]));
        compare("calls back 70\narc main use 1", &program.profile(), program.symbols());
        assert_eq!(side.calls_to(ELSEWHERE), 0);
    }
}

#[test]
fn in_objects_that_took_each_others_place() {
    let program = Program::compile("outside-opened", "host.c", &[]);
    let objects = ["one.so", "two.so", "three.so"].map(|name| program.directory.join(name));
    for object in &objects {
        shared_object(object);
    }
    let [one, two, three] = objects.each_ref().map(|object| object.to_str().unwrap());
    let stays = format!("!{three}");
    // This object is opened first so that the allocations of the first close may take its place, and not another's.
    let first = [three, "0", "0"];
    let served = [one, "10", "500", two, "200", "0", one, "3000", "1000", two, "5", "300", &stays, "7", "2000"];
    let printed = program.run(&[&first[..], &served].concat());
    let places: Vec<&str> = printed.lines().filter(|line| line.starts_with("at ")).collect();
    assert!(places.len() == 6 && places[1] == places[2], "the test is about objects at one address: {printed}");
    let side = program.side();
    for (object, times, samples, called) in
        [(&objects[0], 3010, 1500, 2), (&objects[1], 205, 300, 2), (&objects[2], 7, 2000, 2)]
    {
        let name = object.file_name().unwrap().to_str().unwrap();
        assert_served(&side.profile_of_object(name), object, times, samples, called);
        let this = (side.number(name), &Symbols::of(object));
        assert_eq!(calls_between(&side, (0, program.symbols()), this)["use serve"], called);
        assert_eq!(calls_between(&side, this, (0, program.symbols()))["serve back"], times);
    }
    compare("calls back 3222", &program.profile(), program.symbols());
}

#[test]
fn in_objects_of_the_same_name_and_in_one_that_is_deleted() {
    let program = Program::compile("outside-twins", "host.c", &[]);
    let objects = ["a", "b"].map(|name| program.directory.join(name).join("plug.so"));
    for object in &objects {
        fs::create_dir(object.parent().unwrap()).unwrap();
        shared_object(object);
    }
    let [a, b] = objects.each_ref().map(|object| object.to_str().unwrap());
    program.run(&[a, "11", "200", b, "22", "400"]);
    let side = program.side();
    let numbers = side.numbers("plug.so");
    assert_eq!(numbers.len(), 2);
    for number in numbers {
        let image = side.path(number);
        let (times, samples) = if image.starts_with(program.directory.join("a")) { (11, 200) } else { (22, 400) };
        assert_served(&side.profile_of_number(number), image, times, samples, 1);
    }
}

#[test]
fn in_the_c_library() {
    let program = Program::compile("outside-libc", "host.c", &[]);
    program.run(&["libc", "5000"]);
    let side = program.side();
    let found: u64 = samples(&side.profile_of_object("libc.so.6"));
    assert!((5000..5200).contains(&found), "{found}");
    let own: u64 = samples(&program.profile());
    assert!(own < 100, "only {own} of the samples are in the program");
    // The kernel's clock is read without a system call.
    assert!([KERNEL, ELSEWHERE].iter().all(|place| side.samples_of(*place) < 100), "{side:?}");
}

#[test]
fn the_side_file_knows_its_profile_and_its_objects() {
    let program = Program::compile("outside-marks", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    for form in ["openbsd", "bsd", "freebsd", "gnu"] {
        let mut command = program.command(&[object.to_str().unwrap(), "10", "70000"]);
        quiet(&command.env("GMON_FORMAT", form).output().unwrap());
        let side = program.side();
        let objects = side.objects().filter(|(_, object)| object.kind != Kind::Vdso);
        for (number, object) in objects {
            let path = side.path(number).to_str().unwrap();
            let notes = tool("readelf", &["-n", path]);
            assert!(notes.contains(&format!("Build ID: {}", side.build_id(number))), "{notes}");
            let headers = tool("readelf", &["-lW", path]);
            let code = headers.lines().find(|line| line.contains("LOAD") && line.contains(" R E ")).unwrap();
            let words: Vec<u64> = code.split_whitespace().map(address).collect();
            assert_eq!(object.code, words[2]..(words[2] + words[5]).next_multiple_of(16), "{headers}");
        }
    }
}

/// A hexadecimal number; 0 for other words.
fn address(word: &str) -> u64 {
    word.strip_prefix("0x").map_or(0, |digits| u64::from_str_radix(digits, 16).unwrap())
}

#[test]
fn a_live_profiles_counts_outside_are_written_at_the_end() {
    let program = Program::compile("outside-live", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let mut command = program.command(&[object.to_str().unwrap(), "9", "100"]);
    quiet(&command.env("GMON_LIVE", "1").output().unwrap());
    let side = program.side();
    assert_served(&side.profile_of_object("plug.so"), &object, 9, 100, 1);
    let this = (side.number("plug.so"), &Symbols::of(&object));
    assert_eq!(calls_between(&side, this, (0, program.symbols()))["serve back"], 9);
}

#[test]
fn the_child_of_a_fork_begins_at_zero() {
    let program = Program::compile("outside-fork", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let stays = format!("!{}", object.display());
    quiet(&program.command(&[&stays, "9", "300"]).env("FORKS", "1").output().unwrap());
    // The child may still be at its end.
    let files = || {
        let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.to_str().unwrap().contains("gmon.program.")).collect::<Vec<_>>()
    };
    assert_served(&program.side().profile_of_object("plug.so"), &object, 9, 300, 1);
    for path in files().iter().filter(|path| path.extension().is_some_and(|extension| extension == "out")) {
        let side = Side::of(path);
        assert!(side.numbers("plug.so").iter().all(|plug| !side.counted().contains(plug)), "{side:?}");
    }
}

#[test]
fn an_object_unmapped_without_dlclose_is_named() {
    let program = Program::compile("outside-unmapped", "host.c", &[]);
    let objects = ["one.so", "two.so"].map(|name| program.directory.join(name));
    objects.iter().for_each(|object| shared_object(object));
    let [one, two] = objects.each_ref().map(|object| object.to_str().unwrap());
    let run = |words: &[&str]| {
        let output = program.command(words).env("UNMAPS", one).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    // Nothing looked before it was gone.
    assert_eq!(run(&[&format!("!{one}"), "9", "300"]), "");
    let side = program.side();
    assert_eq!(side.calls_to(ELSEWHERE), 1 + 9 + 1);
    assert!(side.samples_of(ELSEWHERE) >= 300);
    // Closing another object made us look.
    let said = run(&[&format!("!{one}"), "9", "300", two, "8", "200"]);
    let expected = "was unmapped without dlclose: it gets all counts at its addresses until now";
    assert_eq!(said, format!("gmon: {one} {expected}\n"));
    let side = program.side();
    assert_served(&side.profile_of_object("one.so"), &objects[0], 9, 300, 1);
    assert_served(&side.profile_of_object("two.so"), &objects[1], 8, 200, 1);
}

#[test]
fn it_can_be_turned_off() {
    let program = Program::compile("outside-off", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let run = |value: &str| {
        let mut command = program.command(&[object.to_str().unwrap(), "9", "300"]);
        command.env("GMON_OBJECTS", value).output().unwrap()
    };
    quiet(&run("0"));
    let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.filter(|name| name.to_str().unwrap().starts_with("gmon")).collect();
    assert_eq!(names, ["gmon.out"]);
    compare("calls back 9", &program.profile(), program.symbols());
    let said = String::from_utf8(run("maybe").stderr).unwrap();
    assert_eq!(said, "gmon: GMON_OBJECTS=maybe is not 0 or 1: using 1\n");
    let _ = program.side();
}

#[test]
fn a_program_without_anything_outside_has_a_side_file_that_says_which_program_it_is() {
    let program = Program::compile("outside-nothing", "control.c", &["-static"]);
    program.run(&[]);
    let side = program.side();
    assert!(side.counted().is_empty() && side.calls_to(ELSEWHERE) == 0, "{side:?}");
    assert_eq!(side.path(PROGRAM), program.executable);
}

#[test]
fn errors_of_writing_are_reported_if_counts_are_lost() {
    let program = Program::compile("outside-refused", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    std::os::unix::fs::symlink("elsewhere", program.directory.join("gmon.out.side")).unwrap();
    let output = program.command(&[object.to_str().unwrap(), "9", "300"]).output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "gmon: gmon.out.side: cannot open: is a symbolic link (error 40)\n");
    assert!(!program.directory.join("elsewhere").exists());
    assert!(sum(&calls(&program.profile(), program.symbols())) > 0);
}
