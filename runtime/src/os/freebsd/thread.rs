//! Processes, threads, and processors.

use core::ffi::c_void;

use super::sysctl::sysctl;
use super::{Errno, call, numbers};

const CLOCK_REALTIME: usize = 0;
const CLOCK_VIRTUAL: usize = 1;
const CLOCK_PROF: usize = 2;
const CLOCK_PROCESS_CPUTIME_ID: usize = 15;
const SECOND: u64 = 1_000_000_000;

/// Returns this process's ID.
pub(crate) fn process_id() -> i32 {
    known_process_id().unwrap_or(0)
}

/// Returns this process's ID. The call works in every process.
pub(crate) fn known_process_id() -> Option<i32> {
    // SAFETY: no arguments.
    unsafe { call(numbers::GETPID, []) }.ok().map(|id| id as i32)
}

/// Returns whether the program was executed set-user-ID or set-group-ID.
pub(crate) fn has_other_rights() -> bool {
    // SAFETY: no arguments; the call cannot fail.
    let answer = unsafe { call(numbers::ISSETUGID, []) };
    answer != Ok(0)
}

/// Waits for a millisecond.
pub fn a_moment() {
    wait(SECOND / 1000);
}

/// Waits for a number of nanoseconds, or until a signal arrives.
pub(crate) fn wait(nanoseconds: u64) {
    let time = [nanoseconds / SECOND, nanoseconds % SECOND];
    // SAFETY: the kernel reads a struct timespec.
    let _ = unsafe { call(numbers::NANOSLEEP, [(&raw const time).addr(), 0]) };
}

/// Returns the CPU time that the process has used, in nanoseconds.
pub(crate) fn process_time() -> Option<u64> {
    clock_time(CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the CPU time that the process has used in system calls, in nanoseconds; 0 if the time is unknown.
pub(crate) fn system_time() -> u64 {
    let [all, user] = [CLOCK_PROF, CLOCK_VIRTUAL].map(|clock| clock_time(clock).unwrap_or(0));
    all.saturating_sub(user)
}

/// Returns the time since 1970 in nanoseconds, or 0 if the time is unknown.
pub(crate) fn unix_time() -> u64 {
    clock_time(CLOCK_REALTIME).unwrap_or(0)
}

fn clock_time(clock: usize) -> Option<u64> {
    let mut time = [0_u64; 2];
    // SAFETY: the kernel writes a struct timespec.
    unsafe { call(numbers::CLOCK_GETTIME, [clock, time.as_mut_ptr().addr()]) }.ok()?;
    let [seconds, nanoseconds] = time;
    Some(seconds.wrapping_mul(SECOND).wrapping_add(nanoseconds))
}

/// Yields the processor to other threads.
pub(crate) fn give_way() {
    // SAFETY: no arguments.
    let _ = unsafe { call(numbers::SCHED_YIELD, []) };
}

/// Returns the effective user ID of the process.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: no arguments; the call cannot fail.
    unsafe { call(numbers::GETEUID, []) }.unwrap_or(0) as u32
}

/// Returns the kernel's ID of this thread. Called below mcount.
pub fn thread_id() -> i32 {
    let mut id = 0_isize;
    // SAFETY: the kernel writes a long.
    match unsafe { call(numbers::THR_SELF, [(&raw mut id).addr()]) } {
        // SAFETY: the variable is local and initialized.
        Ok(_) => unsafe { (&raw const id).read_volatile() as i32 },
        Err(_) => UNKNOWN_THREAD,
    }
}

/// An ID that no thread has.
pub(crate) const UNKNOWN_THREAD: i32 = -1;

/// Returns whether no thread of this process has the ID.
pub(crate) fn thread_is_gone(id: i32) -> bool {
    // SAFETY: signal 0 is not delivered; the kernel only checks whether the thread exists.
    let result = unsafe { call(numbers::THR_KILL, [id as usize, 0]) };
    result == Err(Errno::ESRCH)
}

/// Returns whether this is the only thread of the process.
pub(crate) fn is_only_thread() -> bool {
    const ALL_OTHERS: i32 = -1;
    thread_is_gone(ALL_OTHERS)
}

/// Prepares a thread for system calls of the runtime. Does nothing on FreeBSD.
pub(crate) fn enter_thread() {}

/// Ends the process.
pub(crate) fn exit_process(status: i32) -> ! {
    loop {
        // SAFETY: the call does not return.
        let _ = unsafe { call(numbers::EXIT, [status as usize]) };
    }
}

/// `struct thr_param` (`sys/thr.h`).
#[repr(C)]
struct ThreadParameters {
    start: unsafe extern "C" fn(*mut c_void),
    argument: *mut c_void,
    stack: *mut c_void,
    stack_size: usize,
    tls: *mut c_void,
    tls_size: usize,
    child_id: *mut isize,
    parent_id: *mut isize,
    flags: i32,
    priority: *const c_void,
    spare: [usize; 3],
}

const _: () = assert!(size_of::<ThreadParameters>() == 104);

/// Starts a thread that the C library does not know, with its own stack. The thread pointer is the address of the
/// stack's lowest word, which has the same value, so the runtime can tell the thread from others; the thread has no
/// thread-local variables. The new thread inherits the signal mask of this thread.
///
/// # Safety
///
/// `stack` must be `size` bytes that no other code uses while the thread runs, aligned to a word. `start` must not
/// return, must not use thread-local variables, and must not call the C library.
pub(crate) unsafe fn start_thread(
    start: unsafe extern "C" fn(*mut c_void),
    stack: *mut c_void,
    size: usize,
) -> Result<(), Errno> {
    let mut id = 0_isize;
    let null = core::ptr::null_mut();
    // SAFETY: the caller guarantees that the stack is writable and aligned.
    unsafe { stack.cast::<*mut c_void>().write(stack) };
    let parameters = ThreadParameters {
        start,
        argument: null,
        stack,
        stack_size: size,
        tls: stack,
        tls_size: size_of::<usize>(),
        child_id: core::ptr::null_mut(),
        parent_id: &raw mut id,
        flags: 0,
        priority: null,
        spare: [0; 3],
    };
    // SAFETY: the kernel reads the structure and writes the thread's ID; the caller guarantees the requirements for
    // stack and start.
    unsafe { call(numbers::THR_NEW, [(&raw const parameters).addr(), size_of::<ThreadParameters>()]) }?;
    // Tools that list threads show the name. The thread also works without a name.
    // SAFETY: the name ends with a NUL.
    let _ = unsafe { call(numbers::THR_SET_NAME, [id as usize, c"gmon".as_ptr().addr()]) };
    Ok(())
}

/// Ends this thread. Only for threads that [`start_thread`] started.
pub(crate) fn end_thread() -> ! {
    loop {
        // SAFETY: the call does not return, and no code waits for the thread.
        let _ = unsafe { call(numbers::THR_EXIT, [0]) };
    }
}

/// Returns the number of processors; 1 if the kernel does not report the number.
pub(crate) fn processors() -> u32 {
    const CTL_HW: i32 = 6;
    const HW_NCPU: i32 = 3;
    let mut number = 0_u32;
    let found = sysctl(&[CTL_HW, HW_NCPU], (&raw mut number).addr(), size_of::<u32>());
    if found == Ok(size_of::<u32>()) { number.max(1) } else { 1 }
}
