//! Compiler-made copies of functions, counted for their function (`--merge-clones`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::{compile, gprof, read};

/// A program of two files with functions of the same name, and its symbols in address order.
struct Stage {
    image: PathBuf,
    symbols: Vec<(u64, String)>,
}

impl Stage {
    fn new(name: &str) -> Stage {
        let flags = ["-g", "-O1", "-fno-ipa-icf"];
        let image = compile(&format!("clones_{name}"), &["clones_one.c", "clones_other.c"], &flags);
        let table = Command::new("nm").args(["-n", "--defined-only"]).arg(&image).output().unwrap().stdout;
        let symbol = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some((u64::from_str_radix(words[0], 16).ok()?, (*words.last()?).to_owned()))
        };
        Stage { image, symbols: String::from_utf8(table).unwrap().lines().filter_map(symbol).collect() }
    }

    /// The addresses of the functions with a name. The function in `clones_one.c` comes first, because that file is
    /// linked first.
    fn at(&self, name: &str) -> [u64; 2] {
        let found: Vec<u64> = self.symbols.iter().filter(|symbol| symbol.1 == name).map(|symbol| symbol.0).collect();
        found.try_into().unwrap()
    }

    /// A profile with these calls and this many samples in each of these functions.
    fn profile(&self, samples: &[(u64, u64)], arcs: &[(u64, u64, u64)]) -> PathBuf {
        let lowpc = samples.iter().map(|(at, _)| *at).min().unwrap() & !3;
        let highpc = (samples.iter().map(|(at, _)| *at).max().unwrap() + 8) & !3;
        let mut bins = vec![0; (highpc - lowpc) as usize / 2];
        for (at, count) in samples {
            bins[(at.next_multiple_of(2) - lowpc) as usize / 2] += count;
        }
        let histogram = Histogram::new(lowpc..highpc, Unit::seconds(100), bins).unwrap();
        let arcs = arcs.iter().map(|(frompc, selfpc, count)| Arc::new(*frompc, *selfpc, *count));
        let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
        let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
        let path = self.image.with_file_name("made-up");
        fs::write(&path, gmon::write(&profile, encoding).unwrap()).unwrap();
        path
    }

    /// The lines of a report, with single blanks between words.
    fn print(&self, options: &[&str], profile: &Path) -> Vec<String> {
        let words = [options, &["-b", "--merge-clones", "a.out", profile.to_str().unwrap()]].concat();
        let output = read(gprof(), self.image.parent().unwrap(), &words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// Self times and names in the rows of the flat profile.
    fn rows(&self, options: &[&str], profile: &Path) -> Vec<(String, String)> {
        let row = |line: &String| {
            let words: Vec<&str> = line.split(' ').collect();
            words[0].parse::<f64>().ok()?;
            Some(((*words.get(2)?).to_owned(), (*words.last()?).to_owned()))
        };
        self.print(&[options, &["-p"]].concat(), profile).iter().filter_map(row).collect()
    }
}

#[test]
fn each_copy_counts_for_the_function_of_its_file() {
    let stage = Stage::new("files");
    let ([work_1, work_2], [part_1, part_2], [cold_1, cold_2]) =
        (stage.at("work"), stage.at("work.part.0"), stage.at("work.cold"));
    let samples = [(work_1, 100), (part_1, 200), (cold_1, 400), (work_2, 1000), (part_2, 2000), (cold_2, 4000)];
    let profile = stage.profile(&samples, &[(work_1, part_1, 3), (cold_2, part_2, 5)]);
    let expected = [("70.00", "work"), ("7.00", "work")].map(|(time, name)| (time.to_owned(), name.to_owned()));
    assert_eq!(stage.rows(&[], &profile), expected);
    // Selecting a function also selects its copies, and the reverse. Functions outside the selection have no time.
    for choice in ["-pwork", "-pwork.part.0", "-pwork.cold"] {
        assert_eq!(stage.rows(&[choice], &profile), expected, "{choice}");
        let errors = stage.print(&[choice, "--errors"], &profile);
        assert!(errors.iter().any(|line| line.contains("70.00 ±0.84")), "{errors:?}");
    }
    for choice in ["-Pwork", "-Pwork.cold"] {
        assert_eq!(stage.rows(&[choice], &profile), [], "{choice}");
    }
}

#[test]
fn calls_that_stand_in_the_code_are_those_of_functions() {
    let stage = Stage::new("calls");
    let [work_1, work_2] = stage.at("work");
    let profile = stage.profile(&[(work_1, 1), (work_2 + 0x20, 1)], &[(work_1, work_2, 7)]);
    let arcs = stage.print(&["-c", "-q", "-z"], &profile);
    // `one` calls copies of `work`, which count for `work`.
    assert!(arcs.iter().any(|line| line.starts_with("0.00 0.00 0/0 work [")), "{arcs:?}");
    assert!(!arcs.iter().any(|line| line.contains("work.")), "{arcs:?}");
}

#[test]
fn lines_of_a_copy_are_shown_with_its_function() {
    let stage = Stage::new("lines");
    let [(work, other), (part, _)] = [stage.at("work"), stage.at("work.part.0")].map(|[one, two]| (one, two));
    let profile = stage.profile(&[(part, 200), (other, 0)], &[(work, part, 3)]);
    let time_of = |options: &[&str]| -> f64 {
        let lines = stage.print(&[options, &["--source-times"]].concat(), &profile);
        lines.iter().filter_map(|line| line.strip_suffix(" Self seconds of all lines")?.parse::<f64>().ok()).sum()
    };
    assert_eq!([time_of(&["-A"]), time_of(&["-Awork"]), time_of(&["-Jwork"])], [2.0, 2.0, 0.0]);
}

#[test]
fn a_clone_follows_its_function_in_orders() {
    let stage = Stage::new("order");
    let ([work, _], [part, _]) = (stage.at("work"), stage.at("work.part.0"));
    let profile = stage.profile(&[(work, 1), (part, 200)], &[(part, work, 3), (work, part, 9)]);
    let order = stage.print(&["-r"], &profile);
    let names: Vec<&str> = order.iter().map(|line| line.rsplit(':').next().unwrap()).collect();
    let at = names.iter().position(|name| *name == "work").unwrap();
    let copies: Vec<&str> = names[at + 1..].iter().copied().take_while(|name| name.starts_with("work.")).collect();
    assert!(copies.contains(&"work.part.0"), "{names:?}");
}
