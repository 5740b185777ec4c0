//! Builds the host program that runs FreeBSD's programs for arm64 under an emulator of Linux on AArch64.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The emulator.
pub const EMULATOR: &str = "qemu-aarch64";

/// Returns the path of the emulator.
///
/// # Panics
///
/// If no directory of PATH has the emulator.
#[must_use]
pub fn emulator() -> PathBuf {
    let path = std::env::var_os("PATH").expect("PATH");
    let places = std::env::split_paths(&path).map(|directory| directory.join(EMULATOR));
    places.into_iter().find(|place| place.exists()).expect("the emulator is in a directory of PATH")
}

/// The address of the host in memory, far from the programs.
const ADDRESS: &str = "--image-base=0x10000000000";

const FLAGS: [&str; 8] = [
    "--target=aarch64-unknown-linux-gnu",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fno-pie",
    "-mno-outline-atomics",
    "-Wall",
    "-Wextra",
    "-O1",
];

fn done(command: &mut Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the path of the host, which each test binary builds once in a directory with this name.
///
/// # Panics
///
/// If clang or `ld.lld` fails.
pub fn host(name: &str) -> &'static Path {
    static HOST: OnceLock<PathBuf> = OnceLock::new();
    HOST.get_or_init(|| {
        let directory = crate::directory(name);
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("bsd-kernel/aarch64");
        let host = directory.join("host");
        let mut linker = Command::new("ld.lld");
        linker.args(["-static", ADDRESS, "-o"]).arg(&host);
        for entry in fs::read_dir(sources).expect("the sources of the host") {
            let source = entry.expect("the sources of the host").path();
            if source.extension().is_some_and(|extension| extension == "c") {
                let object = directory.join(source.with_extension("o").file_name().expect("a file has a name"));
                done(Command::new("clang").args(FLAGS).arg("-c").arg(&source).arg("-o").arg(&object), "clang");
                linker.arg(object);
            }
        }
        done(&mut linker, "ld.lld");
        host
    })
}
