//! The manual pages: required contents and mandoc's checks.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::{directory, gmon_run, gprof};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// What `--generate` prints for a gprof with this name, in the files of the same kind below the directory of a test.
fn generated(test: &str, name: &str) -> PathBuf {
    let place = directory(test);
    for kind in ["man", "bash", "zsh", "fish"] {
        let made = Command::new(gprof()).arg0(name).arg(format!("--generate={kind}")).output().unwrap();
        assert!(made.status.success() && made.stderr.is_empty(), "{}", String::from_utf8_lossy(&made.stderr));
        fs::write(place.join(kind), made.stdout).unwrap();
    }
    place
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
    for page in pages.iter().chain([&generated("manual-made", "gprof").join("man")]) {
        is_well_made(page);
    }
}

#[test]
fn gprofs_page_and_completions_are_complete() {
    let made = generated("manual-complete", "gprof");
    let page = fs::read_to_string(made.join("man")).unwrap();
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
    for completions in ["bash", "zsh", "fish"] {
        let text = fs::read_to_string(made.join(completions)).unwrap();
        let is_there = |name: &str| text.contains(&format!("--{name}")) || text.contains(&format!("-l {name}"));
        assert!(is_there("bsd") && is_there("gnu"), "{completions}");
    }
}

#[test]
fn gprof_under_another_name_has_a_page_and_completions() {
    let made = generated("manual-renamed", "/usr/bin/gmon-gprof");
    let page = made.join("man");
    is_well_made(&page);
    let text = fs::read_to_string(page).unwrap();
    assert!(text.contains("\n.SH SYNOPSIS\n.B gmon\\-gprof\n"), "{text}");
    for (completions, rule) in
        [("bash", " gmon-gprof\n"), ("zsh", "#compdef gmon-gprof\n"), ("fish", "complete -c gmon-gprof ")]
    {
        let text = fs::read_to_string(made.join(completions)).unwrap();
        assert!(text.contains(rule), "{completions}: {text}");
    }
}

#[test]
fn gmon_run_has_completions() {
    for (shell, rule) in [("bash", " gmon-run\n"), ("zsh", "#compdef gmon-run\n"), ("fish", "complete -c gmon-run ")] {
        let made = Command::new(gmon_run()).arg(format!("--generate={shell}")).output().unwrap();
        assert!(made.status.success() && made.stderr.is_empty(), "{}", String::from_utf8_lossy(&made.stderr));
        let text = String::from_utf8(made.stdout).unwrap();
        assert!(text.contains(rule), "{shell}: {text}");
        for option in ["hz", "wall", "threads", "live", "children", "only", "output"] {
            assert!(
                text.contains(&format!("--{option}")) || text.contains(&format!("-l {option}")),
                "{shell}: {option}"
            );
        }
    }
    let refused = Command::new(gmon_run()).arg("--generate=html").output().unwrap();
    assert_eq!((refused.status.code(), &refused.stdout[..]), (Some(125), &b""[..]));
}

#[test]
fn a_kind_that_nothing_generates_is_refused() {
    let refused = Command::new(gprof()).arg("--generate=html").output().unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(
        said,
        "gprof: invalid value 'html' for '--generate <KIND>' (man, bash, zsh, fish) (try 'gprof --help')\n"
    );
}
