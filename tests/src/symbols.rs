//! Reads calls and ticks from a profile by function name, for programs whose counts are known.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use gmon::{Hints, Profile};

/// Reads a profile.
///
/// # Panics
///
/// If the file is missing or cannot be parsed.
#[must_use]
pub fn read(path: &Path) -> Profile {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    gmon::read(&bytes, &Hints::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The addresses of functions, from `nm`.
#[derive(Debug)]
pub struct Symbols(BTreeMap<u64, String>);

impl Symbols {
    /// Reads the functions of an executable.
    ///
    /// # Panics
    ///
    /// If `nm` fails.
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

    /// Returns the function that contains an address.
    #[must_use]
    pub fn function(&self, address: u64) -> &str {
        self.0.range(..=address).next_back().map_or("", |(_, name)| name)
    }

    /// Returns the first address of a function.
    ///
    /// # Panics
    ///
    /// If there is no such function.
    #[must_use]
    pub fn address(&self, name: &str) -> u64 {
        let found = self.0.iter().find(|(_, known)| *known == name);
        *found.unwrap_or_else(|| panic!("no function {name}")).0
    }

    /// Returns the number of calls of each function (`calls NAME`) and of each arc (`arc CALLER CALLEE`).
    #[must_use]
    pub fn calls(&self, profile: &Profile) -> BTreeMap<String, u64> {
        let mut calls = BTreeMap::new();
        for arc in profile.arcs().iter().filter(|arc| arc.count > 0) {
            // The call instruction is before the return address. The return address may be in the next function.
            let (caller, callee) = (self.function(arc.frompc.saturating_sub(1)), self.function(arc.selfpc));
            *calls.entry(format!("calls {callee}")).or_default() += arc.count;
            *calls.entry(format!("arc {caller} {callee}")).or_default() += arc.count;
        }
        calls
    }

    /// Returns the number of samples of each function. A bin counts for the function that contains the bin's first
    /// byte.
    #[must_use]
    pub fn ticks(&self, profile: &Profile) -> BTreeMap<String, u64> {
        let mut ticks = BTreeMap::new();
        for histogram in profile.histograms() {
            let bin_size = (histogram.highpc() - histogram.lowpc()) / histogram.len();
            for (bin, count) in histogram.hit() {
                let function = self.function(histogram.lowpc() + bin * bin_size);
                *ticks.entry(function.to_owned()).or_default() += u64::try_from(count).expect("a count");
            }
        }
        ticks
    }
}
