//! OpenBSD's start-up object: its symbols, its notes, the table of system calls, and OpenBSD's requirements of machine code.
//!
//! `make runtime-openbsd-amd64` builds the object. Without the object, the tests print SKIPPED.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::bsd::{Bsd, Start, System};

fn tool(tool: &str, arguments: &[&str], file: &Path) -> String {
    let output =
        Command::new(tool).args(arguments).arg(file).output().unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the object and a program that is linked with the object; `None` if the object or a tool is missing.
fn built(name: &str) -> Option<(PathBuf, PathBuf)> {
    let object = gmon_tests::distribution().join("lib/gmon/openbsd-amd64/gcrt0.o");
    let has_tool = |tool: &&str| Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success());
    let missing = ["llvm-objdump", "llvm-readelf", "llvm-nm"].into_iter().find(|tool| !has_tool(tool));
    if !object.exists() || missing.is_some() {
        eprintln!("SKIPPED: OpenBSD's start-up object is not built (make runtime-openbsd-amd64), or no LLVM tools");
        return None;
    }
    let system = Bsd::new(System::OpenBsd, &format!("openbsd_objects_{name}"))?;
    let program = system.build("profiled", &["profiled.c"], &["-O1", "-pg"], Start::Object(&object));
    Some((object, program))
}

/// A function of the program: its address and its instructions.
#[derive(Default)]
struct Function {
    address: u64,
    lines: Vec<String>,
}

/// Returns the functions of the program that the object defines.
fn functions(object: &Path, program: &Path) -> BTreeMap<String, Function> {
    let own: BTreeSet<String> = tool("llvm-nm", &["--defined-only"], object)
        .lines()
        .filter_map(|line| line.split(' ').nth(2).map(str::to_owned))
        .collect();
    let mut functions = BTreeMap::<String, Function>::new();
    let mut current = None;
    for line in tool("llvm-objdump", &["-d", "--no-show-raw-insn"], program).lines() {
        if let Some((address, name)) = line.strip_suffix(">:").and_then(|head| head.split_once(" <")) {
            current = own.contains(name).then(|| name.to_owned());
            if let Some(name) = &current {
                functions.entry(name.clone()).or_default().address = u64::from_str_radix(address, 16).unwrap();
            }
        } else if let Some(name) = current.as_ref().filter(|_| line.contains('\t')) {
            functions.get_mut(name).unwrap().lines.push(line.to_owned());
        }
    }
    functions
}

/// Parses the operand `<name>` or `<name+0x10>` at the end of a line. Returns the name, and whether the operand has no offset.
fn target(line: &str) -> Option<(&str, bool)> {
    let name = line.rsplit_once('<')?.1.strip_suffix('>')?;
    Some(name.split_once('+').map_or((name, true), |(name, _)| (name, false)))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[test]
fn only_the_public_names_are_global_and_little_is_needed() {
    let Some((object, _)) = built("names") else {
        return;
    };
    let (mut defined, mut needed) = (BTreeSet::new(), BTreeSet::new());
    let listing = tool("llvm-nm", &[], &object);
    for line in listing.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["U" | "w", name] => needed.insert(name),
            [_, kind, name] if kind.chars().all(char::is_uppercase) => defined.insert(name),
            _ => false,
        };
    }
    let public = include_str!("../../runtime/exports-openbsd.txt").lines().collect();
    assert_eq!(defined, public);
    let start = ["__init", "__csu_do_fini_array", "_csu_finish", "_thread_atfork", "atexit", "exit", "main"];
    let arrays =
        ["__preinit_array_start", "__preinit_array_end", "__init_array_start", "__init_array_end", "__ehdr_start"];
    let rest = ["__executable_start", "etext", "memcmp", "memcpy", "memset", "strlen"];
    let allowed: BTreeSet<_> = start.into_iter().chain(arrays).chain(rest).collect();
    assert!(needed.is_subset(&allowed), "{:?}", needed.difference(&allowed));
    assert!(!listing.contains("panic"), "no code panics");
}

/// Returns a shared library with the names that OpenBSD's libc exports, and no code. zig creates this library when zig links a program.
fn libc() -> Option<PathBuf> {
    let target = gmon_tests::distribution().parent().unwrap().to_owned();
    let cache = target.join("bsd/zig-openbsd");
    let find = || {
        let parts = std::fs::read_dir(cache.join("o")).ok()?;
        parts.map(|part| part.unwrap().path().join("libc.so")).find(|library| library.exists())
    };
    if let Some(found) = find() {
        return Some(found);
    }
    let python = target.join("zig/bin/python");
    if !python.exists() {
        eprintln!("SKIPPED: the names of OpenBSD's libc: there is no ziglang in {}", target.display());
        return None;
    }
    let place = gmon_tests::directory("openbsd_objects_libc");
    std::fs::write(place.join("empty.c"), "int main(void) { return 0; }\n").unwrap();
    let made = Command::new(python)
        .args(["-m", "ziglang", "cc", "-target", "x86_64-openbsd", "empty.c", "-o", "empty"])
        .current_dir(&place)
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .output()
        .unwrap();
    assert!(made.status.success(), "zig: {}", String::from_utf8_lossy(&made.stderr));
    Some(find().expect("zig has made a libc.so"))
}

#[test]
fn the_systems_libc_has_what_the_object_needs() {
    let Some(((object, _), libc)) = built("libc").zip(libc()) else {
        return;
    };
    let exported = tool("llvm-nm", &["-D", "--defined-only"], &libc);
    let exported: BTreeSet<_> = exported.lines().filter_map(|line| line.split_whitespace().last()).collect();
    // crtbegin.o, the linker, and the program define the others. zig's own library defines the last two.
    let others = ["__init", "__csu_do_fini_array", "main", "etext", "memcpy", "memset"];
    let needed = tool("llvm-nm", &["-u"], &object);
    let needed = needed.split_whitespace().filter(|word| *word != "U" && !others.contains(word));
    let missing: Vec<_> = needed
        .filter(|name| !name.ends_with("_start") && !name.ends_with("_end") && !exported.contains(name))
        .collect();
    assert_eq!(missing, [""; 0]);
    // libc's profiling functions, which the object replaces.
    for name in ["__mcount", "_gmon_alloc", "_mcleanup", "_monstartup", "moncontrol"] {
        assert!(exported.contains(name), "{name}");
    }
}

#[test]
fn the_program_has_both_notes_and_only_relative_text() {
    let Some((object, program)) = built("notes") else {
        return;
    };
    let notes = tool("llvm-readelf", &["-n", "-W"], &program);
    assert_eq!(notes.matches("OpenBSD").count(), 2, "{notes}");
    let headers = tool("llvm-readelf", &["-l", "-S", "-W"], &program);
    let note = headers.lines().find(|line| line.trim_start().starts_with("NOTE ")).unwrap();
    let size = u64::from_str_radix(note.split_whitespace().nth(4).unwrap().trim_start_matches("0x"), 16).unwrap();
    assert!(size <= 1024, "the kernel skips longer notes: {note}");
    assert!(headers.contains(".openbsd.syscalls"), "{headers}");
    assert!(!headers.contains(" WAX ") && !headers.contains("RWE"), "{headers}");
    let mut section = "";
    let listing = tool("llvm-readelf", &["-r", "-S", "-W"], &object);
    let (sections, relocations) = listing.split_once("\nRelocation section").unwrap();
    let text = sections.lines().find(|line| line.contains(" .text ")).unwrap();
    assert!(text.contains(" AX "), "{text}");
    let mut seen = 0;
    for line in relocations.lines() {
        if line.contains("' at offset ") {
            section = line.split('\'').nth(1).unwrap();
        } else if section.starts_with(".rela.text")
            && let Some(kind) = line.split_whitespace().nth(2).filter(|kind| kind.starts_with("R_"))
        {
            seen += 1;
            assert!(kind.contains("PC") || kind.ends_with("PLT32") || kind.ends_with("TPOFF32"), "{line}");
        }
    }
    assert!(seen > 0, "the text has relocations: {relocations}");
}

#[test]
fn the_table_lists_the_only_system_call_instruction() {
    let Some((object, program)) = built("calls") else {
        return;
    };
    let functions = functions(&object, &program);
    let is_call = |line: &&String| line.split('\t').nth(1).is_some_and(|code| code.trim() == "syscall");
    let calls: Vec<u64> = functions
        .values()
        .flat_map(|function| function.lines.iter().filter(is_call))
        .map(|line| u64::from_str_radix(line.split(':').next().unwrap().trim(), 16).unwrap())
        .collect();
    let [instruction] = calls[..] else { panic!("{calls:x?}") };
    let bytes = section(&program, ".openbsd.syscalls");
    let own: Vec<u64> = bytes
        .chunks(8)
        .map(|entry| (number(&entry[..4]), number(&entry[4..])))
        .filter(|(address, _)| *address == instruction)
        .map(|(_, number)| number)
        .collect();
    let numbers: BTreeSet<_> = own.iter().collect();
    assert!(numbers.len() == own.len() && own.iter().all(|number| (1..331).contains(number)), "{own:?}");
    assert!([1, 4, 48, 49, 175].iter().all(|number| numbers.contains(number)), "{own:?}");
}

/// Returns the bytes of a section; no bytes if the program lacks the section.
fn section(program: &Path, name: &str) -> Vec<u8> {
    let headers = tool("llvm-readelf", &["-S", "-W"], program);
    let Some(line) = headers.lines().find(|line| line.contains(&format!(" {name} "))) else {
        return Vec::new();
    };
    let words: Vec<_> = line.split_once(name).unwrap().1.split_whitespace().collect();
    if words[0] == "NOBITS" {
        return Vec::new();
    }
    let [offset, size] = [words[2], words[3]].map(|word| usize::from_str_radix(word, 16).unwrap());
    std::fs::read(program).unwrap()[offset..offset + size].to_vec()
}

#[test]
fn what_is_called_by_an_address_begins_with_endbr64() {
    let Some((object, program)) = built("endbr64") else {
        return;
    };
    let functions = functions(&object, &program);
    let names: BTreeMap<u64, &str> = functions.iter().map(|(name, function)| (function.address, &**name)).collect();
    let mut by_address: BTreeSet<&str> = BTreeSet::from(["__start", "__mcount", "_mcleanup", "moncontrol"]);
    for line in functions.values().flat_map(|function| &function.lines).filter(|line| line.contains("\tlea")) {
        by_address.extend(
            target(line).filter(|(name, is_start)| *is_start && functions.contains_key(*name)).map(|(name, _)| name),
        );
    }
    for name in [".data", ".data.rel.ro", ".rodata", ".init_array", ".preinit_array"] {
        by_address.extend(section(&program, name).chunks_exact(8).filter_map(|word| names.get(&number(word)).copied()));
    }
    assert!(by_address.len() > 6, "the runtime has functions that are called by their addresses: {by_address:?}");
    for name in by_address {
        // A function can have two names. The disassembly lists only one of the two names.
        let Some(function) = functions.get(name) else { continue };
        assert!(function.lines[0].contains("endbr64"), "{name}: {}", function.lines[0]);
    }
    let mcount = &functions["__mcount"].lines;
    assert!(
        mcount[1].contains("jmp") && target(&mcount[1]).is_some_and(|(name, _)| name.ends_with("mcount")),
        "{mcount:?}"
    );
}

#[test]
fn code_reads_no_text_and_below_mcount_no_vector_register_is_used() {
    let Some((object, program)) = built("text") else {
        return;
    };
    let functions = functions(&object, &program);
    for (name, function) in &functions {
        for line in function.lines.iter().filter(|line| line.contains("(%rip)")) {
            let is_address = ["\tlea", "\tcall", "\tjmp"].iter().any(|code| line.contains(code));
            let reads_text = target(line).is_some_and(|(name, _)| functions.contains_key(name));
            assert!(is_address || !reads_text, "{name} reads text, which may be execute-only: {line}");
        }
    }
    let root = ["_mcount", "mcount"].into_iter().find(|name| functions.contains_key(*name)).unwrap();
    let (mut reached, mut left) = (BTreeSet::new(), vec![root.to_owned()]);
    while let Some(name) = left.pop() {
        assert!(functions.contains_key(&name), "{name} is reachable from mcount, and the object does not define it");
        if reached.insert(name.clone()) {
            let calls = functions[&name].lines.iter().filter(|line| line.contains("\tcall") || line.contains("\tj"));
            left.extend(calls.filter_map(|line| target(line)).map(|(name, _)| name.to_owned()));
        }
    }
    assert!(reached.iter().any(|name| name.contains("threads4miss")), "{reached:?}");
    for name in &reached {
        for line in &functions[name].lines {
            assert!(!line.contains("%xmm") && !line.contains("%ymm"), "{name}: {line}");
            assert!(
                !line.contains("\tcallq\t*") && !line.contains("\tjmpq\t*"),
                "{name}: an indirect branch, whose target is unknown: {line}"
            );
        }
    }
    let at = |line: &str| u64::from_str_radix(line.split(':').next().unwrap().trim(), 16).unwrap();
    let returns = functions[root].lines.iter().find(|line| line.contains("ret")).unwrap();
    assert!(
        functions[root].address.is_multiple_of(64) && at(returns) - functions[root].address < 64,
        "one line of the cache"
    );
}
