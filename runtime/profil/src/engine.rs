//! What all dialects share: the one profile of the process, and the handler that counts in it.
//!
//! The program may free its buffer as soon as its next call has returned: [`exchange`] returns when no handler uses
//! the old profile any more. Handlers enter one of two generations before they read that generation's profile, so
//! [`exchange`] need not wait for later handlers.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{
    AtomicI32, AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use super::profile::Profile;
use gmon_runtime::kernel::profil_clock as clock;
use gmon_runtime::os::{
    Errno, SignalInfo, a_moment, block_signals, interrupted_pc, set_blocked_signals, set_errno, thread_id,
};

/// The profiles of the even and the odd generations; the previous generation's is null once no handler uses it.
static PROFILES: [AtomicPtr<Profile>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];
/// The current generation.
static GENERATION: AtomicUsize = AtomicUsize::new(0);
/// The number of handlers in the even, and in the odd, generation.
static LOOKING: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// The element for a generation.
fn of<T>(two: &[T; 2], generation: usize) -> &T {
    let [even, odd] = two;
    if generation.is_multiple_of(2) { even } else { odd }
}

/// Counts ticks at an address, if there is a profile, and does `more`. Async-signal-safe; does not call the C
/// library.
fn count(pc: usize, ticks: u32, more: impl Fn()) {
    loop {
        let generation = GENERATION.load(SeqCst);
        let looking = of(&LOOKING, generation);
        looking.fetch_add(1, SeqCst);
        let is_still = GENERATION.load(SeqCst) == generation;
        if is_still {
            // SAFETY: null or a profile; whoever frees a profile waits until no handler of its generation remains.
            if let Some(profile) = unsafe { of(&PROFILES, generation).load(SeqCst).as_ref() } {
                profile.count(pc, ticks);
            }
            more();
        }
        looking.fetch_sub(1, SeqCst);
        if is_still {
            return;
        }
    }
}

/// Replaces the profile, or removes it. The result is the number of addresses that the previous profile has stored;
/// from then on nobody writes to its memory. Call this inside [`exclusively`].
///
/// # Errors
///
/// The errors of starting ticks; there is then no profile.
pub(crate) fn exchange(profile: Option<&'static Profile>) -> Result<usize, Errno> {
    let Some(profile) = profile else {
        clock::stop_soon();
        return Ok(replace(None));
    };
    clock::go_on();
    let stored = replace(Some(profile));
    match clock::listen(on_signal).and_then(|()| clock::run(profile.rate(), on_signal)) {
        Ok(()) => Ok(stored),
        Err(error) => exchange(None).and(Err(error)),
    }
}

/// Starts the next generation.
fn replace(profile: Option<&'static Profile>) -> usize {
    let generation = GENERATION.load(SeqCst);
    of(&PROFILES, generation + 1)
        .store(profile.map_or(ptr::null_mut(), |profile| ptr::from_ref(profile).cast_mut()), SeqCst);
    GENERATION.store(generation + 1, SeqCst);
    // Handlers are short, but a handler's thread may have to wait for a processor.
    let mut looks = 0;
    while of(&LOOKING, generation).load(SeqCst) != 0 {
        if looks < 1000 {
            looks += 1;
            core::hint::spin_loop();
        } else {
            a_moment();
        }
    }
    let before = of(&PROFILES, generation).swap(ptr::null_mut(), SeqCst);
    // SAFETY: null, or a profile that no handler uses.
    unsafe { before.as_ref() }.map_or(0, |before| {
        let stored = before.stored();
        // SAFETY: as above; there is no other reference.
        unsafe { before.free() };
        stored
    })
}

/// Handles the signal of the ticks, and SIGPROF if it replaces that signal: counts ticks, and passes on other
/// signals. The handler stays when there is no profile: the default action would end the process if a tick were still
/// pending.
unsafe extern "C" fn on_signal(signal: c_int, info: *const SignalInfo, context: *const c_void) {
    // SAFETY: the kernel calls the handler as it was installed, with SA_SIGINFO: both pointers are valid.
    let (pc, told) = unsafe { (interrupted_pc(context), &*info) };
    match clock::ticks(signal, told) {
        0 => {}
        ticks => count(pc, ticks, || clock::at_tick(on_signal)),
    }
    // SAFETY: the arguments of this handler.
    unsafe { clock::pass_on(signal, info, context) };
}

/// The result of a C function: 0, or -1 and `errno`.
pub(crate) fn returned(result: Result<(), Errno>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            set_errno(error);
            -1
        }
    }
}

/// Makes `profile` the current profile. If it could not be made for lack of memory, the previous profile ends too.
pub(crate) fn begin(profile: Result<&'static Profile, Errno>) -> Result<(), Errno> {
    match profile {
        Ok(profile) => exchange(Some(profile)).map(drop),
        Err(error) => exchange(None).and(Err(error)),
    }
}

/// Runs `work` in one thread of the process at a time, with signals blocked. Async-signal-safe.
pub(crate) fn exclusively<T>(work: impl FnOnce() -> T) -> T {
    let blocked = block_signals();
    while WORKING.compare_exchange(NOBODY, thread_id(), SeqCst, SeqCst).is_err() {
        a_moment();
    }
    let result = work();
    WORKING.store(NOBODY, SeqCst);
    set_blocked_signals(blocked);
    result
}

/// The thread that is in [`exclusively`].
static WORKING: AtomicI32 = AtomicI32::new(NOBODY);
const NOBODY: i32 = 0;

/// Runs first in the child of a fork, which has no other thread and no timer.
pub(crate) fn after_fork_in_child() {
    for looking in &LOOKING {
        looking.store(0, Relaxed);
    }
    WORKING.store(NOBODY, Relaxed);
    clock::after_fork_in_child();
    let profile = of(&PROFILES, GENERATION.load(SeqCst)).load(SeqCst);
    // SAFETY: null or a profile, which only this thread could free.
    if let Some(profile) = unsafe { profile.as_ref() } {
        profile.begin_in_child(on_signal);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use super::*;
    use crate::profile::Range;
    use crate::rules::Dialect;
    use gmon_runtime::kernel::profil_clock::HUNDRED;

    fn profile(counts: &mut [u16]) -> &'static Profile {
        let bins = counts.as_mut_ptr().expose_provenance();
        let range = Range { lowpc: 0x1000, highpc: usize::MAX, scale: 65536, bins, length: counts.len() };
        Profile::new(Dialect::Bsd, HUNDRED, std::iter::once(range)).unwrap()
    }

    #[test]
    fn no_tick_is_lost_while_threads_count_and_buffers_change() {
        const BINS: usize = 5;
        let (counted, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let mut found = 0;
        let mut counts = vec![0_u16; BINS];
        replace(Some(profile(&mut counts)));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (counted, stop) = (&counted, &stop);
                scope.spawn(move || {
                    for round in thread.. {
                        if stop.load(SeqCst) {
                            break;
                        }
                        let ticks = 1 + round % 3;
                        // Bins that other threads count in too, and an address outside.
                        count(0x1000 + 2 * (round % BINS), ticks as u32, || ());
                        count(0xfff, 7, || ());
                        count(0x1000 + 2 * BINS, 7, || ());
                        counted.fetch_add(ticks as u64, SeqCst);
                    }
                });
            }
            for _ in 0..200 {
                let mut next = vec![0_u16; BINS];
                replace(Some(profile(&mut next)));
                found += counts.iter().map(|count| u64::from(*count)).sum::<u64>();
                counts = next;
            }
            stop.store(true, SeqCst);
        });
        replace(None);
        found += counts.iter().map(|count| u64::from(*count)).sum::<u64>();
        // Counts of a buffer that was in use for long wrapped around to 0.
        let missing = counted.load(SeqCst).wrapping_sub(found);
        assert!(missing.is_multiple_of(65536), "{} counted, {found} found", counted.load(SeqCst));
        let [even, odd] = &LOOKING;
        assert_eq!((even.load(SeqCst), odd.load(SeqCst)), (0, 0));
    }
}
