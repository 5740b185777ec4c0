//! The conformance suite in testdata/format.

pub(crate) mod dump;
pub(crate) mod meaning;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// A file of the suite.
pub(crate) struct Case {
    /// The name, without an extension.
    pub(crate) name: String,
    /// The bytes of the dump.
    pub(crate) bytes: Vec<u8>,
    /// What the bytes mean, with integers for all numbers.
    pub(crate) meaning: Value,
}

impl Case {
    /// The member of the JSON, null if there is none.
    pub(crate) fn member(&self, key: &str) -> &Value {
        &self.meaning[key]
    }

    /// Whether readers must reject the file.
    pub(crate) fn is_bad(&self) -> bool {
        self.name.starts_with("bad-")
    }
}

/// A path below the root of the repository.
pub(crate) fn path(inside: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(inside)
}

/// All files of the suite.
pub(crate) fn cases() -> Vec<Case> {
    let directory = path("testdata/format");
    let entries = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
    let (readme, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.ends_with("README.md"));
    assert_eq!(readme.len(), 1);
    let names: BTreeSet<_> = files.iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(files.len(), 2 * names.len(), "each name has a dump and a meaning, and there are no other files");
    let case = |name: String| {
        let text = |extension| fs::read_to_string(directory.join(format!("{name}.{extension}"))).unwrap();
        let bytes = dump::bytes(&text("hex")).unwrap_or_else(|problem| panic!("{name}.hex: {problem}"));
        let meaning = serde_json::from_str(&text("json")).unwrap_or_else(|problem| panic!("{name}.json: {problem}"));
        Case { name, bytes, meaning: meaning::with_integers(meaning) }
    };
    names.into_iter().map(case).collect()
}
