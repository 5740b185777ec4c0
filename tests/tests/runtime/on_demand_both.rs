//! Calls that are always counted, and calls that are counted on demand, in one program.

use std::process::Command;

use crate::on_demand::ROOM;
use crate::support::{Program, compare, directory, library, ours, quiet, root};

/// A mutation that switches the counting of mcount with the intervals, or that takes the caller of a thunk for the
/// caller of the next function, changes a count here.
#[test]
fn each_object_counts_as_it_was_compiled() {
    let [_, _, include] = ours();
    let object = library().join("gmon.o");
    let source = root().join("tests/programs/both.c");
    let kinds: [(&str, &[&str], &[&str]); 5] = [
        ("cc", &["-O2"], &["-O2"]),
        ("cc", &["-O0"], &["-O0", "-fcf-protection=full"]),
        ("cc", &["-O2", "-mfentry"], &["-O2", "-static"]),
        ("cc", &["-O2", "-fno-pie"], &["-O2", "-no-pie", "-fno-pie"]),
        ("clang", &["-O2"], &["-O2"]),
    ];
    for (number, (compiler, always, demanded)) in kinds.into_iter().enumerate() {
        if cfg!(not(target_arch = "x86_64")) && always.contains(&"-mfentry") {
            continue;
        }
        let counted = directory(&format!("on-demand-both-object-{number}")).join("always.o");
        let mut command = Command::new(compiler);
        command.args(always).args(["-pg", "-c", "-DALWAYS", "-o"]).args([&counted, &source]);
        quiet(&command.output().unwrap());
        let all = [ROOM, &include, object.to_str().unwrap(), counted.to_str().unwrap()];
        let name = format!("on-demand-both-{number}");
        let program = Program::compile_with(compiler, &name, "both.c", &[&all, demanded].concat());
        let printed = program.run(&[]);
        compare(&printed, &program.profile(), program.symbols());
        let printed = quiet(&program.command(&["from the start"]).env("GMON_CALLS", "on").output().unwrap());
        compare(&printed, &program.profile(), program.symbols());
    }
}
