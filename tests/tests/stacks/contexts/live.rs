//! With `GMON_LIVE=1`, the calling contexts can be read while the program runs, and after it was killed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use gmon::side_file::{CutReason, SideFile};
use gmon_tests::random::Random;

use crate::contexts::run::Run;
use crate::contexts::soak::build;
use crate::support::Program;

/// The largest number of threads that an order starts, and the main thread.
const THREADS: u64 = 4;

/// A program that does what it is told.
struct Told<'p> {
    program: &'p Program,
    child: Child,
    orders: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl<'p> Told<'p> {
    /// Starts the program, whose timers count next to nothing.
    fn start(program: &'p Program, variables: &[(&str, &str)]) -> Told<'p> {
        let mut command = program.command(&[]);
        command.env("GMON_LIVE", "1").env("GMON_HZ", "1").env("GMON_SAMPLER", "timer").envs(variables.iter().copied());
        Told::spawn(program, command)
    }

    fn spawn(program: &'p Program, mut command: Command) -> Told<'p> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Told { program, child, orders, output }
    }

    /// Gives an order and waits until the program has obeyed. The result is what the program printed.
    fn obey(&mut self, order: &str) -> String {
        writeln!(self.orders, "{order}").unwrap();
        let (mut printed, mut line) = (String::new(), String::new());
        while self.output.read_line(&mut line).unwrap() > 0 && line != "done\n" {
            printed += &line;
            line.clear();
        }
        assert_eq!(line, "done\n", "the program ended: {order}");
        printed
    }

    /// The largest number of samples that timers may have added: the seconds of CPU time, and the first sample of each
    /// thread.
    fn of_timers(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name of the program may contain blanks. The 12th and 13th field behind the name are CPU times in
        // hundredths of a second.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let times: u64 = fields[11..13].iter().map(|time| time.parse::<u64>().unwrap()).sum();
        times.div_ceil(100) + THREADS
    }

    /// Reads the files, and checks their sums: `sent` samples, and few samples of the timers.
    fn read(&self, sent: u64) -> Run {
        let run = Run::read(self.program, &self.program.directory.join("gmon.out"));
        run.check_sums();
        assert!(run.side.is_live());
        let most = sent + self.of_timers();
        assert!((sent..=most).contains(&run.total()), "{} samples, sent {sent}, at most {most}", run.total());
        run
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        assert_eq!(self.child.wait().unwrap().signal(), Some(9));
    }

    /// Kills the program, and checks that the files have the same counts as before.
    fn killed(self, sent: u64) -> Run {
        let (program, before) = (self.program, self.read(sent));
        self.kill();
        let after = Run::read(program, &program.directory.join("gmon.out"));
        after.check_sums();
        assert_eq!((after.side, after.profile), (before.side.clone(), before.profile.clone()));
        before
    }

    /// Ends the input, so that the program ends.
    fn end(mut self) -> Run {
        drop(self.orders);
        assert!(self.child.wait().unwrap().success());
        let run = Run::read(self.program, &self.program.directory.join("gmon.out"));
        run.check_sums();
        assert!(!run.side.is_live());
        run
    }
}

/// The samples in a function, its callees included.
fn inclusive(run: &Run, function: &str) -> u64 {
    run.inclusive().get(function).copied().unwrap_or(0)
}

/// What gprof prints.
fn gprof(directory: &Path, words: &[&str]) -> String {
    let output = Command::new(gmon_tests::gprof()).args(words).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_killed_program_loses_no_sample() {
    let program = build("killed", "live.c", 0, &[]);
    let mut told = Told::start(&program, &[]);
    told.obey("burn 1000");
    assert!(inclusive(&told.read(1000), "outer") >= 1000);
    told.obey("threads 3 500");
    assert!(inclusive(&told.read(2500), "in_thread") >= 1500);
    // More contexts than the nodes that are mapped at the start.
    told.obey("paths 3000");
    let run = told.killed(5500);
    assert!(inclusive(&run, "outer") >= 2500 && inclusive(&run, "burn") >= 5500, "{:?}", run.inclusive());
    assert!(run.side.contexts().nodes().len() > 16_000);
    let contexts = gprof(&program.directory, &["--contexts", "program", "gmon.out"]);
    assert!(contexts.contains("in_thread") && contexts.contains("outer"), "{contexts}");
    let info = gprof(&program.directory, &["--file-info", "program", "gmon.out"]);
    assert!(info.contains("running or killed"), "{info}");
}

#[test]
fn the_end_replaces_the_live_file() {
    let program = build("ended", "live.c", 1, &[]);
    let mut told = Told::start(&program, &[]);
    for order in ["burn 1000", "open ./plug0.so 300", "paths 3000"] {
        told.obey(order);
    }
    told.read(4300);
    let ended = told.end();
    let of_timers = ended.side.cpu_time().unwrap().div_ceil(1_000_000_000) + THREADS;
    assert!((4300..=4300 + of_timers).contains(&ended.total()), "{} samples", ended.total());
    assert!(inclusive(&ended, "outer") >= 1000);
    assert_eq!(fs::read_dir(&program.directory).unwrap().count(), 4, "the program, its object, and two files");
    let plug = |run: &Run| run.side.objects().filter(|(_, object)| object.path.ends_with(b"plug0.so")).count();
    assert_eq!(plug(&ended), 1);
}

#[test]
fn objects_that_come_and_go_keep_their_samples() {
    let program = build("objects", "live.c", 2, &[]);
    for ends in [false, true] {
        let mut told = Told::start(&program, &[]);
        let in_plug = |run: &Run, plug: u32| -> u64 {
            let file = format!("/plug{plug}.so");
            let path = |path: &[u8]| String::from_utf8_lossy(path).ends_with(&file);
            let numbers = run.side.objects().filter(|(_, object)| path(&object.path)).map(|(number, _)| number);
            numbers.map(|number| run.samples_in(number)).sum()
        };
        let mut sent = [0, 0];
        for round in 0..100_u32 {
            let plug = round % 3 / 2;
            told.obey(&format!("open {}/plug{plug}.so {}", program.directory.display(), 10 + round));
            sent[plug as usize] += u64::from(10 + round);
            if round % 10 < 2 {
                let run = told.read(sent[0] + sent[1]);
                for plug in [0, 1] {
                    let (found, sent) = (in_plug(&run, plug), sent[plug as usize]);
                    let most = sent + told.of_timers();
                    assert!((sent..=most).contains(&found), "{round}: {found} in {plug}, sent {sent}");
                }
            }
            if round < 99 {
                told.obey("close");
            }
        }
        let all = sent[0] + sent[1];
        let run = if ends { told.end() } else { told.killed(all) };
        assert!(in_plug(&run, 0) >= sent[0] && in_plug(&run, 1) >= sent[1]);
        assert!(inclusive(&run, "serve") >= all, "{:?}", run.inclusive());
    }
}

#[test]
fn a_fork_child_leaves_the_live_file_to_its_parent() {
    let program = build("forks", "live.c", 0, &[]);
    let mut told = Told::start(&program, &[]);
    told.obey("burn 100");
    let printed = told.obey("fork 5000");
    told.obey("burn 100");
    told.read(200);
    let child = printed.trim().strip_prefix("child ").unwrap();
    assert!(Command::new("kill").args(["-KILL", child]).status().unwrap().success());
    let most = 200 + told.of_timers();
    assert!((200..=most).contains(&inclusive(&told.killed(200), "outer")));
}

#[test]
fn threads_have_names_in_a_live_file() {
    let program = build("named", "live.c", 0, &[]);
    let mut told = Told::start(&program, &[("GMON_THREADS", "1")]);
    told.obey("burn 100");
    told.obey("threads 3 200");
    let run = told.killed(700);
    let mut ticks: Vec<u64> = run.side.threads().iter().map(|thread| thread.ticks).collect();
    ticks.sort_unstable();
    assert_eq!(run.side.threads().len(), 4, "{:?}", run.side.threads());
    assert!(ticks[0] >= 100 && ticks[1] >= 200 && ticks.iter().sum::<u64>() == run.total(), "{ticks:?}");
    assert!(run.side.threads().iter().all(|thread| thread.name == b"program" && thread.number > 0));
}

#[test]
fn a_snapshot_keeps_the_live_file() {
    let program = build("dumped", "live.c", 1, &[]);
    let mut told = Told::start(&program, &[]);
    let calls = |run: &Run| run.side.calls().iter().map(|part| part.calls().len()).sum::<usize>();
    told.obey("open ./plug0.so 50");
    assert_eq!(calls(&told.read(50)), 0);
    for round in 1..6 {
        told.obey("dump");
        told.obey("burn 100");
        let run = told.read(50 + round * 100);
        assert!(calls(&run) >= 2, "{round}: {:?}", run.side.calls());
        assert_eq!(run.side.calls().len(), 1, "the calls of one snapshot");
    }
    told.killed(550);
}

/// A handler counts a sample first in the profile, and then in the tree.
#[test]
fn a_program_that_is_killed_while_it_counts_lacks_a_sample_for_each_thread_at_most() {
    const THREADS: u64 = 3;
    let program = build("busy", "live.c", 0, &[]);
    let mut random = Random::new(1);
    for round in 0..40 {
        let mut told = Told::start(&program, &[]);
        told.obey(&format!("forever {THREADS}"));
        if round % 4 == 0 {
            // A reader of a running program sees each part at another moment.
            let side = fs::read(program.directory.join("gmon.out.side")).unwrap();
            SideFile::parse(&side).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_micros(random.below(20_000)));
        told.kill();
        let run = Run::read(&program, &program.directory.join("gmon.out"));
        let cut: u64 = run.side.unwalked().map(|(_, ticks)| ticks).sum();
        let missing = run.total().checked_sub(run.side.contexts().total() + cut);
        assert!(missing.is_some_and(|missing| missing <= THREADS), "{missing:?}");
        assert!(run.cuts().get(&CutReason::UNFINISHED).is_none_or(|ticks| *ticks <= THREADS));
    }
}

#[test]
fn without_room_the_side_file_is_written_at_the_end() {
    let program = build("room", "live.c", 0, &[]);
    // Blocks of 512 bytes: room for the profile, but not for the live side file.
    let script = format!("ulimit -f 512; exec {}", program.executable.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&program.directory);
    shell.env("GMON_LIVE", "1").env("GMON_HZ", "1").env("GMON_SAMPLER", "timer").stderr(Stdio::piped());
    let mut told = Told::spawn(&program, shell);
    told.obey("burn 1000");
    let mut said = told.child.stderr.take().unwrap();
    let run = told.end();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut said, &mut text).unwrap();
    assert_eq!(
        text,
        "gmon: GMON_LIVE: writing gmon.out.side only at the end: cannot map it: file too large (error 27)\n"
    );
    assert!(inclusive(&run, "outer") >= 1000);
}

#[test]
fn without_stacks_there_is_no_tree_in_a_live_file() {
    let program = build("off", "live.c", 0, &[]);
    let mut told = Told::start(&program, &[("GMON_STACKS", "0")]);
    told.obey("burn 100");
    let side = fs::read(program.directory.join("gmon.out.side")).unwrap();
    assert!(SideFile::parse(&side).unwrap().contexts().nodes().is_empty() && side.len() < 1 << 16);
    told.kill();
}
