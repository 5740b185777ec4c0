//! The C start-up contract: what runs before and after the program's own code.
//!
//! glibc calls [`begin()`] before every constructor, and [`finish`] after every destructor if the program's entry
//! point is the runtime's. Otherwise (with musl, and with `gmon.o`, which has no entry point) the program's first
//! constructor is [`begin_late`], and its last destructor is [`finish_early`].

#[cfg(all(feature = "start", not(feature = "preload")))]
use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_int, c_ulong};
#[cfg(not(feature = "preload"))]
use core::mem;
#[cfg(not(feature = "preload"))]
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[cfg(feature = "start")]
use super::{alternate_stacks, concurrent_exits, dispositions};
#[cfg(not(feature = "preload"))]
use crate::control::_mcleanup;
#[cfg(feature = "start")]
use crate::control::forbid_start;
#[cfg(not(feature = "start"))]
use crate::control::is_started;
use crate::control::{after_fork_in_parent, before_fork, strings};
use crate::entry::begin;
use crate::file::remember_command;
use crate::objects::program;
#[cfg(feature = "start")]
use crate::process::exits;
use crate::state::Inherited;

const AT_BASE: c_ulong = 7;
const AT_SECURE: c_ulong = 23;

// The note that OpenBSD's kernel requires of a program that may be profiled: see `program`. The section has another
// name than OpenBSD's, because debuggers take a program with that name for a program of OpenBSD.
#[cfg(all(feature = "start", not(feature = "preload")))]
global_asm!(
    ".pushsection .note.gmon.profil,\"a\",%note",
    ".balign 4",
    "    .long 8, 0, 2",
    "    .asciz \"OpenBSD\"",
    ".popsection",
);

/// The function that glibc's dynamic linker registers for the exit, as the entry point received it; 0 in a static
/// program, [`NOT_ENTERED`] if the entry point is not the runtime's.
#[cfg(not(feature = "preload"))]
pub(crate) static RTLD_FINI: Inherited<AtomicUsize> =
    Inherited::new("how the program was started", AtomicUsize::new(NOT_ENTERED));
#[cfg(not(feature = "preload"))]
const NOT_ENTERED: usize = 1;

/// Whether the C library ran `.preinit_array`: it is glibc, or follows the same contract.
static BEGAN_FIRST: Inherited<AtomicBool> = Inherited::new("how the program was started", AtomicBool::new(false));

/// The message of a static PIE that was linked with gcrt1.o, because the compiler does not know grcrt1.o. The message
/// is a static: constants are found by addresses that are not relocated then.
#[cfg(not(feature = "preload"))]
pub(crate) static NOT_RELOCATED: Inherited<[u8; NOT_RELOCATED_LENGTH]> = Inherited::new(
    "how the program was started",
    *b"gmon: this static PIE was linked with gcrt1.o: link it with gmon-cc, or with -B.../lib/gmon/static-pie\n",
);
#[cfg(not(feature = "preload"))]
pub(crate) const NOT_RELOCATED_LENGTH: usize = 103;

unsafe extern "C" {
    static environ: *const *const c_char;
    static program_invocation_name: *const c_char;
    fn getauxval(kind: c_ulong) -> c_ulong;
    fn pthread_atfork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) -> c_int;
}

/// Starts profiling. The C library calls this function before any constructor of the program.
///
/// glibc calls the runtime in a shared object before the constructors of all other objects, unless another library is
/// linked with `-z initfirst`.
pub(crate) unsafe extern "C" fn begin(_argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    BEGAN_FIRST.store(true, Relaxed);
    // SAFETY: the C library passes the arrays of the process's start, before other code of the process runs.
    unsafe {
        remember_command(strings(argv));
        begin_with(strings(argv).next(), envp, program::text());
    }
}

/// Starts profiling if the C library has not called [`begin()`]: as the program's first constructor, which gets no
/// reliable arguments.
pub(crate) unsafe extern "C" fn begin_late() {
    if BEGAN_FIRST.load(Relaxed) {
        return;
    }
    // SAFETY: nobody changes the environment yet.
    unsafe { begin_in_environment(program::text()) }
}

/// `void monstartup(unsigned long lowpc, unsigned long highpc)` for a program without start-up object: starts
/// profiling and reads the environment. Only the first call has an effect.
#[cfg(not(feature = "start"))]
#[unsafe(no_mangle)]
extern "C" fn monstartup(lowpc: c_ulong, highpc: c_ulong) {
    if !is_started() {
        // SAFETY: as for `getenv`, a program must not change its environment in another thread at the same time.
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
/// Nobody may change the environment during the call.
unsafe fn begin_in_environment(text: (usize, usize)) {
    // SAFETY: the C library sets both before it runs constructors: a string or null, and the process's environment.
    unsafe {
        let name = (!program_invocation_name.is_null()).then(|| CStr::from_ptr(program_invocation_name));
        begin_with(name, environ, text);
    }
}

/// Starts profiling the code of the program `name` in a range of addresses, unless the process has more rights than
/// its user.
///
/// # Safety
///
/// As for [`begin::begin`].
unsafe fn begin_with(name: Option<&CStr>, envp: *const *const c_char, text: (usize, usize)) {
    // SAFETY: as below. A static program has no dynamic linker.
    #[cfg(feature = "start")]
    if unsafe { getauxval(AT_BASE) } != 0 {
        dispositions::find_next();
        alternate_stacks::find_next();
    }
    // SAFETY: the C library is initialized as far as `getauxval` needs it.
    if unsafe { getauxval(AT_SECURE) } != 0 {
        #[cfg(feature = "start")]
        forbid_start();
        return; // a set-user-id program must not write where its user wants
    }
    let register = || {
        // SAFETY: the function needs no constructor of the C library; ours are the first of the program's own handlers,
        // so they run last before a fork and first behind it. Without memory for them, children are not profiled.
        unsafe { pthread_atfork(before_fork, after_fork_in_parent, begin::after_fork_in_child) };
        // SAFETY: the C library is up.
        #[cfg(feature = "start")]
        let has_dynamic_linker = unsafe { getauxval(AT_BASE) } != 0;
        #[cfg(feature = "start")]
        {
            // In a static program, the C library has registered `finish` before, and ends the process by our `_exit`.
            if BEGAN_FIRST.load(Relaxed) && has_dynamic_linker {
                concurrent_exits::keep_lists_filled();
            }
            exits::watch_quick_exit();
        }
    };
    // SAFETY: the caller's promise.
    unsafe { begin::begin(name, envp, text, register) };
    #[cfg(feature = "start")]
    if dispositions::are_visible() {
        exits::give_way();
    }
}

/// Ends profiling. The entry point passes this function to the C library in place of the dynamic linker's clean-up
/// function, so the C library calls it last at exit.
#[cfg(not(feature = "preload"))]
pub(crate) unsafe extern "C" fn finish() {
    // SAFETY: null, or the function that the entry contract of the process passes, which takes no argument; the type
    // has the layout of a nullable function pointer.
    let cleanup: Option<unsafe extern "C" fn()> = unsafe { mem::transmute(RTLD_FINI.load(Relaxed)) };
    if let Some(cleanup) = cleanup {
        // SAFETY: called once, as the C library would do.
        unsafe { cleanup() };
    }
    _mcleanup();
}

/// Ends profiling if the C library will not call [`finish`]: as the last of the program's destructors.
#[cfg(not(feature = "preload"))]
pub(crate) unsafe extern "C" fn finish_early() {
    if !BEGAN_FIRST.load(Relaxed) || RTLD_FINI.load(Relaxed) == NOT_ENTERED {
        _mcleanup();
    }
}
