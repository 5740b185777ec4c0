//! Writes the licenses of crates: `cargo bundle-licenses --format json | licenses LINKED`. The file LINKED has a line
//! `NAME VERSION` for each crate that counts, because cargo-bundle-licenses also lists crates that only other systems
//! or tests need.

use std::collections::BTreeMap;
use std::io::{Read, stdin};
use std::process::ExitCode;

use serde_json::Value;

const HEAD: &str = "\
Licenses of the crates that are linked into gprof
=================================================

`make licenses` makes this file from the sources of the crates, and `make check` compares both. If a crate offers several licenses, this
file has the MIT license if possible.

Rust's own library is linked too: all of it into gprof, and `core` and `compiler_builtins` into the start-up objects and libgmon.a.
Its license is MIT OR Apache-2.0. The exceptions are in COPYRIGHT-library.html, a file of the compiler, which `make dist` puts beside
this file. All other code in the start-up objects and libgmon.a is code of this project under LICENSE.runtime.
";

/// The crates that share a license and its text.
type Texts = BTreeMap<(String, String), Vec<String>>;

fn main() -> ExitCode {
    let linked = std::env::args_os().nth(1).ok_or("usage: licenses LINKED".to_owned());
    let linked = linked.and_then(|path| std::fs::read_to_string(path).map_err(|error| error.to_string()));
    let mut bundle = String::new();
    let written = linked.and_then(|linked| {
        stdin().read_to_string(&mut bundle).map_err(|error| error.to_string())?;
        texts(&bundle, &linked)
    });
    match written {
        Ok(texts) => {
            print!("{}", written_out(&texts));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("licenses: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Finds the licenses of the linked crates in the bundle. Every linked crate must have one.
fn texts(bundle: &str, linked: &str) -> Result<Texts, String> {
    let bundle: Value = serde_json::from_str(bundle).map_err(|error| error.to_string())?;
    let crates = bundle["third_party_libraries"].as_array().ok_or("no crates in the bundle")?;
    let mut texts = Texts::new();
    for name in linked.lines() {
        let found =
            crates.iter().find(|one| format!("{} {}", word(one, "package_name"), word(one, "package_version")) == name);
        let found = found.ok_or_else(|| format!("{name}: not in the bundle"))?;
        let offered = found["licenses"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut offered = offered.iter().filter(|license| !matches!(word(license, "text").trim(), "" | "NOT FOUND"));
        // If a crate offers several licenses, the first that has a text counts. No crate is under several licenses at
        // once.
        let is_joined = word(found, "license").contains(" AND ");
        let license = offered
            .next()
            .filter(|_| !is_joined)
            .ok_or_else(|| format!("{name}: several licenses at once, or none with a text"))?;
        let text: Vec<&str> = word(license, "text").trim().lines().map(str::trim_end).collect();
        texts.entry((word(license, "license").to_owned(), text.join("\n"))).or_default().push(name.to_owned());
    }
    Ok(texts)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn written_out(texts: &Texts) -> String {
    let mut out = HEAD.to_owned();
    for ((license, text), crates) in texts {
        let line = "-".repeat(80);
        out.push_str(&format!("\n{line}\n{}: {license}\n{line}\n\n{text}\n", crates.join(", ")));
    }
    out
}
