//! What the architecture's code calls before it jumps to functions of the C library and of the program: the look-up of
//! these functions, and the beginning of threads.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::control::{hold_files, is_ours, is_profiled, write_snapshot};
use crate::mcount;
use crate::os::{Errno, next_definition, set_errno};
use crate::state::Inherited;

/// The functions that are called under the names of this object. The order is that of [`NAMES`].
static NEXT: Inherited<[AtomicUsize; NAMES.len()]> =
    Inherited::new("the C library's functions stay where they are", [const { AtomicUsize::new(0) }; NAMES.len()]);
const NAMES: [&CStr; 19] = [
    c"execve",
    c"execv",
    c"execvp",
    c"execvpe",
    c"execl",
    c"execle",
    c"execlp",
    c"fexecve",
    c"execveat",
    c"pthread_create",
    c"thrd_create",
    c"__register_atfork",
    c"__cxa_at_quick_exit",
    c"setuid",
    c"seteuid",
    c"setreuid",
    c"setresuid",
    c"__cxa_atexit",
    c"dl_iterate_phdr",
];

/// The functions of each architecture's file `passing`, with their numbers in [`NAMES`], as lines of assembly.
macro_rules! passing_functions {
    () => {
        concat!(
            "passing execve, 0\n",
            "passing execv, 1\n",
            "passing execvp, 2\n",
            "passing execvpe, 3\n",
            "passing execl, 4\n",
            "passing execle, 5\n",
            "passing execlp, 6\n",
            "passing fexecve, 7\n",
            "passing execveat, 8\n",
            "passing setuid, 13\n",
            "passing seteuid, 14\n",
            "passing setreuid, 15\n",
            "passing setresuid, 16\n",
        )
    };
}
pub(super) use passing_functions;

pub(super) const PTHREAD_CREATE: usize = 9;
pub(super) const THRD_CREATE: usize = 10;
pub(super) const REGISTER_ATFORK: usize = 11;
pub(super) const AT_QUICK_EXIT: usize = 12;
const SETUID: usize = 13;
pub(super) const AT_EXIT: usize = 17;
pub(super) const ITERATE: usize = 18;

/// Looks up all functions. Called at the start, because a look-up is not allowed everywhere.
pub(super) fn find_next() {
    NEXT.iter().zip(NAMES).for_each(|(next, name)| next.store(next_definition(name), Relaxed));
}

/// The function with this number; 0 if there is none.
pub(super) fn next(index: usize) -> usize {
    let Some(next) = NEXT.get(index) else { return 0 };
    if next.load(Relaxed) == 0
        && let Some(name) = NAMES.get(index)
    {
        // A constructor of another object came first.
        next.store(next_definition(name), Relaxed);
    }
    next.load(Relaxed)
}

/// Prepares for the function with the number `index`, and returns the function.
///
/// For the functions that execute programs: writes the profile, because the process may end here. If the function
/// fails, the process writes the profile again at its end. For the functions that change the user, in the superuser's
/// process: opens the files, because the new user may not create files in the directory.
pub(super) extern "C" fn before_passing(index: usize) -> usize {
    // The child of a vfork shares its parent's profile.
    if is_ours() && is_profiled() {
        if index < SETUID {
            write_snapshot();
        } else {
            hold_files();
        }
    }
    match next(index) {
        0 => no_such_function as *const () as usize,
        next => next,
    }
}

extern "C" fn no_such_function() -> c_int {
    set_errno(Errno::ENOSYS);
    -1
}

/// What a new thread calls first. A thread takes its place before it calls the function, and frees the place.
pub(super) struct Place {
    /// The function; 0 in a place that is free, [`TAKEN`] in a place that another thread fills.
    function: AtomicUsize,
    argument: AtomicUsize,
}

const TAKEN: usize = 1;

/// One place for each thread that has been created and has not begun yet. If there are more such threads, the others
/// are not profiled before their first call of a function that was compiled with -pg.
static PLACES: Inherited<[Place; 1024]> = Inherited::new(
    "places of the parent's other threads stay taken",
    [const { Place { function: AtomicUsize::new(0), argument: AtomicUsize::new(0) } }; 1024],
);

impl Place {
    /// Stores the function and its argument in a free place.
    pub(super) fn take(function: usize, argument: usize) -> Option<&'static Place> {
        let is_free = |place: &&Place| place.function.compare_exchange(0, TAKEN, Acquire, Relaxed).is_ok();
        let place = PLACES.iter().find(is_free)?;
        place.argument.store(argument, Relaxed);
        place.function.store(function, Release);
        Some(place)
    }

    pub(super) fn free(&self) {
        self.function.store(0, Release);
    }
}

/// What a thread does after [`enter`]: the architecture's code jumps to the function.
#[repr(C)]
pub(super) struct Entry {
    function: usize,
    argument: usize,
}

/// Begins to profile this thread.
pub(super) extern "C" fn enter(place: &Place) -> Entry {
    let entry = Entry { function: place.function.load(Acquire), argument: place.argument.load(Relaxed) };
    place.free();
    if is_profiled() {
        mcount::enter_new_thread();
    }
    entry
}
