//! OpenBSD's start-up object for arm64, in a program that runs on Linux in qemu. The test replaces the function of the
//! runtime that makes system calls, so the program shows how the rest of the runtime works on arm64, but not how it
//! works with OpenBSD's kernel.

use std::path::Path;
use std::process::Command;

use gmon_tests::objects::{has_tools, tool};
use gmon_tests::openbsd_machines::{MACHINES, Machine};
use gmon_tests::symbols::{Symbols, read};

/// The compiler of Debian 12 cannot compile code with a stack protector for OpenBSD on arm64.
const FLAGS: [&str; 4] = ["-fno-pie", "-fno-stack-protector", "-Wall", "-Wextra"];

/// Links the program, with `openbsd_call` in the place of the function that makes system calls.
fn build(machine: Machine, object: &Path, place: &Path) {
    let path = |name: &str| place.join(name).display().to_string();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("bsd-kernel/programs");
    let source = |name: &str| programs.join(name).display().to_string();
    machine.make_libc(place);
    machine.compile(&source("arm64_system.c"), &path("system.o"), &[&FLAGS[..], &["-ffreestanding"]].concat());
    machine.compile(&source("arm64_profiled.c"), &path("profiled.o"), &[&FLAGS[..], &["-pg"]].concat());
    let object = object.display().to_string();
    let symbols = tool("llvm-nm", &[&object]);
    let call = symbols.split_whitespace().find(|name| name.ends_with("2os6system7machine7syscall")).unwrap();
    let [global, weak] = ["globalize", "weaken"].map(|option| format!("--{option}-symbol={call}"));
    tool("llvm-objcopy", &[&global, &weak, &object, &path("gcrt0.o")]);
    let define = format!("--defsym={call}=openbsd_call");
    let files = ["gcrt0.o", "crtbegin.o", "profiled.o", "system.o"].map(path);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    tool("ld.lld", &[&["-static", "-e", "__start", &define, "-o", &path("arm64")][..], &files].concat());
}

#[test]
fn calls_are_exact_and_mcount_keeps_all_arguments() {
    let machine = MACHINES[1];
    let Some(object) = machine.file("gcrt0.o").filter(|_| has_tools("OpenBSD on arm64")) else { return };
    if Command::new("qemu-aarch64").arg("--version").output().is_err() {
        eprintln!("SKIPPED: OpenBSD on arm64: cannot find qemu-aarch64");
        return;
    }
    let place = gmon_tests::directory("openbsd_arm64");
    build(machine, &object, &place);
    let ran = Command::new("qemu-aarch64").arg("./arm64").current_dir(&place).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "the runtime says nothing");
    assert_eq!(ran.status.code(), Some(7), "all registers have their values after __mcount");
    let calls = Symbols::of(&place.join("arm64")).calls(&read(&place.join("gmon.arm64.1001.out")));
    let expected =
        [("arc middle leaf", 1 + 10 + 100), ("arc main middle", 1), ("arc caller sum", 5), ("calls caller", 5)];
    for (what, count) in expected {
        assert_eq!(calls.get(what), Some(&count), "{what}: {calls:?}");
    }
}
