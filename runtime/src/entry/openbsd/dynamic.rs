//! Dynamic programs: the result of a link without `-static`.
//!
//! OpenBSD's kernel refuses `profil` in a dynamic program, and accepts system calls only from ld.so and libc.so: a
//! system call of the runtime would end the program. The runtime therefore makes no system call in such a program,
//! records nothing, and prints one line. Functions that replace a function of libc call libc's function.

use core::ffi::{CStr, c_char, c_int, c_short, c_uint, c_void};
use core::mem::transmute;
use core::ptr;

use crate::control::forbid_start;
use crate::objects::program;
use crate::os::{SIGPIPE, SIGXFSZ, next_definition};

const LINE: &[u8] = b"gmon: not profiling: profil(2) needs -static\n";

const STANDARD_ERROR: c_int = 2;
/// The milliseconds for which the line may wait for a reader.
const PATIENCE: c_int = 900;
const POLLOUT: c_short = 4;
const SIGTTOU: c_int = 22;
const SIG_IGN: usize = 1;

/// `struct pollfd`.
#[repr(C)]
struct Polled {
    descriptor: c_int,
    wanted: c_short,
    found: c_short,
}

/// `struct sigaction`: the handler, and the mask and the flags.
type Action = [usize; 2];

type Poll = unsafe extern "C" fn(*mut Polled, c_uint, c_int) -> c_int;
type SetAction = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;
type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;
type Pledge = unsafe extern "C" fn(*const c_char, *const c_char) -> c_int;
type Words = *const *const c_char;
type Execve = unsafe extern "C" fn(*const c_char, Words, Words) -> c_int;

/// Returns the address of libc's function in a dynamic program; 0 in a static program.
fn libcs(name: &CStr) -> usize {
    if program::has_interpreter() { next_definition(name) } else { 0 }
}

/// Returns libc's `pledge` in a dynamic program; `None` in a static program.
pub(super) fn libcs_pledge() -> Option<Pledge> {
    // SAFETY: null, or libc's function, which has this type.
    unsafe { transmute(libcs(c"pledge")) }
}

/// Returns libc's `execve` in a dynamic program; `None` in a static program.
pub(super) fn libcs_execve() -> Option<Execve> {
    // SAFETY: null, or libc's function, which has this type.
    unsafe { transmute(libcs(c"execve")) }
}

/// Makes sure that profiling never starts, and says so once.
pub(super) fn refuse() {
    if forbid_start() {
        say();
    }
}

/// Prints the line if that does no harm: a reader that is gone or slow, and a terminal of other processes, do not stop
/// or end the program.
fn say() {
    // SAFETY: null, or libc's function, which has this type.
    let poll: Option<Poll> = unsafe { transmute(libcs(c"poll")) };
    // SAFETY: null, or libc's function, which has this type.
    let set_action: Option<SetAction> = unsafe { transmute(libcs(c"sigaction")) };
    // SAFETY: null, or libc's function, which has this type.
    let write: Option<Write> = unsafe { transmute(libcs(c"write")) };
    let (Some(poll), Some(set_action), Some(write)) = (poll, set_action, write) else { return };
    let mut polled = Polled { descriptor: STANDARD_ERROR, wanted: POLLOUT, found: 0 };
    // SAFETY: one structure.
    let is_ready = unsafe { poll(&raw mut polled, 1, PATIENCE) } == 1 && polled.found & POLLOUT != 0;
    if !is_ready {
        return;
    }
    let ignored: Action = [SIG_IGN, 0];
    let before = [SIGPIPE, SIGXFSZ, SIGTTOU].map(|signal| {
        let mut before: Action = [0, 0];
        // SAFETY: ignoring a signal is always sound, and libc writes the whole previous action.
        let is_set = unsafe { set_action(signal, &raw const ignored, &raw mut before) } == 0;
        (signal, before, is_set)
    });
    // SAFETY: `LINE` has that many bytes.
    let _ = unsafe { write(STANDARD_ERROR, LINE.as_ptr().cast(), LINE.len()) };
    for (signal, before, _) in before.iter().filter(|(.., is_set)| *is_set) {
        // SAFETY: the action that the program had.
        unsafe { set_action(*signal, before, ptr::null_mut()) };
    }
}
