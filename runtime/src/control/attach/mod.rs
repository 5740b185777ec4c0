//! Answers the requests of `gprof --attach`: copies of the profile while the program runs.
//!
//! gprof asks for two copies, and the difference is the profile of the time between. Meanwhile, calls may be counted on
//! demand, or profiling may go on that the program has stopped; the second request ends that, or a tick after a limit,
//! because gprof may have been killed. No thread is made, and nothing stays open.

mod copy;
mod files;

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::request::{Action, LONGEST_TEXT, QUESTION_SIZE, Question};

use super::calls;
use super::moncontrol::{self, KEEPS_OUTSIDE, current, is_ours};
use crate::message::push_error;
use crate::os::{map, steady_time};
use crate::samples::requests::{Reason, listen, set_limited};
use crate::state::{Inherited, Reset, resets};
use crate::text::Text;
use crate::{arch, file};
use copy::write_copy;
use files::Files;

/// What is switched on for a request. Zeros if nothing was ever asked for.
struct State {
    /// Whether something is switched on.
    is_on: bool,
    /// The session that has switched it on.
    session: u64,
    question: [u8; QUESTION_SIZE],
    /// Why nothing was done.
    why: Text<LONGEST_TEXT>,
}

/// The size of the stack on which requests are handled: several times the need.
const STACK: usize = 16 << 10;

/// The memory of the requests. The signal may come where little is left of a stack, for example on an alternate stack
/// of 2 KB.
#[repr(C, align(64))]
struct Memory {
    state: State,
    stack: Stack,
}

#[repr(C, align(64))]
struct Stack([u8; STACK]);

static MEMORY: Inherited<AtomicPtr<Memory>> =
    Inherited::new("the child switches off what its parent has switched on", AtomicPtr::new(ptr::null_mut()));
/// The steady time after which a tick switches off what is on.
static LIMIT: Inherited<AtomicU64> =
    Inherited::new("the child switches off what its parent has switched on", AtomicU64::new(0));

resets! {
    /// Whether a thread uses the state.
    static IS_BUSY: Reset<AtomicBool> = Reset::new();
}

/// Answers requests from now on.
pub(crate) fn begin() {
    listen(on_event);
}

/// Handles the signal of another process, and the ticks while something is on. The result is whether there was a
/// request.
fn on_event(reason: Reason) -> bool {
    let is_over = || steady_time() >= LIMIT.load(Relaxed);
    if reason == Reason::Tick && !is_over() || !is_ours() || current().is_none() || IS_BUSY.swap(true, SeqCst) {
        return false;
    }
    let is_request = memory().is_some_and(|memory| memory.handle(reason));
    IS_BUSY.store(false, SeqCst);
    is_request
}

/// The memory of the requests; `None` if there is no memory. Called only while [`IS_BUSY`] is this thread's.
fn memory() -> Option<&'static mut Memory> {
    if MEMORY.load(SeqCst).is_null() {
        MEMORY.store(map(size_of::<Memory>()).cast(), SeqCst);
    }
    // SAFETY: null, or memory of zeros that is never freed; zeros are valid, and no other thread uses the memory.
    unsafe { MEMORY.load(SeqCst).as_mut() }
}

/// An event on its way to the stack of the requests.
struct Event<'a> {
    state: &'a mut State,
    reason: Reason,
    is_request: bool,
}

impl Memory {
    /// Handles an event on the stack of the requests. The result is whether there was a request.
    fn handle(&mut self, reason: Reason) -> bool {
        unsafe extern "C" fn on_stack(event: *mut c_void) {
            // SAFETY: the address of `event` below, to which there is no other reference during the call.
            let event = unsafe { &mut *event.cast::<Event<'_>>() };
            event.is_request = event.state.handle(event.reason);
        }
        let mut event = Event { state: &mut self.state, reason, is_request: false };
        // SAFETY: the end of a stack that only this thread uses; the argument is what the called function expects.
        unsafe { arch::call_on_stack((&raw mut self.stack).add(1).cast(), on_stack, (&raw mut event).cast()) };
        event.is_request
    }
}

impl State {
    /// Handles an event. The result is whether there was a request.
    fn handle(&mut self, reason: Reason) -> bool {
        match reason {
            Reason::Tick => {
                self.give_back();
                false
            }
            Reason::Signal => {
                let Some(files) = Files::open() else { return false };
                let is_done = self.answer(&files);
                files.answer(is_done, &self.why);
                true
            }
        }
    }

    /// Does what is asked for. The result is whether the copy is complete; otherwise the state has the reason.
    fn answer(&mut self, files: &Files) -> bool {
        self.why.clear();
        // A copy of the bytes would need much of the stack of the program.
        let bytes = files.read(&mut self.question);
        let State { is_on, session, question, why } = self;
        let Some(question) = question.get(..bytes).and_then(Question::decode) else {
            why.push(b"the runtime of the process answers other requests: use the gprof of the same version");
            return false;
        };
        match question.action {
            Action::Begin => {
                if *is_on && steady_time() >= LIMIT.load(Relaxed) {
                    give_back();
                    *is_on = false;
                }
                let resumes = !moncontrol::is_recording();
                if (resumes || question.calls.is_some()) && *is_on {
                    why.push(b"another gprof --attach has switched something on in the process");
                    return false;
                }
                if let Some(list) = question.calls
                    && !calls::borrow(list, why)
                {
                    return false;
                }
                if resumes {
                    moncontrol::borrow();
                }
                if resumes || question.calls.is_some() {
                    *is_on = true;
                    *session = question.session;
                    LIMIT.store(steady_time().saturating_add(question.limit), Relaxed);
                    set_limited(true);
                }
                let is_done = copy(files, why);
                if !is_done && *is_on && *session == question.session {
                    give_back();
                    *is_on = false;
                }
                is_done
            }
            Action::End => {
                let is_done = copy(files, why);
                if *is_on && *session == question.session {
                    give_back();
                    *is_on = false;
                }
                is_done
            }
        }
    }

    /// Switches off what is on.
    fn give_back(&mut self) {
        if self.is_on {
            give_back();
            self.is_on = false;
        }
    }
}

/// Switches off what requests have switched on.
fn give_back() {
    set_limited(false);
    calls::give_back();
    moncontrol::give_back();
}

/// Copies the profile. The result is whether the copy is complete; otherwise `why` gets the reason.
#[inline(never)]
fn copy(files: &Files, why: &mut Text<LONGEST_TEXT>) -> bool {
    if file::is_in_file() {
        why.push(b"the process has installed a filter of system calls, and counts in its file since");
        return false;
    }
    if !KEEPS_OUTSIDE.load(Relaxed) {
        why.push(b"the process keeps no side file (GMON_OBJECTS=0)");
        return false;
    }
    match write_copy(files.copy()) {
        Some(Ok(())) => return true,
        Some(Err((what, error))) => push_error(why, &[b"cannot ", what], error),
        None => why.push(b"the profile of the process is complete: the process is ending"),
    }
    false
}
