//! The examples of docs/clusters.md, as they stand there.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon::{DataModel, Encoding, Form, Histogram, Order, Profile, Unit};
use gmon_tests::symbols::Symbols;
use gmon_tests::{compile, directory, distribution, gprof, start_objects};
use serde_json::{Value, json};

use crate::clients::{client, python};

/// The example in docs/clusters.md whose first line begins so.
fn example(start: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/clusters.md")).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with(&format!("    {start}")));
    let block = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    let block: Vec<&str> = block.map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    assert!(!block.is_empty(), "docs/clusters.md has no example '{start}'");
    block.join("\n")
}

/// A search path on which the examples find gprof.
fn search_path() -> String {
    format!("{}:{}", gprof().parent().unwrap().display(), std::env::var("PATH").unwrap())
}

/// Runs a program that samples itself, with different counts, and copies the files of the runs until there are so many.
/// Returns the profiles, which have side files.
fn profiles(image: &Path, count: usize) -> Vec<PathBuf> {
    let directory = image.parent().unwrap().join("job");
    fs::create_dir(&directory).unwrap();
    let run = |number: usize| {
        let prefix = directory.join(format!("gmon.{number:05}"));
        let mut command = Command::new(image);
        command.env("GMON_OUT_PREFIX", &prefix).env("GMON_HZ", "1").env("GMON_SAMPLER", "timer");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let orders = format!("burn {}\npaths {}\n", number % 7, number % 5);
        child.stdin.take().unwrap().write_all(orders.as_bytes()).unwrap();
        let id = child.id();
        assert!(child.wait().unwrap().success());
        prefix.with_added_extension(id.to_string())
    };
    let runs: Vec<PathBuf> = (0..35).map(run).collect();
    let copy = |number: usize| {
        let (from, to) = (&runs[number % runs.len()], directory.join(format!("gmon.{number:05}.copy")));
        fs::copy(from, &to).unwrap();
        fs::copy(from.with_added_extension("side"), to.with_added_extension("side")).unwrap();
        to
    };
    let copies: Vec<PathBuf> = (runs.len()..count).map(copy).collect();
    [runs, copies].concat()
}

/// Compares the sum that Dask makes with that of one gprof.
fn compare_sums(python: &Path, test: &str, count: usize) {
    let ours = format!("-B{}", start_objects().display());
    let image = compile(test, &["contexts/live.c"], &["-O2", "-pthread", &ours]);
    let directory = image.parent().unwrap();
    let profiles = profiles(&image, count);
    let output = Command::new(gprof()).arg("-s").arg(&image).args(&profiles).current_dir(directory).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(directory.join("sum.py"), example("# sum.py")).unwrap();
    let mut dask = Command::new(python);
    dask.arg("sum.py").arg(&image).arg("job.sum").args(&profiles).current_dir(directory).env("PATH", search_path());
    let output = dask.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (one, parts) in [("gmon.sum", "job.sum"), ("gmon.sum.side", "job.sum.side")] {
        let [one, parts] = [one, parts].map(|name| fs::read(directory.join(name)).unwrap());
        assert!(one == parts, "{parts:?}: {} bytes, not the same as {} bytes", parts.len(), one.len());
    }
    let left: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 7, "no other files stay: {left:?}");
}

#[test]
fn dask_makes_the_same_sum_as_one_gprof() {
    let Some(python) = python(&["dask.bag"]) else { return };
    // Three parts.
    compare_sums(&python, "clusters_sum", 1100);
}

#[test]
#[ignore = "takes half a minute: for a look at large jobs"]
fn dask_makes_the_same_sum_of_ten_thousand_profiles() {
    let Some(python) = python(&["dask.bag"]) else { return };
    compare_sums(&python, "clusters_large_sum", 10_000);
}

/// The environment of MPI: four processes may run on any machine, also as root.
const MPI: [(&str, &str); 4] = [
    ("OMPI_CC", "gmon-cc"),
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
];

#[test]
fn the_ranks_of_an_mpi_job_add_up_their_profiles() {
    let place = directory("clusters_mpi");
    let path = format!("{}:{}", distribution().join("bin").display(), search_path());
    let run = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&place).env("PATH", &path).envs(MPI).env_remove("GMON_OUT_PREFIX").output()
    };
    match run("mpirun", &["-np", "4", "true"]) {
        Ok(output) if output.status.success() => {}
        other => return println!("\nSKIPPED: ranks of an MPI job: mpirun does not run here ({other:?})"),
    }
    let quiet = |program: &str, words: &[&str]| {
        let output = run(program, words).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{program} {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/ranks.c");
    quiet("mpicc", &["-pg", "-O2", "-o", "prog", source.to_str().unwrap()]);
    fs::write(place.join("job.sh"), example("# job.sh")).unwrap();
    fs::write(place.join("add.sh"), example("# add.sh")).unwrap();
    let said = quiet("sh", &["job.sh"]);
    assert!(said.starts_with("10000\n") && said.contains("counted"), "{said}");
    // The tree makes the same sum as one gprof.
    let json = |profiles: &[&str]| -> Value {
        let words = [&["--format=json", "prog"], profiles].concat();
        serde_json::from_str(&quiet(gprof().to_str().unwrap(), &words)).unwrap()
    };
    let all = ["profiles/0", "profiles/1", "profiles/2", "profiles/3"];
    quiet(gprof().to_str().unwrap(), &[&["-s", "prog"][..], &all].concat());
    for (one, tree) in [("gmon.sum", "sums/0"), ("gmon.sum.side", "sums/0.side")] {
        assert!(fs::read(place.join(one)).unwrap() == fs::read(place.join(tree)).unwrap(), "{tree}");
    }
    let of_all = json(&all);
    let ranks: Vec<u64> =
        of_all["profiles"].as_array().unwrap().iter().map(|it| it["rank"].as_u64().unwrap()).collect();
    assert_eq!(ranks, [0, 1, 2, 3]);
    let sum = json(&["sums/0"]);
    assert_eq!(
        (&sum["profiles"][0]["rank"], &sum["profiles"][0]["host"]),
        (&Value::Null, &of_all["profiles"][0]["host"])
    );
    assert_eq!(sum["statistics"]["calls"], of_all["statistics"]["calls"]);
    let left: Vec<_> = fs::read_dir(place.join("sums")).unwrap().collect();
    assert_eq!(left.len(), 8, "no other files stay: {left:?}");
}

/// Writes the profile of a rank, with these ticks in functions.
fn write_rank(image: &Path, rank: usize, ticks: &[(&str, u64)]) {
    let symbols = Symbols::of(image);
    let places = ticks.iter().map(|(name, ticks)| (symbols.address(name), *ticks));
    let lowpc = places.clone().map(|(address, _)| address).min().unwrap();
    let highpc = places.clone().map(|(address, _)| address).max().unwrap() + 4;
    let mut bins = vec![0; usize::try_from(highpc - lowpc).unwrap()];
    places.for_each(|(address, ticks)| bins[usize::try_from(address - lowpc).unwrap()] = ticks);
    let histogram = Histogram::new(lowpc..highpc, Unit::seconds(100), bins).unwrap();
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    let profile = Profile::of_samples(vec![histogram]).unwrap();
    fs::write(image.with_file_name(format!("gmon.out.{rank}")), gmon::write(&profile, encoding).unwrap()).unwrap();
}

#[test]
fn duckdb_finds_the_ranks_that_took_longer() {
    let Some(python) = python(&["duckdb"]) else { return };
    let image = compile("clusters_ranks", &["leaf.c"], &[]);
    let directory = image.parent().unwrap();
    for (rank, [light, middle, heavy]) in [[100, 50, 10], [100, 50, 11], [100, 0, 10], [400, 50, 12]].iter().enumerate()
    {
        write_rank(&image, rank, &[("light", *light), ("middle", *middle), ("heavy", *heavy)]);
    }
    fs::rename(&image, directory.join("prog")).unwrap();
    let commands = example("for rank in");
    let shell = commands.lines().next().unwrap();
    let status =
        Command::new("sh").args(["-e", "-c", shell]).current_dir(directory).env("PATH", search_path()).status();
    assert!(status.unwrap().success());
    fs::write(directory.join("ranks.sql"), example("-- For each function")).unwrap();
    let print = "import duckdb, json, os, sys; os.chdir(sys.argv[1]); \
                 print(json.dumps(duckdb.sql(open('ranks.sql').read()).fetchall()))";
    let rows: Value = serde_json::from_str(&client(&python, &["-c", print, directory.to_str().unwrap()])).unwrap();
    let expected = [
        ("light", [1.0, 1.75, 4.0, 4.0 / 1.75 - 1.0], json!([3])),
        ("middle", [0.0, 0.375, 0.5, 0.5 / 0.375 - 1.0], json!([2])),
        ("heavy", [0.1, 0.1075, 0.12, 0.12 / 0.1075 - 1.0], json!([])),
    ];
    assert_eq!(rows.as_array().unwrap().len(), expected.len(), "{rows}");
    for (row, (name, numbers, outliers)) in rows.as_array().unwrap().iter().zip(expected) {
        assert_eq!((&row[0], &row[5]), (&json!(name), &outliers), "{row}");
        for (at, number) in (1..).zip(numbers) {
            assert!((row[at].as_f64().unwrap() - number).abs() < 1e-9, "{row}: {number}");
        }
    }
}
