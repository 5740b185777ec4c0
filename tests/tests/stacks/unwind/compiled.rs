//! Shared objects that the tests compile, in all the ways in which compilers describe frames.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::unwind::elf::Elf;

/// The folder of the unwinder's test programs.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/unwind")
}

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-Os"];
const X86_64: [&[&str]; 5] = [
    &[],
    &["-fomit-frame-pointer", "-fstack-protector-all"],
    &["-pg", "-mfentry"],
    &["-fno-omit-frame-pointer", "-mavx2"],
    &["-pg", "-fcf-protection=full", "-mno-red-zone"],
];
const AARCH64: [&[&str]; 3] =
    [&[], &["-mbranch-protection=standard"], &["-fomit-frame-pointer", "-fstack-protector-all"]];

/// Compiles the shapes with a compiler, its C++ compiler, and clang for the same machine, with all options.
pub(crate) fn objects(compiler: &str) -> Vec<Elf> {
    let is_native = compiler == "gcc";
    let target = ["--target=aarch64-linux-gnu", "-fuse-ld=lld"];
    let cpp = compiler.replace("gcc", "g++");
    let compilers = [compiler, &cpp, "clang", "clang++"];
    let options: &[&[&str]] = if is_native { &X86_64 } else { &AARCH64 };
    let folder = gmon_tests::directory(&format!("unwind_shapes_{compiler}"));
    let mut found = Vec::new();
    for compiler in compilers {
        let is_cpp = compiler.contains("++");
        let source = programs().join(if is_cpp { "shapes.cc" } else { "shapes.c" });
        for (number, options) in options.iter().enumerate() {
            for level in LEVELS {
                let name = format!("{compiler}{level}-{number}.so");
                let mut command = Command::new(compiler);
                command.args([level, "-fPIC", "-shared", "-nostdlib", "-Wl,--eh-frame-hdr"]).args(*options);
                if !is_native && compiler.starts_with("clang") {
                    command.args(target);
                }
                let made = command.arg("-o").arg(folder.join(&name)).arg(&source).output();
                match made {
                    Ok(made) if made.status.success() => found.push(Elf::read(&folder.join(&name)).unwrap()),
                    Ok(made) => println!("SKIPPED: {name}: {}", String::from_utf8_lossy(&made.stderr)),
                    Err(error) => println!("SKIPPED: unwind tables of {compiler}: cannot run the compiler: {error}"),
                }
            }
        }
    }
    found
}

/// The kernel's shared object in this process.
pub(crate) fn vdso() -> Option<Vec<u8>> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).unwrap();
    let (start, end) = (number(start), number(end));
    let mut bytes = vec![0; end - start];
    let memory = fs::File::open("/proc/self/mem").unwrap();
    std::os::unix::fs::FileExt::read_exact_at(&memory, &mut bytes, start as u64).unwrap();
    Some(bytes)
}
