//! What changed between two builds of a program, in which each function has a chosen number of samples.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::{Arc, DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::{compile, gprof, read};
use serde_json::Value;

use crate::clients::{self, Client, client};

/// A build of the program: its image, and its symbols in the order of their addresses.
pub(crate) struct Build {
    pub(crate) image: PathBuf,
    symbols: Vec<(u64, String)>,
}

impl Build {
    fn new(name: &str, sources: &[&str], flags: &[&str]) -> Build {
        Build::of(compile(name, sources, &[&["-g", "-O1", "-fno-ipa-icf"], flags].concat()))
    }

    /// A program that has been compiled.
    pub(crate) fn of(image: PathBuf) -> Build {
        let table = Command::new("nm").args(["-n", "--defined-only"]).arg(&image).output().unwrap().stdout;
        let symbol = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some((u64::from_str_radix(words[0], 16).ok()?, (*words.last()?).to_owned()))
        };
        Build { image, symbols: String::from_utf8(table).unwrap().lines().filter_map(symbol).collect() }
    }

    /// The addresses of the functions with a name, in ascending order.
    pub(crate) fn at(&self, name: &str) -> Vec<u64> {
        self.symbols.iter().filter(|symbol| symbol.1 == name).map(|symbol| symbol.0).collect()
    }

    /// Writes a profile with this many samples in each of these functions, and calls of each by `main`.
    pub(crate) fn profile(&self, name: &str, rate: u32, form: Form, samples: &[(u64, u64, u64)]) -> PathBuf {
        let lowpc = samples.iter().map(|(at, ..)| *at).min().unwrap() & !3;
        let highpc = (samples.iter().map(|(at, ..)| *at).max().unwrap() + 8) & !3;
        let mut bins = vec![0; (highpc - lowpc) as usize / 2];
        for (at, count, _) in samples {
            bins[(at.next_multiple_of(2) - lowpc) as usize / 2] += count;
        }
        let histogram = Histogram::new(lowpc..highpc, Unit::seconds(rate), bins).unwrap();
        let frompc = self.at("main")[0] + 8;
        let arc = |(selfpc, _, count): &(u64, u64, u64)| Arc::new(frompc, *selfpc, *count);
        let arcs = samples.iter().map(arc).filter(|arc| arc.count > 0).collect::<Vec<_>>();
        let profile = Profile::of_samples(vec![histogram]).unwrap().with_arcs(arcs);
        let encoding = Encoding::new(form, DataModel::Lp64, Order::Little);
        let path = self.image.with_file_name(name);
        fs::write(&path, gmon::write(&profile, encoding).unwrap()).unwrap();
        path
    }
}

/// A base and a later build with their profiles.
struct Builds {
    base: Build,
    new: Build,
    base_profile: PathBuf,
    new_profile: PathBuf,
}

impl Builds {
    /// The functions of the later build are in another order, and its profile has another rate and form.
    fn new(name: &str) -> Builds {
        let base = Build::new(&format!("{name}_base"), &["builds.c", "builds_other.c"], &["-DBASE"]);
        let new = Build::new(&format!("{name}_new"), &["builds_other.c", "builds.c"], &[]);
        let of = |build: &Build, name: &str| build.at(name)[0];
        let base_samples = [
            (of(&base, "slower"), 400, 3),
            (of(&base, "steady"), 300, 4),
            (of(&base, "helper.constprop.0"), 100, 5),
            (of(&base, "removed"), 64, 6),
            (base.at("local")[0], 25, 1),
            (base.at("local")[1], 900, 2),
        ];
        // Twice the rate, so each sample is half as long.
        let new_samples = [
            (of(&new, "slower"), 1600, 3),
            (of(&new, "steady"), 620, 4),
            (of(&new, "helper.isra.0"), 200, 5),
            (of(&new, "added"), 72, 7),
            (new.at("local")[0], 1800, 2),
            (new.at("local")[1], 50, 1),
        ];
        let base_profile = base.profile("base.gmon", 100, Form::Gnu, &base_samples);
        let new_profile = new.profile("new.gmon", 200, Form::Bsd, &new_samples);
        Builds { base, new, base_profile, new_profile }
    }

    /// The base as the value of `--base`.
    fn base(&self) -> String {
        format!("--base={},{}", self.base.image.display(), self.base_profile.display())
    }

    /// Prints what changed.
    fn print(&self, options: &[&str]) -> String {
        let (image, profile) = (self.new.image.to_str().unwrap(), self.new_profile.to_str().unwrap());
        let base = self.base();
        let words = [options, &[image, profile, &base]].concat();
        let output = read(gprof(), self.new.image.parent().unwrap(), &words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The lines with a mark or a name at their end, with single blanks between words.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn functions_of_two_builds_are_compared() {
    let builds = Builds::new("difference_text");
    let printed = lines(&builds.print(&["-b"]));
    let expected = [
        "4.00 8.00 +4.00 +100.0 4.00 8.00 +4.00 +100.0 3 3 0 0.0 slower",
        "0.64 0.00 -0.64 -100.0 0.64 0.00 -0.64 -100.0 6 0 -6 -100.0 removed removed",
        "0.00 0.36 +0.36 0.00 0.36 +0.36 0 7 +7 added added",
        "3.00 3.10 +0.10 +3.3 3.00 3.10 +0.10 +3.3 4 4 0 0.0 noise steady",
    ];
    let start = printed.iter().position(|line| line.starts_with("base now change")).unwrap() + 1;
    assert_eq!(printed[start..start + expected.len()], expected);
    for unchanged in [
        "1.00 1.00 0.00 0.0 1.00 1.00 0.00 0.0 5 5 0 0.0 noise helper.isra.0",
        "9.00 9.00 0.00 0.0 9.00 9.00 0.00 0.0 2 2 0 0.0 noise local",
        "0.25 0.25 0.00 0.0 0.25 0.25 0.00 0.0 1 1 0 0.0 noise local",
    ] {
        assert!(printed.iter().any(|line| line == unchanged), "{unchanged}: {printed:?}");
    }
    assert!(
        printed.contains(
            &"Total: 17.89 seconds in the base, 21.71 seconds now, change +3.82 seconds (+21.4%).".to_owned()
        )
    );
    assert!(printed.contains(&"Each sample counts as 0.005 seconds, in the base as 0.01 seconds.".to_owned()));
    // A table has the same numbers.
    let table = builds.print(&["-b", "--table", "-w", "300"]);
    let table: Vec<String> = lines(&table.replace(['│', '┆'], " "));
    for line in expected {
        assert!(table.iter().any(|row| row == line), "{line}: {table:?}");
    }
    let errors = lines(&builds.print(&["-b", "--errors"]));
    assert!(errors.iter().any(|line| line.starts_with("3.00 3.10 +0.10 ±0.21 +3.3")), "{errors:?}");
}

#[test]
fn json_has_the_numbers_and_both_places() {
    let builds = Builds::new("difference_json");
    let json: Value = serde_json::from_str(&builds.print(&["--format=json", "--normalize"])).unwrap();
    let factor = json["time"]["base_factor"].as_f64().unwrap();
    let total = json["total"]["change"].as_f64().unwrap();
    assert!((factor - 21.71 / 17.89).abs() < 1e-9 && total.abs() < 1e-9, "{factor} {total}");
    let functions = json["functions"].as_array().unwrap();
    let named = |name: &str| functions.iter().filter(|function| function["symbol"] == name).collect::<Vec<_>>();
    let slower = named("slower")[0];
    assert!((slower["self_base"].as_f64().unwrap() - 4.0 * factor).abs() < 1e-12 && slower["self"] == 8.0);
    assert!((slower["calls_base"].as_f64().unwrap() - 3.0 * factor).abs() < 1e-12 && slower["calls"] == 3.0);
    assert_eq!(named("helper.isra.0")[0]["base_symbol"], "helper.constprop.0");
    for local in named("local") {
        let file = |field: &str| Path::new(local[field].as_str().unwrap()).file_name().unwrap().to_owned();
        assert_eq!(file("file"), file("base_file"));
        assert_ne!(local["address"], local["base_address"]);
    }
}

/// What pprof shows, by name. The copies of a function have one name here.
fn top(go: &Path, words: &[&str]) -> BTreeMap<String, (f64, f64)> {
    let fixed = ["tool", "pprof", "-sample_index=cpu", "-unit=ms", "-nodecount=1000", "-nodefraction=0", "-top"];
    let mut sums = BTreeMap::new();
    for (name, (flat, cumulative)) in clients::pprof_top(&client(go, &[&fixed, words].concat())) {
        let name = name.split('.').next().unwrap().to_owned();
        let sum: &mut (f64, f64) = sums.entry(name).or_default();
        (sum.0, sum.1) = (sum.0 + flat, sum.1 + cumulative);
    }
    sums.retain(|_, (flat, cumulative)| *flat != 0.0 || *cumulative != 0.0);
    sums
}

#[test]
fn pprof_shows_the_difference_that_it_makes_itself() {
    let Some(go) = Client::go().found() else { return };
    let builds = Builds::new("difference_pprof");
    let file = |name: &str| builds.new.image.with_file_name(name).to_str().unwrap().to_owned();
    let [difference, scaled, base, new] = ["d.pb.gz", "s.pb.gz", "base.pb.gz", "new.pb.gz"].map(file);
    builds.print(&["-o", &difference]);
    builds.print(&["--normalize", "-o", &scaled]);
    for (build, profile, to) in [(&builds.base, &builds.base_profile, &base), (&builds.new, &builds.new_profile, &new)]
    {
        let words = ["-o", to, build.image.to_str().unwrap(), profile.to_str().unwrap()];
        assert!(read(gprof(), build.image.parent().unwrap(), &words).status.success());
    }
    let against = format!("-diff_base={base}");
    let ours = top(&go, &[&difference]);
    assert!(ours.len() == 4 && ours["slower"].0 != 0.0, "{ours:?}");
    assert_eq!(ours, top(&go, &[&against, &new]));
    // pprof rounds each sample of a base that it scales.
    let (ours, theirs) = (top(&go, &[&scaled]), top(&go, &["-normalize", &against, &new]));
    for (name, (flat, _)) in &theirs {
        assert!((flat - ours.get(name).map_or(0.0, |ours| ours.0)).abs() < 11.0, "{name}: {ours:?} {theirs:?}");
    }
}

#[test]
fn a_base_may_be_of_the_same_build() {
    let builds = Builds::new("difference_same");
    let at = builds.new.at("slower")[0];
    let [one, two] = ["one.gmon", "two.gmon"].map(|name| builds.new.profile(name, 200, Form::Gnu, &[(at, 100, 1)]));
    let run = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let output = read(gprof(), one.parent().unwrap(), &words);
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    assert!(two.exists());
    for base in ["--base=one.gmon,two.gmon", "--base=one.gmon --base two.gmon", "--base=a.out,one.gmon,two.gmon"] {
        let (is_good, text) = run(&format!("-b a.out new.gmon {base}"));
        assert!(
            is_good && lines(&text).iter().any(|line| line.starts_with("0.50 8.00 +7.50 +1500.0")),
            "{base}: {text}"
        );
    }
    fs::rename(&one, one.with_file_name("a,b")).unwrap();
    assert!(run("-b a.out new.gmon --base=a,b").0, "a name with a comma");
    for (line, said) in [
        ("--base=none a.out new.gmon", "none: No such file or directory"),
        ("--base=a.out a.out new.gmon", "'--base=a.out': the program has no profiles"),
        ("--base=two.gmon, a.out new.gmon", "'--base=two.gmon,': the name of a file is empty"),
        ("--base=- a.out -", "the standard input can be one profile only"),
        ("--normalize a.out new.gmon", "'--normalize' scales a base"),
        ("--fail-if=slower:3% a.out new.gmon", "'--fail-if' compares with a base"),
        ("--fail-if-unsure --base=two.gmon a.out new.gmon", "'--fail-if-unsure' needs a limit"),
        ("--fail-if=faster:3% --base=two.gmon a.out new.gmon", "a limit begins with slower, calls, or total"),
        ("--base=two.gmon -l a.out new.gmon", "'--base' and '--line' cannot be used together"),
        ("--base=two.gmon -p a.out new.gmon", "the difference is the only report"),
        ("--base=two.gmon -o a.svg a.out new.gmon", "'--base' and '--output a.svg' cannot be used together"),
        ("--base=two.gmon --format=text -o two.gmon a.out new.gmon", "the file is an input"),
        ("--base=two.gmon --compat=gnu a.out new.gmon", "GNU's gprof compares nothing"),
    ] {
        let (is_good, text) = run(line);
        assert!(!is_good && text.contains(said) && text.lines().count() == 1, "{line}: {text}");
    }
}

/// Five runs of each of two builds: each call of `slower` takes twice as long, `helper` is called twice as often and
/// each call takes as long, and `steady` differs from run to run only.
struct SeveralRuns {
    directory: PathBuf,
    words: Vec<String>,
}

impl SeveralRuns {
    fn new(name: &str) -> SeveralRuns {
        let sources = ["builds.c", "builds_other.c"];
        let base = Build::new(&format!("{name}_base"), &sources, &["-DBASE"]);
        let new = Build::new(&format!("{name}_new"), &sources, &[]);
        let mut words = vec![format!("--base={}", base.image.display())];
        let mut operands = vec![new.image.display().to_string()];
        for (at, more) in [0, 25, 10, 30, 18].into_iter().enumerate() {
            let samples = |build: &Build, helper: &str, times: u64| {
                let of = |name: &str| build.at(name)[0];
                [
                    (of("slower"), times * (400 + more), 3),
                    (of(helper), times * (500 + 2 * more), times * 100),
                    (of("steady"), 600 + times * more, 4),
                ]
            };
            let profile = base.profile(&format!("run.{at}"), 100, Form::Gnu, &samples(&base, "helper.constprop.0", 1));
            words.push(format!("--base={}", profile.display()));
            let profile = new.profile(&format!("run.{at}"), 100, Form::Gnu, &samples(&new, "helper.isra.0", 2));
            operands.push(profile.display().to_string());
        }
        words.extend(operands);
        SeveralRuns { directory: new.image.parent().unwrap().to_owned(), words }
    }

    /// Runs gprof with these options: the exit status, the standard output, and the standard error.
    fn run(&self, options: &[&str]) -> (Option<i32>, String, String) {
        let words: Vec<&str> = options.iter().copied().chain(self.words.iter().map(String::as_str)).collect();
        let output = read(gprof(), &self.directory, &words);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

/// Fails if times are sums of the runs and no means, if a change of calls is called one of each call, or if `steady`
/// or `main` is said to be slower.
#[test]
fn several_runs_tell_what_became_slower_and_why() {
    let runs = SeveralRuns::new("difference_runs");
    let (status, text, warnings) = runs.run(&["-b"]);
    assert_eq!((status, warnings.as_str()), (Some(0), ""));
    let lines = lines(&text);
    let is_said = |what: &str| lines.iter().any(|line| line.starts_with(what));
    assert!(
        is_said("p-values are those of Welch's t-test, corrected for 4 changes (Holm), and count below 0.01."),
        "{text}"
    );
    assert!(is_said("These runs show a growth of the total from "), "{text}");
    let verdict: Vec<&String> = lines.iter().filter(|line| line.contains(" > ")).collect();
    let expected = [
        ("calls: main > helper.isra.0 100 -> 200 (+100.0 %)", ""),
        (
            "slower: helper.isra.0 +100.0 % ±",
            ": more calls, each as long, from main > helper.isra.0; main > helper.isra.0",
        ),
        ("slower: slower +100.0 % ±", ": each call takes longer; main > slower"),
    ];
    assert_eq!(verdict.len(), expected.len(), "{verdict:?}");
    for (said, (start, end)) in verdict.iter().zip(expected) {
        assert!(said.starts_with(start) && said.ends_with(end), "{said}");
    }
    // The mean of 500, 550, 520, 560, and 536 samples.
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("5.33 10.66 +5.33 +100.0 ±") && line.ends_with("slower helper.isra.0")),
        "{text}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("6.17 6.33 +0.17 +2.7 ±") && line.ends_with("0.0 noise steady")),
        "{text}"
    );
    let (_, table, _) = runs.run(&["-b", "--table", "-w", "300"]);
    let table: Vec<String> = self::lines(&table.replace(['│', '┆'], " "));
    for row in lines
        .iter()
        .filter(|line| line.ends_with("steady") || line.ends_with("slower"))
        .filter(|line| !line.contains(": "))
    {
        assert!(table.contains(row), "{row}: {table:?}");
    }
}

/// Fails if a change below a limit counts, if a function counts that the pattern leaves out, if the unsure say nothing,
/// or if the status is not that of the documents.
#[test]
fn a_limit_decides_the_exit_status() {
    let runs = SeveralRuns::new("difference_gate");
    let said = |options: &[&str]| {
        let (status, _, warnings) = runs.run(options);
        assert!(warnings.lines().count() <= 1, "{warnings}");
        (status.unwrap(), warnings)
    };
    let (status, verdict) = said(&["--fail-if=slower:3%"]);
    assert!(status == 3 && verdict.starts_with("slower: helper.isra.0 +100.0 % ±"), "{status} {verdict}");
    assert!(verdict.contains(", slower +100.0 % ±") && !verdict.contains("steady"), "{verdict}");
    // Calls are certain, and come first.
    let (status, verdict) = said(&["--fail-if=slower:3%:slow*", "--fail-if=calls:3%"]);
    assert!(status == 3, "{verdict}");
    assert!(verdict.starts_with("calls: helper.isra.0 100 -> 200 (+100.0 %); slower: slower +100.0 %"), "{verdict}");
    let (status, verdict) = said(&["--fail-if=total:50%"]);
    assert!(status == 3 && verdict.starts_with("total: +"), "{status} {verdict}");
    // Beyond what changed, and the runs would have shown it.
    assert_eq!(said(&["--fail-if=slower:120%", "--fail-if=calls:100%", "--fail-if-unsure"]), (0, String::new()));
    // `steady` did not change for certain, and these runs would not have shown 1 percent.
    let (status, verdict) = said(&["--fail-if=slower:1%:steady"]);
    assert!(
        status == 0 && verdict.starts_with("unsure: these runs show a growth of steady from "),
        "{status} {verdict}"
    );
    assert!(verdict.trim_end().ends_with(" runs a side would show 1 %"), "{verdict}");
    assert_eq!(said(&["--fail-if=slower:1%:steady", "--fail-if-unsure"]), (4, verdict));
}

/// Fails if a number of the report is missing in JSON or CSV.
#[test]
fn json_has_what_the_runs_say() {
    let runs = SeveralRuns::new("difference_runs_json");
    let (_, text, _) = runs.run(&["--format=json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let number = |value: &Value, name: &str| value[name].as_f64().unwrap_or_else(|| panic!("{name}: {value}"));
    let of_runs = &json["runs"];
    assert_eq!((&of_runs["base"], &of_runs["now"], of_runs["evidence"].as_str()), (&5.into(), &5.into(), Some("runs")));
    assert_eq!((number(of_runs, "level"), number(of_runs, "tests"), number(of_runs, "power")), (0.01, 4.0, 0.8));
    let slower = json["functions"].as_array().unwrap().iter().find(|function| function["name"] == "slower").unwrap();
    for of in ["self", "each_call"] {
        let part = |name: &str| number(slower, &format!("{of}_{name}"));
        assert!(part("low") > 0.0 && part("high") > part("low") && part("visible") > 0.0, "{slower}");
        assert!(part("p") < 1e-3 && part("p") <= part("corrected_p") && slower[format!("{of}_changed")] == true);
    }
    assert!(number(&json["total"], "low") > 0.0 && json["total"]["changed"] == true);
    assert_eq!(json["changed_calls"][0]["called"], "helper.isra.0");
    assert_eq!(json["findings"][0]["cause"], "calls");
    assert_eq!(json["findings"][1]["path"][0]["name"], "main");
    let (_, csv, _) = runs.run(&["--format=csv"]);
    let widths: Vec<usize> = csv.lines().map(|line| line.matches(',').count()).collect();
    assert!(widths.len() > 3 && widths.iter().all(|width| *width == widths[0]), "{csv}");
}
