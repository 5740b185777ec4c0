//! The cost of walking a stack in a signal handler: nanoseconds for each frame, and bytes of the handler's stack.
//! `cargo bench --package gmon-tests --bench unwind`.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run says why and stops")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use gmon_runtime::objects::publish;
use gmon_runtime::unwind::while_closing;

const WALKS: u64 = 2000;
const STACK: usize = 1 << 16;
const PAINT: u8 = 0xa5;

static FRAMES: AtomicUsize = AtomicUsize::new(0);
/// Nanoseconds of all walks with a cache that knows all frames, and with one that knows none.
static WITH_CACHE: AtomicU64 = AtomicU64::new(0);
static WITHOUT_CACHE: AtomicU64 = AtomicU64::new(0);

/// The CPU time of this thread in nanoseconds.
fn thread_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Walks once; returns the number of frames.
#[inline(never)]
fn walk(context: *const c_void) -> usize {
    let mut frames = 0;
    gmon_runtime::unwind::walk(context, |frame| {
        black_box(frame);
        frames += 1;
        true
    });
    frames
}

/// Makes the cache forget, as a `dlclose` does.
fn forget() {
    while_closing(|| (), || ());
}

extern "C" fn walk_often(_: c_int, _: *mut c_void, context: *mut c_void) {
    FRAMES.store(walk(context), Relaxed);
    let nanoseconds = |before: fn()| {
        let start = thread_time();
        for _ in 0..WALKS {
            before();
            black_box(walk(context));
        }
        thread_time() - start
    };
    WITH_CACHE.store(nanoseconds(|| ()), Relaxed);
    WITHOUT_CACHE.store(nanoseconds(forget), Relaxed);
}

extern "C" fn walk_once(_: c_int, _: *mut c_void, context: *mut c_void) {
    forget();
    black_box(walk(context));
}

extern "C" fn nothing(_: c_int, _: *mut c_void, _: *mut c_void) {}

/// Raises a signal below a number of calls.
#[inline(never)]
fn below(calls: usize, handler: extern "C" fn(c_int, *mut c_void, *mut c_void)) -> usize {
    if calls > 0 {
        return black_box(below(calls - 1, handler)) + 1;
    }
    // SAFETY: a handler with this signature is installed with SA_SIGINFO.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
        libc::raise(libc::SIGUSR1);
    }
    0
}

/// The bytes of a signal stack that a handler uses, the kernel's frame included.
fn stack_of(handler: extern "C" fn(c_int, *mut c_void, *mut c_void)) -> usize {
    let stack = Box::leak(vec![PAINT; STACK].into_boxed_slice());
    let signal_stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
    let off = libc::stack_t { ss_flags: libc::SS_DISABLE, ..signal_stack };
    // SAFETY: the stack is leaked.
    unsafe { libc::sigaltstack(&raw const signal_stack, std::ptr::null_mut()) };
    below(20, handler);
    // SAFETY: no handler runs.
    unsafe { libc::sigaltstack(&raw const off, std::ptr::null_mut()) };
    stack.iter().skip_while(|byte| **byte == PAINT).count()
}

fn main() {
    publish(true);
    println!("| frames | with a cache | without | per frame with a cache | without |");
    println!("|---|---|---|---|---|");
    for calls in [0, 10, 30, 100, 1000] {
        below(calls, walk_often);
        let frames = FRAMES.load(Relaxed);
        let [with, without] = [&WITH_CACHE, &WITHOUT_CACHE].map(|sum| sum.load(Relaxed) as f64 / WALKS as f64);
        let each = |sum: f64| sum / frames as f64;
        println!("| {frames} | {with:.0} ns | {without:.0} ns | **{:.1} ns** | {:.1} ns |", each(with), each(without));
    }
    let [walk, nothing] = [stack_of(walk_once), stack_of(nothing)];
    println!("\nA walk without a cache uses {} bytes of the handler's stack.", walk - nothing);
}
