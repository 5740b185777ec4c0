//! Bounds of inclusive times (`--bounds`) of a real program that knows its inclusive times.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gmon::{DataModel, Encoding, Form, Hints, Histogram, Order, Profile, Unit};
use gmon_tests::{assert_same, compile, gprof, read, start_objects};
use serde_json::Value;

const GNU: Encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);

/// The program with the calls that our runtime counted, and a tick for each unit of work.
struct Costs {
    directory: PathBuf,
    profile: Profile,
    /// The units of work that the program reports, by "self NAME" and "all NAME".
    units: BTreeMap<String, u64>,
}

impl Costs {
    fn new(name: &str) -> Costs {
        let ours = format!("-B{}", start_objects().display());
        let image = compile(&format!("bounds_{name}"), &["costs.c"], &["-O1", "-falign-functions=16", &ours]);
        let directory = image.parent().unwrap().to_owned();
        let output = Command::new(&image).current_dir(&directory).output().unwrap();
        assert!(output.status.success());
        let units = String::from_utf8(output.stdout).unwrap();
        let units = units.lines().map(|line| line.rsplit_once(' ').unwrap());
        let units: BTreeMap<String, u64> =
            units.map(|(what, count)| (what.to_owned(), count.parse().unwrap())).collect();
        // The samples of the real clock are replaced. The side file belongs to the original profile.
        let path = directory.join("gmon.out");
        let mut profile = gmon::read(&fs::read(&path).unwrap(), &Hints::default()).unwrap();
        let _ = fs::remove_file(directory.join("gmon.out.side"));
        profile.take_histograms();
        histograms(&image, &units).into_iter().for_each(|histogram| profile.add_histogram(histogram).unwrap());
        fs::write(&path, gmon::write(&profile, GNU).unwrap()).unwrap();
        Costs { directory, profile, units }
    }

    fn read(&self, options: &str) -> Output {
        let words: Vec<&str> = options.split_whitespace().chain(["a.out", "gmon.out"]).collect();
        read(gprof(), &self.directory, &words)
    }

    fn print(&self, options: &str) -> String {
        let output = self.read(options);
        assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The names in the rows of the bounds, in their order.
    fn names(&self, options: &str) -> Vec<String> {
        let text = self.print(&format!("-b --bounds {options}"));
        let table = text.split_once("calls  name\n").unwrap().1;
        let rows = table.lines().take_while(|line| !line.is_empty());
        rows.map(|row| row.rsplit(' ').next().unwrap().to_owned()).collect()
    }
}

/// A histogram with one bin at the beginning of each function that has units of its own.
fn histograms(image: &Path, units: &BTreeMap<String, u64>) -> Vec<Histogram> {
    let table = String::from_utf8(Command::new("nm").arg(image).output().unwrap().stdout).unwrap();
    let histogram = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = units.get(&format!("self {}", words.get(2)?))?;
        let lowpc = u64::from_str_radix(words[0], 16).unwrap();
        let highpc = lowpc + 4;
        Some(Histogram::new(lowpc..highpc, Unit::seconds(100), vec![*count]).unwrap())
    };
    let mut all: Vec<Histogram> = table.lines().filter_map(histogram).collect();
    assert_eq!(all.len(), 3, "work, polish and at_end");
    all.sort_by_key(Histogram::lowpc);
    all
}

/// `dear` really takes 10.30 seconds, and the calls of `cheap` 1.80.
const GOLDEN: &str = "\
Bounds of inclusive times:

Each sample counts as 0.01 seconds.
    self     lower  estimate     upper
 seconds   seconds   seconds   seconds     calls  name
    0.00     12.10     12.10     12.17         1  main
    0.00      0.30      0.92     12.17         1  dear
   11.80     11.80     11.80     11.87       190  work
    0.00      0.00     11.18     11.87         2  cheap
    0.30      0.30      0.30      0.37         1  polish
    0.07      0.07      0.07      0.07         1  at_end
";

#[test]
fn the_truth_is_between_the_bounds_and_not_at_the_estimate() {
    let costs = Costs::new("golden");
    let text = costs.print("-b --bounds");
    let rows: Vec<Vec<&str>> = text.lines().skip(5).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 6, "{text}");
    for row in &rows {
        let truth = costs.units[&format!("all {}", row[5])] as f64 / 100.0;
        let [lower, estimate, upper] = [row[1], row[2], row[3]].map(|number| number.parse::<f64>().unwrap());
        assert!(lower <= truth && truth <= upper && lower <= estimate && estimate <= upper, "{row:?}");
        // gprof's estimate is wrong for both callers of `work`, by 9 seconds.
        assert_eq!(["cheap", "dear"].contains(&row[5]), (estimate - truth).abs() > 9.0, "{row:?} {truth}");
    }
    assert_same(GOLDEN.as_bytes(), text.as_bytes(), "gprof -b --bounds");
}

#[test]
fn all_formats_have_the_same_bounds() {
    let costs = Costs::new("formats");
    let text = costs.print("--bounds");
    assert!(text.contains("\nHow to read the bounds.") && text.contains("\u{c}\nStatistics:"), "{text}");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(5)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect())
        .collect();
    let table = costs.print("-b --bounds --table");
    let root: Value = serde_json::from_str(&costs.print("--bounds --format=json")).unwrap();
    assert!(root.get("flat_profile").is_none() && root.get("call_graph").is_none());
    let name = |id: &Value| {
        let functions = root["functions"].as_array().unwrap();
        functions.iter().find(|function| function["id"] == *id).unwrap()["name"].as_str().unwrap().to_owned()
    };
    let list = root["bounds"].as_array().unwrap();
    assert_eq!(list.len(), rows.len());
    for (row, record) in rows.iter().zip(list) {
        let numbers =
            ["self", "lower", "estimate", "upper"].map(|field| format!("{:.2}", record[field].as_f64().unwrap()));
        assert_eq!(&row[..4], numbers);
        assert_eq!((row[4], row[5]), (record["calls"].to_string().as_str(), name(&record["function"]).as_str()));
        let line = table.lines().find(|line| line.contains(&format!("┆ {} ", row[5]))).unwrap();
        let cells: Vec<&str> = line.split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells, *row);
    }
    let summary = &root["bounds_summary"];
    assert_eq!(summary["upper_is_exact"], true);
    assert_eq!((summary["unseen"].as_f64(), summary["rows_left_out"].as_u64()), (Some(0.0), Some(0)));
    assert!(summary["doubts"].as_array().unwrap().is_empty());
    assert!(
        costs.print("--format=json").contains("\"flat_profile\"") && !costs.print("--format=json").contains("bounds")
    );
}

#[test]
fn choices_leave_out_rows_and_nothing_else() {
    let costs = Costs::new("choices");
    let all = costs.names("");
    assert_eq!(costs.names("-pdear"), ["dear"]);
    assert_eq!(costs.names("-Pwork"), all.iter().filter(|name| *name != "work").cloned().collect::<Vec<_>>());
    let mut below_dear = costs.names("-qdear");
    below_dear.sort_unstable();
    assert_eq!(below_dear, ["dear", "polish", "work"]);
    assert_eq!(costs.names("--top 2"), all[..2]);
    assert!(costs.print("--bounds --top 2").contains("\nFunctions left out by --top or --min-percent: 4.\n"));
    assert_eq!(costs.names("--min-percent 5"), all[..4]);
    // What leaves out time or calls elsewhere does not change bounds.
    let whole = costs.print("-b --bounds");
    let row = |text: &str, name: &str| {
        let bounds = text.split_once("Bounds of inclusive times:").unwrap().1;
        bounds.lines().find(|line| line.ends_with(name)).unwrap().to_owned()
    };
    for options in ["-k dear/work", "-N work", "-E work", "-Pwork", "-c"] {
        assert_eq!(row(&costs.print(&format!("-b --bounds {options}")), " dear"), row(&whole, " dear"), "{options}");
    }
    assert!(costs.names("-z").contains(&"_init".to_owned()));
}

#[test]
fn a_profile_without_calls_from_outside_says_so() {
    let costs = Costs::new("inside");
    let mut profile = costs.profile.clone();
    let (low, high) = (profile.histograms()[0].lowpc(), profile.histograms()[2].highpc() + 0x1000);
    profile.retain_arcs(|arc| (low.saturating_sub(0x1000)..high).contains(&arc.frompc));
    fs::write(costs.directory.join("gmon.out"), gmon::write(&profile, GNU).unwrap()).unwrap();
    let text = costs.print("--bounds");
    assert!(
        text.contains("The bounds may not hold: no call from outside was counted, not even that of main.\n"),
        "{text}"
    );
    // Nothing is known of the callers of at_end, but of main it is known that nothing calls it.
    assert!(
        text.contains("\nEach upper bound includes 0.07 seconds in code that any function may have called unseen.\n")
    );
    let row =
        |name: &str| text.lines().find(|line| line.ends_with(name)).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row(" at_end"), ["0.07", "0.07", "0.07", "12.17", "at_end"]);
    assert_eq!(row(" main"), ["0.00", "12.10", "12.10", "12.17", "main"]);
    assert_eq!(row(" polish"), ["0.30", "0.30", "0.30", "0.37", "1", "polish"]);
}

#[test]
fn bounds_are_refused_where_they_do_not_exist() {
    let costs = Costs::new("refused");
    let refused = |options: &str| {
        let output = costs.read(options);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{options}");
        String::from_utf8(output.stderr).unwrap()
    };
    for other in ["--compat=gnu", "-T", "--line", "--no-static", "--ignore-non-functions", "--bsd"] {
        let message = refused(&format!("{other} --bounds"));
        assert!(message.contains(&format!("'--bounds' and '{other}' cannot be used together")), "{message}");
    }
    let profile = Profile::new().with_arcs(costs.profile.arcs().to_vec());
    fs::write(costs.directory.join("gmon.out"), gmon::write(&profile, GNU).unwrap()).unwrap();
    assert!(refused("--bounds").contains("no bounds: the profile has no samples or no calls"));
    assert_eq!(costs.read("--b").status.code(), Some(0), "GNU's abbreviation of --brief");
}
