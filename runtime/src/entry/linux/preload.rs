//! The start of a runtime in a shared object that the dynamic linker loads into any program (`LD_PRELOAD`), and what
//! the runtime must hear there because nobody calls mcount: new threads, and programs that the process executes in its
//! place.

use core::arch::global_asm;
use core::ffi::{c_char, c_int, c_void};
use core::mem;
use core::ptr;

use super::handover::{
    AT_EXIT, AT_QUICK_EXIT, ITERATE, PTHREAD_CREATE, Place, REGISTER_ATFORK, THRD_CREATE, find_next, next,
};
use super::machine;
use super::start::{begin, begin_late};
use crate::control::{_mcleanup, forbid_start, is_profiled, strings};
use crate::objects::program;
use crate::os::{Errno, inherited_filters, next_definition};
use crate::text::decimal;

unsafe extern "C" {
    static environ: *const *const c_char;
}

// The object is linked with `-z initfirst`, so glibc calls this constructor before those of the C library and of all
// other objects. If a library of the program is linked so too, glibc calls the constructor of that library first, and
// this constructor after those of all libraries. musl ignores the option, and calls this constructor after those of all
// libraries.
global_asm!(
    ".pushsection .init_array.00000,\"aw\",@init_array",
    ".balign 8",
    "    .quad {begin_loaded}",
    ".popsection",
    begin_loaded = sym begin_loaded,
);

/// Starts profiling, unless the program has a runtime of its own or is behind a system-call filter.
unsafe extern "C" fn begin_loaded(argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    find_next();
    // glibc passes the arguments of `main` to constructors; musl passes nothing.
    let is_glibc = machine::sigaction_address() != 0;
    let (start, end) = program::text();
    // SAFETY: glibc passes the environment of the process's start; musl passes nothing, and has set its own.
    let variables = unsafe { if is_glibc { strings(envp) } else { strings(environ) } };
    let mut wishes = Wishes { is_once: false, filters: None };
    variables.for_each(|variable| wishes.read(variable.to_bytes()));
    let is_unwanted = start == end || program::has_start_object() || wishes.has_new_filter();
    if wishes.is_once {
        // SAFETY: as above; the strings are the process's own, and nobody else reads them yet.
        unsafe { forget_object(if is_glibc { envp } else { environ }) };
    }
    if is_unwanted {
        forbid_start();
        return;
    }
    // SAFETY: glibc passes the arrays of the process's start, before other code of the program runs.
    unsafe { if is_glibc { begin(argc, argv, envp) } else { begin_late() } }
    // The C library calls this after the destructors, which it registers later.
    // SAFETY: the list of functions for the exit needs no constructor; null stands for an object that is not closed.
    unsafe { __cxa_atexit(finish_loaded, ptr::null_mut(), ptr::null_mut()) };
}

/// What gmon-run says to the runtime of each program.
struct Wishes {
    /// Whether only the first program is profiled.
    is_once: bool,
    /// The number of system-call filters that gmon-run has itself: a container has filters that all its processes have.
    filters: Option<u32>,
}

impl Wishes {
    /// Reads a variable. Environments may be long, so each variable is compared with the common beginning only.
    fn read(&mut self, variable: &[u8]) {
        let Some(wish) = variable.strip_prefix(b"GMON_RUN_") else { return };
        self.is_once |= wish == b"ONCE=1";
        self.filters = self.filters.or_else(|| wish.strip_prefix(b"FILTERS=").and_then(decimal));
    }

    /// Whether the process is behind a filter that gmon-run was not behind: a program installed the filter and executed
    /// this program. The filter may end the process at any call that this program does not need.
    fn has_new_filter(&self) -> bool {
        inherited_filters().is_some_and(|filters| filters > self.filters.unwrap_or(0))
    }
}

/// Removes the runtime's object, which is the last, from the list of objects that the dynamic linker loads into other
/// programs.
///
/// # Safety
///
/// `variables` must be the process's environment, which nobody else uses meanwhile.
unsafe fn forget_object(variables: *const *const c_char) {
    const LIST: &[u8] = b"LD_PRELOAD=";
    // SAFETY: the caller's promise.
    for variable in unsafe { strings(variables) }.filter(|variable| variable.to_bytes().starts_with(LIST)) {
        let others = variable.to_bytes().iter().rposition(|byte| *byte == b':').unwrap_or(LIST.len());
        // SAFETY: the position is in the string, which may be written to.
        unsafe { variable.as_ptr().cast_mut().add(others).write(0) };
    }
}

/// Ends profiling.
extern "C" fn finish_loaded(_argument: *mut c_void) {
    _mcleanup();
}

/// `void _mcleanup(void)`, as programs see it: the start-up code of the C library for -pg calls the function before the
/// destructors, so the function does nothing. The profile ends with the process.
#[unsafe(export_name = "_mcleanup")]
extern "C" fn clean_up_later() {}

type Create = unsafe extern "C" fn(*mut c_void, *const c_void, usize, usize) -> c_int;

/// `int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut c_void,
    attributes: *const c_void,
    start: usize,
    argument: usize,
) -> c_int {
    // SAFETY: null, or a function of that name and type.
    let Some(next) = (unsafe { mem::transmute::<usize, Option<Create>>(next(PTHREAD_CREATE)) }) else {
        return Errno::EAGAIN.0;
    };
    // SAFETY: the caller's promise; `begin_thread` does what `start` does with the argument.
    created(start, argument, |start, argument| unsafe { next(thread, attributes, start, argument) })
}

type CreateC11 = unsafe extern "C" fn(*mut c_void, usize, usize) -> c_int;

/// `int thrd_create(thrd_t *thr, thrd_start_t func, void *arg)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn thrd_create(thread: *mut c_void, start: usize, argument: usize) -> c_int {
    /// `thrd_error`.
    const ERROR: c_int = 2;
    // SAFETY: null, or a function of that name and type.
    let Some(next) = (unsafe { mem::transmute::<usize, Option<CreateC11>>(next(THRD_CREATE)) }) else { return ERROR };
    // SAFETY: as above; the result of the function is in the same register.
    created(start, argument, |start, argument| unsafe { next(thread, start, argument) })
}

/// Creates a thread by `create`, which begins in [`enter`] and then calls `start`. The result of `create` is 0 for a
/// new thread.
fn created(start: usize, argument: usize, create: impl FnOnce(usize, usize) -> c_int) -> c_int {
    if !is_profiled() {
        return create(start, argument);
    }
    let Some(place) = Place::take(start, argument) else { return create(start, argument) };
    let result = create(machine::begin_thread as *const () as usize, ptr::from_ref(place).expose_provenance());
    if result != 0 {
        place.free();
    }
    result
}

// ThreadSanitizer replaces the next three functions. If the program contains ThreadSanitizer, the replacements do not
// work before the program's own constructors.

type AtExit = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;

/// `__cxa_atexit` of the C library, for the runtime itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_atexit(
    function: extern "C" fn(*mut c_void),
    argument: *mut c_void,
    object: *mut c_void,
) -> c_int {
    // SAFETY: null, or a function of that name and type; the caller's promise.
    unsafe {
        mem::transmute::<usize, Option<AtExit>>(next(AT_EXIT)).map_or(-1, |next| next(function, argument, object))
    }
}

/// `dl_iterate_phdr` of the C library, for the runtime itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn dl_iterate_phdr(each: usize, data: *mut c_void) -> c_int {
    type Iterate = unsafe extern "C" fn(usize, *mut c_void) -> c_int;
    // SAFETY: null, or a function of that name; the caller's promise. A pointer to a function is passed as a number is.
    unsafe { mem::transmute::<usize, Option<Iterate>>(next(ITERATE)).map_or(0, |next| next(each, data)) }
}

/// `bcmp`, for the runtime itself: the compiler makes calls of this function.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, length: usize) -> c_int {
    // SAFETY: the caller's promise. The compiler makes no call of `bcmp` of volatile reads.
    let differs = |index| unsafe { one.add(index).read_volatile() != other.add(index).read_volatile() };
    c_int::from((0..length).any(differs))
}

type RegisterAtfork = unsafe extern "C" fn(extern "C" fn(), extern "C" fn(), extern "C" fn(), *mut c_void) -> c_int;

/// `pthread_atfork`, for the runtime itself: glibc has the function only in its static library, and musl has no
/// `__register_atfork`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_atfork(
    prepare: extern "C" fn(),
    parent: extern "C" fn(),
    child: extern "C" fn(),
) -> c_int {
    let found = match next(REGISTER_ATFORK) {
        0 => next_definition(c"pthread_atfork"),
        found => found,
    };
    // SAFETY: null, or a function of one of these names; musl's ignores the last argument.
    match unsafe { mem::transmute::<usize, Option<RegisterAtfork>>(found) } {
        // SAFETY: the caller's promise; null stands for an object that is not closed.
        Some(register) => unsafe { register(prepare, parent, child, ptr::null_mut()) },
        None => Errno::ENOSYS.0,
    }
}

type AtQuickExit = unsafe extern "C" fn(extern "C" fn(), *mut c_void) -> c_int;

/// `at_quick_exit`, for the runtime itself, as above.
#[unsafe(no_mangle)]
unsafe extern "C" fn at_quick_exit(function: extern "C" fn()) -> c_int {
    let found = match next(AT_QUICK_EXIT) {
        0 => next_definition(c"at_quick_exit"),
        found => found,
    };
    // SAFETY: null, or a function of one of these names; musl's ignores the last argument.
    match unsafe { mem::transmute::<usize, Option<AtQuickExit>>(found) } {
        // SAFETY: as above.
        Some(register) => unsafe { register(function, ptr::null_mut()) },
        None => -1,
    }
}
