//! What a profile says by the names of functions, for programs that know what they did.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gmon::{Hints, Profile};

/// Reads a profile.
///
/// # Panics
///
/// When there is none, or when it cannot be read.
#[must_use]
pub fn read(path: &Path) -> Profile {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    gmon::read(&bytes, &Hints::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Where functions begin, by `nm`.
#[derive(Debug)]
pub struct Symbols(BTreeMap<u64, String>);

impl Symbols {
    /// Those of an executable.
    ///
    /// # Panics
    ///
    /// When `nm` says no.
    #[must_use]
    pub fn of(executable: &Path) -> Symbols {
        let output = Command::new("nm").arg("--defined-only").arg(executable).output().expect("nm");
        assert!(output.status.success(), "nm: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = text.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
            let address = u64::from_str_radix(address, 16).ok()?;
            matches!(kind, "t" | "T" | "W").then(|| (address, name.to_owned()))
        });
        Symbols(lines.collect())
    }

    /// The function that an address is in.
    #[must_use]
    pub fn function(&self, address: u64) -> &str {
        self.0.range(..=address).next_back().map_or("", |(_, name)| name)
    }

    /// How often each function was called (`calls NAME`), and by which (`arc CALLER CALLEE`).
    #[must_use]
    pub fn calls(&self, profile: &Profile) -> BTreeMap<String, u64> {
        let mut calls = BTreeMap::new();
        for arc in profile.arcs.iter().filter(|arc| arc.count > 0) {
            // The call is before the return address, which may be the next function's.
            let (caller, callee) = (self.function(arc.frompc.saturating_sub(1)), self.function(arc.selfpc));
            *calls.entry(format!("calls {callee}")).or_default() += arc.count;
            *calls.entry(format!("arc {caller} {callee}")).or_default() += arc.count;
        }
        calls
    }

    /// How many samples each function has. A bin that two share is its first byte's.
    #[must_use]
    pub fn ticks(&self, profile: &Profile) -> BTreeMap<String, u64> {
        let mut ticks = BTreeMap::new();
        for histogram in &profile.histograms {
            let bin_size = (histogram.highpc - histogram.lowpc) / histogram.bins.len() as u64;
            for (bin, count) in histogram.bins.iter().enumerate().filter(|(_, count)| **count > 0) {
                let function = self.function(histogram.lowpc + bin as u64 * bin_size);
                *ticks.entry(function.to_owned()).or_default() += count;
            }
        }
        ticks
    }
}
