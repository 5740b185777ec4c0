//! The promises of pledge(2).
//!
//! The kernel kills a process that makes a system call against its promises, and no call reports the promises. The
//! runtime's `pledge` therefore remembers the program's promises, and [`call`](super::call) refuses a call of the
//! runtime that the promises do not allow.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::errno::Errno;
use super::machine::syscall;
use super::numbers;
use super::open_flags::{O_ACCESS, O_CREAT, O_RDWR, O_WRONLY};

use crate::state::Inherited;

const STDIO: u32 = 1 << 0;
const RPATH: u32 = 1 << 1;
const WPATH: u32 = 1 << 2;
const CPATH: u32 = 1 << 3;
const PROC: u32 = 1 << 4;
const FLOCK: u32 = 1 << 5;

/// The promises that the runtime's calls need, by their names.
const NAMES: [(&[u8], u32); 6] =
    [(b"stdio", STDIO), (b"rpath", RPATH), (b"wpath", WPATH), (b"cpath", CPATH), (b"proc", PROC), (b"flock", FLOCK)];

/// The promises of this process; all bits before the first `pledge`. A process can only drop promises.
static PROMISED: Inherited<AtomicU32> = Inherited::new("the child inherits the promises", AtomicU32::new(u32::MAX));

/// Returns the promises that a call needs. `flags` is the third argument, which matters for openat only.
#[inline(always)]
const fn needed(number: usize, flags: usize) -> u32 {
    match number {
        // The program makes these calls.
        numbers::EXIT | numbers::EXECVE => 0,
        numbers::OPENAT => {
            let create = if flags & O_CREAT != 0 { CPATH } else { 0 };
            create
                | match flags & O_ACCESS {
                    O_WRONLY => WPATH,
                    O_RDWR => RPATH | WPATH,
                    _ => RPATH,
                }
        }
        numbers::FSTATAT => RPATH,
        numbers::UNLINKAT => CPATH,
        numbers::RENAMEAT => RPATH | CPATH,
        numbers::FORK | numbers::SETRLIMIT => PROC,
        numbers::FLOCK => FLOCK,
        _ => STDIO,
    }
}

/// Returns whether the promises allow a call. Called below mcount.
#[inline(always)]
pub(super) fn allow(number: usize, flags: usize) -> bool {
    PROMISED.load(SeqCst) & needed(number, flags) == needed(number, flags)
}

/// Returns whether the promises allow to find a directory and to create files there.
pub(crate) fn may_create_files() -> bool {
    let needed = STDIO | RPATH | WPATH | CPATH;
    PROMISED.load(SeqCst) & needed == needed
}

/// `pledge(2)`. Remembers the promises before the call, because other threads may make calls of the runtime at the same
/// time. No other process shares this memory: on OpenBSD, the child of a vfork has a copy.
///
/// # Safety
///
/// Both pointers must be null or lead to strings.
pub(crate) unsafe fn pledge(promises: *const c_char, after_exec: *const c_char) -> Result<(), Errno> {
    let before = PROMISED.load(SeqCst);
    let mut now = before;
    if !promises.is_null() {
        // SAFETY: the caller's promise.
        now &= parse_promises(unsafe { CStr::from_ptr(promises) }.to_bytes());
        PROMISED.fetch_and(now, SeqCst);
    }
    // SAFETY: the kernel reads both strings.
    let result = unsafe { syscall(promises.addr(), after_exec.addr(), 0, 0, 0, 0, numbers::PLEDGE) };
    if result < 0 {
        // If another thread has given up more promises meanwhile, these promises stay given up.
        let _ = PROMISED.compare_exchange(now, before, SeqCst, SeqCst);
        return Err(Errno(-result as i32));
    }
    Ok(())
}

/// Returns the known promises in a text of words.
fn parse_promises(text: &[u8]) -> u32 {
    let bit = |word: &[u8]| NAMES.iter().find(|(name, _)| *name == word).map_or(0, |(_, bit)| *bit);
    text.split(|byte| *byte == b' ').map(bit).fold(0, |all, bit| all | bit)
}
