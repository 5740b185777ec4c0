//! The manual pages: required contents and mandoc's checks.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::directory;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The output of the example `manuals` for a gprof with this name, in the directory of a test.
fn share(test: &str, name: &str) -> PathBuf {
    let place = directory(test);
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--quiet", "-p", "gprof", "--example", "manuals", "--target-dir"]).arg(target).arg("--");
    let made = cargo.arg(&place).arg(name).current_dir(root()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    place.join("share")
}

/// Checks that mandoc reports nothing for a page, except references to pages that are not installed here.
fn is_well_made(page: &Path) {
    let Ok(output) = Command::new("mandoc").args(["-Tlint", "-Wstyle"]).arg(page).output() else {
        eprintln!("SKIPPED: manual pages: no mandoc on this system");
        return;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    let own: Vec<&str> = said.lines().filter(|line| !line.contains("referenced manual not found")).collect();
    assert!(own.is_empty(), "{own:?}");
}

#[test]
fn every_page_is_well_made() {
    let pages = fs::read_dir(root().join("docs/man")).unwrap().map(|entry| entry.unwrap().path());
    let is_page = |page: &PathBuf| page.extension().is_some_and(|section| section != "roff");
    let pages: Vec<PathBuf> = pages.filter(is_page).collect();
    assert!(pages.len() >= 4);
    for page in pages.iter().chain([&share("manual-made", "gprof").join("man/man1/gprof.1")]) {
        is_well_made(page);
    }
}

#[test]
fn gprofs_page_and_completions_are_complete() {
    let share = share("manual-complete", "gprof");
    let page = fs::read_to_string(share.join("man/man1/gprof.1")).unwrap();
    for section in
        ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
    {
        assert!(page.contains(&format!("\n.SH {section}\n")), "no section {section}");
    }
    let synopsis = page.split(".SH SYNOPSIS").nth(1).unwrap().split(".SH").next().unwrap();
    for option in [
        r"[\fB\-p\fR[\fISPEC\fR]|\fB\-\-flat\-profile\fR[=\fISPEC\fR]]...",
        r"[\fB\-k\fR \fIFROM/TO\fR]...",
        r"[\fB\-\-bsd\fR[=\fIWHOSE\fR]]",
        r"[\fB\-\-gnu\fR]",
    ] {
        assert!(synopsis.contains(option), "{option} is not in {synopsis}");
    }
    for completions in
        ["bash-completion/completions/gprof", "zsh/site-functions/_gprof", "fish/vendor_completions.d/gprof.fish"]
    {
        let text = fs::read_to_string(share.join(completions)).unwrap();
        let is_there = |name: &str| text.contains(&format!("--{name}")) || text.contains(&format!("-l {name}"));
        assert!(is_there("bsd") && is_there("gnu"), "{completions}");
    }
}

#[test]
fn gprof_under_another_name_has_a_page_and_completions() {
    let share = share("manual-renamed", "gmon-gprof");
    let page = share.join("man/man1/gmon-gprof.1");
    is_well_made(&page);
    let text = fs::read_to_string(page).unwrap();
    assert!(text.contains("\n.SH SYNOPSIS\n.B gmon\\-gprof\n"), "{text}");
    for (completions, rule) in [
        ("bash-completion/completions/gmon-gprof", " gmon-gprof\n"),
        ("zsh/site-functions/_gmon-gprof", "#compdef gmon-gprof\n"),
        ("fish/vendor_completions.d/gmon-gprof.fish", "complete -c gmon-gprof "),
    ] {
        let text = fs::read_to_string(share.join(completions)).unwrap();
        assert!(text.contains(rule), "{completions}: {text}");
    }
}
