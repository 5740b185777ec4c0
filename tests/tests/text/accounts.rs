//! The footer and standard errors: how much of the profiles a report accounts for, and how exact its times are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, DataModel, Encoding, Form, Hints, Histogram, Order, Profile, Unit};
use gmon_tests::random::Random;
use gmon_tests::{compile, gprof as reader, read, start_objects};
use gprof::Node;
use gprof::internals::{Arcs, Errors, Flat, Functions, Graph, GraphSelection, Innermost, Selection, Symbol};

const GNU: Encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);

/// A program with synthetic profiles.
struct Stage {
    image: PathBuf,
    symbols: BTreeMap<String, u64>,
}

impl Stage {
    fn new(name: &str, flags: &[&str]) -> Stage {
        let image = compile(&format!("accounts_{name}"), &["leaf.c"], flags);
        let table = String::from_utf8(Command::new("nm").arg(&image).output().unwrap().stdout).unwrap();
        let symbol = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some(((*words.get(2)?).to_owned(), u64::from_str_radix(words[0], 16).ok()?))
        };
        Stage { image, symbols: table.lines().filter_map(symbol).collect() }
    }

    fn at(&self, name: &str) -> u64 {
        *self.symbols.get(name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// A histogram with one four-byte bin for each of these samples.
    fn samples(samples: &[(u64, u64)]) -> Vec<Histogram> {
        Stage::bins(4, samples)
    }

    /// A histogram with one bin of this many bytes for each of these samples.
    fn bins(bytes: u64, samples: &[(u64, u64)]) -> Vec<Histogram> {
        let one = |(address, count): &(u64, u64)| {
            Histogram::new(*address..address + bytes, Unit::seconds(100), vec![*count]).unwrap()
        };
        let mut all: Vec<Histogram> = samples.iter().map(one).collect();
        all.sort_by_key(Histogram::lowpc);
        all
    }

    /// The output of our gprof for these profiles.
    fn print(&self, options: &str, profiles: &[Profile]) -> String {
        let mut words: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        words.push("a.out".to_owned());
        for (at, profile) in profiles.iter().enumerate() {
            let name = format!("made-up.{at}");
            fs::write(self.image.with_file_name(&name), gmon::write(profile, GNU).unwrap()).unwrap();
            words.push(name);
        }
        let output = read(reader(), self.image.parent().unwrap(), &words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The statistics lines at the end of a report, without leading blanks; empty if there are none.
fn statistics(report: &str) -> Vec<&str> {
    // The statistics are alone, behind warnings, or on a page of their own.
    let behind = |head| Some(report.split_once(head)?.1);
    let part = report.strip_prefix("Statistics:\n\n");
    let part = part.or_else(|| behind("\n\nStatistics:\n\n")).or_else(|| behind("\u{c}\nStatistics:\n\n"));
    part.map(|part| part.lines().map(str::trim_start).collect()).unwrap_or_default()
}

/// A profile with samples and calls of every kind.
fn rich(stage: &Stage) -> Profile {
    let samples = [(stage.at("middle"), 100), (stage.at("light"), 65_535), (stage.at("main") + 0x100_0000, 50)];
    let call = |frompc, selfpc, count| Arc::new(frompc, selfpc, count);
    let (main, middle) = (stage.at("main"), stage.at("middle"));
    let arcs = vec![call(main, middle, 1), call(8, middle, 3), call(middle, 8, 7), call(8, 9, 5)];
    Profile::of_samples(Stage::samples(&samples)).unwrap().with_arcs(arcs)
}

#[test]
fn statistics_account_for_everything() {
    let stage = Stage::new("everything", &["-g"]);
    let profile = rich(&stage);
    assert_eq!(
        statistics(&stage.print("--stats -b -Plight", &[profile.clone(), profile])),
        [
            "2  runs merged",
            "131370.0  samples at a profrate of 100: 1313.70 ±3.62 seconds (standard error)",
            "200.0  of them in functions shown (0.15 %)",
            "0.0  of them in the profiling runtime (0.00 %)",
            "131070.0  of them in functions left out (99.77 %)",
            "100.0  of them outside of all functions (0.08 %)",
            "2  bins at the limit of their counters: samples may be missing",
            "32  calls",
            "6  of them from outside of the program's functions",
            "14  of them to outside of the program's functions",
            "10  of them with both ends unknown",
        ]
    );
}

#[test]
fn a_footer_has_a_line_for_each_special_case() {
    let stage = Stage::new("footer", &["-g"]);
    let call = Arc::new(stage.at("main"), stage.at("middle"), 12);
    let fine = Profile::of_samples(Stage::samples(&[(stage.at("middle"), 90), (stage.at("light"), 10)]))
        .unwrap()
        .with_arcs(vec![call]);
    let samples = "100.0  samples at a profrate of 100: 1.00 ±0.10 seconds (standard error)";
    assert_eq!(statistics(&stage.print("", std::slice::from_ref(&fine))), [samples, "12  calls"]);
    assert_eq!(
        statistics(&stage.print("-Plight", std::slice::from_ref(&fine))),
        [
            samples,
            "90.0  of them in functions shown (90.00 %)",
            "10.0  of them in functions left out (10.00 %)",
            "12  calls"
        ]
    );
    assert_eq!(statistics(&stage.print("-q", &[fine.clone(), fine.clone()]))[0], "2  runs merged");
    let only_calls = Profile::new().with_arcs(fine.arcs().to_vec());
    assert_eq!(statistics(&stage.print("", &[only_calls])), ["12  calls"]);
}

#[test]
fn a_footer_shows_the_unusual_statistics() {
    let stage = Stage::new("part", &["-g"]);
    let profile = rich(&stage);
    let (footer, all) =
        (stage.print("-p", std::slice::from_ref(&profile)), stage.print("--stats", std::slice::from_ref(&profile)));
    let (footer, all) = (statistics(&footer), statistics(&all));
    let usual = ["1  runs merged", "0.0  of them in the profiling runtime", "0.0  of them in functions left out"];
    let unusual = all.iter().filter(|line| !usual.iter().any(|usual| line.starts_with(usual)));
    assert!(unusual.eq(&footer) && footer.len() + usual.len() == all.len(), "{footer:?}\n{all:?}");
}

#[test]
fn a_footer_appears_only_where_it_belongs() {
    let stage = Stage::new("place", &["-g"]);
    let profile = [rich(&stage)];
    for options in ["-b", "-T", "--compat=gnu", "-C", "-A", "-r", "-i"] {
        assert!(!stage.print(options, &profile).contains("Statistics:"), "{options}");
    }
    for options in ["", "-p", "-q", "-p -C", "-q -C --table", "-p -i", "--stats -p"] {
        let text = stage.print(options, &profile);
        // A table has the words in a frame.
        let text = text.split(['└', '│']).collect::<String>();
        let text = text.trim_end_matches(['─', '┴', '┘', '\n', ' ']);
        assert_eq!(text.matches("\u{c}\nStatistics:\n\n").count(), 1, "{options}: must appear once, after a form feed");
        assert!(text.trim_end().ends_with("of them with both ends unknown"), "{options}: must be at the end");
    }
}

#[test]
fn the_footer_separates_the_runtime_from_omitted_functions() {
    let stage = Stage::new("runtime", &["-g", "-static"]);
    let samples = Stage::samples(&[(stage.at("middle"), 60), (stage.at("mcount"), 30), (stage.at("light"), 10)]);
    let profile = [Profile::of_samples(samples).unwrap()];
    let text = stage.print("-p -Plight", &profile);
    let expected = [
        "60.0  of them in functions shown (60.00 %)",
        "30.0  of them in the profiling runtime (30.00 %)",
        "10.0  of them in functions left out (10.00 %)",
    ];
    assert_eq!(statistics(&text)[1..4], expected);
    let whole = stage.print("-p -pmcount -pmiddle", &profile);
    assert!(!whole.contains("profiling runtime") && whole.contains("90.0  of them in functions shown"), "{whole}");
}

#[test]
fn all_functions_of_our_runtime_count_as_the_profiling_runtime() {
    let ours = format!("-B{}", start_objects().display());
    let stage = Stage::new("own_runtime", &["-g", &ours]);
    // Functions that every start-up object has, with profiling or without, belong to the program.
    let exports = include_str!("../../../runtime/exports.txt").lines().skip_while(|name| *name != "mcount");
    let exports: Vec<&str> = exports.collect();
    let is_own = |name: &str| {
        exports.contains(&name) || ["gmon_runtime", "gmon_unwind", "4core"].iter().any(|part| name.contains(part))
    };
    let code = stage.at("_init")..stage.at("etext");
    let own = stage.symbols.iter().filter(|(name, address)| is_own(name) && code.contains(address));
    let own: Vec<(u64, u64)> = own.map(|(_, address)| (*address, 1)).collect();
    assert!(own.len() > 50, "{own:?}");
    // Of several names at one address, one counts.
    let addresses: std::collections::BTreeSet<u64> = own.iter().map(|(address, _)| *address).collect();
    let mut samples: Vec<(u64, u64)> = addresses.iter().map(|address| (*address, 1)).collect();
    samples.push((stage.at("middle"), 60));
    // A function may have fewer than four bytes.
    let profile = [Profile::of_samples(Stage::bins(1, &samples)).unwrap()];
    for options in ["-p", "-p --no-demangle"] {
        let text = stage.print(options, &profile);
        let runtime = format!("{}.0  of them in the profiling runtime", addresses.len());
        let expected = ["60.0  of them in functions shown", &runtime];
        let lines = statistics(&text);
        assert!(lines[1..3].iter().zip(expected).all(|(line, expected)| line.starts_with(expected)), "{text}");
        assert!(lines.len() == 4 && text.contains("100.00 ") && !text.contains("gmon_runtime"), "{text}");
    }
}

#[test]
fn a_footer_matches_the_program() {
    let image = compile("accounts_ticks", &["ticks.c"], &["-O1", &format!("-B{}", start_objects().display())]);
    let directory = image.parent().unwrap();
    // The signals and calls are in the program's source. The clock may add samples.
    let status = Command::new(&image).args(["300", "100"]).current_dir(directory).status().unwrap();
    assert!(status.success());
    let profile = gmon::read(&fs::read(directory.join("gmon.out")).unwrap(), &Hints::default()).unwrap();
    let samples: i128 = profile.histograms().iter().map(Histogram::total).sum();
    let calls: u64 = profile.arcs().iter().map(|arc| arc.count).sum();
    assert!(samples >= 400 && calls >= 3);
    let text = String::from_utf8(read(reader(), directory, &["a.out", "gmon.out"]).stdout).unwrap();
    let lines = statistics(&text);
    let error = (samples as f64).sqrt() / 100.0;
    let first = format!("{samples}.0  samples at a profrate of 100: {:.2} ±{error:.2} seconds", samples as f64 / 100.0);
    assert!(lines[0].starts_with(&first), "{first}: {lines:?}");
    assert!(lines.contains(&format!("{calls}  calls").as_str()), "{calls}: {lines:?}");
    // The parts add up to the whole: nothing is omitted.
    let shown = text.lines().skip(5).take_while(|line| !line.is_empty());
    let shown: f64 = shown.map(|line| line.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap()).sum();
    let others = lines.iter().filter(|line| line.contains("of them") && !line.contains("in functions shown"));
    let others = others.take_while(|line| line.contains(".0  ") || line.contains('%'));
    let others: f64 = others.map(|line| line.split("  ").next().unwrap().parse::<f64>().unwrap()).sum();
    assert!((100.0 * shown + others - samples as f64).abs() < 2.0, "{shown} seconds shown: {lines:?}");
}

/// The words of a function's row in a flat profile, or of the main line of its entry in a call graph.
fn row<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let words = |line: &'a str| line.split_whitespace().collect::<Vec<_>>();
    let is_its = |words: &Vec<&str>| {
        let last = words.iter().rev().find(|word| !word.starts_with('[')).copied();
        last == Some(name) && (words[0].starts_with('[') || words[0].parse::<f64>().is_ok() && words.len() > 3)
    };
    text.lines().map(words).find(|words| !words.is_empty() && is_its(words)).unwrap_or_else(|| panic!("{name}: {text}"))
}

#[test]
fn standard_errors_are_square_roots_of_counts() {
    let stage = Stage::new("roots", &["-g"]);
    let heavy = stage.at("heavy");
    // The bin at the start of `heavy` is half in `heavy` and half before it.
    let samples = Stage::samples(&[(heavy - 2, 64), (heavy + 4, 900), (stage.at("middle"), 225)]);
    let call = Arc::new(stage.at("main"), stage.at("middle"), 1);
    let profile = Profile::of_samples(samples).unwrap().with_arcs(vec![call]);
    let once = std::slice::from_ref(&profile);
    let flat = stage.print("-p -b --errors", once);
    assert_eq!(row(&flat, "heavy")[2..4], ["9.32", &format!("±{:.2}", (900.0_f64 + 16.0).sqrt() / 100.0)]);
    assert_eq!(row(&flat, "middle")[2..5], ["2.25", "±0.15", "1"]);
    let graph = stage.print("-q -b --errors", once);
    let own = row(&graph, "heavy");
    assert_eq!(own[2..4], ["9.32", "0.00"]);
    // The error is on the next line, which programs that read the call graph ignore.
    let mut lines = graph.lines().skip_while(|line| !line.starts_with(own[0])).map(str::split_whitespace);
    let number = own[0].trim_matches(['[', ']']);
    let error: Vec<&str> = lines.nth(1).unwrap().collect();
    assert_eq!(error, ["±0.30", "standard", "error", &format!("({number})")]);
    // Four runs have twice the error at four times the time.
    let all = stage.print("-p -b --errors", &[once, once, once, once].concat());
    assert_eq!(row(&all, "middle")[2..4], ["9.00", "±0.30"]);
    assert!(!stage.print("-p -b", once).contains('±'));
}

#[test]
fn functions_without_samples_have_no_standard_error() {
    let stage = Stage::new("blank", &["-g"]);
    let call = Arc::new(stage.at("main"), stage.at("light"), 1);
    let profile = Profile::of_samples(Stage::samples(&[(stage.at("middle"), 4)])).unwrap().with_arcs(vec![call]);
    let text = stage.print("-p -b --errors", &[profile]);
    let expected = "\
  %   cumulative   self                      self     total           
 time   seconds   seconds   error    calls  Ts/call  Ts/call  name    
100.00      0.04     0.04   ±0.02                             middle
  0.00      0.04     0.00                1     0.00     0.00  light
";
    assert!(text.ends_with(expected), "{text}");
}

/// A Poisson number: the number of exponential waiting times that fit into one unit.
fn poisson(random: &mut Random, mean: f64) -> u64 {
    let (mut count, mut time) = (0, 0.0);
    loop {
        let chance = ((random.number() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        time -= chance.ln() / mean;
        if time > 1.0 {
            return count;
        }
        count += 1;
    }
}

#[test]
fn times_scatter_as_standard_errors_predict() {
    // Runs of one program that differ only by chance. A quarter of the first bin belongs to the second function.
    let symbol = |address, name| Symbol { address, name, is_static: false, is_func: true };
    let functions = Functions::new(vec![symbol(0x100, b"one"), symbol(0x103, b"other")], 0x108);
    let selected = Selection::program(&functions);
    let choices = GraphSelection { entries: &selected, time: &selected, excludes_callees: true };
    let other = functions.find(0x103).unwrap();
    let mut random = Random::new(7);
    let samples = Innermost::default();
    let mut run = || {
        let bins = vec![poisson(&mut random, 300.0), poisson(&mut random, 100.0)];
        let all = [Histogram::new(0x100..0x108, Unit::seconds(100), bins).unwrap()];
        let flat = Flat::exact(&all, &samples, &functions, &selected);
        let graph = Graph::new(Arcs::new(&[], &functions), &flat, &functions, choices);
        let of = (all.as_slice(), &samples);
        (flat.time[other.index()], Errors::new(of, &functions, &selected, &graph, None).of(Node::Function(other)))
    };
    const RUNS: usize = 1000;
    let runs: Vec<(f64, f64)> = (0..RUNS).map(|_| run()).collect();
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
    let (time, told) = (mean(&|run| run.0), mean(&|run| run.1));
    let scatter = mean(&|run| (run.0 - time).powi(2)).sqrt();
    assert!((time - 175.0).abs() < 1.5, "{time}");
    // The variances: a sixteenth of 300, and 100.
    assert!((told - 118.75_f64.sqrt()).abs() < 0.1, "told {told}");
    // The scatter of this many runs has an error of one part in forty-five; the seed is fixed.
    assert!((scatter / told - 1.0).abs() < 0.05, "standard error {told}, found {scatter}");
}

#[test]
fn new_columns_and_old_layouts_contradict_each_other() {
    let directory = gmon_tests::directory("accounts_contradictions");
    for new in ["--errors", "--table"] {
        for old in ["--compat=gnu", "-T", "--bsd", "--bsd=openbsd"] {
            for words in [[new, old], [old, new]] {
                let output = read(reader(), &directory, &words);
                let text = String::from_utf8(output.stderr).unwrap();
                assert_eq!(output.status.code(), Some(1));
                assert!(text.starts_with(&format!("gprof: '{new}' and '{old}' cannot be used together")), "{text}");
                assert_eq!(text.matches('\n').count(), 1);
            }
        }
    }
    let output = read(reader(), &directory, &[Path::new("--table"), Path::new("--errors"), Path::new("none")]);
    assert!(
        String::from_utf8(output.stderr).unwrap().starts_with("gprof: none: "),
        "these two options must be compatible"
    );
}
