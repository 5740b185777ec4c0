//! Programs for OpenBSD that start their profile themselves, and the tools that build programs: `gmon-cc` and
//! pkg-config.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use gmon_tests::bsd::{Bsd, Start, System};
use gmon_tests::objects::{has_tools, tool};
use gmon_tests::openbsd_machines::{MACHINES, Machine, PROGRAM, openbsd_linker};
use gmon_tests::symbols::{Symbols, read};

#[test]
fn a_program_without_start_up_object_starts_and_ends_its_profile() {
    let Some(library) = MACHINES[0].file("libgmon.a") else { return };
    let Some(system) = Bsd::new(System::OpenBsd, "openbsd_by_hand") else { return };
    let image = system.build("by_hand", &["by_hand.c"], &["-O1", "-pg"], Start::Library(&library));
    let symbols = Symbols::of(&image);
    let ran = system.run(&image, &[], &["few"], &[]).expect(0);
    assert_eq!(ran.stderr, "", "the runtime says nothing");
    for (process, expected, ticks) in [(1001, [None, Some(30), None], 700), (1002, [None, None, Some(40)], 20)] {
        let file = system.directory.join(format!("gmon.by_hand.{process}.out"));
        let profile = read(&file);
        let calls = symbols.calls(&profile);
        let counts = ["before", "parents", "childs"].map(|name| calls.get(&format!("calls {name}")).copied());
        assert_eq!(counts, expected, "{process}");
        assert_eq!(symbols.ticks(&profile).into_iter().collect::<Vec<_>>(), [("light".to_owned(), ticks)], "{process}");
        fs::remove_file(file).unwrap();
    }
    // The runtime keeps the promises that the program made before the runtime started.
    let ran = system.run(&image, &[], &["pledged"], &[("GMON_LIVE", "1")]).expect(0);
    assert!(ran.stderr.starts_with("gmon: gmon.by_hand.1001.out: cannot open"), "{}", ran.stderr);
    assert_eq!(symbols.calls(&read(&system.directory.join("gmon.by_hand.1001.out"))).get("calls parents"), Some(&30));
    fs::remove_file(system.directory.join("gmon.by_hand.1001.out")).unwrap();
    // A set-user-ID program is not profiled.
    let _ = system.run(&image, &["--set-id"], &["few"], &[]).expect(0);
    assert!(!system.directory.join("gmon.by_hand.1001.out").exists());
}

#[test]
fn the_library_has_no_start_up_code_and_cannot_panic() {
    if !has_tools("OpenBSD's libgmon.a") {
        return;
    }
    for library in MACHINES.into_iter().filter_map(|machine| machine.file("libgmon.a")) {
        let library = library.display().to_string();
        let symbols = tool("llvm-nm", &[&library]);
        assert!(!symbols.contains("panic"), "{symbols}");
        let is_defined = |name: &str| symbols.lines().any(|line| line.ends_with(&format!(" T {name}")));
        for name in ["__mcount", "_mcount", "monstartup", "_monstartup", "_mcleanup", "moncontrol", "_gmon_alloc"] {
            assert!(is_defined(name), "{library}: {name}: {symbols}");
        }
        assert!(!is_defined("_start") && !is_defined("__start") && !symbols.contains(" U main"), "{symbols}");
        assert!(tool("llvm-readelf", &["-n", &library]).contains("OpenBSD"), "the note that permits profiling");
    }
}

/// Makes a directory like the root of OpenBSD, for clang's `--sysroot`: libc consists of functions that only return.
fn make_system_root(machine: Machine, root: &Path) {
    let library = root.join("usr/lib");
    fs::create_dir_all(&library).unwrap();
    let path = |name: &str| library.join(name).display().to_string();
    machine.make_libc(&library);
    fs::write(library.join("empty.s"), "").unwrap();
    for object in ["crt0.o", "crtend.o"] {
        machine.compile(&path("empty.s"), &path(object), &[]);
    }
    tool("llvm-ar", &["rc", &path("libc_p.a"), &path("libc.o")]);
    tool("llvm-ar", &["rc", &path("libcompiler_rt.a")]);
}

/// OpenBSD's linker has the option `-nopie`, which OpenBSD's compiler passes; lld of other systems has only `-no-pie`.
const LINKER: &str = "#!/bin/sh
for word; do shift; [ \"$word\" != -nopie ] || word=-no-pie; set -- \"$@\" \"$word\"; done
exec $LINKER \"$@\"
";

/// Makes the program that an older lld makes: without the segment of the type 0x65a3dbe9.
const OLD_LINKER: &str = "#!/bin/sh
./ld \"$@\" || exit
for word; do [ \"${last-}\" != -o ] || output=$word; last=$word; done
LC_ALL=C sed -i 's/\\xe9\\xdb\\xa3\\x65/\\x00\\x00\\x00\\x00/' \"$output\"
";

#[test]
fn the_wrapper_and_pkg_config_build_programs() {
    let Some(linker) = openbsd_linker().filter(|_| has_tools("gmon-cc for OpenBSD")) else {
        eprintln!("SKIPPED: gmon-cc for OpenBSD: no lld 19 or later");
        return;
    };
    for (machine, object) in MACHINES.into_iter().filter_map(|machine| Some((machine, machine.file("gcrt0.o")?))) {
        gmon_tests::make("tools").unwrap();
        let place = gmon_tests::directory(&format!("openbsd_wrapper_{}", machine.name));
        make_system_root(machine, &place.join("a root"));
        // $CC is split at blanks.
        symlink("a root", place.join("root")).unwrap();
        gmon_tests::write_script(&place.join("ld"), LINKER);
        gmon_tests::write_script(&place.join("old-ld"), OLD_LINKER);
        fs::write(place.join("p.c"), PROGRAM).unwrap();
        let script = "set -e; \"$1/bin/gmon-cc\" -O1 -c p.c; \"$1/bin/gmon-cc\" p.o --ld-path=./ld -o linked
            export PKG_CONFIG_PATH=\"${2%/*}/pkgconfig\"
            ! pkg-config --version >/dev/null ||
                eval $CC -static $(pkg-config --cflags --libs gmon) p.c --ld-path=./ld -o packaged";
        let run = |script: &str| {
            Command::new("sh")
                .args(["-c", script, "sh"])
                .args([gmon_tests::distribution(), object.clone()])
                .current_dir(&place)
                .env("CC", format!("clang --target={} --sysroot=root", machine.triple))
                .env("LINKER", linker)
                .output()
                .unwrap()
        };
        let output = run(script);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(place.join("linked").exists());
        for program in ["linked", "packaged"].map(|name| place.join(name)).iter().filter(|program| program.exists()) {
            let says = tool("llvm-readelf", &["-l", "-n", "--symbols", program.to_str().unwrap()]);
            assert!(says.contains("EXEC (") && !says.contains("INTERP"), "a static program: {says}");
            assert_eq!(says.matches("  OpenBSD  ").count(), 2, "both notes: {says}");
            assert!(says.lines().any(|line| line.ends_with(" __mcount") && !line.contains(" UND ")), "{says}");
        }
        // A linker that makes no table of system calls.
        for (option, file) in [("-o old", "old"), ("-oold", "old"), ("", "a.out")] {
            let output = run(&format!("\"$1/bin/gmon-cc\" p.o --ld-path=./old-ld {option}"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains("lld 19 or later"), "{option}: {said}");
            assert!(!place.join(file).exists(), "{option}: a program that the kernel kills");
        }
    }
}
