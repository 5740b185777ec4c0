//! Processes and threads.

use core::ffi::{c_char, c_void};

use super::{Errno, call, numbers};

const CLOCK_PROCESS_CPUTIME_ID: usize = 15;
const SECOND: u64 = 1_000_000_000;

/// Makes a child behind the C library's back: 0 in the child, the child's number in the parent.
pub(crate) fn raw_fork() -> Result<i32, Errno> {
    // SAFETY: takes no argument; the child has a copy of everything.
    unsafe { call(numbers::FORK, []) }.map(|process| process as i32)
}

/// Executes another program. Returns only if that cannot be done.
///
/// # Safety
///
/// The path must end with a NUL, and the arrays of such strings with a null pointer.
pub(crate) unsafe fn execute(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> Errno {
    // SAFETY: the caller's promise.
    match unsafe { call(numbers::EXECVE, [path.addr(), arguments.addr(), environment.addr()]) } {
        Ok(_) => Errno(0),
        Err(error) => error,
    }
}

/// This process.
pub(crate) fn process_id() -> i32 {
    known_process_id().unwrap_or(0)
}

/// This process. The kernel lets every process know.
pub(crate) fn known_process_id() -> Option<i32> {
    // SAFETY: takes no argument.
    unsafe { call(numbers::GETPID, []) }.ok().map(|id| id as i32)
}

/// Whether the process got other rights than its user has when it was executed.
pub(crate) fn has_other_rights() -> bool {
    // SAFETY: takes no argument and cannot fail.
    let answer = unsafe { call(numbers::ISSETUGID, []) };
    answer != Ok(0)
}

/// Waits for a millisecond.
pub fn a_moment() {
    wait(SECOND / 1000);
}

/// Waits for so many nanoseconds, or until a signal comes.
pub(crate) fn wait(nanoseconds: u64) {
    let time = [nanoseconds / SECOND, nanoseconds % SECOND];
    // SAFETY: the kernel reads a struct timespec.
    let _ = unsafe { call(numbers::NANOSLEEP, [(&raw const time).addr(), 0]) };
}

/// The CPU time of the process so far, in nanoseconds.
pub(crate) fn process_time() -> Option<u64> {
    let mut time = [0_u64; 2];
    // SAFETY: the kernel writes a struct timespec.
    unsafe { call(numbers::CLOCK_GETTIME, [CLOCK_PROCESS_CPUTIME_ID, time.as_mut_ptr().addr()]) }.ok()?;
    let [seconds, nanoseconds] = time;
    Some(seconds.wrapping_mul(SECOND).wrapping_add(nanoseconds))
}

/// Lets other threads run.
pub(crate) fn give_way() {
    // SAFETY: takes no argument.
    let _ = unsafe { call(numbers::SCHED_YIELD, []) };
}

/// The user whose rights the process has.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { call(numbers::GETEUID, []) }.unwrap_or(0) as u32
}

/// This thread, in the kernel's numbering. Below mcount.
pub fn thread_id() -> i32 {
    let mut id = 0_isize;
    // SAFETY: the kernel writes a long.
    match unsafe { call(numbers::THR_SELF, [(&raw mut id).addr()]) } {
        // SAFETY: a local variable.
        Ok(_) => unsafe { (&raw const id).read_volatile() as i32 },
        Err(_) => UNKNOWN_THREAD,
    }
}

/// The number of no thread.
pub(crate) const UNKNOWN_THREAD: i32 = -1;

/// Whether no thread of this process has the number any more.
pub(crate) fn thread_is_gone(id: i32) -> bool {
    // SAFETY: signal 0 is sent to nobody; the kernel only looks whether the thread is there.
    let result = unsafe { call(numbers::THR_KILL, [id as usize, 0]) };
    result == Err(Errno::ESRCH)
}

/// What a thread has to do before it makes system calls of the runtime's: nothing here.
pub(crate) fn enter_thread() {}

/// Ends the process.
pub(crate) fn exit_process(status: i32) -> ! {
    loop {
        // SAFETY: it does not return.
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

/// Starts a thread that the C library does not know, on a stack of its own and without thread-local storage. The signals that
/// this thread has blocked are blocked there as well.
///
/// # Safety
///
/// `stack` must be `size` bytes that nobody else uses as long as the thread runs. `start` must not return, must not use thread-local
/// storage, and must not call the C library.
pub(crate) unsafe fn start_thread(
    start: unsafe extern "C" fn(*mut c_void),
    stack: *mut c_void,
    size: usize,
) -> Result<(), Errno> {
    let mut id = 0_isize;
    let null = core::ptr::null_mut();
    let parameters = ThreadParameters {
        start,
        argument: null,
        stack,
        stack_size: size,
        tls: null,
        tls_size: 0,
        child_id: core::ptr::null_mut(),
        parent_id: &raw mut id,
        flags: 0,
        priority: null,
        spare: [0; 3],
    };
    // SAFETY: the kernel reads the structure and writes the number of the thread; the caller vouches for the rest.
    unsafe { call(numbers::THR_NEW, [(&raw const parameters).addr(), size_of::<ThreadParameters>()]) }?;
    // For who lists the threads of the process.
    // SAFETY: the name ends with a NUL. Without a name the thread does as well.
    let _ = unsafe { call(numbers::THR_SET_NAME, [id as usize, c"gmon".as_ptr().addr()]) };
    Ok(())
}

/// Ends this thread, which [`start_thread`] started.
pub(crate) fn end_thread() -> ! {
    loop {
        // SAFETY: it does not return. Nobody waits for the thread.
        let _ = unsafe { call(numbers::THR_EXIT, [0]) };
    }
}
