//! Builds and runs test programs that are sampled, for a machine and a C library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::unwind::callers::{Chain, known};
use crate::unwind::compiled::programs;

/// A machine and a C library.
pub(crate) struct Kit {
    pub(crate) compiler: &'static str,
    /// The target of the library.
    pub(crate) target: &'static str,
    /// The command that runs programs.
    pub(crate) runner: &'static [&'static str],
    pub(crate) nm: &'static str,
}

pub(crate) const GLIBC: Kit = Kit { compiler: "gcc", target: "x86_64-unknown-linux-gnu", runner: &[], nm: "nm" };
pub(crate) const MUSL: Kit = Kit { compiler: "musl-gcc", ..GLIBC };
pub(crate) const AARCH64: Kit = Kit {
    compiler: "aarch64-linux-gnu-gcc",
    target: "aarch64-unknown-linux-gnu",
    runner: &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    nm: "aarch64-linux-gnu-nm",
};

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Whether the compiler has the standard library of a target.
fn has_target(target: &str) -> bool {
    let output = rustc().args(["--print", "target-libdir", "--target", target]).output().unwrap();
    Path::new(String::from_utf8(output.stdout).unwrap().trim()).exists()
}

/// Compiles one crate.
fn compile(name: &str, source: &Path, target: &str, folder: &Path, options: &[&str]) {
    let output = rustc()
        .args(["--edition", "2024", "--crate-name", name, "--target", target, "--cap-lints", "allow"])
        .args(["-C", "opt-level=s", "-C", "panic=abort", "-C", "codegen-units=1", "--out-dir"])
        .args([folder.as_os_str(), "-L".as_ref(), folder.as_os_str()])
        .args(options)
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The runtime's walk as a static library for C.
fn library(target: &'static str) -> PathBuf {
    static BUILT: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
    let build = || {
        let folder = gmon_tests::directory(&format!("unwind_probe_{target}"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let library = ["--crate-type", "rlib"];
        compile("gmon", &root.join("format/src/lib.rs"), target, &folder, &library);
        compile("gmon_unwind", &root.join("runtime/unwind/src/lib.rs"), target, &folder, &library);
        compile(
            "gmon_runtime",
            &root.join("runtime/src/lib.rs"),
            target,
            &folder,
            &[&library[..], &["--extern", "gmon", "--extern", "gmon_unwind"]].concat(),
        );
        let options = ["--crate-type", "staticlib", "-C", "lto", "--extern", "gmon_runtime"];
        compile("probe", &programs().join("probe.rs"), target, &folder, &options);
        folder.join("libprobe.a")
    };
    let [native, foreign] = &BUILT;
    (if target == GLIBC.target { native } else { foreign }).get_or_init(build).clone()
}

/// The functions of a file by their addresses, and the value of a symbol.
struct Names {
    functions: BTreeMap<usize, String>,
    start: usize,
    end: usize,
}

impl Names {
    fn of(nm: &str, file: &Path) -> Names {
        let output = Command::new(nm).args(["-C", "--defined-only"]).arg(file).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut names = Names { functions: BTreeMap::new(), start: 0, end: usize::MAX };
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let Ok(address) = usize::from_str_radix(address, 16) else { continue };
            match name {
                "__executable_start" => names.start = address,
                "_end" => names.end = address,
                _ => {}
            }
            if "tTwW".contains(kind) {
                // Without arguments, and without the suffix of a copy.
                let name = name.split(['(', '.']).next().unwrap();
                names.functions.insert(address, name.to_owned());
            }
        }
        names
    }

    /// The function at an address, if it is one of `CALLERS`.
    fn at(&self, address: usize) -> Option<&'static str> {
        let (_, name) = self.functions.range(..=address).next_back().filter(|_| address < self.end)?;
        known(name)
    }
}

impl Kit {
    /// Compiles one of the programs; `None` if there is no such compiler.
    pub(crate) fn build(&self, name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
        let tools = [self.compiler, self.nm].into_iter().chain(self.runner.first().copied());
        let is_there = |tool: &&str| Command::new(tool).arg("--version").output().is_ok();
        if !tools.into_iter().all(|tool| is_there(&tool)) || !has_target(self.target) {
            println!("SKIPPED: {name}: no {} here, or no emulator, or no Rust for {}", self.compiler, self.target);
            return None;
        }
        let folder = gmon_tests::directory(&format!("unwind_sampled_{name}"));
        let (object, program) = (folder.join("program.o"), folder.join("program"));
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        };
        let compiler = || Command::new(self.compiler);
        let flags = ["-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-command-line-argument", "-c", "-o"];
        run(compiler().args(flags).arg(&object).args(options).arg(programs().join(source)));
        // Programs that call `mcount` have none of the runtime, and their own `__fentry__`.
        let options = options.iter().filter(|option| !["-pg", "-mfentry", "-x", "c++"].contains(option));
        let library = (source != "plugin.c").then(|| library(self.target));
        run(compiler().arg("-o").args([&program, &object]).args(library).args(options));
        Some(program)
    }

    /// Runs a scenario, and returns the chains of the samples.
    pub(crate) fn run(&self, program: &Path, scenario: &str, plugins: &[PathBuf]) -> Vec<Chain> {
        let mut words = self.runner.iter().map(Path::new).chain([program, Path::new(scenario)]);
        let mut command = Command::new(words.next().unwrap());
        let output = command.args(words).args(plugins).output().unwrap();
        assert!(output.status.success(), "{}: {scenario}: {output:?}", program.display());
        let text = String::from_utf8(output.stdout).unwrap();
        let number = |word: &str| usize::from_str_radix(word, 16).unwrap();
        let mut lines = text.lines();
        let start = number(lines.next().unwrap().strip_prefix("start ").unwrap());
        let own = Names::of(self.nm, program);
        let plugins: Vec<_> = plugins.iter().map(|plugin| Names::of(self.nm, plugin)).collect();
        let chains = lines.map(|line| {
            let words: Vec<_> = line.split(' ').map(number).collect();
            let [ending, object, base, frames @ ..] = words.as_slice() else { panic!("{line}") };
            let name = |address: &usize| {
                let in_plugin = plugins.get(object.wrapping_sub(1)).filter(|_| address >= base);
                let found = in_plugin.and_then(|plugin| plugin.at(address - base));
                found.or_else(|| own.at(address.checked_sub(start)? + own.start))
            };
            let known: Vec<_> = frames.iter().map(name).collect();
            Chain {
                is_innermost_known: known.first().is_some_and(Option::is_some),
                names: known.into_iter().flatten().collect(),
                is_whole: *ending == 0,
            }
        });
        let chains: Vec<_> = chains.collect();
        assert!(chains.len() >= 150, "{}", chains.len());
        chains
    }
}
