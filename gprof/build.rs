//! Gives the program the name of the target that cargo builds it for, which `--version` prints.

fn main() {
    let target = std::env::var("TARGET").expect("cargo sets TARGET for build scripts");
    println!("cargo::rustc-env=GPROF_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
