//! Which process owns the buffer: this process, or a parent whose memory or file this process shares.

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering::Relaxed};

use crate::os::{known_process_id, map_own_word};

/// The process that owns the buffer. Another process with this memory is a child that shares the memory, or a child
/// that was made without the C library's fork; such a child must not overwrite the file.
pub(crate) static PROCESS: AtomicI32 = AtomicI32::new(0);
/// Whether this memory is the owner's: a word that the kernel sets to 0 in a copy of the memory. If the kernel has no
/// such words, a word that stays 1.
pub(crate) static OWN_WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(ALWAYS_OWN.as_ptr().cast());
static ALWAYS_OWN: AtomicU32 = AtomicU32::new(1);
/// Whether this process is the child of a fork.
pub(crate) static FORKED: AtomicBool = AtomicBool::new(false);
/// Makes the process with this number the owner of the buffer.
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
    // SAFETY: a static, or memory that stays mapped as long as the process lives.
    unsafe { &*OWN_WORD.load(Relaxed) }
}

/// Whether this memory is a copy that was made without the C library's fork. May be called below mcount.
pub(crate) fn is_copy() -> bool {
    own_word().load(Relaxed) == 0
}

/// Whether this process owns the buffer. The word tells a child with a copy of the memory without a system call; the
/// process number tells the child of a vfork, which shares the memory. If a filter forbids the question, the process
/// counts as the owner.
pub fn is_ours() -> bool {
    let owner = PROCESS.load(Relaxed);
    // Without an owner nothing was started, so no system call is needed.
    owner != 0 && !is_copy() && known_process_id().is_none_or(|process| process == owner)
}
