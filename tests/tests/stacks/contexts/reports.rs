//! gprof's call graph.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

pub(crate) struct Report(Value);

impl Report {
    /// Runs gprof, which must print JSON.
    pub(crate) fn read(directory: &Path, words: &[&str]) -> Report {
        let output = print(directory, words);
        Report(serde_json::from_str(&output).unwrap_or_else(|error| panic!("{words:?}: {error}")))
    }

    fn name(&self, line: &Value) -> Option<&str> {
        let function = line["function"].as_u64()?;
        let functions = self.0["functions"].as_array().unwrap();
        functions.iter().find(|known| known["id"] == function).and_then(|known| known["name"].as_str())
    }

    fn entry(&self, function: &str) -> &Value {
        let entries = self.0["call_graph"].as_array().unwrap();
        let found = entries.iter().find(|entry| self.name(entry).is_some_and(|name| name == function));
        found.unwrap_or_else(|| panic!("no entry for {function}"))
    }

    /// The inclusive times of all functions, by symbol. Functions with the same symbol are added up.
    pub(crate) fn inclusive_by_symbol(&self) -> BTreeMap<&str, f64> {
        let functions = self.0["functions"].as_array().unwrap().iter();
        let symbols = functions.map(|known| (known["id"].as_u64().unwrap(), known["symbol"].as_str().unwrap()));
        let symbols: BTreeMap<u64, &str> = symbols.collect();
        let mut times = BTreeMap::new();
        for entry in self.0["call_graph"].as_array().unwrap() {
            if let Some(function) = entry["function"].as_u64() {
                *times.entry(symbols[&function]).or_default() += time(entry);
            }
        }
        times
    }

    /// Samples per second.
    pub(crate) fn rate(&self) -> f64 {
        self.0["time"]["samples_per_unit"].as_f64().unwrap()
    }

    /// The inclusive time of a function.
    pub(crate) fn inclusive(&self, function: &str) -> f64 {
        time(self.entry(function))
    }

    /// The time that a function spent for one of its callers.
    pub(crate) fn caller(&self, function: &str, caller: &str) -> f64 {
        let lines = self.entry(function)["above"].as_array().unwrap();
        lines.iter().find(|line| self.name(line).is_some_and(|name| name == caller)).map_or(0.0, time)
    }

    /// The inclusive time of a function in the text that GNU gprof prints.
    pub(crate) fn gnu(directory: &Path, function: &str) -> f64 {
        let text = print(directory, &["--compat=gnu", "-b", "-q", "program", "gmon.out"]);
        let rows = text.lines().filter(|line| line.starts_with('[')).map(|line| line.split_whitespace().collect());
        let row: Vec<&str> = rows.into_iter().find(|row: &Vec<&str>| row.contains(&function)).unwrap();
        row[2].parse::<f64>().unwrap() + row[3].parse::<f64>().unwrap()
    }
}

/// Self time and the time of called functions.
fn time(line: &Value) -> f64 {
    line["self"].as_f64().unwrap_or(0.0) + line["children"].as_f64().unwrap_or(0.0)
}

/// Runs gprof, which must succeed and print nothing on standard error.
fn print(directory: &Path, words: &[&str]) -> String {
    let output = gmon_tests::read(gmon_tests::gprof(), directory, words);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    assert!(output.status.success(), "{words:?}: {:?}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
