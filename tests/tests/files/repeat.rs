//! `gprof --repeat`: programs run in turns, and their profiles are compared in pairs. The programs leave profiles that
//! the test has made, so all numbers are exact.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gmon::side_file::{Checksum, SideFile};
use gmon::{Form, Word};
use gmon_tests::{directory, gprof, read};

use crate::difference::Build;

/// The samples of `changed` in each run of the base and of the new build: the machine becomes four times as slow and
/// fast again, and in each turn, the new build has 25 % more.
const CHANGED: [[u64; 5]; 2] = [[400, 800, 1600, 1200, 600], [498, 1004, 1990, 1506, 748]];

/// The samples of `steady` in each run.
const STEADY: [[u64; 5]; 2] = [[300, 610, 1190, 905, 452], [302, 606, 1196, 901, 449]];

/// Two builds, and the profiles that their runs leave.
struct Replay {
    place: PathBuf,
}

impl Replay {
    /// With side files, the profiles say when the runs began: in turns.
    fn new(name: &str, has_sides: bool) -> Replay {
        let place = directory(name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/replay.c");
        for (side, build) in ["base", "new"].into_iter().enumerate() {
            let image = place.join(format!("{build}.program"));
            let mut compiler = Command::new("cc");
            compiler.args(["-g", "-O1", "-fno-ipa-icf"]).arg(format!("-DNAME=\"{build}\"")).arg(&source).arg("-o");
            assert!(compiler.arg(&image).status().unwrap().success(), "cc");
            let built = Build::of(image);
            for run in 0..5 {
                let samples = [("changed", CHANGED[side][run]), ("steady", STEADY[side][run])];
                let samples = samples.map(|(name, count)| (built.at(name)[0], count, 1000));
                let profile = built.profile(&format!("{build}.{}", run + 1), 100, Form::Gnu, &samples);
                if has_sides {
                    // The base is first in the turns with odd numbers.
                    let start = 1000 + 2 * run + (side + run) % 2;
                    let mut side = SideFile::new(Word::W64);
                    side.set_profile(Some(Checksum::of(&fs::read(&profile).unwrap())));
                    side.add_property(b"start", start.to_string().as_bytes()).unwrap();
                    fs::write(format!("{}.side", profile.display()), side.write()).unwrap();
                }
            }
        }
        fs::write(place.join("input"), "a line\n").unwrap();
        Replay { place }
    }

    /// Runs gprof with these words, and then the words about the programs.
    fn repeat(&self, words: &[&str]) -> Output {
        let mut gprof = Command::new(gprof());
        gprof.current_dir(&self.place).stdin(File::open(self.place.join("input")).unwrap());
        gprof.args(words).args(["--against=./base.program", "--", "./new.program", "."]);
        gprof.output().unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.place.join("log")).unwrap()
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Catches runs in one order, a standard input that only the first run can read, profiles that are lost or in another
/// place, a comparison without pairs, a limit without effect, and a command that prints something else.
#[test]
fn two_programs_take_turns_and_are_compared_in_pairs() {
    let replay = Replay::new("repeat_pairs", true);
    let output = replay.repeat(&["-b", "--repeat=5", "-o", "runs", "--fail-if=slower:3%"]);
    let (report, messages) = texts(&output);
    assert_eq!(output.status.code(), Some(3), "{report}{messages}");
    let turns = ["base 1", "new 1", "new 2", "base 2", "base 3", "new 3", "new 4", "base 4", "base 5", "new 5"];
    assert_eq!(replay.log(), turns.map(|run| format!("{run} [a line]\n")).concat());
    for file in ["base.1", "base.5.side", "new.5", "new.5.side"] {
        let [kept, made] = [replay.place.join("runs").join(file), replay.place.join(file)];
        assert_eq!(fs::read(kept).unwrap(), fs::read(made).unwrap(), "{file}");
    }
    assert!(report.contains("Runs: 5 of the base, 5 now. They took turns"), "{report}");
    assert!(report.contains("slower: changed +24.9 %") && !report.contains("slower: steady"), "{report}");
    // The time of a run is that of the machine.
    let lines: Vec<&str> = messages.lines().filter(|line| !line.contains(" times the median.")).collect();
    assert_eq!(lines[0], "gprof: 1 of 5 runs of each program");
    assert!(lines[4].starts_with("gprof: 5 of 5 runs of each program: they show a growth from "), "{messages}");
    assert_eq!(lines[5], "gprof: this prints the report again: gprof @runs/report");
    assert!(lines[6].starts_with("slower: changed +24.9 %") && lines.len() == 7, "{messages}");
    let again = read(gprof(), &replay.place, &["@runs/report"]);
    assert_eq!((texts(&again).0, again.status.code()), (report, Some(3)));
    let shorter = texts(&read(gprof(), &replay.place, &["@runs/report", "--format=markdown", "--top=1"])).0;
    assert!(shorter.contains("**Beyond the limits: slower: changed +24.9 %"), "{shorter}");
    assert!(shorter.contains("| `changed` | slower | ") && !shorter.contains("`steady`"), "{shorter}");
}

/// Catches profiles that count as pairs although nothing tells when their runs began.
#[test]
fn runs_without_a_start_are_no_pairs() {
    let replay = Replay::new("repeat_runs", false);
    let output = replay.repeat(&["-b", "--repeat=5", "-o", "runs", "--fail-if=slower:3%"]);
    let (report, messages) = texts(&output);
    assert!(output.status.success(), "{report}{messages}");
    assert!(report.contains("compared with the spread between the runs of each side"), "{report}");
    assert!(!report.contains("slower:") && messages.contains("unsure: "), "{report}{messages}");
}

/// Catches a growth that is visible and does not end the runs, and an end before the least number of runs.
#[test]
fn runs_end_when_the_growth_is_visible() {
    let replay = Replay::new("repeat_until", true);
    // Pairs need four runs of each program. The spread of the first runs is that of the machine.
    let output = replay.repeat(&["-b", "--repeat=2", "--until=20%", "-o", "runs"]);
    let (report, messages) = texts(&output);
    assert!(output.status.success() && report.contains("Runs: 4 of the base, 4 now."), "{report}{messages}");
    assert!(messages.contains("gprof: 4 runs of each program: they show a growth from "), "{messages}");
}

/// Catches a run that failed and counts, and a message that does not say which run failed, how, and what to do.
#[test]
fn a_failure_ends_the_runs() {
    let replay = Replay::new("repeat_failure", true);
    fs::write(replay.place.join("new.2.status"), "7").unwrap();
    let output = replay.repeat(&["-b", "--repeat=5", "-o", "runs"]);
    let (report, messages) = texts(&output);
    assert_eq!((output.status.code(), report.as_str()), (Some(1), ""), "{messages}");
    let said = "gprof: ./new.program: run 2 ended with status 7: runs/messages has what it said.";
    assert!(messages.contains(said), "{messages}");
    assert_eq!(fs::read_to_string(replay.place.join("runs/messages")).unwrap(), "replay: no more\n");
    assert!(replay.place.join("runs/new.1").exists() && !replay.place.join("runs/new.2").exists());
    // The next run has no profile: the sixth is not there.
    fs::remove_file(replay.place.join("new.2.status")).unwrap();
    fs::remove_dir_all(replay.place.join("runs")).unwrap();
    let output = replay.repeat(&["-b", "--repeat=5", "-o", "runs"]);
    let messages = texts(&output).1;
    assert!(messages.contains("gprof: ./new.program: run 4 left no profile: "), "{messages}");
    let again = texts(&replay.repeat(&["--repeat=1", "-o", "runs"])).1;
    assert!(again.contains("'--output runs': the directory has files"), "{again}");
}
