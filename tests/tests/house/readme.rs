//! Every code block of README.md does what the text says: commands run in a home directory of their own, the Rust code
//! compiles, and the output has the shape of real output.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use gmon::{DataModel, Encoding, Form, Order};
use gmon_tests::profiles::replace_counts;
use gmon_tests::symbols::{Symbols, read};
use gmon_tests::{directory, distribution, gmon_run, gprof, make, start_objects, start_objects_for};

/// A program that calls `leaf` 3000 times: 1000 times from `main`, and 2000 times from a function in a cycle.
const PROGRAM: &str = r#"#ifdef __cplusplus
extern "C" {
#endif
#define OWN __attribute__((noinline))
static volatile int sum;
OWN void leaf(int n) { sum += n; }
OWN int even(int n);
OWN int odd(int n) { leaf(n); return (n == 0 ? 0 : even(n - 1)) + sum * 0; }
OWN int even(int n) { return (n == 0 ? 1 : odd(n - 1)) + sum * 0; }
#ifdef __cplusplus
}
#endif
int main(void)
{
    for (int i = 0; i < 1000; i++)
        leaf(i);
    for (int i = 0; i < 40; i++)
        if (!even(100))
            return 1;
    return 0;
}
"#;

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A code block.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    /// Indented lines: commands.
    Commands(String),
    /// Lines between fences without a language: output.
    Output(String),
    /// Rust.
    Rust(String),
}

/// All code blocks of a text. A fence with an unknown language is an error.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let (mut fence, mut indented) = (None::<(&str, String)>, String::new());
    for line in text.lines().chain([""]) {
        if let Some(language) = line.strip_prefix("```") {
            match fence.take() {
                None => fence = Some((language, String::new())),
                Some(("", inside)) => found.push(Block::Output(inside)),
                Some(("rust", inside)) => found.push(Block::Rust(inside)),
                Some((other, _)) => panic!("no test runs a block in the language {other}"),
            }
        } else if let Some((_, inside)) = &mut fence {
            *inside += &format!("{line}\n");
        } else if let Some(command) = line.strip_prefix("    ") {
            indented += &format!("{command}\n");
        } else if !indented.is_empty() {
            found.push(Block::Commands(std::mem::take(&mut indented)));
        }
    }
    assert!(fence.is_none(), "each fence has an end");
    found
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// The text between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A home directory, and a working directory with the programs that the README names.
pub(super) struct Home(PathBuf);

impl Home {
    /// Stages the distribution, with the gprof of the tests, and makes the directories.
    pub(super) fn new(name: &str) -> Home {
        static STAGED: OnceLock<()> = OnceLock::new();
        STAGED.get_or_init(|| {
            start_objects();
            ["tools", "documents"].into_iter().for_each(|what| make(what).unwrap());
        });
        let place = directory(name);
        // Only what the tests stage: other builds leave more files there.
        let copy = r#"set -e; mkdir -p "$2/lib"; cp -R "$1/bin" "$1/include" "$1/share" "$2"; cp -R "$1/lib/pkgconfig" "$2/lib"
            mkdir -p "$2/lib/gmon/static-pie"; cp "$1"/lib/gmon/*.[ao] "$1"/lib/gmon/*.so "$2/lib/gmon"
            cp "$1"/lib/gmon/static-pie/*.o "$2/lib/gmon/static-pie"; cp -f "$3" "$2/bin/gprof"; cp -f "$4" "$2/bin/gmon-run""#;
        let staged = place.join("staged");
        let mut copying = Command::new("sh");
        copying.args(["-c", copy, "sh"]).arg(distribution()).arg(staged).arg(gprof()).arg(gmon_run());
        assert!(copying.status().unwrap().success());
        fs::create_dir(place.join("work")).unwrap();
        for (name, text) in [
            ("prog.c", PROGRAM.to_owned()),
            ("prog.cc", PROGRAM.to_owned()),
            ("prog.f90", fs::read_to_string(root().join("tests/programs/sums.f90")).unwrap()),
        ] {
            fs::write(place.join("work").join(name), text).unwrap();
        }
        let compiled = Command::new("cc").args(["prog.c", "-o", "prog"]).current_dir(place.join("work")).status();
        assert!(compiled.unwrap().success());
        Home(place)
    }

    fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Runs commands in the working directory. `make` makes nothing that is staged already, and the goals `demo`,
    /// `test`, and `check` are left out. Without a directory, `make install` installs in the home directory.
    fn run(&self, commands: &str) -> Output {
        let script = r#"make() {
            case $1 in demo | test | check) ;; *) command make --no-print-directory -C "$SOURCES" -o dist DIST="$STAGED" "$@" ;; esac
        }
        "#;
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &format!("{script}{commands}")]).current_dir(self.work());
        for name in ["CC", "CXX", "FC", "GMON_CC", "GMON_CXX", "GMON_FC", "MAKEFLAGS", "MAKELEVEL", "DESTDIR", "BINDIR"]
        {
            shell.env_remove(name);
        }
        for name in ["LIBDIR", "INCLUDEDIR", "DATADIR", "MANDIR", "DOCDIR", "PKGCONFIGDIR"] {
            shell.env_remove(name);
        }
        // Cargo and rustup find their directories by HOME.
        let home = std::env::var_os("HOME").unwrap_or_default();
        for (name, path) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            shell.env(name, std::env::var_os(name).unwrap_or_else(|| Path::new(&home).join(path).into()));
        }
        shell.env("HOME", &self.0).env("PREFIX", self.0.join("gmon")).env("STAGED", self.0.join("staged"));
        shell.env("SOURCES", root()).env("CARGO_TARGET_DIR", distribution().parent().unwrap());
        shell.output().unwrap()
    }

    /// Runs commands, which must succeed, and returns what they print.
    pub(super) fn print(&self, commands: &str) -> String {
        let output = self.run(commands);
        assert!(output.status.success() && output.stderr.is_empty(), "{commands}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs all commands of the README, in one shell, and then these. The first block, with which the README begins,
    /// needs the installation and therefore runs last.
    fn print_after_all(&self, commands: &str) -> String {
        let all = blocks(&readme()).into_iter().filter_map(|block| match block {
            Block::Commands(commands) => Some(commands),
            _ => None,
        });
        let mut all: Vec<String> = all.collect();
        all.rotate_left(1);
        self.print(&(all.concat() + commands))
    }
}

/// The number of calls of a function in the first row of the flat profile that ends with a name.
fn calls(printed: &str, name: &str) -> u64 {
    let rows = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.into_iter().find(|row| row.len() > 4 && row.last() == Some(&name));
    row.unwrap_or_else(|| panic!("no row of {name}: {printed}"))[3].parse().unwrap()
}

#[test]
fn the_blocks_are_known() {
    let text = "a\n\n    one\n    two\nb\n```\nout\n```\n```rust\ncode\n```\n\n    three";
    let expected = [
        Block::Commands("one\ntwo\n".into()),
        Block::Output("out\n".into()),
        Block::Rust("code\n".into()),
        Block::Commands("three\n".into()),
    ];
    assert_eq!(blocks(text), expected);
    // The README begins with a picture and two commands.
    let text = readme();
    let (title, rest) = text.split_once("\n\n").unwrap();
    assert!(title.starts_with("# ") && rest.starts_with("!["), "{rest}");
    assert!(matches!(&blocks(&text)[0], Block::Commands(commands) if commands.lines().count() == 2));
    // The tests below take these apart.
    let kinds: Vec<_> = blocks(&readme()).iter().map(std::mem::discriminant).collect();
    let count = |block: Block| kinds.iter().filter(|kind| **kind == std::mem::discriminant(&block)).count();
    assert!(count(Block::Commands(String::new())) >= 2, "{kinds:?}");
    assert_eq!((count(Block::Output(String::new())), count(Block::Rust(String::new()))), (1, 1));
}

#[test]
#[should_panic(expected = "no test runs a block in the language python")]
fn a_language_needs_a_test() {
    blocks("```python\nprint()\n```\n");
}

#[test]
fn commands() {
    let home = Home::new("readme-commands");
    let printed = home.print_after_all("");
    assert!(printed.contains(" files; ") && printed.contains("/gmon/lib/gmon/installed lists them.\n"), "{printed}");
    assert_eq!(calls(&printed, "leaf"), 3000);
    for file in ["gmon/bin/gprof", "gmon/bin/gmon-cc", "gmon/lib/gmon/gcrt1.o", "work/gmon.out", "work/gmon.out.side"] {
        assert!(home.0.join(file).is_file(), "{file}");
    }
    // What the comment behind the command says.
    home.print("make uninstall PREFIX=$HOME/gmon");
    assert!(!home.0.join("gmon").exists());
}

/// "Without gmon-cc, use ..."
#[test]
fn without_the_wrapper() {
    let text = readme();
    let (_, sentence) = text.split_once("Without gmon-cc, use ").unwrap();
    let [command, option] = quoted(sentence.split(").").next().unwrap()).collect::<Vec<_>>()[..] else {
        panic!("{sentence}")
    };
    let home = Home::new("readme-without-wrapper");
    home.print("make install PREFIX=$HOME/gmon >installed");
    for options in [String::new(), format!("-static {option}")] {
        let commands = format!("rm -f gmon.out; {command} {options} -g prog.c; ./a.out; ~/gmon/bin/gprof -b -p");
        assert_eq!(calls(&home.print(&commands), "leaf"), 3000);
        assert!(fs::metadata(home.work().join("gmon.out.side")).is_ok(), "our runtime writes a side file");
    }
}

/// The function that a source calls most, with its number of calls.
fn expected(command: &str) -> (&'static str, u64) {
    match command.rsplit_once('.').unwrap().1 {
        "c" | "cc" => ("leaf", 3000),
        "f90" => ("inner_", 820),
        other => panic!("no test has a source for .{other}"),
    }
}

fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The tools that a command needs. Prints SKIPPED for one that is not there.
fn has_tools(row: &str, command: &str) -> bool {
    let words = command.split_whitespace();
    let fortran = command.starts_with("gmon-fortran").then(|| "gfortran".to_owned());
    let tools = words.filter_map(|word| match word.split_once('=') {
        Some(("GMON_CC", compiler)) => Some(compiler.to_owned()),
        Some(("-fuse-ld", linker)) => Some(format!("ld.{linker}")),
        _ => None,
    });
    for tool in tools.chain(fortran) {
        if !is_there(&tool) {
            println!("\nSKIPPED: README: to build {row}: no {tool} here");
            return false;
        }
    }
    true
}

/// The rows of the table of commands: what to build, and how.
fn table(text: &str) -> Vec<(String, String)> {
    let (_, rows) = text.split_once("| to build | command |\n|---|---|\n").unwrap();
    let rows = rows.lines().take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split_once(" | ").unwrap());
    cells.map(|(what, how)| (what.trim().to_owned(), how.trim().to_owned())).collect()
}

#[test]
fn compilers() {
    let rows = table(&readme());
    let known = ["C++, Fortran", "with clang, any linker, any link mode", "for musl", "for AArch64", "Rust"];
    assert_eq!(rows.iter().map(|(what, _)| what.as_str()).collect::<Vec<_>>(), known, "each row has a test");
    let home = Home::new("readme-compilers");
    home.print("make install PREFIX=$HOME/gmon >installed");
    for (what, how) in &rows {
        if let Some(document) = how.split_once("](").and_then(|(_, rest)| rest.strip_suffix(')')) {
            // compat/rust.rs runs the commands of this document.
            assert_eq!((what.as_str(), document), ("Rust", "docs/rust.md"));
            assert!(root().join(document).is_file());
        } else if what == "for AArch64" {
            aarch64(&home, what, how);
        } else {
            profiles(&home, what, how, "");
        }
    }
}

/// Runs each command of a row, and the programs. A quoted option is for the command before.
fn profiles(home: &Home, what: &str, how: &str, runner: &str) {
    let mut commands: Vec<String> = Vec::new();
    for quoted in quoted(how) {
        let option = quoted.starts_with('-').then(|| format!("{} {quoted}", commands.last().unwrap()));
        commands.push(option.unwrap_or_else(|| quoted.to_owned()));
    }
    assert!(!commands.is_empty(), "{what}: {how}");
    for command in commands.iter().filter(|command| has_tools(what, command)) {
        let source = command.split_whitespace().find(|word| word.starts_with("prog.")).unwrap();
        let (name, count) = expected(source);
        let printed = home.print(&format!(
            "PATH=$HOME/gmon/bin:$PATH; rm -f gmon.out* a.out; {command}; {runner} ./a.out >printed; gprof -b -p a.out gmon.out"
        ));
        assert_eq!(calls(&printed, name), count, "{command}: {printed}");
        assert!(home.work().join("gmon.out.side").exists(), "{command}: our runtime writes a side file");
    }
}

/// The first command of the row installs the objects for AArch64.
fn aarch64(home: &Home, what: &str, how: &str) {
    let (install, rest) = how.split_once(", ").unwrap();
    let emulator = "qemu-aarch64";
    if !is_there(emulator) || !is_there("aarch64-linux-gnu-gcc") {
        println!("\nSKIPPED: README: to build {what}: no {emulator} or no aarch64-linux-gnu-gcc here");
    } else if start_objects_for("aarch64").is_some() {
        // Cargo and make say what they do.
        let output = home.run(quoted(install).next().unwrap());
        assert!(output.status.success(), "{install}: {output:?}");
        assert!(home.0.join("gmon/lib/gmon/aarch64/gcrt1.o").is_file(), "{output:?}");
        profiles(home, what, rest, "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    }
}

/// The library of the crate gmon that cargo built for this test, with the directory of the libraries that it needs.
fn library() -> (PathBuf, PathBuf) {
    let target = distribution().parent().unwrap().to_owned();
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--workspace", "--bin", "gprof", "--message-format=json", "--target-dir"]);
    let output = build.arg(target).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let artifact = messages.into_iter().find(|message| message["target"]["name"] == "gmon").unwrap();
    let files = artifact["filenames"].as_array().unwrap().iter().map(|file| PathBuf::from(file.as_str().unwrap()));
    let rlib = files.into_iter().find(|file| file.extension().is_some_and(|extension| extension == "rlib")).unwrap();
    let deps = rlib.parent().unwrap();
    (rlib.clone(), if deps.ends_with("deps") { deps.to_owned() } else { deps.join("deps") })
}

#[test]
fn rust_code() {
    let home = Home::new("readme-rust");
    home.print_after_all("");
    let (library, dependencies) = library();
    for block in blocks(&readme()) {
        let Block::Rust(code) = block else { continue };
        let of_crate = fs::read_to_string(root().join("format/README.md")).unwrap();
        assert!(of_crate.contains(&code), "format/README.md has the same example");
        let source = home.work().join("example.rs");
        let main = format!("fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{code}Ok(())\n}}\n");
        fs::write(&source, main).unwrap();
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition=2024", "-Dwarnings", "--extern"]).arg(format!("gmon={}", library.display()));
        rustc.arg("-L").arg(format!("dependency={}", dependencies.display())).arg("example.rs");
        let compiled = rustc.current_dir(home.work()).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let printed = home.print("./example");
        assert_eq!(printed.lines().count(), read(&home.work().join("gmon.out")).arcs().len());
        let symbols = Symbols::of(&home.work().join("a.out"));
        let calls_of_leaf = printed.lines().filter_map(|line| {
            let (_, called) = line.split_once(" -> 0x")?;
            let (address, calls) = called.strip_suffix(" calls")?.split_once(": ")?;
            let function = symbols.function(u64::from_str_radix(address, 16).unwrap());
            (function == "leaf").then(|| calls.parse().unwrap())
        });
        assert_eq!(calls_of_leaf.collect::<BTreeSet<u64>>(), BTreeSet::from([1000, 2000]), "{printed}");
    }
}

/// The heading and the cells of a table: its columns, and the shapes of the cells in each column but the last, which
/// has names.
fn columns(table: &str) -> Vec<(String, BTreeSet<String>)> {
    let mut columns: Vec<(String, BTreeSet<String>)> = Vec::new();
    let mut is_heading = true;
    for line in table.lines().filter(|line| line.starts_with(['│', '╞'])) {
        if line.starts_with('╞') {
            is_heading = false;
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('│').split('┆').map(str::trim).collect();
        columns.resize(cells.len(), Default::default());
        for ((heading, shapes), cell) in columns.iter_mut().zip(&cells) {
            if is_heading {
                *heading = format!("{heading} {}", without_unit(cell)).trim().to_owned();
            } else {
                shapes.insert(shape(cell));
            }
        }
    }
    if let Some((_, names)) = columns.last_mut() {
        names.clear();
    }
    columns
}

/// The unit of the time of a call depends on the times.
fn without_unit(heading: &str) -> String {
    heading.split_once("s/call").map_or(heading, |_| "s/call").to_owned()
}

/// A text with a 9 for each number, and with `name` for each name of a function in a graph.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    for character in text.chars() {
        let digit = character.is_ascii_digit();
        if !digit || !shape.ends_with('9') {
            shape.push(if digit { '9' } else { character });
        }
    }
    shape.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The shape of a row of the call graph.
fn row_shape(row: &str) -> String {
    let named = row.split_whitespace().map(|word| {
        let is_name = word.starts_with(|first: char| first.is_alphabetic() || first == '_');
        if is_name { "name".to_owned() } else { shape(word) }
    });
    // Members of a cycle follow the name: `<cycle 9>`.
    named.collect::<Vec<_>>().join(" ").replace("<cycle name", "<cycle 9>")
}

/// The output in the README has the columns, headings, and rows of what the demonstration prints: the same commands,
/// for another program.
#[test]
fn output() {
    let home = Home::new("readme-output");
    home.print_after_all("");
    // The demonstration has samples in many functions, also in the runtime.
    let mut profile = read(&home.work().join("gmon.out"));
    let symbols = Symbols::of(&home.work().join("a.out"));
    let range = profile.histograms()[0].range();
    let size = (range.end - range.start) / profile.histograms()[0].len();
    replace_counts(&mut profile, |bin, _| match symbols.function(range.start + bin * size) {
        "main" | "leaf" | "even" | "odd" => 3,
        "mcount" => 1,
        _ => 0,
    });
    let encoding = Encoding::new(Form::Gnu, DataModel::Lp64, Order::Little);
    fs::write(home.work().join("all.out"), gmon::write(&profile, encoding).unwrap()).unwrap();
    let demonstration = fs::read_to_string(root().join("tests/demo/run.sh")).unwrap();
    let print = |options: &str| {
        assert!(demonstration.contains(&format!("gprof\" {options} ")), "make demo runs gprof {options}");
        home.print(&format!("~/gmon/bin/gprof {options} a.out all.out"))
    };
    let (flat, graph, statistics) = (print("-b -p --errors --table --top=12"), print("-b -q"), print("-p"));

    let shown = blocks(&readme()).into_iter().find_map(|block| match block {
        Block::Output(text) => Some(text),
        _ => None,
    });
    let shown = shown.unwrap();
    let parts: Vec<&str> = shown.split("\n\n").collect();
    let [table, entry, "Statistics:", numbers] = parts[..] else { panic!("{parts:?}") };
    let real = columns(&flat);
    let columns = columns(table);
    assert!(columns.len() > 5 && table.lines().count() > 5, "{table}");
    for (heading, shapes) in columns {
        let (_, known) =
            real.iter().find(|(known, _)| *known == heading).unwrap_or_else(|| panic!("{heading}: {flat}"));
        assert!(shapes.is_subset(known), "{heading}: {shapes:?} {flat}");
    }

    let (heading, rows) = entry.split_once('\n').unwrap();
    assert!(graph.lines().any(|line| line == heading), "{heading}: {graph}");
    let real: BTreeSet<String> = graph.lines().map(row_shape).collect();
    for row in rows.lines() {
        assert!(real.contains(&row_shape(row)), "{row}: {}: {graph}", row_shape(row));
    }

    let (_, real) = statistics.split_once("\nStatistics:\n\n").unwrap();
    let real: BTreeSet<String> = real.lines().map(shape).collect();
    assert!(numbers.lines().count() >= 4);
    for line in numbers.lines() {
        assert!(real.contains(&shape(line)), "{line}: {statistics}");
    }
}
