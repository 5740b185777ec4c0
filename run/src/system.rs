//! Calls of C library functions that Rust's standard library does not offer. All unsafe code of this library is here.
//! The binary's `main` has unsafe code of its own.
#![allow(unsafe_code, reason = "the rest of the crate denies unsafe code")]

use std::ffi::{CStr, CString, OsString, c_char, c_int};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::ptr;

use rustix::process::Pid;

/// The words of the command line, as the C library passes them to `main`.
///
/// # Safety
///
/// `words` must have `count` strings.
#[must_use]
pub unsafe fn words(count: c_int, words: *const *const c_char) -> Vec<OsString> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller's promise.
    let word = |position| unsafe { CStr::from_ptr(*words.add(position)) };
    (0..count).map(|position| OsString::from_vec(word(position).to_bytes().to_vec())).collect()
}

/// A set of signals.
#[derive(Clone, Copy)]
pub(crate) struct Signals(libc::sigset_t);

impl Signals {
    fn none() -> Signals {
        let mut set = MaybeUninit::uninit();
        // SAFETY: `sigemptyset` fills the set, and cannot fail.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            Signals(set.assume_init())
        }
    }

    /// All signals. The C library leaves out its own. A fault of this process ends the process although its signal is
    /// blocked.
    pub(crate) fn all() -> Signals {
        let mut set = MaybeUninit::uninit();
        // SAFETY: `sigfillset` fills the set.
        unsafe {
            libc::sigfillset(set.as_mut_ptr());
            Signals(set.assume_init())
        }
    }

    fn one(signal: c_int) -> Signals {
        let mut one = Signals::none();
        // SAFETY: the set is valid; a number that is no signal changes nothing.
        unsafe { libc::sigaddset(&raw mut one.0, signal) };
        one
    }

    /// Makes these signals wait for [`Signals::next`], in this thread and in all threads that it starts. Returns the
    /// signals that waited before.
    pub(crate) fn block(&self) -> Signals {
        self.change(libc::SIG_BLOCK)
    }

    fn unblock(&self) -> Signals {
        self.change(libc::SIG_UNBLOCK)
    }

    fn change(&self, how: c_int) -> Signals {
        let mut before = Signals::none();
        // SAFETY: both sets are valid. The function fails only for an unknown `how`.
        unsafe { libc::pthread_sigmask(how, &raw const self.0, &raw mut before.0) };
        before
    }

    /// Waits for one of these signals, which must be blocked in all threads.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(crate) fn next(&self) -> io::Result<Received> {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        loop {
            // SAFETY: both are valid; the kernel fills `info`.
            if unsafe { libc::sigwaitinfo(&raw const self.0, info.as_mut_ptr()) } >= 0 {
                break;
            }
            let error = io::Error::last_os_error();
            // A process that was stopped and goes on is interrupted.
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        // SAFETY: the kernel has filled the structure, for which every bit pattern is valid.
        let info = unsafe { info.assume_init() };
        let origin = match info.si_code {
            code if code <= 0 && ![libc::SI_TIMER, libc::SI_ASYNCIO, libc::SI_SIGIO].contains(&code) => {
                // SAFETY: these signals have a sender.
                Origin::Process(unsafe { info.si_pid() })
            }
            _ => Origin::Kernel,
        };
        // SAFETY: a signal of `sigqueue` has a value.
        let value = (info.si_code == libc::SI_QUEUE).then(|| unsafe { info.si_value() }.sival_ptr.expose_provenance());
        Ok(Received { signal: info.si_signo, origin, value })
    }
}

/// A signal that this process got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) signal: i32,
    pub(crate) origin: Origin,
    /// What `sigqueue` sent along.
    pub(crate) value: Option<usize>,
}

/// Who sent a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A terminal, a timer, or another part of the kernel.
    Kernel,
    /// A process, by `kill` and similar calls. 0 stands for a process outside of this PID namespace.
    Process(i32),
}

/// Sends a signal to a process. If the process has ended, nothing happens.
pub(crate) fn send(process: Pid, signal: c_int, value: Option<usize>) {
    let process = process.as_raw_nonzero().get();
    // SAFETY: both functions only read numbers.
    unsafe {
        match value {
            Some(value) => {
                let value = libc::sigval { sival_ptr: ptr::with_exposed_provenance_mut(value) };
                libc::sigqueue(process, signal, value)
            }
            None => libc::kill(process, signal),
        }
    };
}

/// The process groups and sessions of this process and of its parent. The number of a group or session is 0 if the
/// group or session is outside of this PID namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    pub(crate) own_group: c_int,
    pub(crate) own_session: c_int,
    pub(crate) parents_group: c_int,
    pub(crate) parents_session: c_int,
}

impl Groups {
    pub(crate) fn now() -> Groups {
        // SAFETY: these functions only return numbers.
        unsafe {
            let parent = libc::getppid();
            // 0, a parent outside of this namespace, would mean this process.
            let of_parent = |number: c_int| if parent == 0 { 0 } else { number };
            Groups {
                own_group: libc::getpgrp(),
                own_session: libc::getsid(0),
                parents_group: of_parent(libc::getpgid(parent)),
                parents_session: of_parent(libc::getsid(parent)),
            }
        }
    }
}

/// Returns when the kernel has sent a signal, which this process got as a part of a group, to the whole group. The
/// kernel sends under a lock that this call needs too. The call changes nothing.
pub(crate) fn finish_deliveries() {
    let Groups { own_group, .. } = Groups::now();
    // 0 would mean a new group.
    if own_group > 0 {
        // SAFETY: the function only takes numbers.
        unsafe { libc::setpgid(0, own_group) };
    }
}

/// Does to this process what the signal does to a process without a handler. Returns if the signal does nothing, or
/// when the process, which the signal stopped, goes on.
pub(crate) fn take_default_action(signal: c_int) {
    let set = Signals::one(signal);
    // SAFETY: no handler is installed. The signal is sent to this thread, which blocks the signal.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    set.unblock();
    set.block();
}

/// Lets the kernel keep children that have ended until this process waits for them.
pub(crate) fn keep_children() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Whether a file gives capabilities to the process that executes the file.
pub(crate) fn has_capabilities(path: &CStr) -> bool {
    // SAFETY: the name is a string; without room, the function only tells the length.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), ptr::null_mut(), 0) > 0 }
}

/// Whether the file system is mounted `nosuid`: its files give nobody more rights.
pub(crate) fn is_without_rights(path: &CStr) -> bool {
    let mut system = MaybeUninit::uninit();
    // SAFETY: the function fills the structure if it succeeds.
    unsafe {
        libc::statvfs(path.as_ptr(), system.as_mut_ptr()) == 0 && system.assume_init().f_flag & libc::ST_NOSUID != 0
    }
}

/// Starts a program with these words, this environment, and these blocked signals.
///
/// # Errors
///
/// When the kernel cannot execute the program.
pub(crate) fn start(path: &CStr, words: &[CString], environment: &[CString], blocked: &Signals) -> io::Result<Pid> {
    let check = |error: c_int| if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) };
    let list = |strings: &[CString]| -> Vec<*mut c_char> {
        strings.iter().map(|string| string.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
    };
    let (words, environment) = (list(words), list(environment));
    let mut attributes = MaybeUninit::uninit();
    let mut process = 0;
    // SAFETY: the attributes are initialized before their use and destroyed once; the lists end with null, and their
    // strings live until the end of this function.
    unsafe {
        check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
        let mut attributes = attributes.assume_init();
        libc::posix_spawnattr_setflags(&raw mut attributes, libc::POSIX_SPAWN_SETSIGMASK as _);
        libc::posix_spawnattr_setsigmask(&raw mut attributes, &raw const blocked.0);
        let result = libc::posix_spawn(
            &raw mut process,
            path.as_ptr(),
            ptr::null(),
            &raw const attributes,
            words.as_ptr(),
            environment.as_ptr(),
        );
        libc::posix_spawnattr_destroy(&raw mut attributes);
        check(result)?;
    }
    Pid::from_raw(process).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
}
