//! Which process owns the buffer, and since when: this process, or a parent whose memory or file this process shares.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use crate::os::{known_process_id, map_own_word, unix_time};
use crate::state::{Inherited, Reset, resets};

/// The process that owns the buffer. Another process with this memory is a child that shares the memory, or a child
/// that was made without the C library's fork; such a child must not overwrite the file.
pub(crate) static PROCESS: Inherited<AtomicI32> = Inherited::new("the child sets them to its own", AtomicI32::new(0));
/// Whether this memory is the owner's: a word that the kernel sets to 0 in a copy of the memory. If the kernel has no
/// such words, a word that stays 1.
pub(crate) static OWN_WORD: Inherited<AtomicPtr<AtomicU32>> = Inherited::new(
    "the word itself is set by the child, which has it at the same address",
    AtomicPtr::new(Inherited::value(&ALWAYS_OWN).as_ptr().cast()),
);
static ALWAYS_OWN: Inherited<AtomicU32> =
    Inherited::new("the word itself is set by the child, which has it at the same address", AtomicU32::new(1));
/// Whether this process is the child of a fork.
pub(crate) static FORKED: Inherited<AtomicBool> =
    Inherited::new("the child sets them to its own", AtomicBool::new(false));

resets! {
    /// When the profile began, in nanoseconds since 1970; 0 if that is not known.
    static START_TIME: Reset<AtomicU64> = Reset::new();
}

/// Sets the time at which the profile begins to now.
pub(crate) fn begin_now() {
    START_TIME.store(unix_time(), SeqCst);
}

/// When the profile began, in nanoseconds since 1970; 0 if that is not known.
pub(crate) fn start_time() -> u64 {
    START_TIME.load(Relaxed)
}

/// Makes the process with this number the owner of the buffer.
pub(crate) fn own(process: i32) {
    PROCESS.store(process, Relaxed);
    if ptr::eq(OWN_WORD.load(Relaxed), &*ALWAYS_OWN) {
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
