//! Counts outside the executable file are kept: in shared objects, linked, opened, and closed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::Profile;

use crate::support::{Program, Symbols, calls, compare, directory, quiet, read, root, ticks, tool};

/// A list beside a profile, as in docs/format.md.
#[derive(Debug, Default)]
struct List {
    /// Length and mark of the profile.
    profile: (u64, String),
    /// The identity and the path of the program.
    program: (String, PathBuf),
    objects: BTreeMap<u64, Object>,
    /// Calling object and address, called object and address, and count.
    arcs: Vec<([u64; 4], u64)>,
    sums: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Object {
    length: u64,
    mark: String,
    build_id: String,
    image: PathBuf,
    profile: PathBuf,
}

impl List {
    /// The list beside a profile; `None` if there is none.
    fn of(profile: &Path) -> Option<List> {
        let text = fs::read_to_string(format!("{}.objects", profile.display())).ok()?;
        let mut list = List::default();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("gmon objects 2"));
        assert_eq!(lines.next_back(), Some("end"));
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |word: &str| word.parse::<u64>().unwrap();
            match words[..] {
                ["profile", length, mark] => list.profile = (number(length), mark.to_owned()),
                ["program", identity, path] => list.program = (identity.to_owned(), path.into()),
                ["object", at, twins, length, mark, build_id, path] => {
                    let name = path.rsplit('/').next().unwrap();
                    let twin = if twins == "0" { String::new() } else { format!(".{}", number(twins) + 1) };
                    let object = Object {
                        length: number(length),
                        mark: mark.to_owned(),
                        build_id: build_id.to_owned(),
                        image: path.into(),
                        profile: format!("{}.{name}{twin}", profile.display()).into(),
                    };
                    assert!(list.objects.insert(number(at), object).is_none());
                }
                ["arc", a, b, c, d, count] => list.arcs.push(([a, b, c, d].map(number), number(count))),
                [kind, what, count] => _ = list.sums.insert(format!("{kind} {what}"), number(count)),
                _ => panic!("{line}"),
            }
        }
        Some(list)
    }

    fn in_directory(program: &Program) -> List {
        List::of(&program.directory.join("gmon.out")).expect("a list beside the profile")
    }

    /// The number of the object with that file name.
    fn number(&self, name: &str) -> u64 {
        let mut found = self.objects.iter().filter(|(_, object)| object.image.ends_with(name));
        let (number, _) = found.next().unwrap_or_else(|| panic!("no {name} in {:?}", self.objects));
        assert!(found.next().is_none(), "{name} must appear once");
        *number
    }

    fn profile(&self, name: &str) -> Profile {
        read(&self.objects[&self.number(name)].profile)
    }

    /// Calls from one object to another, by functions.
    fn calls(&self, from: (u64, &Symbols), to: (u64, &Symbols)) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for ([caller, frompc, called, selfpc], count) in &self.arcs {
            if (*caller, *called) == (from.0, to.0) {
                let name = format!("{} {}", from.1.function(frompc - 1), to.1.function(*selfpc));
                *found.entry(name).or_default() += count;
            }
        }
        found
    }
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
    let list = List::in_directory(&program);
    assert_served(&list.profile("libplug.so"), &object, 9, 300, 1);
    assert_eq!(list.sums.get("calls elsewhere"), None);
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
        assert_eq!(program.run(&["70", "66000"]), "calls back 70\n");
        let list = List::in_directory(&program);
        assert_served(&list.profile("libplug.so"), &object, 70, 66_000, 1);
        let plug = (list.number("libplug.so"), &Symbols::of(&object));
        let (own, other) = (list.calls((0, program.symbols()), plug), list.calls(plug, (0, program.symbols())));
        assert_eq!(own, BTreeMap::from([("use serve".to_owned(), 1)]));
        assert_eq!(other, BTreeMap::from([("serve back".to_owned(), 70)]));
        compare("calls back 70\narc main use 1", &program.profile(), program.symbols());
        assert_eq!(list.sums.get("calls elsewhere"), None);
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
    let list = List::in_directory(&program);
    for (object, times, samples, called) in
        [(&objects[0], 3010, 1500, 2), (&objects[1], 205, 300, 2), (&objects[2], 7, 2000, 2)]
    {
        let name = object.file_name().unwrap().to_str().unwrap();
        assert_served(&list.profile(name), object, times, samples, called);
        let this = (list.number(name), &Symbols::of(object));
        assert_eq!(list.calls((0, program.symbols()), this)["use serve"], called);
        assert_eq!(list.calls(this, (0, program.symbols()))["serve back"], times);
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
    let list = List::in_directory(&program);
    let names: Vec<_> = list.objects.values().filter(|object| object.image.ends_with("plug.so")).collect();
    assert_eq!(names.len(), 2);
    for object in names {
        let (times, samples) =
            if object.image.starts_with(program.directory.join("a")) { (11, 200) } else { (22, 400) };
        assert_served(&read(&object.profile), &object.image, times, samples, 1);
    }
}

#[test]
fn in_the_c_library() {
    let program = Program::compile("outside-libc", "host.c", &[]);
    program.run(&["libc", "5000"]);
    let list = List::in_directory(&program);
    let found: u64 = list.profile("libc.so.6").histograms.iter().flat_map(|histogram| &histogram.bins).sum();
    assert!((5000..5200).contains(&found), "{found}");
    let own: u64 = program.profile().histograms.iter().flat_map(|histogram| &histogram.bins).sum();
    assert!(own < 100, "only {own} of the samples are in the program");
    // The kernel's clock is read without a system call.
    assert!(list.sums.values().all(|count| *count < 100), "{list:?}");
}

#[test]
fn the_list_knows_its_files() {
    let program = Program::compile("outside-marks", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    for form in ["openbsd", "bsd", "freebsd", "gnu"] {
        let mut command = program.command(&[object.to_str().unwrap(), "10", "70000"]);
        quiet(&command.env("GMON_FORMAT", form).output().unwrap());
        let list = List::in_directory(&program);
        let known = |path: &Path| {
            let bytes = fs::read(path).unwrap();
            let marks = (0..).zip(&bytes).map(|(position, byte)| gmon::layout::mark(position, *byte));
            (bytes.len() as u64, format!("{:016x}", marks.fold(0, u64::wrapping_add)))
        };
        assert_eq!(list.profile, known(&program.directory.join("gmon.out")), "{form}");
        for object in list.objects.values() {
            assert_eq!((object.length, object.mark.clone()), known(&object.profile));
            let notes = tool("readelf", &["-n", object.image.to_str().unwrap()]);
            assert!(notes.contains(&format!("Build ID: {}", object.build_id)), "{notes}");
        }
    }
}

#[test]
fn any_reader_takes_an_objects_profile() {
    let Some(gprof) = gmon_tests::system_gprof() else { return };
    let program = Program::compile("outside-judge", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    program.run(&[object.to_str().unwrap(), "12", "1000"]);
    let words = ["-b", "-p", object.to_str().unwrap(), "gmon.out.plug.so"];
    let printed = quiet(&gmon_tests::read(gprof, &program.directory, &words));
    let row = |name: &str| printed.lines().find(|line| line.ends_with(name)).map(str::to_owned).unwrap_or_default();
    assert!(row(" stride").split_whitespace().any(|word| word == "12"), "{printed}");
    let seconds: f64 = row(" sampled_here").split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((10.0..10.5).contains(&seconds), "{printed}");
    gmon_tests::compare(&object, &[&program.directory.join("gmon.out.plug.so")], &["-b"]);
}

#[test]
fn a_live_profiles_counts_outside_are_written_at_the_end() {
    let program = Program::compile("outside-live", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let mut command = program.command(&[object.to_str().unwrap(), "9", "100"]);
    quiet(&command.env("GMON_LIVE", "1").output().unwrap());
    let list = List::in_directory(&program);
    assert_served(&list.profile("plug.so"), &object, 9, 100, 1);
    let this = (list.number("plug.so"), &Symbols::of(&object));
    assert_eq!(list.calls(this, (0, program.symbols()))["serve back"], 9);
}

#[test]
fn the_child_of_a_fork_begins_at_zero() {
    let program = Program::compile("outside-fork", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    let stays = format!("!{}", object.display());
    quiet(&program.command(&[&stays, "9", "300"]).env("FORKS", "1").output().unwrap());
    // The child may still be at its end.
    let lists = || {
        let names = fs::read_dir(&program.directory).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.to_str().unwrap().contains("gmon.program.")).collect::<Vec<_>>()
    };
    assert_served(&List::in_directory(&program).profile("plug.so"), &object, 9, 300, 1);
    for path in lists().iter().filter(|path| path.extension().is_some_and(|extension| extension == "out")) {
        let list = List::of(path).unwrap_or_default();
        assert!(list.objects.values().all(|object| !object.image.ends_with("plug.so")), "{list:?}");
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
    let list = List::in_directory(&program);
    assert_eq!(list.sums["calls elsewhere"], 1 + 9 + 1);
    assert!(list.sums["samples elsewhere"] >= 300);
    // Closing another object made us look.
    let said = run(&[&format!("!{one}"), "9", "300", two, "8", "200"]);
    let expected = "was unmapped without dlclose: it gets all counts at its addresses until now";
    assert_eq!(said, format!("gmon: {one} {expected}\n"));
    let list = List::in_directory(&program);
    assert_served(&list.profile("one.so"), &objects[0], 9, 300, 1);
    assert_served(&list.profile("two.so"), &objects[1], 8, 200, 1);
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
    assert!(List::of(&program.directory.join("gmon.out")).is_some());
}

#[test]
fn no_counts_outside_make_no_files_beside_the_profile() {
    // A static program has nothing outside except what the kernel provides.
    let program = Program::compile("outside-nothing", "control.c", &["-static"]);
    program.run(&[]);
    if let Some(list) = List::of(&program.directory.join("gmon.out")) {
        assert!(list.objects.is_empty() && list.arcs.is_empty(), "{list:?}");
    }
}

#[test]
fn errors_of_writing_are_reported_and_calls_counted() {
    let program = Program::compile("outside-refused", "host.c", &[]);
    let object = program.directory.join("plug.so");
    shared_object(&object);
    std::os::unix::fs::symlink("elsewhere", program.directory.join("gmon.out.plug.so")).unwrap();
    let output = program.command(&[object.to_str().unwrap(), "9", "300"]).output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "gmon: gmon.out.plug.so: cannot open: is a symbolic link (error 40)\n");
    assert!(!program.directory.join("elsewhere").exists());
    let list = List::in_directory(&program);
    assert!(list.sums["samples elsewhere"] >= 300, "{list:?}");
    // `serve` and, from it, `stride` and `sampled_here`.
    assert_eq!(list.sums["calls elsewhere"], 1 + 9 + 1);
    assert!(list.objects.values().all(|object| !object.image.ends_with("plug.so")));
    assert!(sum(&calls(&program.profile(), program.symbols())) > 0);
}
