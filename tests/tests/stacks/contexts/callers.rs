//! The programs of `tests/programs/contexts`: a callee is a thousand times dearer for one caller than for the other.

use std::collections::BTreeMap;
use std::fs;

use crate::support::{Program, directory, library, quiet, root, tool};

/// A program, and how to build it.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) compiler: &'static str,
    pub(crate) flags: &'static [&'static str],
}

pub(crate) const fn c(name: &'static str, source: &'static str, flags: &'static [&'static str]) -> Kind {
    Kind { name, source, compiler: "cc", flags }
}

pub(crate) const KINDS: [Kind; 20] = [
    c("direct", "direct.c", &["-O2"]),
    c("unoptimized", "direct.c", &["-O0"]),
    c("static", "direct.c", &["-O2", "-static", "-Wl,--eh-frame-hdr"]),
    c("no-pie", "direct.c", &["-O2", "-no-pie"]),
    c("fentry", "direct.c", &["-O2", "-mfentry"]),
    Kind { name: "clang", source: "direct.c", compiler: "clang", flags: &["-O2"] },
    // gcc does not omit frame pointers with -pg.
    Kind {
        name: "omitted",
        source: "direct.c",
        compiler: "clang",
        flags: &["-O2", "-mfentry", "-fomit-frame-pointer", "-fasynchronous-unwind-tables"],
    },
    c("recursive", "recursive.c", &["-O1"]),
    c("cycle", "cycle.c", &["-O1"]),
    c("pointer", "pointer.c", &["-O2"]),
    c("sorts", "sorts.c", &["-O2"]),
    Kind {
        name: "sorts-omitted",
        source: "sorts.c",
        compiler: "clang",
        flags: &["-O2", "-mfentry", "-fomit-frame-pointer", "-fasynchronous-unwind-tables"],
    },
    c("linked", "relay.c", &["-O2"]),
    c("opened", "relay.c", &["-O2", "-DOPENED"]),
    c("threads", "threads.c", &["-O2"]),
    c("handler", "handler.c", &["-O2"]),
    c(
        "handler-without-tables",
        "handler.c",
        &["-O2", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
    ),
    c("coroutine", "coroutine.c", &["-O2"]),
    c("forks", "forks.c", &["-O2"]),
    // The compiler moves handlers of exceptions to functions of their own at -O2.
    Kind { name: "throws", source: "throws.cc", compiler: "c++", flags: &["-O1"] },
];

/// Without frames where functions end in tail calls.
pub(crate) const TAIL: Kind = c("tail", "tail.c", &["-O2"]);

/// The program with this name.
pub(crate) fn kind(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).unwrap()
}

/// The costs of functions that a program printed, by name.
pub(crate) type Truth = BTreeMap<String, u64>;

impl Kind {
    /// Builds the program for a test; `None` with a message if a compiler or its option is missing.
    pub(crate) fn build(&self, test: &str) -> Option<Program> {
        let name = format!("contexts-{test}-{}", self.name);
        let library = format!("-B{}", library().display());
        let mut flags = vec!["-pg".to_owned(), library];
        flags.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        let object = directory(&format!("{name}-object")).join("relay.so");
        let is_relayed = self.source == "relay.c";
        if is_relayed {
            let source = root().join("tests/programs/contexts/relay.c");
            let words = ["-O2", "-pg", "-fPIC", "-shared", "-DOBJECT", "-o"];
            tool("cc", &[&words[..], &[object.to_str().unwrap(), source.to_str().unwrap()]].concat());
            if self.name == "linked" {
                flags.push(object.display().to_string());
            }
        }
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let source = format!("contexts/{}", self.source);
        match Program::build(&[self.compiler], &name, &source, &flags) {
            Ok(program) => {
                if is_relayed {
                    fs::copy(&object, program.directory.join("relay.so")).unwrap();
                }
                Some(program)
            }
            Err(error) => {
                assert!(self.compiler == "clang" || cfg!(not(target_arch = "x86_64")), "{}: {error}", self.name);
                println!("\nSKIPPED: {}: {error}", self.name);
                None
            }
        }
    }
}

/// Runs the program; returns the costs of its processes, by the number in the output: 0 for the program itself.
pub(crate) fn run(program: &Program, words: &[&str], variables: &[(&str, &str)]) -> BTreeMap<u32, Truth> {
    let output = quiet(&program.command(words).envs(variables.iter().copied()).output().unwrap());
    let mut processes: BTreeMap<u32, Truth> = BTreeMap::new();
    let mut process = 0;
    for line in output.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["process", number] => process = number.parse().unwrap(),
            ["truth", name, cost] => {
                processes.entry(process).or_default().insert(name.to_owned(), cost.parse().unwrap());
            }
            _ => panic!("{line}"),
        }
    }
    processes
}

/// The file name of a process's profile.
pub(crate) fn profile_name(process: u32) -> String {
    if process == 0 { "gmon.out".to_owned() } else { format!("gmon.program.{process}.out") }
}
