//! Orders of functions and of object files on synthetic profiles. The system's gprof checks the contents of the orders,
//! and our own rule checks their order.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gmon::{Arc, DataModel, Encoding, Form, Order, Profile};
use gmon_tests::random::{Random, Stage};
use gmon_tests::{compare, compile, gprof, read, system_gprof};

fn store(path: &Path, profile: &Profile) {
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    fs::write(path, gmon::write(profile, encoding).unwrap()).unwrap();
}

/// A program and its profiles for given seeds.
struct Seeded {
    image: PathBuf,
    stage: Stage,
}

impl Seeded {
    fn new(name: &str, source: &str) -> Seeded {
        let image = compile(&format!("orders_{name}"), &[source], &["-g"]);
        let stage = Stage::of(&fs::read(&image).unwrap());
        Seeded { image, stage }
    }

    fn profile(&self, random: &mut Random) -> PathBuf {
        let path = self.image.with_file_name("calls");
        store(&path, &self.stage.calls(random, 600));
        path
    }

    /// Orders must have the same functions as the system's, after the same reports.
    fn functions(&self, seeds: Range<u64>) {
        for seed in seeds {
            let mut random = Random::new(seed);
            let profile = self.profile(&mut random);
            let options: [&[&str]; 4] = [&["-b", "-r"], &["-b", "-r"], &["-b", "-r", "-q"], &["-b", "-r", "-a", "-c"]];
            compare(&self.image, &[&profile], random.pick::<&[&str]>(&options));
            if seed % 16 == 0 {
                // Sums exceed 32 bits.
                compare(&self.image, &[&profile, &profile, &profile], &["-b", "-r"]);
            }
        }
    }

    /// Orders must have the same object files as the system's, after the same reports.
    fn files(&self, seeds: Range<u64>) {
        let map = self.image.with_file_name("map");
        for seed in seeds {
            let mut random = Random::new(seed);
            let profile = self.profile(&mut random);
            fs::write(&map, self.stage.map(&mut random)).unwrap();
            let options: [&[&str]; 3] = [&["-b", "-R", "map"], &["-b", "-R", "map", "-q", "-a"], &["-R", "map"]];
            compare(&self.image, &[&profile], random.pick::<&[&str]>(&options));
        }
    }

    /// The default output of ours.
    fn print(&self, options: &[&str], profile: &Path) -> Vec<String> {
        let mut words: Vec<&Path> = options.iter().map(Path::new).collect();
        words.extend([self.image.as_path(), profile]);
        let output = read(gprof(), self.image.parent().unwrap(), &words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

/// The profile with other calls.
fn with_arcs(profile: &Profile, arcs: Vec<Arc>) -> Profile {
    let mut other = profile.clone();
    other.take_arcs();
    other.add_arcs(arcs);
    other
}

#[test]
fn functions_of_a_large_program() {
    Seeded::new("crowd", "crowd.c").functions(0..240);
}

#[test]
fn functions_of_smaller_programs() {
    Seeded::new("many", "many.c").functions(1000..1120);
    Seeded::new("cycles", "cycles.c").functions(2000..2060);
    Seeded::new("classes", "classes.cc").functions(3000..3060);
}

#[test]
fn object_files() {
    Seeded::new("files_many", "many.c").files(4000..4080);
    Seeded::new("files_crowd", "crowd.c").files(5000..5080);
    Seeded::new("files_cycles", "cycles.c").files(6000..6020);
}

#[test]
fn arcs_that_options_name() {
    let seeded = Seeded::new("named", "many.c");
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let profile = seeded.profile(&mut random);
        let few: Vec<&str> = (0..3).map(|_| random.pick(&seeded.stage.names).as_str()).collect();
        let mut words = vec!["-b".to_owned(), "-r".to_owned()];
        for _ in 0..1 + random.below(6) {
            let option = random.pick(&["-k", "-Q", "-e", "-E", "-N"]);
            words.push(format!("{option}{}/{}", random.pick(&few), random.pick(&few)));
        }
        compare(&seeded.image, &[&profile], &words.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn our_orders_have_every_function_and_file_once() {
    let seeded = Seeded::new("once", "crowd.c");
    let map = seeded.image.with_file_name("map");
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let profile = seeded.profile(&mut random);
        let order = seeded.print(&["-r"], &profile);
        let once: BTreeSet<&String> = order.iter().collect();
        assert_eq!(once.len(), order.len(), "seed {seed}");
        assert!(seeded.stage.names.iter().all(|name| once.contains(name)), "seed {seed}");

        let text = seeded.stage.map(&mut random);
        fs::write(&map, &text).unwrap();
        let order = seeded.print(&["-R", "map"], &profile);
        let once: BTreeSet<&str> = order.iter().map(String::as_str).collect();
        assert_eq!(once.len(), order.len(), "seed {seed}");
        let named = text.lines().filter_map(|line| Some(line.split_once(':')?.0));
        assert_eq!(once, named.collect(), "seed {seed}");
    }
}

/// The sorted lines of a text.
fn files(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

#[test]
fn an_order_does_not_depend_on_the_order_of_arcs() {
    let seeded = Seeded::new("listed", "crowd.c");
    let map = seeded.image.with_file_name("map");
    for seed in 0..40 {
        let mut random = Random::new(7000 + seed);
        let profile = seeded.stage.calls(&mut random, 600);
        fs::write(&map, seeded.stage.map(&mut random)).unwrap();
        let path = seeded.image.with_file_name("listed");
        let orders = || [&["-r"][..], &["-R", "map"], &["--compat=gnu", "-r"]].map(|words| seeded.print(words, &path));
        store(&path, &profile);
        let first = orders();
        let mut arcs = profile.arcs().to_vec();
        arcs.reverse();
        store(&path, &with_arcs(&profile, arcs.clone()));
        assert_eq!(orders(), first, "seed {seed}");
        let middle = arcs.len() / 3;
        arcs.rotate_left(middle);
        store(&path, &with_arcs(&profile, arcs));
        assert_eq!(orders(), first, "seed {seed}");
    }
}

/// Maps of fragments, most of which make no sense. Where the system's reader does not crash, ours prints the same files
/// in any order, and fails where the system's fails.
#[test]
fn maps_of_pieces() {
    const PIECES: [&str; 20] = [
        "a.o:0 T q0\n",
        "b.o:0 T b5\n",
        "c.o:0 T main\n",
        "a.o",
        ":",
        "\n",
        " ",
        "0 T ",
        "q0",
        "b5",
        "main",
        "\n\n",
        "No symbols in ",
        "\t",
        "\r",
        "\0",
        "\u{b}",
        ":0 T q2\n",
        "d.o:0 D data\n",
        "long",
    ];
    let Some(system) = system_gprof() else {
        return;
    };
    let seeded = Seeded::new("pieces", "many.c");
    let directory = seeded.image.parent().unwrap();
    let profile = seeded.profile(&mut Random::new(1));
    let words = ["-b", "-R", "map", seeded.image.to_str().unwrap(), profile.to_str().unwrap()];
    let mut compared = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let pick = |_| match *random.pick(&PIECES) {
            "long" => "x".repeat(1020),
            piece => piece.to_owned(),
        };
        let few = 2 + seed % 12;
        let map: String = (0..few).map(pick).collect();
        fs::write(directory.join("map"), &map).unwrap();
        let theirs = read(system, directory, &words);
        let ours = read(gprof(), directory, &[&["--compat=gnu"], words.as_slice()].concat());
        if let Some(status) = theirs.status.code() {
            assert_eq!((ours.status.code(), files(&ours.stdout)), (Some(status), files(&theirs.stdout)), "{map:?}");
            compared += usize::from(status == 0);
        }
        let ours = read(gprof(), directory, &words);
        assert!(ours.status.code().is_some_and(|status| status < 2), "{map:?}");
    }
    assert!(compared > 10, "too few valid maps: {compared}");
}
