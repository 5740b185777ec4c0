//! Whose the buffer is: this process's, or that of a parent whose memory or file it shares.

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering::Relaxed};

use crate::os::{known_process_id, map_own_word};

/// The process that the buffer is of. Another one can only be a child that shares our memory, or one that was made
/// behind the C library's back: that must not overwrite our file.
pub(crate) static PROCESS: AtomicI32 = AtomicI32::new(0);
/// Whether this memory is that of the process: a word that becomes 0 in a copy of it, and then [`PROCESS`] is another's.
/// Without such a word, one that stays 1.
pub(crate) static OWN_WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(ALWAYS_OWN.as_ptr().cast());
static ALWAYS_OWN: AtomicU32 = AtomicU32::new(1);
/// Whether it is the child of a fork.
pub(crate) static FORKED: AtomicBool = AtomicBool::new(false);
/// Makes the process of that number the one that the buffer is of.
pub(crate) fn own(process: i32) {
    PROCESS.store(process, Relaxed);
    if ptr::eq(OWN_WORD.load(Relaxed), &ALWAYS_OWN) {
        let word: *mut AtomicU32 = map_own_word().cast();
        if !word.is_null() {
            OWN_WORD.store(word, Relaxed);
        }
    }
    own_word().store(1, Relaxed);
}

fn own_word() -> &'static AtomicU32 {
    // SAFETY: a static, or mapped for as long as the process lives.
    unsafe { &*OWN_WORD.load(Relaxed) }
}

/// Whether this memory is a copy that was made behind the C library's back. Below mcount.
pub(crate) fn is_copy() -> bool {
    own_word().load(Relaxed) == 0
}

/// Whether the buffer is this process's own. The memory says so, without a system call, of a child that has a copy of it; of the
/// child of a vfork, which shares it, the kernel. A process that may not ask is held to be no such child.
pub fn is_ours() -> bool {
    let owner = PROCESS.load(Relaxed);
    // Without an owner nothing was begun, and nobody needs to be asked.
    owner != 0 && !is_copy() && known_process_id().is_none_or(|process| process == owner)
}
