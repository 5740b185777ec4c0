//! The C start-up contract: what runs before everything of the program's own, and what runs after it.
//!
//! glibc calls [`begin()`] before every constructor, and [`finish`] after every destructor if the program's entry point is
//! ours. Where either is not so, musl being the other C library and `gmon.o` the object without an entry point, the
//! program's first constructor is [`begin_late`] and its last destructor [`finish_early`].

use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_int, c_ulong};
use core::mem;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

#[cfg(feature = "start")]
use super::dispositions;
#[cfg(not(feature = "start"))]
use crate::control::is_started;
use crate::control::{_mcleanup, after_fork_in_parent, before_fork, strings};
use crate::entry::begin;
use crate::objects::program;
#[cfg(feature = "start")]
use crate::process::exits;

const AT_BASE: c_ulong = 7;
const AT_SECURE: c_ulong = 23;

// The note by which OpenBSD's kernel knows a program that may be profiled: see `program`. Not in the section that it has
// there, by whose name debuggers take a program for one of that system's.
#[cfg(feature = "start")]
global_asm!(
    ".pushsection .note.gmon.profil,\"a\",%note",
    ".balign 4",
    "    .long 8, 0, 2",
    "    .asciz \"OpenBSD\"",
    ".popsection",
);

/// The function that glibc's dynamic linker wants called at exit, as our entry point found it; 0 in a static program,
/// [`NOT_ENTERED`] where the entry point is not ours.
pub(crate) static RTLD_FINI: AtomicUsize = AtomicUsize::new(NOT_ENTERED);
const NOT_ENTERED: usize = 1;

/// Whether the C library ran `.preinit_array`: it is glibc, or one that keeps to the same contract.
static BEGAN_FIRST: AtomicBool = AtomicBool::new(false);

/// What a static PIE says that was linked with gcrt1.o, which compilers other than gcc take for one. A static: constants
/// are found by addresses that are not relocated then.
pub(crate) static NOT_RELOCATED: [u8; NOT_RELOCATED_LENGTH] =
    *b"gmon: this static PIE was linked with gcrt1.o: link it with gmon-cc, or with -B.../lib/gmon/static-pie\n";
pub(crate) const NOT_RELOCATED_LENGTH: usize = 103;

unsafe extern "C" {
    static environ: *const *const c_char;
    static program_invocation_name: *const c_char;
    fn getauxval(kind: c_ulong) -> c_ulong;
    fn pthread_atfork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> c_int;
}

/// Starts profiling. The C library calls it before any constructor of the program.
pub(crate) unsafe extern "C" fn begin(_argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    BEGAN_FIRST.store(true, Relaxed);
    // SAFETY: the C library hands over the arrays of the process's start.
    unsafe { begin_with(strings(argv).next(), envp, program::text()) }
}

/// Starts profiling where the C library has not called [`begin()`]: as the first of the program's constructors, which gets
/// no argument that one could rely on.
pub(crate) unsafe extern "C" fn begin_late() {
    if BEGAN_FIRST.load(Relaxed) {
        return;
    }
    // SAFETY: nobody changes the environment yet.
    unsafe { begin_in_environment(program::text()) }
}

/// `void monstartup(unsigned long lowpc, unsigned long highpc)` of a program without start-up object: that begins here, and
/// all that the environment says is looked at now. Only the first call does anything.
#[cfg(not(feature = "start"))]
#[unsafe(no_mangle)]
extern "C" fn monstartup(lowpc: c_ulong, highpc: c_ulong) {
    if !is_started() {
        // SAFETY: a program may change its environment in another thread only while nobody reads it, as for `getenv`.
        unsafe { begin_in_environment((lowpc as usize, highpc as usize)) }
    }
}

/// glibc's own name for [`monstartup`].
#[cfg(not(feature = "start"))]
#[unsafe(no_mangle)]
extern "C" fn __monstartup(lowpc: c_ulong, highpc: c_ulong) {
    monstartup(lowpc, highpc);
}

/// Starts profiling with the process's environment.
///
/// # Safety
///
/// Nobody may change it meanwhile.
unsafe fn begin_in_environment(text: (usize, usize)) {
    // SAFETY: the C library sets both before it runs constructors: the one is null or a string, the other the process's
    // environment.
    unsafe {
        let name = (!program_invocation_name.is_null()).then(|| CStr::from_ptr(program_invocation_name));
        begin_with(name, environ, text);
    }
}

/// Starts profiling the code from one address to another of the program of that name, unless the process has rights that its
/// user has not.
///
/// # Safety
///
/// As for [`begin::begin`].
unsafe fn begin_with(name: Option<&CStr>, envp: *const *const c_char, text: (usize, usize)) {
    // SAFETY: as below. A static program has no dynamic linker anywhere.
    #[cfg(feature = "start")]
    if unsafe { getauxval(AT_BASE) } != 0 {
        dispositions::find_next();
    }
    // SAFETY: the C library is up, so far as this needs it.
    if unsafe { getauxval(AT_SECURE) } != 0 {
        return; // a set-user-id program writes nothing where its user says
    }
    let register = || {
        // SAFETY: the C library is up; ours are the first of the program's own handlers, so they run last before a fork and
        // first behind it. Without memory for them, children are not profiled.
        unsafe { pthread_atfork(before_fork, after_fork_in_parent, begin::after_fork_in_child) };
        #[cfg(feature = "start")]
        exits::watch_quick_exit();
    };
    // SAFETY: the caller's promise.
    unsafe { begin::begin(name, envp, text, register) };
    #[cfg(feature = "start")]
    if dispositions::are_seen() {
        exits::give_way();
    }
}

/// Ends profiling. The C library calls it in place of the dynamic linker's own, which it was told is this, as the very
/// last of what it calls at exit.
pub(crate) unsafe extern "C" fn finish() {
    // SAFETY: null or the function that the entry contract of the process passes, which takes no argument; a nullable
    // function pointer is what this type is laid out as.
    let cleanup: Option<unsafe extern "C" fn()> = unsafe { mem::transmute(RTLD_FINI.load(Relaxed)) };
    if let Some(cleanup) = cleanup {
        // SAFETY: called as the C library would have, once.
        unsafe { cleanup() };
    }
    _mcleanup();
}

/// Ends profiling where the C library will not call [`finish`]: as the last of the program's destructors.
pub(crate) unsafe extern "C" fn finish_early() {
    if !BEGAN_FIRST.load(Relaxed) || RTLD_FINI.load(Relaxed) == NOT_ENTERED {
        _mcleanup();
    }
}
