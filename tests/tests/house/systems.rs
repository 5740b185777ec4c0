//! A new operating system needs only a folder in `os/`, one in `entry/`, and one in `kernel/` of the runtime. This test
//! compiles the rest of the runtime with folders of an invented system (`tests/systems/other`), which have the required
//! items and nothing of Linux's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders with one subfolder per system.
pub(crate) const SEAMS: [&str; 3] = ["os", "entry", "kernel"];
/// The systems that there are.
pub(crate) const SYSTEMS: [&str; 3] = ["linux", "freebsd", "openbsd"];

/// The line that chooses a system's folder.
pub(crate) fn choice(system: &str) -> String {
    format!("#[cfg_attr(target_os = \"{system}\", path = \"{system}/mod.rs\")]")
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The files in a folder and below it, by their paths in the folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|inside| name.join(inside)));
        } else {
            found.push(name);
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

/// The runtime's files that all systems share.
fn shared(source: &Path) -> Vec<PathBuf> {
    let is_a_systems = |file: &Path| {
        SEAMS.iter().any(|seam| SYSTEMS.iter().any(|system| file.starts_with(Path::new(seam).join(system))))
    };
    files(source).into_iter().filter(|file| !is_a_systems(file)).collect()
}

#[test]
fn shared_code_names_no_system() {
    let source = root().join("runtime/src");
    for file in shared(&source) {
        let text = fs::read_to_string(source.join(&file)).unwrap();
        let is_seam = SEAMS.iter().any(|seam| file == Path::new(seam).join("mod.rs"));
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let is_choice = SYSTEMS.iter().any(|system| line.trim() == choice(system));
            assert!(!line.contains("target_os") || (is_seam && is_choice), "{}: {line}", file.display());
        }
        let choices = text.matches("#[cfg_attr(target_os = ").count();
        let expected = if is_seam { SYSTEMS.len() } else { 0 };
        assert_eq!(choices, expected, "{}: one list of systems", file.display());
    }
}

/// Compiles one file as far as type checking; returns the compiler's output.
pub(crate) fn compile(name: &str, source: &Path, target: &Path, options: &[&str]) -> String {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .args(["--edition", "2024", "--crate-type", "rlib", "--emit", "metadata", "--error-format", "short"])
        .args(["--crate-name", name])
        .args(options)
        .arg("-L")
        .arg(target)
        .arg("-o")
        .arg(target.join(format!("lib{name}.rmeta")))
        .arg(source)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} {options:?}:\n{said}");
    said
}

#[test]
fn a_new_system_needs_three_folders() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("systems");
    let _ = fs::remove_dir_all(&target);
    let source = root().join("runtime/src");
    for file in shared(&source) {
        let place = target.join("src").join(&file);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let text = fs::read_to_string(source.join(&file)).unwrap();
        let [first, rest @ ..] = SYSTEMS.map(choice);
        let text = text.replace(&first, "#[path = \"other/mod.rs\"]");
        fs::write(place, rest.iter().fold(text, |text, choice| text.replace(choice, ""))).unwrap();
    }
    for seam in SEAMS {
        copy(&root().join("tests/systems/other").join(seam), &target.join("src").join(seam).join("other"));
    }
    compile("gmon", &root().join("format/src/lib.rs"), &target, &[]);
    compile("gmon_unwind", &root().join("runtime/unwind/src/lib.rs"), &target, &[]);
    let layout = format!("gmon={}", target.join("libgmon.rmeta").display());
    let unwind = format!("gmon_unwind={}", target.join("libgmon_unwind.rmeta").display());
    let runtime = target.join("src/lib.rs");
    let runtime_of = |features: &[&str]| {
        let features = features.iter().flat_map(|feature| ["--cfg".to_owned(), format!("feature=\"{feature}\"")]);
        let crates = ["--extern", &layout, "--extern", &unwind].map(str::to_owned);
        let options: Vec<_> = crates.into_iter().chain(features).collect();
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        compile("gmon_runtime", &runtime, &target, &[&options[..], &["-C", "panic=abort"]].concat())
    };
    let said = runtime_of(&["start", "runtime"]);
    let left_over: Vec<_> =
        said.lines().filter(|line| line.contains("/other/") && line.contains("never used")).collect();
    assert!(left_over.is_empty(), "the runtime does not use these items of a system: {left_over:#?}");
    runtime_of(&["runtime"]);
    // The library alone, and the library with the calls of other systems.
    runtime_of(&[]);
    let library = format!("gmon_runtime={}", target.join("libgmon_runtime.rmeta").display());
    let options = ["--extern", &layout, "--extern", &library, "-C", "panic=abort"];
    compile("gmon_profil", &root().join("runtime/profil/src/lib.rs"), &target, &options);
}
