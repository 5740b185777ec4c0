//! Programs without a start-up object, linked with libgmon.a, that call `monstartup` and `_mcleanup`.

use std::fs;
use std::process::Command;

use crate::support::{Program, calls, library, quiet, read, root};

/// by_hand.c, compiled with `-pg` and linked without it.
fn by_hand(name: &str, compiler: &str, flags: &[&str]) -> Program {
    let place = crate::support::directory(&format!("{name}-object"));
    let object = place.join("by_hand.o");
    let include = library().parent().unwrap().parent().unwrap().join("include");
    let source = root().join("tests/programs/by_hand.c");
    let words = ["-pg", "-O1", "-c", "-o", object.to_str().unwrap(), source.to_str().unwrap()];
    let include = format!("-I{}", include.display());
    quiet(&Command::new(compiler).args(words).args(flags).arg(&include).output().unwrap());
    let search = format!("-L{}", library().display());
    Program::compile_with(compiler, name, object.to_str().unwrap(), &[&[&search, "-lgmon"], flags].concat())
}

/// Without our start-up code, nothing hides the kernel's signal mask from the program.
#[test]
fn signals_are_blocked_as_the_program_says() {
    let program = by_hand("by-hand-blocked", "cc", &[]);
    assert_eq!(program.run(&["blocked"]), "60 is blocked: 1\n");
}

#[test]
fn monstartup_reads_the_environment_and_children_begin_at_zero() {
    for (name, flags) in [("by-hand", &[][..]), ("by-hand-static", &["-static"][..])] {
        let program = by_hand(name, "cc", flags);
        let child = program.run(&[]);
        let own = calls(&program.profile(), program.symbols());
        assert_eq!(
            (own.get("calls before"), own.get("calls parents"), own.get("calls childs")),
            (None, Some(&30), None)
        );
        let path = program.directory.join(format!("gmon.program.{}.out", child.trim()));
        let childs = calls(&read(&path), program.symbols());
        assert_eq!(
            (childs.get("calls parents"), childs.get("calls childs")),
            (None, Some(&40)),
            "the child must begin at zero"
        );

        let place = program.directory.join("place");
        fs::create_dir(&place).unwrap();
        let child = quiet(&program.command(&[]).env("PROFDIR", &place).env("GMON_FORMAT", "gnu").output().unwrap());
        let names = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(names.filter(|path| path.extension().is_some_and(|end| end == "out")).count(), 2);
        let path = place.join(format!("gmon.program.{}.out", child.trim()));
        assert!(fs::read(&path).unwrap().starts_with(b"gmon"));
        assert_eq!(calls(&read(&path), program.symbols())["calls childs"], 40);

        let output = program.command(&[]).env("GMON_HZ", "much").env("GMON_CHILDREN", "none").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said, "gmon: GMON_HZ=much is not a number from 1 to 10000: using 100\n");
    }
}
