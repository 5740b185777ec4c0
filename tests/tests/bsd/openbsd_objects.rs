//! OpenBSD's start-up objects: their symbols, their notes, the table of system calls, and OpenBSD's requirements of
//! machine code.
//!
//! `make runtime-openbsd-amd64 runtime-openbsd-aarch64` builds the objects. Without an object, the tests print SKIPPED.

use std::collections::{BTreeMap, BTreeSet};

use gmon_tests::objects::{Function, functions, is_indirect, is_vector, reached_from, section, symbols_of_libc, tool};
use gmon_tests::openbsd_machines::{Built, built};

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the functions of the program that the object defines.
fn own_functions(built: &Built) -> BTreeMap<String, Function> {
    let own: BTreeSet<String> = tool("llvm-nm", &["--defined-only", &built.object])
        .lines()
        .filter_map(|line| line.split(' ').nth(2).map(str::to_owned))
        .collect();
    functions(&built.program).into_iter().filter(|(name, _)| own.contains(name)).collect()
}

fn address(line: &str) -> u64 {
    u64::from_str_radix(line.split(':').next().unwrap().trim(), 16).unwrap()
}

#[test]
fn only_the_public_names_are_global_and_little_is_needed() {
    for built in built("names") {
        let (mut defined, mut needed) = (BTreeSet::new(), BTreeSet::new());
        let listing = tool("llvm-nm", &[&built.object]);
        for line in listing.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["U" | "w", name] => needed.insert(name),
                [_, kind, name] if kind.chars().all(char::is_uppercase) => defined.insert(name),
                _ => false,
            };
        }
        // Compilers for arm64 have no -mfentry.
        let is_there = |name: &&str| *name != "__fentry__" || built.machine.name == "amd64";
        let public = include_str!("../../../runtime/exports-openbsd.txt").lines().filter(is_there).collect();
        assert_eq!(defined, public, "{}", built.machine.name);
        let start = ["__init", "__csu_do_fini_array", "_csu_finish", "_thread_atfork", "atexit", "exit", "main"];
        let state = ["__errno", "__progname"];
        let arrays =
            ["__preinit_array_start", "__preinit_array_end", "__init_array_start", "__init_array_end", "__ehdr_start"];
        let rest = ["__executable_start", "_fini", "dlsym", "etext", "memcmp", "memcpy", "memset", "strlen"];
        let allowed: BTreeSet<_> = start.into_iter().chain(state).chain(arrays).chain(rest).collect();
        assert!(needed.is_subset(&allowed), "{}: {:?}", built.machine.name, needed.difference(&allowed));
        assert!(!listing.contains("panic"), "{}: no code panics", built.machine.name);
    }
}

#[test]
fn the_systems_libc_has_what_the_object_needs() {
    for built in built("libc") {
        let Some(libc) = symbols_of_libc(built.machine.zig, "libc.so") else { return };
        let exported = tool("llvm-nm", &["-D", "--defined-only", &libc.display().to_string()]);
        let exported: BTreeSet<_> = exported.lines().filter_map(|line| line.split_whitespace().last()).collect();
        // crtbegin.o, the linker, and the program define the others. zig's own library defines the last two.
        let others = ["__init", "__csu_do_fini_array", "_fini", "main", "etext", "memcpy", "memset"];
        let needed = tool("llvm-nm", &["-u", &built.object]);
        let needed = needed.split_whitespace().filter(|word| !["U", "w"].contains(word) && !others.contains(word));
        let missing: Vec<_> = needed
            .filter(|name| !name.ends_with("_start") && !name.ends_with("_end") && !exported.contains(name))
            .collect();
        assert_eq!(missing, [""; 0], "{}", built.machine.name);
        // libc's profiling functions, which the object replaces.
        for name in ["__mcount", "_gmon_alloc", "_mcleanup", "_monstartup", "moncontrol"] {
            assert!(exported.contains(name), "{}: {name}", built.machine.name);
        }
    }
}

#[test]
fn the_program_has_both_notes_and_no_writable_code() {
    for Built { machine, program, .. } in built("notes") {
        let program = program.display().to_string();
        let notes = tool("llvm-readelf", &["-n", "-W", &program]);
        assert_eq!(notes.matches("  OpenBSD  ").count(), 2, "{}: {notes}", machine.name);
        let headers = tool("llvm-readelf", &["-l", "-S", "-W", &program]);
        for note in headers.lines().filter(|line| line.trim_start().starts_with("NOTE ")) {
            let size = note.split_whitespace().nth(4).unwrap().trim_start_matches("0x");
            assert!(u64::from_str_radix(size, 16).unwrap() <= 1024, "the kernel skips longer notes: {note}");
        }
        assert!(headers.contains("5a3dbe9"), "the segment PT_OPENBSD_SYSCALLS: {headers}");
        assert!(!headers.contains(" WAX ") && !headers.contains("RWE"), "{headers}");
    }
}

#[test]
fn the_objects_have_openbsds_abi_for_which_linkers_make_the_table_of_system_calls() {
    for built in built("abi") {
        let library = built.machine.file("libgmon.a").unwrap().display().to_string();
        for file in [built.object, library] {
            let headers = tool("llvm-readelf", &["-h", &file]);
            let abis: Vec<_> = headers.lines().filter_map(|line| line.trim_start().strip_prefix("OS/ABI:")).collect();
            assert!(!abis.is_empty() && abis.iter().all(|abi| abi.contains("OpenBSD")), "{file}: {headers}");
        }
    }
}

#[test]
fn the_text_has_only_relative_relocations() {
    // Distances from the instruction, addresses inside a page, and offsets of thread-local storage.
    let amd64 = ["PC32", "PLT32", "TPOFF32", "GOTPCREL", "GOTPCRELX", "REX_GOTPCRELX"].map(|kind| ["R_X86_64_", kind]);
    let pages = ["ADR_PREL_PG_HI21", "ADD_ABS_LO12_NC", "ADR_GOT_PAGE", "LD64_GOT_LO12_NC", "CALL26", "JUMP26"];
    let more = ["TLSLE_ADD_TPREL_HI12", "TLSLE_ADD_TPREL_LO12_NC"];
    let arm64 = pages.into_iter().chain(more).map(|kind| ["R_AARCH64_", kind]);
    let allowed: BTreeSet<String> = amd64.into_iter().chain(arm64).map(|words| words.concat()).collect();
    for built in built("relocations") {
        let relocations = built.relocations();
        let texts: BTreeSet<_> = built.functions().into_values().chain([".text".to_owned()]).collect();
        let text: Vec<_> =
            relocations.iter().filter(|relocation| relocation.section.starts_with(".rela.text")).collect();
        assert!(!text.is_empty(), "{}", built.machine.name);
        for relocation in text {
            let kind = relocation.kind.as_str();
            // Loads and stores of data: the code must not read text, which may be execute-only.
            let is_load = kind.starts_with("R_AARCH64_LDST") && !texts.contains(&relocation.target);
            assert!(is_load || allowed.contains(kind), "{}: {relocation:?}", built.machine.name);
        }
    }
}

#[test]
fn the_table_lists_the_only_system_call_instruction() {
    for built in built("calls") {
        let functions = own_functions(&built);
        let is_call =
            |line: &&String| line.split('\t').nth(1).is_some_and(|code| code.trim() == built.machine.system_call);
        let calls: Vec<u64> = functions
            .values()
            .flat_map(|function| function.lines.iter().filter(is_call))
            .map(|line| address(line))
            .collect();
        let [instruction] = calls[..] else { panic!("{}: {calls:x?}", built.machine.name) };
        let bytes = section(&built.program, ".openbsd.syscalls");
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
}

#[test]
fn what_is_called_by_an_address_begins_with_a_landing_instruction() {
    for built in built("landings") {
        let functions = own_functions(&built);
        let names: BTreeMap<u64, &str> = functions.iter().map(|(name, function)| (function.address, &**name)).collect();
        let mut by_address = built.functions_with_taken_addresses(&functions);
        for name in [".data", ".data.rel.ro", ".rodata", ".init_array", ".preinit_array"] {
            let words = section(&built.program, name);
            by_address.extend(
                words.chunks_exact(8).filter_map(|word| names.get(&number(word)).map(|name| (*name).to_owned())),
            );
        }
        // The runtime compares addresses with the end of its code, where no function begins.
        by_address.remove("gmon_text_end");
        let public = [
            "__start",
            "__mcount",
            "__fentry__",
            "_mcleanup",
            "moncontrol",
            "gmon_dump",
            "gmon_calls",
            "pledge",
            "execve",
        ];
        by_address.extend(public.map(str::to_owned));
        assert!(by_address.len() > 6, "{}: the runtime has such functions: {by_address:?}", built.machine.name);
        for name in by_address {
            // A function can have two names. The disassembly lists only one of the two names.
            let Some(function) = functions.get(&name) else { continue };
            assert!(function.lines[0].ends_with(built.machine.landing), "{name}: {}", function.lines[0]);
        }
        let mcount = &functions["__mcount"];
        let last = mcount.lines.iter().find(|line| line.contains("\tjmp") || line.contains("\tb\t")).unwrap();
        assert!(last.ends_with("mcount>"), "{}: {:?}", built.machine.name, mcount.lines);
    }
}

#[test]
fn below_mcount_is_no_vector_register_and_no_indirect_branch() {
    for built in built("below") {
        let functions = own_functions(&built);
        let root = ["_mcount", "mcount"].into_iter().find(|name| functions.contains_key(*name)).unwrap();
        let reached = reached_from(&functions, root);
        let name = built.machine.name;
        assert!(reached.iter().any(|name| name.contains("threads4miss")), "{name}: {reached:?}");
        for function in &reached {
            for line in &functions[function].lines {
                assert!(!is_vector(line), "{name}: {function}: {line}");
                assert!(!is_indirect(line), "{name}: {function}: an indirect branch, whose target is unknown: {line}");
            }
            let left = functions[function].lines.iter().filter(|line| {
                let is_branch = ["\tcall", "\tjmp", "\tbl\t", "\tb\t"].iter().any(|branch| line.contains(branch));
                is_branch && !functions.keys().any(|name| line.contains(&format!("<{name}")))
            });
            assert_eq!(left.collect::<Vec<_>>(), [""; 0], "{name}: {function} calls what the object does not define");
        }
    }
}

#[test]
fn on_amd64_the_common_path_of_mcount_is_one_cache_line() {
    for built in built("line").into_iter().filter(|built| built.machine.name == "amd64") {
        let functions = own_functions(&built);
        let mcount = ["_mcount", "mcount"].into_iter().find_map(|name| functions.get(name)).unwrap();
        let returns = mcount.lines.iter().find(|line| line.contains("ret")).unwrap();
        assert!(mcount.address.is_multiple_of(64) && address(returns) - mcount.address < 64, "{returns}");
    }
}

#[test]
fn on_arm64_the_code_keeps_to_the_kernels_and_libcs_conventions() {
    for built in built("arm64").into_iter().filter(|built| built.machine.name == "aarch64") {
        let functions = own_functions(&built);
        for (name, function) in &functions {
            for (at, line) in function.lines.iter().enumerate() {
                let has_next = |steps: &[&str]| {
                    let rest = function.lines[at + 1..].iter();
                    rest.zip(steps).filter(|(line, step)| line.contains(**step)).count() == steps.len()
                };
                // The kernel continues 12 bytes after svc, and the carry flag marks an error.
                assert!(!line.contains("\tsvc\t") || has_next(&["\tdsb\tnsh", "\tisb", "\tb."]), "{name}: {line}");
                // A return address may be signed; xpaclri removes the signature in x30.
                assert!(!line.contains("\tldr\tx30, [x29, #8]") || has_next(&["\thint\t#7"]), "{name}: {line}");
                let is_literal = line.contains("\tldr\t") && !line.contains('[');
                assert!(!is_literal, "{name} reads text, which may be execute-only: {line}");
            }
        }
        let miss = functions.iter().find(|(name, _)| name.contains("machine6mcount4miss")).unwrap().1.lines.join("\n");
        for pair in ["x0, x1", "x2, x3", "x4, x5", "x6, x7"] {
            assert!(miss.contains(&format!("ldp\t{pair}")), "{pair}: {miss}");
        }
        let header = tool("llvm-readelf", &["-l", "-W", &built.program.display().to_string()]);
        let tls = header.lines().find(|line| line.trim_start().starts_with("TLS ")).unwrap();
        let align = tls.split_whitespace().last().unwrap().trim_start_matches("0x");
        assert!(u64::from_str_radix(align, 16).unwrap() <= 16, "libc's layout of thread-local storage: {tls}");
    }
}
