//! MiniDebugInfo: the section `.gnu_debugdata`, made as distributions make it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::random::Random;
use gmon_tests::{compile, gprof, has_program, read, run};
use gprof::internals::{Image, ImageStorage, Policy};

use super::tool;

/// The names and the addresses of the symbols that `nm` lists.
fn listed(image: &Path, words: &[&str]) -> Vec<(String, char, u64)> {
    let output = Command::new("nm").args(words).arg(image).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let (name, kind, address) = (words.next()?, words.next()?, words.next()?);
        Some((name.to_owned(), kind.chars().next()?, u64::from_str_radix(address, 16).ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// A program with exported, local, and weak functions. Returns the whole program, and a stripped one, whose section has
/// the functions that are neither exported nor weak.
fn program(test: &str) -> Option<(PathBuf, PathBuf)> {
    if !has_program("xz", "MiniDebugInfo") {
        return None;
    }
    let exports = "-Wl,--export-dynamic-symbol=main";
    let flags = ["-no-pie", "-fasynchronous-unwind-tables", exports];
    let image = compile(&format!("mini_debug_info_{test}"), &["kinds.cc"], &flags);
    let directory = image.parent().unwrap();
    let exported: Vec<String> = listed(&image, &["-f", "posix", "-D"]).into_iter().map(|(name, ..)| name).collect();
    assert!(exported.iter().any(|name| name == "main"), "{exported:?}");
    let kept = listed(&image, &["-f", "posix"])
        .into_iter()
        .filter(|(name, kind, _)| matches!(kind, 'T' | 't') && !exported.contains(name));
    let kept: Vec<String> = kept.map(|(name, ..)| name).collect();
    fs::write(directory.join("kept"), kept.join("\n")).unwrap();
    tool(directory, &["objcopy", "--only-keep-debug", "a.out", "debug"]);
    tool(directory, &["objcopy", "-S", "--remove-section=.comment", "--keep-symbols=kept", "debug", "mini"]);
    tool(directory, &["xz", "--keep", "--force", "mini"]);
    tool(directory, &["strip", "-s", "a.out", "-o", "stripped"]);
    Some((image.clone(), with_section(directory, "mini.xz")))
}

/// The stripped program with a file as its section.
fn with_section(directory: &Path, section: &str) -> PathBuf {
    tool(directory, &["objcopy", &format!("--add-section=.gnu_debugdata={section}"), "stripped", "with"]);
    directory.join("with")
}

/// The functions in the code of an image, the warning about names, and the warning about damage.
fn functions(path: &Path) -> (Vec<(u64, String)>, Option<&'static str>, Option<String>) {
    let bytes = fs::read(path).unwrap();
    let room = ImageStorage::default();
    let mut image = Image::parse(&bytes, Policy::Full, &room).unwrap();
    let _ = image.find_debug_file(path, &[], Policy::Full, &room);
    let names = image.symbols.iter().map(|symbol| (symbol.address, String::from_utf8_lossy(symbol.name).into_owned()));
    let mut names: Vec<(u64, String)> = names.collect();
    names.sort();
    (names, image.warning(), image.damage.clone())
}

#[test]
fn symbols_join_those_that_are_exported() {
    let Some((whole, stripped)) = program("joined") else { return };
    let (found, warning, damage) = functions(&stripped);
    assert_eq!((warning, damage), (None, None));
    let of = |address: u64| found.iter().filter(move |known| known.0 == address).map(|(_, name)| name.as_str());
    let kept = fs::read_to_string(whole.with_file_name("kept")).unwrap();
    let kept: Vec<&str> = kept.lines().collect();
    assert!(kept.contains(&"copy_of.part.0") && !kept.contains(&"main"), "{kept:?}");
    for (name, _, address) in listed(&whole, &["-f", "posix"]) {
        if kept.contains(&name.as_str()) {
            assert!(of(address).any(|known| known == name), "{name}: {:?}", of(address).collect::<Vec<_>>());
            assert!(of(address).all(|known| !known.starts_with("func_0x")), "{name} has two names");
        }
    }
    assert!(found.iter().any(|(_, name)| name == "main") && found.iter().any(|(_, name)| name == "printf@plt"));
    // A weak function is in no table, and keeps the name that the unwind tables give.
    let (_, _, weak) = listed(&whole, &["-f", "posix"]).into_iter().find(|(name, ..)| name == "weak_one").unwrap();
    assert_eq!(of(weak).collect::<Vec<_>>(), [format!("func_0x{weak:x}")]);
}

#[test]
fn a_report_has_the_names() {
    let Some((whole, stripped)) = program("report") else { return };
    let directory = whole.parent().unwrap();
    assert!(run(&whole).exists());
    let printed = |image: &str| {
        let output = read(gprof(), directory, &["-b", "-p", "-z", image, "gmon.out"]);
        assert!(output.status.success());
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (out, err) = printed(stripped.file_name().unwrap().to_str().unwrap());
    assert!(out.contains("copy_of.part.0") && !err.contains("stripped"), "{out} {err}");
    let (out, err) = printed("stripped");
    assert!(!out.contains("copy_of.part.0") && err.contains("was stripped"), "{out} {err}");
    // What cannot be read is one warning, and the report is that of the stripped program.
    fs::write(directory.join("damaged"), b"no xz file").unwrap();
    with_section(directory, "damaged");
    let (damaged_out, damaged_err) = printed("with");
    assert_eq!(damaged_out, out);
    let warnings: Vec<&str> = damaged_err.lines().filter(|line| line.contains(".gnu_debugdata")).collect();
    let [warning] = warnings.as_slice() else { panic!("{damaged_err}") };
    assert!(warning.starts_with("gprof: warning: with: the section .gnu_debugdata is damaged ("), "{warning}");
}

#[test]
fn a_small_section_is_not_decompressed_beyond_its_limit() {
    let Some((whole, stripped)) = program("bomb") else { return };
    let directory = whole.parent().unwrap();
    // A hundred megabytes of zeros take 15 kilobytes.
    let file = fs::File::create(directory.join("zeros")).unwrap();
    file.set_len(100 << 20).unwrap();
    tool(directory, &["xz", "-0", "--force", "zeros"]);
    with_section(directory, "zeros.xz");
    let (_, warning, damage) = functions(&stripped);
    let most = fs::metadata(&stripped).unwrap().len() * 10 + (1 << 20);
    let expected = format!(
        "the section .gnu_debugdata is damaged (it has more than {most} bytes when decompressed): gprof ignores its \
         symbols"
    );
    assert_eq!(damage, Some(expected));
    assert!(warning.is_some());
}

#[test]
fn damaged_sections() {
    let Some((whole, _)) = program("damaged") else { return };
    let directory = whole.parent().unwrap();
    let (unpacked, packed) = (fs::read(directory.join("mini")).unwrap(), fs::read(directory.join("mini.xz")).unwrap());
    let stripped = functions(&directory.join("stripped")).0;
    let mut random = Random::new(8);
    let mut readable = 0;
    for round in 0..60 {
        // Damage of the compressed bytes, or of the image in them.
        let mut bytes = if round % 2 == 0 { packed.clone() } else { unpacked.clone() };
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << random.below(8);
        }
        fs::write(directory.join("damage"), bytes).unwrap();
        if round % 2 == 1 {
            tool(directory, &["xz", "--force", "damage"]);
            fs::rename(directory.join("damage.xz"), directory.join("damage")).unwrap();
        }
        let (found, warning, damage) = functions(&with_section(directory, "damage"));
        assert!(damage.is_none() || warning.is_some());
        readable += usize::from(damage.is_none());
        if damage.is_some() {
            assert_eq!(found, stripped);
        }
    }
    assert!((1..60).contains(&readable), "{readable}");
}
