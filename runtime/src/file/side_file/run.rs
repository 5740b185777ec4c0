//! Facts about the run: most are remembered at the start, because the system may not reveal them later.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use gmon::encode::side_file;
use gmon::layout::side_file::{PROPERTIES, property};

use crate::file::names::{NAME_SIZE, Once};
use crate::file::writer::Writer;
use crate::os::{push_command_line, push_host_name, push_program_path};
use crate::ownership::{PROCESS, start_time};
use crate::state::{Inherited, Reset, resets};
use crate::text::{Digits, Text};

/// What is remembered at the start.
struct Run {
    /// The path of the executable file.
    path: Text<NAME_SIZE>,
    /// The words of the command line, each with a NUL after it. Those that do not fit are cut.
    command: Text<NAME_SIZE>,
    /// The name of the machine.
    host: Text<256>,
    /// Samples per second.
    rate: u32,
    /// Whether the samples are of wall-clock time.
    is_wall: bool,
}

static RUN: Inherited<Once<Run>> = Inherited::new(
    "the child is of the same program and the same job, on the same machine",
    Once(UnsafeCell::new(Run { path: Text::new(), command: Text::new(), host: Text::new(), rate: 0, is_wall: false })),
);

/// The rank of the process in its MPI job; [`NO_RANK`] if it is in none.
static RANK: Inherited<AtomicU32> =
    Inherited::new("the child is of the same program and the same job, on the same machine", AtomicU32::new(NO_RANK));
const NO_RANK: u32 = u32::MAX;

/// What takes the samples: a [`Sampled`].
static SAMPLER: Inherited<AtomicU32> =
    Inherited::new("set by each start of the sampler, in the child too", AtomicU32::new(Sampled::Unknown as u32));

resets! {
    /// The CPU time in nanoseconds for which samples are due, up to the last stop or look.
    static COUNTED_TIME: Reset<AtomicU64> = Reset::new();
}

/// Adds CPU time in nanoseconds for which samples are due.
#[allow(dead_code, reason = "the samplers of the BSDs do not say what they are")]
pub(crate) fn add_counted_time(nanoseconds: u64) {
    COUNTED_TIME.fetch_add(nanoseconds, Relaxed);
}

/// The CPU time in nanoseconds for which samples are due; 0 if it is not known.
pub(crate) fn counted_time() -> u64 {
    COUNTED_TIME.load(Relaxed)
}

/// What takes the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the samplers of the BSDs do not say what they are")]
pub(crate) enum Sampled {
    Unknown,
    /// A timer for each thread.
    ByThread,
    /// A timer for the process.
    ByProcess,
    /// The kernel's ring.
    ByRing,
    /// The kernel's ring, which leaves out the time in the kernel. So the CPU time does not say how many samples are
    /// due.
    ByBlindRing,
}

/// The values of the property, in the order of [`Sampled`].
const SAMPLERS: [&[u8]; 5] = [b"", b"timer", b"itimer", b"perf", b"perf"];

/// Sets what takes the samples.
#[allow(dead_code, reason = "as above")]
pub(crate) fn set_sampler(sampler: Sampled) {
    SAMPLER.store(sampler as u32, Relaxed);
}

/// Whether the process gets a signal at each sample.
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(crate) fn gets_ticks() -> bool {
    let sampler = SAMPLER.load(Relaxed);
    !run().is_wall && [Sampled::ByThread, Sampled::ByProcess].iter().any(|ticks| *ticks as u32 == sampler)
}

/// Sets the rank of the process in its MPI job.
pub(crate) fn set_rank(rank: Option<u32>) {
    RANK.store(rank.unwrap_or(NO_RANK), Relaxed);
}

/// Remembers the rate and the clock of the samples, and what the system says about the process.
///
/// # Safety
///
/// Call this only at start-up, once.
pub(crate) unsafe fn remember(rate: u32, is_wall: bool) {
    // SAFETY: the caller's promise.
    let run = unsafe { &mut *RUN.0.get() };
    push_program_path(&mut run.path);
    if run.command.as_bytes().is_empty() {
        push_command_line(&mut run.command);
    }
    push_host_name(&mut run.host);
    (run.rate, run.is_wall) = (rate, is_wall);
}

/// Remembers the words of the command line, which the kernel otherwise has to read.
///
/// # Safety
///
/// Call this only at start-up, before [`remember`].
#[allow(dead_code, reason = "not all systems pass the words to the runtime")]
pub(crate) unsafe fn remember_command<'a>(words: impl Iterator<Item = &'a CStr>) {
    // SAFETY: the caller's promise.
    let run = unsafe { &mut *RUN.0.get() };
    words.for_each(|word| run.command.push(word.to_bytes_with_nul()));
}

fn run() -> &'static Run {
    // SAFETY: nothing writes the value after start-up.
    unsafe { &*RUN.0.get() }
}

/// The path of the executable file; empty if unknown.
pub(super) fn program_path() -> &'static [u8] {
    run().path.as_bytes()
}

/// Writes the properties of the run.
pub(super) fn put(out: &mut Writer) {
    out.part(PROPERTIES, |out| {
        put_sampling(out);
        put_cpu_time(out);
        put_text(out, property::HOST, run().host.as_bytes());
        let rank = RANK.load(Relaxed);
        if rank != NO_RANK {
            put_number(out, property::RANK, u64::from(rank));
        }
        put_number(out, property::PID, PROCESS.load(Relaxed) as u64);
        put_text(out, property::COMMAND, run().command.as_bytes());
        let start = start_time();
        if start != 0 {
            put_number(out, property::START, start);
        }
    });
}

/// Writes the time since the start of the profile, in nanoseconds, as a part of its own.
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(crate) fn put_elapsed(out: &mut Writer, nanoseconds: u64) {
    out.part(PROPERTIES, |out| put_number(out, property::ELAPSED, nanoseconds));
}

/// Writes how the samples were taken.
pub(super) fn put_sampling(out: &mut Writer) {
    put_number(out, property::RATE, u64::from(run().rate));
    put_text(out, property::CLOCK, if run().is_wall { b"wall" } else { b"cpu" });
}

/// Writes what takes the samples, and the CPU time that they stand for. A file that is written at the start has no time
/// yet.
fn put_cpu_time(out: &mut Writer) {
    let sampler = SAMPLER.load(Relaxed);
    put_text(out, property::SAMPLER, SAMPLERS.get(sampler as usize).copied().unwrap_or(b""));
    let time = counted_time();
    if time != 0 && !run().is_wall && sampler != Sampled::ByBlindRing as u32 {
        put_number(out, property::CPU, time);
    }
}

/// Writes a property, unless it is not known.
#[inline(never)]
fn put_text(out: &mut Writer, key: &[u8], value: &[u8]) {
    if !value.is_empty() {
        side_file::property(out, key, value);
    }
}

#[inline(never)]
fn put_number(out: &mut Writer, key: &[u8], value: u64) {
    let mut text = Digits::new();
    text.push_decimal(value);
    put_text(out, key, text.as_bytes());
}
