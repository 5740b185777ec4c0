//! What a timer of the whole process needs where the system is old: SIGPROF beside whoever else has a handler of it, and
//! the number of threads.

use core::ffi::{c_int, c_void};
use core::mem::{self, MaybeUninit};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::signal::{
    Handler, SA_RESTART, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGPROF, SignalAction, SignalInfo, install, set_action,
};
use super::{Errno, Fd};

const SI_KERNEL: i32 = 0x80;
/// `si_errno` of a signal that is being passed on; Linux has no use for it.
const PASSED_ON: i32 = -0x676d;

impl SignalInfo {
    /// Whether the kernel sent it by itself, as it does when `ITIMER_PROF` expires.
    pub(crate) fn is_from_kernel(&self) -> bool {
        self.code == SI_KERNEL
    }

    /// Whether it has been passed on by a [`NextHandler`]: whoever got it then hands it back.
    pub(crate) fn comes_back(&self) -> bool {
        self.error == PASSED_ON
    }
}

/// The handler to whom a signal is passed on, which may be read while it is set: 0 for none, or its address, with the
/// highest bit set if it is to be told more than the signal's number.
pub(crate) struct NextHandler(AtomicUsize);

impl NextHandler {
    const WANTS_ALL: usize = 1 << (usize::BITS - 1);

    pub(crate) const fn none() -> NextHandler {
        NextHandler(AtomicUsize::new(0))
    }

    /// Makes `handler` the process's handler of SIGPROF, and the one that was there the next. No signal interrupts it;
    /// system calls that it interrupts go on, unless the next one had it otherwise. Async-signal-safe.
    pub(crate) fn precede_with(&self, handler: Handler) -> Result<(), Errno> {
        let mut found = MaybeUninit::<SignalAction>::uninit();
        // SAFETY: nothing is set, and there is room for what is.
        unsafe { set_action(SIGPROF, ptr::null(), found.as_mut_ptr()) }?;
        // SAFETY: the kernel has written it, integers only.
        let found = unsafe { found.assume_init() };
        if found.handler == handler as usize {
            return Ok(());
        }
        let is_handler = found.handler != SIG_DFL && found.handler != SIG_IGN;
        let wants_all = if found.flags & SA_SIGINFO != 0 { NextHandler::WANTS_ALL } else { 0 };
        self.0.store(if is_handler { found.handler | wants_all } else { 0 }, SeqCst);
        install(SIGPROF, handler, if is_handler { found.flags & SA_RESTART } else { SA_RESTART }, u64::MAX)
    }

    /// Calls the handler, if there is one. It may know the caller, as the handler that it found, and call that in turn:
    /// see [`SignalInfo::comes_back`].
    ///
    /// # Safety
    ///
    /// From a handler of SIGPROF and with what that was called with; the next handler must still be there.
    pub(crate) unsafe fn call(&self, signal: c_int, info: *const SignalInfo, context: *const c_void) {
        let (next, told) = (self.0.load(SeqCst), info.cast_mut());
        let wants_all = next & NextHandler::WANTS_ALL != 0;
        let (info, context) = if wants_all { (info, context) } else { (ptr::null(), ptr::null()) };
        let address = next & !NextHandler::WANTS_ALL;
        if address != 0 {
            // SAFETY: the address of a handler, by the caller's promise; one that takes a number only looks at no more. What
            // the kernel tells is on this thread's stack, and nobody else's.
            unsafe {
                (*told).error = PASSED_ON;
                mem::transmute::<usize, Handler>(address)(signal, info, context);
                (*told).error = 0;
            }
        }
    }
}

/// How many threads the process has; `None` where `/proc` does not say. Async-signal-safe.
pub(crate) fn threads_number() -> Option<u32> {
    let tasks = Fd::open_directory(c"/proc/self/task").ok()?;
    let links = tasks.status().map(|status| status.links);
    let _ = tasks.close();
    // A directory has two links, and one for each directory in it.
    links.ok()?.checked_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || ended.recv());
        // Other tests have threads of their own.
        assert!(threads_number().unwrap() >= 2);
        drop(end);
        thread.join().unwrap().unwrap_err();
    }
}
