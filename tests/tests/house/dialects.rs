//! A new dialect of profiles touches at most five files of the crate `gmon`. The test adds an invented dialect
//! (`tests/dialects/other`) to a copy of the sources, compiles the copy, and reads and writes files of the dialect.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most files of src that a new dialect touches.
const MOST: usize = 5;

/// What the dialect adds to files that there are: the file, the text after which something is new, and what is new.
const ADDED: [(&str, &str, &str); 4] = [
    ("encoding.rs", "    MonOut,\n", "    /// The form of an invented system.\n    Other,\n"),
    ("families/mod.rs", "mod old_bsd;\n", "mod other;\n"),
    ("families/mod.rs", "use old_bsd::OldBsd;\n", "use other::Other;\n"),
    ("families/mod.rs", "    MonOut: MonOut;\n", "    Other: Other;\n"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The files in a folder and below it, by their paths in the folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|inside| name.join(inside)));
        } else {
            found.insert(name);
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let place = to.join(&file);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(from.join(&file), place).unwrap();
    }
}

/// The manifest of the copy: the crate with its features and dependencies, without those of tests, and the program.
fn manifest() -> String {
    let crates = fs::read_to_string(root().join("format/Cargo.toml")).unwrap();
    let (package, dev) = crates.split_once("[dev-dependencies]").unwrap();
    let lints = dev.split_once("[lints]").unwrap().1;
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, shared) = workspace.split_once("[workspace.package]").unwrap();
    let shared = shared.lines().filter(|line| !line.contains("path = ")).collect::<Vec<_>>().join("\n");
    let program = "[[bin]]\nname = \"program\"\npath = \"program.rs\"\nrequired-features = [\"std\"]\n";
    format!("{package}[lints]{lints}\n{program}\n[workspace]\n[workspace.package]{shared}")
}

#[test]
fn a_new_dialect_touches_at_most_five_files() {
    let (invented, source) = (root().join("tests/dialects/other"), root().join("format/src"));
    let copied = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("dialects");
    let _ = fs::remove_dir_all(copied.join("src"));
    copy(&source, &copied.join("src"));
    copy(&root().join("format/examples"), &copied.join("examples"));
    copy(&invented.join("other"), &copied.join("src/families/other"));
    for (file, after, new) in ADDED {
        let place = copied.join("src").join(file);
        let text = fs::read_to_string(&place).unwrap();
        assert_eq!(text.matches(after).count(), 1, "{file}: {after}");
        fs::write(&place, text.replace(after, &format!("{after}{new}"))).unwrap();
    }
    let is_touched = |file: &PathBuf| fs::read(source.join(file)).ok() != fs::read(copied.join("src").join(file)).ok();
    let touched: Vec<_> = files(&copied.join("src")).into_iter().filter(is_touched).collect();
    assert!((3..=MOST).contains(&touched.len()), "{touched:?}");

    for file in ["other.hex", "program.rs"] {
        let text = fs::read_to_string(invented.join(file)).unwrap();
        let dump = root().join("format/tests/all/suite/dump.rs");
        fs::write(copied.join(file), text.replace("DUMP", dump.to_str().unwrap())).unwrap();
    }
    fs::write(copied.join("Cargo.toml"), manifest()).unwrap();
    fs::copy(root().join("Cargo.lock"), copied.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--quiet", "--offline", "--bin", "program", "--target-dir"]).arg(copied.join("target"));
    let output = cargo.current_dir(&copied).env_remove("RUSTFLAGS").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

/// A list outside the wings would be one more file that each dialect touches.
#[test]
fn only_the_wings_and_the_list_name_a_rare_dialect() {
    let source = root().join("format/src");
    let rare = ["OldBsd", "LdProfile", "Darwin", "Next", "IllumosProf", "IllumosRtld", "MonOut"];
    for file in files(&source) {
        let text = fs::read_to_string(source.join(&file)).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let code: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for form in rare {
            let names = code.iter().filter(|line| line.contains(&format!("Form::{form}"))).count();
            let may_name = file.starts_with("families") && file != Path::new("families/mod.rs");
            assert!(names == 0 || may_name, "{} names {form}", file.display());
        }
    }
}

#[test]
fn no_wing_uses_another_wing() {
    let wings = root().join("format/src/families");
    let name_of = |file: &Path| file.iter().next().map(|first| Path::new(first).with_extension("")).unwrap();
    let shared = ["mod", "family"].map(PathBuf::from);
    let files: Vec<_> = files(&wings).into_iter().filter(|file| !shared.contains(&name_of(file))).collect();
    let names: BTreeSet<_> = files.iter().map(|file| name_of(file)).collect();
    assert!(names.len() > 7, "{names:?}");
    for file in &files {
        let text = fs::read_to_string(wings.join(file)).unwrap();
        for other in names.iter().filter(|other| **other != name_of(file)) {
            let other = other.display();
            let uses = [format!("super::{other}::"), format!("families::{other}::")];
            assert!(!uses.iter().any(|path| text.contains(path)), "{} uses {other}", file.display());
        }
    }
}
