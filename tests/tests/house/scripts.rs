//! The scripts of the checks: what they do when a package, a step, or a permission is missing. Made-up commands stand
//! for the real ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gmon_tests::{directory, write_script};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A directory for a script, with commands that are found before the system's.
struct Stage(PathBuf);

impl Stage {
    fn new(name: &str, commands: &[(&str, &str)]) -> Stage {
        let place = directory(&format!("scripts-{name}"));
        fs::create_dir(place.join("bin")).unwrap();
        for (command, text) in commands {
            write_script(&place.join("bin").join(command), &format!("#!/bin/sh\n{text}\n"));
        }
        Stage(place)
    }

    /// Runs shell code in the source tree. `$PLACE` is the directory.
    fn run(&self, code: &str, variables: &[(&str, &str)]) -> Output {
        let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", code]).current_dir(root()).env("PATH", path).env("PLACE", &self.0).env("PAUSE", "0");
        shell.env("CARGO_TARGET_DIR", self.0.join("target")).env("GMON_TOOLS", self.0.join("tools"));
        shell.env_remove("INSTALL").env_remove("CI").envs(variables.iter().copied());
        shell.output().unwrap()
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_default()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Installs as Debian's command does: `install` makes a file for each package but `broken`, if the lock of the packages
/// is free. The lock is taken for as many calls as the file `locked` has lines.
const APT_GET: &str = r#"printf '%s\n' "$*" >>"$PLACE/calls"
if [ -s "$PLACE/locked" ]; then sed -i 1d "$PLACE/locked"; exit 100; fi
while [ $# -gt 0 ] && [ "$1" != install ]; do shift; done
for word; do [ "$word" != broken ] || exit 100; done
for word; do case $word in -* | install) ;; *) : >"$PLACE/installed-$word" ;; esac; done"#;

const NEEDS: &str = r#". tests/check/install.sh
id() { echo 0; }
need one "$PLACE/installed-one"
need two,three "$PLACE/installed-two" "$PLACE/installed-three"
need there sh
install_packages"#;

#[test]
fn packages_are_installed_when_the_lock_is_free_again() {
    let stage = Stage::new("lock", &[("apt-get", APT_GET)]);
    fs::write(stage.0.join("locked"), "busy\nbusy\n").unwrap();
    let output = stage.run(NEEDS, &[]);
    assert!(output.status.success(), "{output:?}");
    for package in ["one", "two", "three"] {
        assert!(stage.0.join(format!("installed-{package}")).exists(), "{package}: {}", stage.read("calls"));
    }
    assert!(
        stage.read("calls").lines().all(|call| call.contains("DPkg::Lock::Timeout=300")),
        "{}",
        stage.read("calls")
    );
    assert_eq!(stage.read("target/check/lacking"), "");
}

#[test]
fn a_package_that_does_not_exist_is_named_and_blocks_no_other() {
    let stage = Stage::new("broken", &[("apt-get", APT_GET)]);
    let output = stage.run(&NEEDS.replace("need there sh", "need broken \"$PLACE/installed-broken\""), &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(stage.0.join("installed-one").exists() && stage.0.join("installed-three").exists());
    let lacking = stage.read("target/check/lacking");
    assert!(lacking.lines().count() == 1 && lacking.trim().ends_with("installed-broken"), "{lacking}");
}

#[test]
fn nothing_is_installed_if_the_user_wants_nothing() {
    let stage = Stage::new("nothing", &[("apt-get", APT_GET)]);
    let output = stage.run(&format!("{NEEDS}\nkeep tool 1 true || true"), &[("INSTALL", "no")]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stage.read("calls"), "");
    assert_eq!(stage.read("target/check/lacking").lines().count(), 3);
    let unknown = stage.run(". tests/check/install.sh", &[("INSTALL", "maybe")]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn a_kept_tool_is_made_once_and_again_for_another_version() {
    let stage = Stage::new("kept", &[]);
    let code = r#". tests/check/install.sh
make_tool() { echo made >>"$PLACE/made"; echo "$1" >"$2/file"; }
keep tool 1 make_tool first
keep tool 1 make_tool never
cat "$target/tool/file"
keep tool 2 make_tool second
cat "$target/tool/file"
keep other 1 false || echo refused"#;
    let output = stage.run(code, &[]);
    assert!(text(&output.stdout).ends_with("refused\n"), "{output:?}");
    assert!(text(&output.stdout).contains("first\n") && text(&output.stdout).contains("second\n"), "{output:?}");
    assert_eq!(stage.read("made"), "made\nmade\n");
    assert_eq!(stage.read("target/check/lacking"), "other\n");
}

/// Two lanes: the first waits for a step of the second.
const LANES: &str = r#". tests/check/steps.sh
first() { step alone true; wait_for "$AWAITED" && step behind true || echo "not behind"; }
second() { step slow sleep 0.5; step wrong sh -c 'echo why; exit 3'; step last true; }
lanes first second
finish"#;

#[test]
fn a_failed_step_fails_the_run_and_stops_only_who_waits_for_it() {
    let stage = Stage::new("lanes", &[]);
    for (awaited, is_behind) in [("slow", true), ("last", true), ("wrong", false), ("no such step", false)] {
        let output = stage.run(LANES, &[("AWAITED", awaited)]);
        let printed = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(printed.contains("why\ncheck: the step \"wrong\" has failed (exit status 3)\n"), "{printed}");
        assert!(printed.contains("== last … "), "{printed}");
        assert_eq!(
            (printed.contains("== behind … "), printed.contains("not behind")),
            (is_behind, !is_behind),
            "{printed}"
        );
        let failed =
            if awaited == "no such step" { "    wrong\n    no such step, which was left out\n" } else { "    wrong\n" };
        assert!(text(&output.stderr).ends_with(failed), "{output:?}");
    }
    // A step that does not come is a failure, also if no other step fails.
    let left_out = stage.run(&LANES.replace("exit 3", "exit 0"), &[("AWAITED", "no such step")]);
    assert_eq!(left_out.status.code(), Some(1), "{left_out:?}");
    let fine = stage.run(&LANES.replace("exit 3", "exit 0"), &[("AWAITED", "last")]);
    assert!(fine.status.success(), "{fine:?}");
    assert_eq!(stage.read("target/check/times").lines().count(), 5);
}

#[test]
fn a_check_is_repeated_only_if_its_files_have_changed() {
    let stage = Stage::new("checked", &[]);
    let code = r#"mkdir -p "$PLACE/tests/check"
. tests/check/checked.sh
cd "$PLACE"
touch tests/check/checked
echo old >file
was_checked it file && echo early
was_checked it file || record_check
was_checked it file && echo unchanged
was_checked other file && echo wrong
echo new >file
was_checked it file || echo changed"#;
    let output = stage
        .run(&code.replace("&& echo early", "&& exit 1 || true").replace("&& echo wrong", "&& exit 1 || true"), &[]);
    assert!(output.status.success(), "{output:?}");
    let printed = text(&output.stdout);
    assert!(printed.contains("commit it.\nunchanged\nchanged\n"), "{printed}");
}

#[test]
fn only_listed_lines_may_be_missing() {
    let stage = Stage::new("permitted", &[]);
    let run = |lines: &str| {
        fs::write(stage.0.join("skipped"), lines).unwrap();
        stage.run("sh tests/check/permitted.sh \"$PLACE/skipped\"", &[])
    };
    let list = fs::read_to_string(root().join("tests/may-be-missing.txt")).unwrap();
    let entries: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    for entry in &entries {
        let (phrase, reason) = entry.split_once(" | ").expect(entry);
        assert!(phrase.len() > 8 && reason.len() > 20, "{entry}");
        assert!(run(&format!("SKIPPED: a test: {phrase}, here\n")).status.success(), "{entry}");
    }
    let refused = run("SKIPPED: not found: clang\n");
    assert!(!refused.status.success() && text(&refused.stderr).ends_with("SKIPPED: not found: clang\n"), "{refused:?}");
}

#[test]
fn crates_need_a_permitted_license_and_source() {
    let run = |tree: &str| {
        let stage = Stage::new("crates", &[("cargo", "cat \"$PLACE/tree\"")]);
        fs::write(stage.0.join("tree"), tree).unwrap();
        let cargo = stage.0.join("bin/cargo");
        stage.run("sh tests/check/permitted-crates.sh", &[("CARGO", cargo.to_str().unwrap())])
    };
    assert!(run("one v1.0.0|(MIT OR GPL-3.0) AND Apache-2.0|\ntwo v1.0.0|Unlicense/MIT|\n").status.success());
    for (wrong, word) in [
        ("one v1.0.0|GPL-3.0|\n", "GPL-3.0"),
        ("one v1.0.0|MIT AND GPL-3.0|\n", "GPL-3.0"),
        ("one v1.0.0 (https://example.org/one)|MIT|\n", "crates.io"),
        ("", "lists no crates"),
    ] {
        let output = run(wrong);
        assert!(!output.status.success() && text(&output.stdout).contains(word), "{wrong}: {output:?}");
    }
}
