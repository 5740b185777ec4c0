//! A new report and a new export touch few files. This test adds an invented report and an invented export
//! (`tests/additions`) to a copy of gprof, compiles the copy, and runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A change of gprof: new files, and lines in files that exist.
struct Addition {
    /// Files of `tests/additions`, and their places below gprof/src.
    files: &'static [(&'static str, &'static str)],
    /// A file below gprof/src, a line of the file, and the lines that come in front of this line.
    lines: &'static [(&'static str, &'static str, &'static str)],
    /// The number of files of gprof that differ afterwards.
    count: usize,
}

const REPORT: Addition = Addition {
    files: &[("crossroads.rs", "reports/crossroads.rs")],
    lines: &[
        ("reports/mod.rs", "pub mod cut_stacks;", "pub mod crossroads;\n"),
        ("reports/list.rs", "    counts::REPORT,", "    super::crossroads::REPORT,\n"),
    ],
    count: 3,
};

const EXPORT: Addition = Addition {
    files: &[("edges.rs", "exports/edges.rs")],
    lines: &[
        ("exports/mod.rs", "mod firefox;", "mod edges;\n"),
        (
            "exports/render.rs",
            "        Format::Dot => dot::render(analysis, &mut buffer).map_err(Error::Output)?,",
            "        Format::Edges => super::edges::render(analysis, &mut buffer).map_err(Error::Output)?,\n",
        ),
        (
            "question/format.rs",
            "    /// The call graph in the language of Graphviz, with the labels of gprof2dot.",
            "    /// Each arc.\n    Edges,\n",
        ),
        (
            "question/format.rs",
            "    text(Format::Csv, \"csv\", &[\".csv\"], \"A row for each function and for each arc\"),",
            "    text(Format::Edges, \"edges\", &[\".edges\"], \"Each arc\"),\n",
        ),
    ],
    count: 4,
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &place),
            false => _ = fs::copy(&path, place).unwrap(),
        }
    }
}

/// Makes the change.
fn add(addition: &Addition, source: &Path) {
    for (file, place) in addition.files {
        assert!(!source.join(place).exists(), "{place} is a file of gprof");
        fs::copy(root().join("tests/additions").join(file), source.join(place)).unwrap();
    }
    for (file, line, more) in addition.lines {
        let text = fs::read_to_string(source.join(file)).unwrap();
        let line = format!("\n{line}\n");
        assert_eq!(text.matches(&line).count(), 1, "{file} has the line once: {line}");
        fs::write(source.join(file), text.replace(&line, &format!("\n{more}{}", &line[1..]))).unwrap();
    }
}

/// The files of a copy of gprof's sources that gprof does not have, or has with another text.
fn changed(copy: &Path) -> Vec<PathBuf> {
    let original = root().join("gprof/src");
    let differs = |file: &PathBuf| fs::read(original.join(file)).ok() != fs::read(copy.join(file)).ok();
    super::systems::files(copy).into_iter().filter(differs).collect()
}

/// Compiles the copy of gprof, as a package with another name, with the dependencies of gprof that are compiled
/// already. Returns the program.
fn compile(copy: &Path) -> PathBuf {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (before, members) = manifest.split_once("members = [").unwrap();
    let (_, after) = members.split_once(']').unwrap();
    let paths = |text: &str| text.replace("path = \"", &format!("path = \"{}/", root().display()));
    fs::write(copy.join("Cargo.toml"), paths(&format!("{before}members = [\"gprof\"]{after}"))).unwrap();
    fs::copy(root().join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    let package = fs::read_to_string(root().join("gprof/Cargo.toml")).unwrap();
    let package = package.replacen("name = \"gprof\"", "name = \"gprof-with-additions\"", 1);
    let package = package.split("\n[dev-dependencies]").next().unwrap().to_owned() + "\n[lib]\nname = \"gprof\"\n";
    fs::write(copy.join("gprof/Cargo.toml"), package).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--offline", "--package", "gprof-with-additions"])
        .args(["--config", "profile.dev.package.gprof-with-additions.opt-level=0"])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug/gprof-with-additions")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn run(program: &Path, options: &[&str]) -> Output {
    let files = ["basic", "basic.gmon"].map(|file| root().join("testdata/bsd").join(file));
    Command::new(program).args(options).args(files).output().unwrap()
}

#[test]
fn a_report_and_an_export_touch_few_files() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("additions");
    let _ = fs::remove_dir_all(&place);
    let source = place.join("gprof/src");
    copy(&root().join("gprof/src"), &source);
    fs::copy(root().join("gprof/build.rs"), place.join("gprof/build.rs")).unwrap();
    let guide = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut count = 0;
    for addition in [&REPORT, &EXPORT] {
        add(addition, &source);
        count += addition.count;
        assert_eq!(changed(&source).len(), count, "{:?}", changed(&source));
        // The guide names each file that changes; new files are in a folder that the guide names.
        for (file, ..) in addition.lines {
            assert!(guide.contains(&format!("`gprof/src/{file}`")), "CONTRIBUTING.md lacks gprof/src/{file}");
        }
    }
    let program = compile(&place);
    // `driver` and `main` call `burn`, as do `parse` and `emit`.
    let expected = "Crossroads:\n\n callers  name\n       3  burn\n";
    assert_eq!(stdout(&run(&program, &["-b", "--crossroads"])), expected);
    // The lists yield the help, the manual page, JSON, and the contradictions.
    let help = String::from_utf8(Command::new(&program).arg("--help=all").output().unwrap().stdout).unwrap();
    assert!(help.contains("--crossroads") && help.contains("edges"), "{help}");
    let manual = String::from_utf8(Command::new(&program).arg("--generate=man").output().unwrap().stdout).unwrap();
    assert!(manual.contains("crossroads") && manual.contains("edges"), "{manual}");
    let completions =
        String::from_utf8(Command::new(&program).arg("--generate=bash").output().unwrap().stdout).unwrap();
    assert!(completions.contains("--crossroads"), "{completions}");
    let json = stdout(&run(&program, &["--format=json", "--crossroads"]));
    assert!(json.contains("\"crossroads\":[\n{\"function\":") && json.contains("\"callers\":3}]"), "{json}");
    for other in ["--compat=gnu", "-T", "--line", "--base=basic.gmon"] {
        let refused = run(&program, &["--crossroads", other]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("cannot be used together"), "{other}: {said}");
    }
    let edges = stdout(&run(&program, &["--format=edges"]));
    assert!(edges.contains("main\tdriver\t40\n") && edges.contains("driver\tparse\t1000\n"), "{edges}");
}
