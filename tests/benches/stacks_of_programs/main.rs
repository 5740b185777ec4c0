//! How many stacks of installed programs are whole under `gmon-run`, and where the others are cut: `cargo bench
//! --package gmon-tests --bench stacks_of_programs`. Words choose programs.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]
#![cfg(target_os = "linux")]

mod programs;
mod servers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon::side_file::{CutReason, GENERATED, SideFile};

/// The rates in samples per second, with what takes the samples: the timers of the threads up to the kernel's own rate,
/// and the ring above.
const RATES: [(&str, u32); 2] = [("timers", 250), ("ring", 1000)];
/// The number of places that a row names, the most frequent first.
const MOST_PLACES: usize = 3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stacks-of-programs");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    println!("| program | version | sampled by | samples | whole | cut at |");
    println!("|---|---|---|---|---|---|");
    for program in programs::all(&directory) {
        if !words.is_empty() && !words.iter().any(|word| word == program.name) {
            continue;
        }
        if let Some(missing) = program.needs.iter().find(|name| !gmon_tests::has_program(name, program.name)) {
            println!("| {} | no {missing} on this system | | | | |", program.name);
            continue;
        }
        for (sampler, rate) in RATES {
            let stacks = Stacks::of(&program.run(&directory, rate));
            let share = (stacks.samples - stacks.cut()) as f64 * 100.0 / stacks.samples.max(1) as f64;
            println!(
                "| {} | {} | {sampler}, {rate} Hz | {} | **{share:.2} %** | {} |",
                program.name,
                program.version(),
                stacks.samples,
                stacks.places()
            );
        }
    }
}

/// The samples of the processes of a program.
#[derive(Default)]
struct Stacks {
    samples: u64,
    /// Those without a whole stack, by the reason and by the innermost known function that has no caller.
    cuts: BTreeMap<(u32, String), u64>,
}

impl Stacks {
    /// The samples in the side files of profiles. Late ticks, which have no stack that could be whole or not, do not
    /// count.
    fn of(profiles: &[PathBuf]) -> Stacks {
        let mut stacks = Stacks::default();
        for profile in profiles {
            let path = profile.with_added_extension("side");
            let side = SideFile::parse(&fs::read(&path).unwrap()).unwrap();
            let names = Names::of(&side);
            stacks.samples += side.contexts().total();
            for (reason, ticks) in side.unwalked().filter(|(reason, _)| *reason != CutReason::NO_STACK) {
                stacks.samples += ticks;
                *stacks.cuts.entry((reason.code(), String::from("no frame"))).or_insert(0) += ticks;
            }
            let nodes = side.contexts().nodes();
            let mut below: Vec<Option<(u32, usize)>> = Vec::with_capacity(nodes.len());
            for (index, node) in nodes.iter().enumerate() {
                let above = node.parent().and_then(|parent| below[parent].or(Some((u32::MAX, parent))));
                let cut = match (node.cut(), above) {
                    (Some(reason), _) => Some((reason.code(), usize::MAX)),
                    (None, Some((reason, place))) if reason != u32::MAX => {
                        Some((reason, if place == usize::MAX { index } else { place }))
                    }
                    _ => None,
                };
                if let Some((reason, place)) = cut.filter(|_| node.ticks() > 0) {
                    let place = nodes.get(place).map_or_else(String::new, |node| names.of_place(node.place()));
                    *stacks.cuts.entry((reason, place)).or_insert(0) += node.ticks();
                }
                below.push(cut);
            }
        }
        stacks
    }

    fn cut(&self) -> u64 {
        self.cuts.values().sum()
    }

    /// The places with most cuts, and their samples.
    fn places(&self) -> String {
        let mut places: Vec<_> = self.cuts.iter().collect();
        places.sort_by_key(|(_, ticks)| std::cmp::Reverse(**ticks));
        let others: u64 = places.iter().skip(MOST_PLACES).map(|(_, ticks)| **ticks).sum();
        let shown = places.iter().take(MOST_PLACES);
        let mut texts: Vec<_> = shown.map(|((reason, place), ticks)| format!("{place} ({reason}): {ticks}")).collect();
        if others > 0 {
            texts.push(format!("elsewhere: {others}"));
        }
        texts.join(", ")
    }
}

/// The names of the functions of a side file's objects.
struct Names<'a> {
    side: &'a SideFile,
    /// For each object the addresses and the names of its exported functions.
    functions: BTreeMap<u32, BTreeMap<u64, String>>,
}

impl<'a> Names<'a> {
    fn of(side: &'a SideFile) -> Names<'a> {
        let shared = side.objects().map(|(number, object)| {
            let path = String::from_utf8_lossy(&object.path).into_owned();
            let lines = |option| {
                let output = Command::new("nm").args([option, "--defined-only", &path]).output();
                output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
            };
            let texts = if path.starts_with('/') { [lines("-D"), lines("-a")].concat() } else { String::new() };
            let functions = texts.lines().filter_map(|line| {
                let mut words = line.split(' ');
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                let name =
                    words.nth(1).filter(|_| line.contains(" T ") || line.contains(" t ") || line.contains(" W "));
                Some((address, name?.split('@').next()?.to_owned()))
            });
            (number, functions.collect())
        });
        Names { side, functions: shared.collect() }
    }

    /// The object and the function of a place. A return address is behind the call.
    fn of_place(&self, place: gmon::side_file::Place) -> String {
        let Some(object) = self.side.object(place.object) else { return format!("object {:#x}", place.object) };
        let path = String::from_utf8_lossy(&object.path).into_owned();
        let file = path.rsplit('/').next().unwrap_or_default();
        if *object.path == *GENERATED {
            return file.to_owned();
        }
        let functions = &self.functions[&place.object];
        let function = functions.range(..=place.address.saturating_sub(1)).next_back();
        function.map_or_else(|| format!("{file}+{:#x}", place.address), |(_, name)| format!("`{name}` of {file}"))
    }
}
