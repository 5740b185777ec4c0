//! Counts in shared objects that several threads open and close again and again.

use std::process::Command;

use gmon::side_file::ELSEWHERE;

use crate::support::{Program, Symbols, calls, quiet, root};

const OBJECTS: usize = 4;

/// closers.c and the objects that it opens, which all have the same layout.
pub(crate) fn closers(name: &str) -> Program {
    with_objects(Program::compile(name, "closers.c", &["-rdynamic"]), &["-pg"])
}

/// Compiles the objects that closers.c opens, with these flags.
pub(crate) fn with_objects(program: Program, flags: &[&str]) -> Program {
    let source = root().join("tests/programs/closers.c");
    for number in 0..OBJECTS {
        let object = program.directory.join(format!("plug{number}.so"));
        let define = format!("-DPLUG={number}");
        let words = ["-O1", "-shared", "-fPIC", &define, "-o", object.to_str().unwrap(), source.to_str().unwrap()];
        quiet(&Command::new("cc").args(words).args(flags).output().unwrap());
    }
    program
}

/// Checks that the side file matches the program's output: for each object, how often its constructor, its destructor,
/// and its other function were called. Returns how often all of them called the program.
pub(crate) fn assert_exact(program: &Program, printed: &str) -> u64 {
    let (mut all, side) = (0, program.side());
    assert_eq!(printed.lines().count(), OBJECTS, "{printed}");
    for (number, line) in printed.lines().enumerate() {
        let expected: Vec<u64> = line.split(' ').map(|count| count.parse().unwrap()).collect();
        let object = program.directory.join(format!("plug{number}.so"));
        let found = calls(&side.profile_of_object(&format!("plug{number}.so")), &Symbols::of(&object));
        let found = ["born", "died", "leaf"].map(|name| found.get(&format!("calls {name}")).copied().unwrap_or(0));
        assert_eq!(found[..], expected[..], "plug{number}.so");
        all += expected.iter().sum::<u64>();
    }
    assert_eq!(side.calls_to(ELSEWHERE), 0, "{side:?}");
    all
}

#[test]
fn threads_that_close_objects_at_the_same_addresses_lose_no_call() {
    let program = closers("closers");
    for threads in ["0", "2", "4", "8"] {
        let printed = program.run(&[threads, "500"]);
        let all = assert_exact(&program, &printed);
        let own = calls(&program.profile(), program.symbols());
        assert_eq!(own["calls count"], all, "{threads} threads");
    }
}
