//! What a timer of the whole process needs on old kernels: sharing SIGPROF with another handler, and the number of
//! threads.

use core::ffi::{c_int, c_void};
use core::mem::{self, MaybeUninit};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::signal::{
    Handler, SA_RESTART, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGPROF, SignalAction, SignalInfo, install, set_action,
};
use super::{Errno, Fd};

const SI_KERNEL: i32 = 0x80;
/// The `si_errno` of a signal that is being passed on; Linux does not use this field.
const PASSED_ON: i32 = -0x676d;

impl SignalInfo {
    /// Whether the kernel sent the signal, as it does when `ITIMER_PROF` expires.
    pub(crate) fn is_from_kernel(&self) -> bool {
        self.code == SI_KERNEL
    }

    /// Whether a [`NextHandler`] has passed on the signal, and its handler passes it back.
    pub(crate) fn comes_back(&self) -> bool {
        self.error == PASSED_ON
    }
}

/// The handler to which a signal is passed on, which may be read while it is set: 0 for none, or its address, with
/// the highest bit set if the handler takes three arguments.
pub(crate) struct NextHandler(AtomicUsize);

impl NextHandler {
    const WANTS_ALL: usize = 1 << (usize::BITS - 1);

    pub(crate) const fn none() -> NextHandler {
        NextHandler(AtomicUsize::new(0))
    }

    /// Makes `handler` the process's handler of SIGPROF, and stores the previous handler as the next. All signals are
    /// blocked while it runs; interrupted system calls are restarted, unless the next handler asked for something
    /// else. Async-signal-safe.
    pub(crate) fn precede_with(&self, handler: Handler) -> Result<(), Errno> {
        let mut found = MaybeUninit::<SignalAction>::uninit();
        // SAFETY: nothing is set, and there is room for the action.
        unsafe { set_action(SIGPROF, ptr::null(), found.as_mut_ptr()) }?;
        // SAFETY: the kernel has written the action, which contains only integers.
        let found = unsafe { found.assume_init() };
        if found.handler == handler as usize {
            return Ok(());
        }
        let is_handler = found.handler != SIG_DFL && found.handler != SIG_IGN;
        let wants_all = if found.flags & SA_SIGINFO != 0 { NextHandler::WANTS_ALL } else { 0 };
        self.0.store(if is_handler { found.handler | wants_all } else { 0 }, SeqCst);
        install(SIGPROF, handler, if is_handler { found.flags & SA_RESTART } else { SA_RESTART }, u64::MAX)
    }

    /// Calls the next handler, if there is one. The next handler may have stored the caller as its own next handler
    /// and call it in turn: see [`SignalInfo::comes_back`].
    ///
    /// # Safety
    ///
    /// Call this from a handler of SIGPROF, with its arguments; the next handler's code must still be loaded.
    pub(crate) unsafe fn call(&self, signal: c_int, info: *const SignalInfo, context: *const c_void) {
        let (next, told) = (self.0.load(SeqCst), info.cast_mut());
        let wants_all = next & NextHandler::WANTS_ALL != 0;
        let (info, context) = if wants_all { (info, context) } else { (ptr::null(), ptr::null()) };
        let address = next & !NextHandler::WANTS_ALL;
        if address != 0 {
            // SAFETY: the address of a handler, by the caller's promise; a handler with one argument ignores the
            // others. The kernel's information is on this thread's stack.
            unsafe {
                (*told).error = PASSED_ON;
                mem::transmute::<usize, Handler>(address)(signal, info, context);
                (*told).error = 0;
            }
        }
    }
}

/// The number of threads of the process; `None` if `/proc` does not say. Async-signal-safe.
pub(crate) fn threads_number() -> Option<u32> {
    let tasks = Fd::open_directory(c"/proc/self/task").ok()?;
    let links = tasks.status().map(|status| status.links);
    let _ = tasks.close();
    // A directory has two links, and one for each subdirectory.
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
