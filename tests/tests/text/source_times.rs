//! Source files with the self time of each line, compared with `addr2line`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::random::Stage;
use gmon_tests::{compile, gprof, read};

/// Seconds by file name and line, as text.
type Times = BTreeMap<(String, u32), String>;

/// A program with a profile that has one sample at each byte of its functions, and one call of each.
fn stage(name: &str, source: &str, flags: &[&str]) -> (PathBuf, Vec<u64>) {
    let image = compile(name, &[source], flags);
    let stage = Stage::of(&fs::read(&image).unwrap());
    let (lowpc, highpc) = (stage.lowpc, stage.highpc);
    let bins = vec![1_u16; (highpc - lowpc) as usize];
    let histogram = Histogram::new(lowpc..highpc, Unit::seconds(100), bins).unwrap();
    let arcs = stage.functions.iter().map(|function| Arc::new(8, *function, 1)).collect::<Vec<_>>();
    let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    fs::write(image.with_file_name("made-up"), gmon::write(&profile, encoding).unwrap()).unwrap();
    (image, (lowpc..highpc).collect())
}

/// The output of `addr2line` for samples at these addresses.
fn expected(image: &Path, addresses: &[u64]) -> Times {
    let mut judge = Command::new("addr2line");
    judge.arg("-e").arg(image).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut judge = judge.spawn().unwrap();
    let mut input = judge.stdin.take().unwrap();
    let words: String = addresses.iter().map(|address| format!("{address:x}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(words.as_bytes()).unwrap());
    let output = judge.wait_with_output().unwrap();
    writer.join().unwrap();
    let mut samples: BTreeMap<(String, u32), u32> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let place = line.split(" (discriminator").next().unwrap();
        let (path, line) = place.rsplit_once(':').unwrap();
        if let Ok(line @ 1..) = line.parse() {
            *samples.entry((Path::new(path).file_name().unwrap().to_string_lossy().into_owned(), line)).or_default() +=
                1;
        }
    }
    samples.into_iter().map(|(place, count)| (place, format!("{:.2}", f64::from(count) / 100.0))).collect()
}

/// The times in annotated source files, and the sum that is printed below each file.
fn shown(text: &str) -> (Times, Vec<f64>) {
    let (mut times, mut sums) = (Times::new(), Vec::new());
    for part in text.split("*** File ").skip(1) {
        let (path, rest) = part.split_once(":\n").unwrap();
        let name = Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
        let (source, summary) = rest.split_once("\n\nTop ").unwrap();
        let source = source.strip_prefix("  seconds        calls\n\n").unwrap_or_else(|| panic!("{rest}"));
        for (at, line) in (1..).zip(source.lines()) {
            let time = line.get(..10).unwrap().trim();
            if !time.is_empty() {
                times.insert((name.clone(), at), time.to_owned());
            }
        }
        let sum = summary.lines().find(|line| line.ends_with("Self seconds of all lines")).unwrap();
        sums.push(sum.split_whitespace().next().unwrap().parse().unwrap());
    }
    (times, sums)
}

fn print(image: &Path, options: &[&str]) -> String {
    let words = [options, &["a.out", "made-up"]].concat();
    let output = read(gprof(), image.parent().unwrap(), &words);
    assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_line_has_the_samples_of_its_code() {
    for (source, flags) in [
        ("inlined.c", ["-g", "-O1"].as_slice()),
        ("cycles.c", &["-g", "-O0"]),
        ("nested.c", &["-g", "-O2"]),
        ("classes.cc", &["-g", "-O2", "-gdwarf-4"]),
    ] {
        let (image, addresses) = stage(&format!("source_times_{source}"), source, flags);
        let mut judged = expected(&image, &addresses);
        for options in
            [["--source-times"].as_slice(), &["-b", "-A", "-x", "--source-times"], &["-l", "-A", "--source-times"]]
        {
            let (times, sums) = shown(&print(&image, options));
            // Headers of the system may be missing here.
            judged.retain(|(name, _), _| times.keys().any(|(shown, _)| shown == name));
            assert!(judged.len() > 5, "{source}: {judged:?}");
            assert_eq!(times, judged, "{source} {options:?}");
            let whole: f64 = judged.values().map(|time| time.parse::<f64>().unwrap()).sum();
            assert!((sums.iter().sum::<f64>() - whole).abs() < 0.01, "{source}: {sums:?}");
        }
    }
}

#[test]
fn source_times_leave_the_rest_of_a_line_unchanged() {
    let (image, _) = stage("source_times_rest", "cycles.c", &["-g"]);
    let (plain, times) = (print(&image, &["-A"]), print(&image, &["-A", "--source-times"]));
    let source = |text: &str, skip: usize| -> Vec<String> {
        let lines = text.lines().skip(skip).take_while(|line| !line.starts_with("Top "));
        lines.map(str::to_owned).collect()
    };
    let (plain, times) = (source(&plain, 1), source(&times, 3));
    assert!(plain.len() > 20 && plain.len() == times.len());
    for (plain, times) in plain.iter().zip(&times) {
        assert_eq!(plain, times.get(10..).unwrap_or(times), "{times}");
    }
}

#[test]
fn only_selected_functions_are_shown() {
    let (image, addresses) = stage("source_times_chosen", "nested.c", &["-g", "-O0"]);
    let all = expected(&image, &addresses);
    let (some, _) = shown(&print(&image, &["-Amain", "--source-times"]));
    assert!(!some.is_empty() && some.len() < all.len(), "{some:?}");
    assert!(some.iter().all(|(place, time)| all.get(place) == Some(time)), "{some:?}\n{all:?}");
}

#[test]
fn several_images_and_old_layouts() {
    let (image, addresses) = stage("source_times_images", "cycles.c", &["-g"]);
    let copy = image.with_file_name("b.out");
    fs::copy(&image, &copy).unwrap();
    let output = print(&image, &["--source-times", "--image", "b.out", "made-up", "--image"]);
    let twice: Vec<(f64, f64)> = shown(&output)
        .0
        .iter()
        .zip(&expected(&image, &addresses))
        .map(|((place, shown), (known, once))| {
            assert_eq!(place, known);
            (shown.parse().unwrap(), once.parse().unwrap())
        })
        .collect();
    assert!(twice.len() > 5 && twice.iter().all(|(shown, once)| (shown - 2.0 * once).abs() < 0.001), "{twice:?}");
    for fixed in ["--compat=gnu", "-T"] {
        let refused = read(gprof(), image.parent().unwrap(), &["--source-times", fixed, "a.out", "made-up"]);
        let why = String::from_utf8(refused.stderr).unwrap();
        assert!(why.contains(&format!("'--source-times' and '{fixed}' cannot be used together")), "{why}");
    }
}
