//! Cases in which GNU's reader is wrong and ours is right: each gives another result with `--compat=gnu`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::{compile, gprof, read};

/// A program and synthetic profiles for it.
struct Stage {
    image: PathBuf,
    /// Address and size of each symbol.
    symbols: Vec<(String, u64, u64)>,
}

impl Stage {
    fn new(name: &str, source: &str, flags: &[&str]) -> Stage {
        let image = compile(&format!("corrections_{name}"), &[source], flags);
        let table = Command::new("nm").arg("-S").arg(&image).output().unwrap().stdout;
        let symbol = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [address, size, _, name] = words.as_slice() else {
                return None;
            };
            let number = |text| u64::from_str_radix(text, 16).ok();
            Some(((*name).to_owned(), number(address)?, number(size)?))
        };
        let symbols = String::from_utf8(table).unwrap().lines().filter_map(symbol).collect();
        Stage { image, symbols }
    }

    fn address(&self, name: &str) -> u64 {
        self.symbols.iter().find(|(known, ..)| known == name).unwrap_or_else(|| panic!("no {name}")).1
    }

    /// Writes a profile of these calls, with one sample in the first bin that begins in each of these functions.
    fn profile(&self, calls: &[(u64, u64, u64)], sampled: &[&str]) -> PathBuf {
        let low = self.symbols.iter().map(|symbol| symbol.1).filter(|at| *at >= 0x1000).min().unwrap() & !3;
        let high =
            self.symbols.iter().filter(|symbol| symbol.0 == "main").map(|symbol| symbol.1 + 0x400).max().unwrap();
        let mut bins = vec![0_u64; (high - low).div_ceil(4) as usize];
        for name in sampled {
            bins[((self.address(name) - low).div_ceil(4)) as usize] += 100;
        }
        let histogram = Histogram::new(low..low + 4 * bins.len() as u64, Unit::seconds(100), bins).unwrap();
        let arcs = calls.iter().map(|(frompc, selfpc, count)| Arc::new(*frompc, *selfpc, *count));
        let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
        let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
        let path = self.image.with_file_name("made-up");
        fs::write(&path, gmon::write(&profile, encoding).unwrap()).unwrap();
        path
    }

    /// The output of our gprof with `--compat=gnu` and without.
    fn print(&self, options: &str, profile: &Path) -> [String; 2] {
        ["--compat=gnu -b", "-b"].map(|more| {
            let directory = self.image.parent().unwrap();
            let mut words: Vec<&str> = more.split(' ').chain(options.split_whitespace()).collect();
            words.extend([self.image.to_str().unwrap(), profile.to_str().unwrap()]);
            let output = read(gprof(), directory, &words);
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        })
    }

    /// For each of the two outputs, whether a line has these words.
    fn has(&self, options: &str, profile: &Path, words: &str) -> [bool; 2] {
        self.print(options, profile).map(|text| {
            let fits = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ").contains(words);
            text.lines().any(fits)
        })
    }
}

const OURS_ALONE: [bool; 2] = [false, true];
const GNUS_ALONE: [bool; 2] = [true, false];
const BOTH: [bool; 2] = [true, true];
const NONE: [bool; 2] = [false, false];

#[test]
fn copies_of_functions_are_rows_or_merged() {
    let stage = Stage::new("clones", "clones.c", &["-g", "-O1"]);
    let at = |name| stage.address(name);
    let calls = [(at("main"), at("work"), 3), (at("main"), at("work.part.0"), 4), (at("main"), at("gone.cold"), 5)];
    let profile = stage.profile(&calls, &["work", "work.part.0", "gone.cold"]);
    assert_eq!(stage.has("-p", &profile, "1.00 4 250.00 250.00 work.part.0"), OURS_ALONE);
    assert_eq!(stage.has("-p", &profile, "1.00 5 200.00 200.00 gone.cold"), OURS_ALONE);
    assert_eq!(stage.has("-p --merge-clones", &profile, "2.00 7 285.71 285.71 work"), OURS_ALONE);
    assert_eq!(stage.has("-p --merge-clones", &profile, "work.part.0"), NONE);
    assert_eq!(stage.has("-p --merge-clones", &profile, "gone.cold"), OURS_ALONE);
    assert_eq!(stage.has("-ework.part.0", &profile, "work.part.0 ("), OURS_ALONE);
}

#[test]
fn shares_add_up_and_bins_have_their_size() {
    let stage = Stage::new("shares", "leaf.c", &[]);
    let profile = stage.profile(&[(stage.address("main"), stage.address("middle"), 1)], &["heavy", "middle"]);
    let mut parsed = gmon::read(&fs::read(&profile).unwrap(), &gmon::Hints::default()).unwrap();
    // As the C library writes it: the last bin extends beyond the range.
    for histogram in parsed.take_histograms() {
        let range = histogram.lowpc()..histogram.highpc() - 2;
        parsed.add_histogram(histogram.with_range(range).unwrap()).unwrap();
    }
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    fs::write(&profile, gmon::write(&parsed, encoding).unwrap()).unwrap();
    assert_eq!(stage.has("-q", &profile, "each sample hit covers 2 byte(s)"), GNUS_ALONE);
    assert_eq!(stage.has("-q", &profile, "each sample hit covers 3.99"), OURS_ALONE);
    for (is_ours, text) in stage.print("-p", &profile).iter().enumerate() {
        let times = text.lines().skip(5).filter_map(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        let sum: f64 = times.sum();
        assert_eq!((sum - 100.0).abs() < 0.02, is_ours == 1, "{text}");
    }
}

#[test]
fn calls_from_and_to_the_outside_count() {
    let stage = Stage::new("outside", "leaf.c", &["-g"]);
    let at = |name| stage.address(name);
    let calls = [(at("main"), at("middle"), 1), (8, at("middle"), 3), (at("middle"), 8, 7)];
    let profile = stage.profile(&calls, &["middle"]);
    assert_eq!(stage.has("-q", &profile, "0.75 0.00 3/4 <outside> (0)"), OURS_ALONE);
    assert_eq!(stage.has("-q", &profile, "0.00 0.00 7/7 <outside> (0)"), OURS_ALONE);
    assert_eq!(stage.has("-q", &profile, "0.25 0.00 1/4 main"), OURS_ALONE);
    assert_eq!(stage.has("-q", &profile, "1.00 0.00 1/1 main"), GNUS_ALONE);
}

#[test]
fn several_arcs_of_one_caller_are_deleted() {
    let stage = Stage::new("arcs", "leaf.c", &["-g"]);
    let at = |name| stage.address(name);
    let profile = stage.profile(&[(at("main"), at("middle"), 1), (at("main"), at("light"), 2)], &["light"]);
    let options = "-k main/middle -k main/light -q -z";
    assert_eq!(stage.has(options, &profile, "2/2 light"), NONE);
    assert_eq!(stage.has(options, &profile, "1/1 middle"), GNUS_ALONE);
}

#[test]
fn calls_in_the_code_are_found_backward() {
    let stage = Stage::new("code", "leaf.c", &["-g"]);
    let at = |name| stage.address(name);
    let profile = stage.profile(&[(at("main"), at("light"), 2)], &["light", "heavy"]);
    assert_eq!(stage.has("-c -q -z", &profile, "0/0 heavy"), OURS_ALONE);
    assert_eq!(stage.has("-q -z", &profile, "0/0 heavy"), NONE);
}

#[test]
fn omitted_functions_omit_functions_that_only_they_call() {
    let stage = Stage::new("left_out", "leaf.c", &["-g"]);
    let at = |name| stage.address(name);
    let calls = [(at("main"), at("middle"), 1), (at("middle"), at("heavy"), 1), (at("main"), at("light"), 1)];
    let profile = stage.profile(&calls, &["middle", "heavy", "light"]);
    assert_eq!(stage.has("-q", &profile, "of 3.00 seconds"), BOTH);
    assert_eq!(stage.has("-q -E middle", &profile, "of 2.00 seconds"), GNUS_ALONE);
    assert_eq!(stage.has("-q -E middle", &profile, "of 1.00 seconds"), OURS_ALONE);
    assert_eq!(stage.has("-q -e middle", &profile, "1.00 0.00 1 heavy ["), GNUS_ALONE);
    assert_eq!(stage.has("-q -e middle", &profile, "of 3.00 seconds"), BOTH);
}

#[test]
fn a_cycle_without_callers_has_an_entry() {
    let stage = Stage::new("cycle", "leaf.c", &["-g"]);
    let at = |name| stage.address(name);
    let calls = [(at("heavy"), at("light"), 1), (at("light"), at("heavy"), 1)];
    let profile = stage.profile(&calls, &["heavy", "light"]);
    assert_eq!(stage.has("-q", &profile, "100.0 2.00 0.00 0+2 <cycle 1 as a whole>"), OURS_ALONE);
}

#[test]
fn the_threshold_of_calls_holds_for_the_list() {
    let stage = Stage::new("threshold", "leaf.c", &["-g"]);
    let at = |name| stage.address(name);
    let profile = stage.profile(&[(at("main"), at("middle"), 4), (at("main"), at("light"), 9)], &["light"]);
    assert_eq!(stage.has("-C -m 5", &profile, "9 executions"), BOTH);
    assert_eq!(stage.has("-C -m 5", &profile, "4 executions"), GNUS_ALONE);
}

#[test]
fn functions_are_named_as_programmers_name_them() {
    let stage = Stage::new("names", "classes.cc", &["-g"]);
    let area = stage.address("_ZNK6shapes6Circle4areaEd");
    let twice = stage.address("_ZN6shapes5twiceIiEET_S1_");
    let profile = stage.profile(&[(stage.address("main"), area, 1), (stage.address("main"), twice, 2)], &[]);
    for options in ["-pshapes::Circle::area", "-pshapes::*::area", "-pclasses.cc:shapes::Circle::area", "-p*Circle*"] {
        let text = &stage.print(options, &profile)[1];
        assert!(text.contains("shapes::Circle::area(double) const") && !text.contains("twice"), "{options}: {text}");
    }
    assert!(stage.print("-pshapes::twice<int>", &profile)[1].contains("shapes::twice<int>(int)"));
}

#[test]
fn orders_have_every_function_once_with_and_without_compat() {
    let stage = Stage::new("orders", "crowd.c", &[]);
    let at = |name: &str| stage.address(name);
    // A hundred functions that are called, one of them from many places.
    let mut calls: Vec<_> = (1..100).map(|n| (at("main"), at(&format!("a{n:02}")), 1)).collect();
    let places = |print: &str, name: &str| print.lines().filter(|line| *line == name).count();
    let count = |calls: &[_], name: &str| stage.print("-r", &stage.profile(calls, &[])).map(|text| places(&text, name));
    for n in 10..17 {
        calls.push((at(&format!("a{n}")), at("a00"), 1000));
    }
    assert_eq!((count(&calls, "a00"), count(&calls, "main")), ([1, 1], [1, 1]));
    calls.push((at("main"), at("a00"), 1));
    assert_eq!((count(&calls, "a00"), count(&calls, "main")), ([1, 1], [1, 1]));
    // Four callers are not many, so the function stays with its callers.
    calls.truncate(99 + 4);
    assert_eq!(count(&calls, "a00"), [1, 1]);
}

#[test]
fn object_files_are_ordered_whole_and_by_calls() {
    let stage = Stage::new("files", "crowd.c", &[]);
    let at = |name: &str| stage.address(name);
    let calls = [(at("a00"), at("b00"), 1), (at("c00"), at("b00"), 100), (at("d50"), at("d51"), 1)];
    let profile = stage.profile(&calls, &["a01"]);
    let orders = |map: &str| {
        fs::write(stage.image.with_file_name("map"), map).unwrap();
        stage.print("-R map", &profile).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    assert_eq!(orders("a.o:0 T a00\nb.o:0 T b00\nc.o:0 T c00\n"), ["c.o b.o a.o", "c.o b.o a.o"]);
    assert_eq!(orders("a.o:0 T a00\nb.o:0 D d\nb.o:0 T b00\nc.o:0 T c00\n"), ["a.o c.o b.o", "c.o b.o a.o"]);
    assert_eq!(orders("a.o:0 T a00\nc.o:0 T c00\na.o:0 T a01\n"), ["a.o a.o c.o", "a.o c.o"]);
    assert_eq!(orders("x.a:a.o:0 T a00\nx.a:c.o:0 T c00\n"), ["x.a", "x.a:a.o x.a:c.o"]);
    assert_eq!(orders("z.o:0 D z1\na.o:0 T a00\nz.o:0 D z2\n"), ["a.o z.o", "a.o z.o"]);
}

#[test]
fn local_functions_belong_to_the_object_file_around_them() {
    let stage = Stage::new("around", "many.c", &[]);
    let calls = [(stage.address("b0"), stage.address("q3"), 4), (stage.address("b0"), stage.address("_q1"), 5)];
    let profile = stage.profile(&calls, &["q3"]);
    fs::write(stage.image.with_file_name("map"), "x.o:0 T q0\nx.o:1 T _q1\nx.o:2 T q2\nx.o:3 T __q4\ny.o:0 T b0\n")
        .unwrap();
    assert_eq!(stage.has("-R map -p", &profile, "1.00 9 111.11 111.11 x.o"), OURS_ALONE);
    assert_eq!(stage.has("-R map -p", &profile, "1.00 4 250.00 250.00 q3"), GNUS_ALONE);
    // A function that the map names otherwise belongs to that file, wherever it is.
    fs::write(stage.image.with_file_name("map"), "x.o:0 T q0\ny.o:0 t q3\nx.o:2 T q2\nx.o:3 T __q4\n").unwrap();
    assert_eq!(stage.has("-R map -p", &profile, "1.00 4 250.00 250.00 y.o"), BOTH);
}
