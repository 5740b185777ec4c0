//! Facts about the run: most are remembered at the start, because the system may not reveal them later.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gmon::encode::side_file;
use gmon::layout::side_file::{PROPERTIES, property};

use crate::file::names::{NAME_SIZE, Once};
use crate::file::writer::Writer;
use crate::os::{push_command_line, push_host_name, push_program_path};
use crate::ownership::PROCESS;
use crate::per_process::PER_PROCESS;
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

static RUN: Once<Run> =
    Once(UnsafeCell::new(Run { path: Text::new(), command: Text::new(), host: Text::new(), rate: 0, is_wall: false }));

/// The rank of the process in its MPI job; [`NO_RANK`] if it is in none.
static RANK: AtomicU32 = AtomicU32::new(NO_RANK);
const NO_RANK: u32 = u32::MAX;

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
    push_command_line(&mut run.command);
    push_host_name(&mut run.host);
    (run.rate, run.is_wall) = (rate, is_wall);
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
        put_text(out, property::HOST, run().host.as_bytes());
        let rank = RANK.load(Relaxed);
        if rank != NO_RANK {
            put_number(out, property::RANK, u64::from(rank));
        }
        put_number(out, property::PID, PROCESS.load(Relaxed) as u64);
        put_text(out, property::COMMAND, run().command.as_bytes());
        let start = PER_PROCESS.start_time.load(Relaxed);
        if start != 0 {
            put_number(out, property::START, start);
        }
    });
}

/// Writes how the samples were taken.
pub(super) fn put_sampling(out: &mut Writer) {
    put_number(out, property::RATE, u64::from(run().rate));
    put_text(out, property::CLOCK, if run().is_wall { b"wall" } else { b"cpu" });
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
