//! The live side file is whole at every instant: before each instruction of a handler that counts a sample, and before
//! and after each system call. So it does not matter when the program is killed.

use gmon_tests::profiles::samples;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use gmon::layout::side_file::{FILLER, HEADER_SIZE, LIVE, PART_HEADER_SIZE};
use gmon::side_file::{Samples, SideFile};
use nix::sys::ptrace::{self, Options};
use nix::unistd::Pid;

use crate::contexts::soak::build;
use crate::support::read;

/// The signal of the timers.
const SAMPLING: i32 = 60;

/// Why the program has stopped.
#[derive(Debug, PartialEq)]
enum Stop {
    Ended(i32),
    /// Before or after a system call.
    Call,
    /// After a step, or before a signal.
    Signal(i32),
}

/// A program that counts in a live side file, under ptrace.
struct Traced {
    task: Pid,
    profile: PathBuf,
    side: PathBuf,
    /// What the file had when it was last read: ticks, objects, and calls.
    known: (u64, usize, usize),
    /// How often the file was read.
    reads: usize,
}

impl Traced {
    /// Starts a program, which is stopped before its first instruction.
    fn start(mut command: Command, profile: PathBuf) -> Traced {
        // SAFETY: between fork and exec the closure makes one system call and nothing else.
        unsafe { command.pre_exec(|| Ok(ptrace::traceme()?)) };
        let child = command.spawn().unwrap();
        let task = Pid::from_raw(child.id().try_into().unwrap());
        // From now on, the test waits for the program by its number.
        std::mem::forget(child);
        let side = profile.with_added_extension("side");
        let traced = Traced { task, profile, side, known: (0, 0, 0), reads: 0 };
        assert_eq!(traced.wait(), Stop::Signal(libc::SIGTRAP));
        ptrace::setoptions(task, Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACESYSGOOD).unwrap();
        traced
    }

    /// Waits until the program stops. (`nix` knows no signals like that of the timers.)
    fn wait(&self) -> Stop {
        let mut status = 0;
        // SAFETY: the kernel writes the status.
        assert_eq!(unsafe { libc::waitpid(self.task.as_raw(), &raw mut status, 0) }, self.task.as_raw());
        if !libc::WIFSTOPPED(status) {
            return Stop::Ended(status);
        }
        match libc::WSTOPSIG(status) {
            signal if signal == libc::SIGTRAP | 0x80 => Stop::Call,
            signal => Stop::Signal(signal),
        }
    }

    /// Lets the program go on with a signal, or with none (0), until it stops.
    fn go_on(&self, request: libc::c_uint, signal: i32) -> Stop {
        // SAFETY: the program is stopped, and the kernel uses no memory of this process.
        let result = unsafe { libc::ptrace(request, self.task.as_raw(), 0_usize, signal as usize) };
        assert_eq!(result, 0);
        self.wait()
    }

    /// Runs the handler of the timers' signal, and reads the file after each instruction that has changed it.
    fn step_through_handler(&mut self) {
        let place = |registers: libc::user_regs_struct| (registers.rip, registers.rsp);
        let interrupted = place(ptrace::getregs(self.task).unwrap());
        let file = File::open(&self.side).unwrap();
        let ranges = changing(&fs::read(&self.side).unwrap());
        let contents = || {
            let mut contents = vec![0; ranges.iter().map(ExactSizeIterator::len).sum()];
            let mut left = &mut contents[..];
            for range in &ranges {
                let (piece, rest) = left.split_at_mut(range.len());
                file.read_exact_at(piece, range.start as u64).unwrap();
                left = rest;
            }
            contents
        };
        let (mut before, mut signal) = (contents(), SAMPLING);
        loop {
            assert_eq!(self.go_on(libc::PTRACE_SINGLESTEP, signal), Stop::Signal(libc::SIGTRAP));
            signal = 0;
            let now = contents();
            if now != before {
                self.check(true);
                before = now;
            }
            if place(ptrace::getregs(self.task).unwrap()) == interrupted {
                return self.check(false);
            }
        }
    }

    /// Reads the file, as if the program were killed now, in a handler or not.
    fn check(&mut self, in_handler: bool) {
        // The file is not there yet, or no more.
        let Ok(bytes) = fs::read(&self.side) else { return };
        if bytes.len() < HEADER_SIZE || u32::from(bytes[12]) & LIVE == 0 {
            return;
        }
        let side = SideFile::parse(&bytes).unwrap();
        let ticks = side.contexts().total() + side.unwalked().map(|(_, ticks)| ticks).sum::<u64>();
        let in_profile: u64 = samples(&read(&self.profile));
        let all = in_profile + side.samples().iter().map(Samples::total).sum::<u64>();
        let (found, known) = ((ticks, side.objects().count(), side.calls().len()), self.known);
        // A sample is counted in the profile first, and in the tree when its walk is over.
        assert!(ticks == all || (in_handler && ticks == known.0 && ticks < all), "{ticks} of {all}");
        assert!(found.0 >= known.0 && found.1 >= known.1 && found.2 >= known.2, "{found:?} after {known:?}");
        assert!(found.2 <= 1, "the calls of one snapshot");
        self.known = found;
        self.reads += 1;
    }
}

/// The parts of a live file that a handler can change: all but the room for calls, and the first nodes.
fn changing(bytes: &[u8]) -> [Range<usize>; 2] {
    const ROOM_FOR_CALLS: usize = 1 << 19;
    const NODES: usize = 1 << 12;
    let mut at = HEADER_SIZE;
    loop {
        let length = u64::from_ne_bytes(bytes[at + 8..at + 16].try_into().unwrap()) as usize;
        let behind = at + PART_HEADER_SIZE + length.next_multiple_of(8);
        if bytes[at..at + 4] == FILLER && length >= ROOM_FOR_CALLS {
            return [0..at + PART_HEADER_SIZE, behind..behind + NODES];
        }
        at = behind;
    }
}

#[test]
fn a_live_side_file_is_whole_at_every_instant() {
    let program = build("instants", "live.c", 1, &[]);
    let orders = program.directory.join("orders");
    let first = "burn 1\nopen ./plug0.so 2\nburn 1\n";
    fs::write(&orders, format!("{first}dump\nburn 1\ndump\nclose\nopen ./plug0.so 1\ndump\n")).unwrap();
    let mut command = program.command(&[]);
    command.env("GMON_LIVE", "1").env("GMON_HZ", "1").env("GMON_SAMPLER", "timer");
    command.stdin(File::open(&orders).unwrap()).stdout(Stdio::null());
    let mut traced = Traced::start(command, program.directory.join("gmon.out"));
    let mut signal = 0;
    loop {
        let stop = traced.go_on(libc::PTRACE_SYSCALL, signal);
        signal = 0;
        match stop {
            Stop::Ended(status) => break assert_eq!(status, 0),
            Stop::Call => traced.check(false),
            Stop::Signal(SAMPLING) => traced.step_through_handler(),
            Stop::Signal(other) => signal = other,
        }
    }
    let (ticks, _, calls) = traced.known;
    assert!(ticks >= 6 && calls == 1 && traced.reads > 300, "{ticks} {calls} {}", traced.reads);
}
