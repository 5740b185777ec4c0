//! Takes objects and programs of other systems and machines apart with LLVM's tools, and finds the symbols of their C
//! libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Runs a tool.
///
/// # Panics
///
/// If the tool cannot be started.
#[must_use]
pub fn output(tool: &str, arguments: &[&str]) -> Output {
    Command::new(tool).args(arguments).output().unwrap_or_else(|error| panic!("{tool}: {error}"))
}

/// Runs a tool and returns its standard output.
///
/// # Panics
///
/// If the tool fails.
pub fn tool(tool: &str, arguments: &[&str]) -> String {
    let output = output(tool, arguments);
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns whether the machine has the tools. Prints SKIPPED with a description of the tests if not.
#[must_use]
pub fn has_tools(tests: &str) -> bool {
    let is_here = |tool: &&str| Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    let missing =
        ["clang", "ld.lld", "llvm-objdump", "llvm-readelf", "llvm-nm"].into_iter().find(|tool| !is_here(tool));
    if let Some(tool) = missing {
        eprintln!("SKIPPED: {tests}: cannot find {tool}");
    }
    missing.is_none()
}

/// A function's address, instructions, and the names of symbols in its instructions, from the disassembly.
#[derive(Debug, Default)]
pub struct Function {
    /// The lines of the disassembly, one for each instruction.
    pub lines: Vec<String>,
    /// The symbols that instructions name: functions that are called, and data on machines whose instructions have
    /// addresses of data.
    pub names: BTreeSet<String>,
    /// The address of the first instruction.
    pub address: u64,
}

/// Returns the functions of a program by name.
///
/// # Panics
///
/// If `llvm-objdump` fails.
#[must_use]
pub fn functions(program: &Path) -> BTreeMap<String, Function> {
    let mut functions = BTreeMap::<String, Function>::new();
    let mut current = String::new();
    for line in tool("llvm-objdump", &["-d", "--no-show-raw-insn", &program.display().to_string()]).lines() {
        if let Some((address, name)) = line.strip_suffix(">:").and_then(|head| head.split_once(" <")) {
            current = name.to_owned();
            functions.entry(current.clone()).or_default().address =
                u64::from_str_radix(address, 16).expect("an address");
        } else if let Some(function) = functions.get_mut(&current).filter(|_| line.contains('\t')) {
            // The disassembler prints arm64's page addresses (adrp) as locations in unrelated functions.
            if let Some((_, target)) = line.rsplit_once('<').filter(|_| !line.contains("\tadrp\t")) {
                let target = target.trim_end_matches('>');
                function.names.extend(target.split('+').next().map(str::to_owned));
            }
            function.lines.push(line.to_owned());
        }
    }
    functions
}

/// Returns all functions that are reachable from a function.
#[must_use]
pub fn reached_from(functions: &BTreeMap<String, Function>, root: &str) -> BTreeSet<String> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![root.to_owned()]);
    while let Some(name) = left.pop() {
        if reached.insert(name.clone()) {
            left.extend(functions[&name].names.iter().filter(|next| functions.contains_key(*next)).cloned());
        }
    }
    reached
}

/// Returns whether an instruction uses a vector register.
#[must_use]
pub fn is_vector(line: &str) -> bool {
    let words = line.split(|byte: char| !byte.is_ascii_alphanumeric());
    words.into_iter().any(|word| {
        let number = |prefix: &str| word.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u8>().is_ok());
        ["xmm", "ymm", "zmm", "q", "v", "d"].into_iter().any(number)
    })
}

/// Returns whether an instruction calls or jumps to an address in a register or in memory.
#[must_use]
pub fn is_indirect(line: &str) -> bool {
    ["\tblr\t", "\tbr\t", "\tcall\t*", "\tcallq\t*", "\tjmp\t*", "\tjmpq\t*"].iter().any(|way| line.contains(way))
}

/// Returns the bytes of a section of a program; no bytes if the program lacks the section.
///
/// # Panics
///
/// If `llvm-readelf` fails.
#[must_use]
pub fn section(program: &Path, name: &str) -> Vec<u8> {
    let headers = tool("llvm-readelf", &["-S", "-W", &program.display().to_string()]);
    let Some(line) = headers.lines().find(|line| line.contains(&format!(" {name} "))) else {
        return Vec::new();
    };
    let words: Vec<_> = line.split_once(name).expect("the section's name").1.split_whitespace().collect();
    if words[0] == "NOBITS" {
        return Vec::new();
    }
    let [offset, size] = [words[2], words[3]].map(|word| usize::from_str_radix(word, 16).expect("a number"));
    fs::read(program).expect("the program")[offset..offset + size].to_vec()
}

/// Returns the path of a shared library that has the symbols of a system's C library and no code. zig creates this
/// library when zig links a program. `target` is zig's name of the system, such as `x86_64-freebsd`, and `name` is the
/// library's file name. Prints SKIPPED if there is no zig.
///
/// # Panics
///
/// If zig fails.
#[must_use]
pub fn symbols_of_libc(target: &str, name: &str) -> Option<PathBuf> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    let directory = crate::distribution().with_file_name("");
    // Beside zig, because all checkouts share zig.
    let cache = directory.join("zig").join(format!("cache-{target}"));
    let find = || {
        let parts = fs::read_dir(cache.join("o")).ok()?;
        parts.map(|part| part.expect("zig's cache").path().join(name)).find(|library| library.exists())
    };
    if let Some(found) = find() {
        return Some(found);
    }
    let python = directory.join("zig/bin/python");
    if !python.exists() {
        eprintln!("SKIPPED: the symbols of libc for {target}: cannot find ziglang in {}", directory.display());
        return None;
    }
    let place = crate::directory(&format!("libc_{target}"));
    fs::write(place.join("empty.c"), "int main(void) { return 0; }\n").expect("a file in the test's directory");
    let mut zig = Command::new(python);
    zig.args(["-m", "ziglang", "cc", "-target", target, "empty.c", "-o", "empty"]).current_dir(&place);
    let made = zig.env("ZIG_GLOBAL_CACHE_DIR", &cache).env("ZIG_LOCAL_CACHE_DIR", &cache).output().expect("zig");
    assert!(made.status.success(), "zig: {}", String::from_utf8_lossy(&made.stderr));
    Some(find().unwrap_or_else(|| panic!("zig has not made {name}")))
}
