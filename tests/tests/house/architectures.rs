//! A new architecture needs only one folder or file in each of `arch/`, `entry/mcount/`, each system's folders of `os/`
//! and `entry/`, and the crate `gmon-unwind`. This test compiles the rest of the runtime, for each system, with those
//! of an invented architecture (`tests/architectures/other`), which have the required items and nothing of another
//! architecture's.

use std::fs;
use std::path::{Path, PathBuf};

use super::systems::{SEAMS, SYSTEMS, choice as choice_of_system, compile, files, root};

/// The architectures that there are.
const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];

/// The lines that choose an architecture's part, for each file that chooses: the path, with `NAME` in place of the
/// architecture's name.
fn seams() -> Vec<(PathBuf, String)> {
    let mut seams =
        vec![("arch/mod.rs".into(), "NAME/mod.rs".to_owned()), ("entry/mod.rs".into(), "mcount/NAME.rs".to_owned())];
    for system in SYSTEMS {
        seams.push((format!("entry/{system}/mod.rs").into(), "NAME/mod.rs".to_owned()));
        seams.push((format!("os/{system}/mod.rs").into(), "NAME.rs".to_owned()));
    }
    seams
}

/// The line that chooses an architecture's part.
fn choice(architecture: &str, path: &str) -> String {
    format!("#[cfg_attr(target_arch = \"{architecture}\", path = \"{}\")]", path.replace("NAME", architecture))
}

/// The crate of walks, whose root chooses the architecture. The code of all architectures is compiled there, because
/// tests on any machine walk stacks of each.
const WALKS: &str = "runtime/unwind/src";

/// The lines of that root that choose an architecture, by its type.
fn choice_of_walks(architecture: &str) -> String {
    let name = if architecture == "x86_64" { "X86_64" } else { "AArch64" };
    format!("#[cfg(target_arch = \"{architecture}\")]\npub use {architecture}::{name} as Native;")
}

/// Whether a file is a part of an architecture.
fn is_an_architectures(file: &Path) -> bool {
    let names = file.iter().map(|part| part.to_str().unwrap().trim_end_matches(".rs"));
    names.into_iter().any(|name| ARCHITECTURES.contains(&name))
}

#[test]
fn shared_code_names_no_architecture() {
    let source = root().join("runtime/src");
    let seams = seams();
    for file in files(&source) {
        let text = fs::read_to_string(source.join(&file)).unwrap();
        let mut left = text.clone();
        if let Some((_, path)) = seams.iter().find(|(seam, _)| *seam == file) {
            for architecture in ARCHITECTURES {
                let choice = choice(architecture, path);
                assert_eq!(text.matches(&choice).count(), 1, "{}: {choice}", file.display());
                left = left.replace(&choice, "");
            }
        }
        assert!(!left.contains("target_arch"), "{} asks for an architecture", file.display());
    }
    let walks = root().join(WALKS);
    for file in files(&walks) {
        let mut text = fs::read_to_string(walks.join(&file)).unwrap();
        if file == Path::new("lib.rs") {
            for choice in ARCHITECTURES.map(choice_of_walks) {
                assert_eq!(text.matches(&choice).count(), 1, "{WALKS}/lib.rs: {choice}");
                text = text.replace(&choice, "");
            }
        }
        assert!(!text.contains("target_arch"), "{WALKS}/{} asks for an architecture", file.display());
    }
}

/// Copies the runtime for one system, with the invented architecture in place of all others, and with this system in
/// place of the compiler's.
fn lay_out(system: &str, target: &Path) {
    let source = root().join("runtime/src");
    let seams = seams();
    for file in files(&source) {
        if is_an_architectures(&file) {
            continue;
        }
        let mut text = fs::read_to_string(source.join(&file)).unwrap();
        if let Some((_, path)) = seams.iter().find(|(seam, _)| *seam == file) {
            let [first, second] = ARCHITECTURES.map(|architecture| choice(architecture, path));
            text =
                text.replace(&first, &format!("#[path = \"{}\"]", path.replace("NAME", "other"))).replace(&second, "");
        }
        if SEAMS.iter().any(|seam| file == Path::new(seam).join("mod.rs")) {
            for other in SYSTEMS {
                let path = if other == system { format!("#[path = \"{system}/mod.rs\"]") } else { String::new() };
                text = text.replace(&choice_of_system(other), &path);
            }
        }
        let place = target.join(&file);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    let other = root().join("tests/architectures/other");
    for (from, to) in [
        ("arch/mod.rs".to_owned(), "arch/other/mod.rs".to_owned()),
        ("entry/mcount.rs".to_owned(), "entry/mcount/other.rs".to_owned()),
        (format!("entry/{system}/mod.rs"), format!("entry/{system}/other/mod.rs")),
        (format!("os/{system}.rs"), format!("os/{system}/other.rs")),
    ] {
        let place = target.join(to);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(other.join(from), place).unwrap();
    }
}

/// Copies the crate of walks, with the invented architecture as the one that the compiler compiles for.
fn lay_out_walks(target: &Path) {
    let source = root().join(WALKS);
    for file in files(&source) {
        let mut text = fs::read_to_string(source.join(&file)).unwrap();
        if file == Path::new("lib.rs") {
            let [first, second] = ARCHITECTURES.map(choice_of_walks);
            text = text.replace(&first, "mod other;\npub use other::Other as Native;").replace(&second, "");
        }
        let place = target.join(&file);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    fs::copy(root().join("tests/architectures/other/unwind.rs"), target.join("other.rs")).unwrap();
}

#[test]
fn a_new_architecture_needs_one_part_in_each_place() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("architectures");
    let _ = fs::remove_dir_all(&target);
    fs::create_dir_all(&target).unwrap();
    compile("gmon", &root().join("format/src/lib.rs"), &target, &[]);
    let walks = target.join("unwind");
    lay_out_walks(&walks);
    compile("gmon_unwind", &walks.join("lib.rs"), &target, &[]);
    let layout = format!("gmon={}", target.join("libgmon.rmeta").display());
    let unwind = format!("gmon_unwind={}", target.join("libgmon_unwind.rmeta").display());
    for system in SYSTEMS {
        let sources = target.join(system);
        lay_out(system, &sources);
        let runtime_of = |features: &[&str]| {
            let features = features.iter().flat_map(|feature| ["--cfg".to_owned(), format!("feature=\"{feature}\"")]);
            let crates = ["--extern", &layout, "--extern", &unwind].map(str::to_owned);
            let options: Vec<_> = crates.into_iter().chain(features).collect();
            let options: Vec<_> = options.iter().map(String::as_str).collect();
            compile("gmon_runtime", &sources.join("lib.rs"), &target, &[&options[..], &["-C", "panic=abort"]].concat())
        };
        let said = runtime_of(&["start", "runtime"]);
        let is_left_over = |line: &&str| line.contains("other") && line.contains("never used");
        let left_over: Vec<_> = said.lines().filter(is_left_over).collect();
        assert!(
            left_over.is_empty(),
            "{system}: the runtime does not use these items of an architecture: {left_over:#?}"
        );
        runtime_of(&["runtime"]);
        runtime_of(&[]);
    }
}
