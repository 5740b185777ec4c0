//! Counts calls exactly, for as long as somebody asks.
//!
//! Compilers leave room at the entries of functions (`-fpatchable-function-entry`). While nobody asks, the room is
//! nops. To count the calls of a function, the code at its entry is changed, while other threads may be executing it:
//! see [`crate::arch::entry_room`]. Every call that begins after [`gmon_calls`] has switched the counting on, and
//! before it is switched off, is counted once.
//!
//! These modules, bottom up:
//!
//! * `patterns`: selects functions by their names; `object_file`: reads the sections and symbols of an object
//! * `sites`: the functions of an object with room; `region`: the memory of the thunks; `modules`: the loaded objects
//! * `changes`: changes much code in few system calls; `intervals`: when calls were counted

mod changes;
mod intervals;
mod modules;
mod object_file;
mod patterns;
mod region;
mod sites;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use gmon::encode::side_file::SelectionEncoder;
use gmon::layout::side_file::SELECTIONS;

use super::merge;
use super::moncontrol::{current, is_ours};
use super::writing_thread::exclusively;
use crate::arch::entry_room::{STEPS_OFF, STEPS_ON};
use crate::file::one_writer::NOBODY;
use crate::file::side_file::{self, on_demand};
use crate::file::writer::Writer;
use crate::kernel;
use crate::mcount;
use crate::message::{say, say_error};
use crate::objects;
use crate::os::{
    CHANGES_CODE, Errno, MapsRoom, OwnCode, OwnMemory, SignalInfo, a_moment, catch_signal, map, synchronize, unix_time,
};
use crate::ownership::start_time;
use crate::samples::outside_text::count_while_counting_calls;
use crate::state::{Inherited, Reset, resets};
use crate::text::Text;
use changes::{Changes, Piece};
use intervals::{Interval, Intervals, LONGEST_LIST};
use modules::{Look, Modules};

/// All that is known of calls on demand. Zeros if nothing is known.
struct State {
    modules: Modules,
    intervals: Intervals,
    piece: Piece,
    room: MapsRoom,
    /// What a toggle switches on.
    latest: Text<LONGEST_LIST>,
}

static STATE: Inherited<AtomicPtr<State>> =
    Inherited::new("the child has the same code", AtomicPtr::new(ptr::null_mut()));
/// The address of the code that thunks call.
static COUNTER: Inherited<AtomicUsize> = Inherited::new("the child has the same code", AtomicUsize::new(0));
/// The signal that switches the counting; 0 for none.
static SIGNAL: Inherited<AtomicI32> = Inherited::new("the child inherits the handler", AtomicI32::new(0));

/// How many moments, about milliseconds, one thread waits for another.
const MOMENTS: u32 = 3000;

resets! {
    /// The number of threads that are closing objects: code may disappear.
    static CLOSING: Reset<AtomicUsize> = Reset::new();
    /// Whether a thread changes code.
    static IS_CHANGING: Reset<AtomicBool> = Reset::new();
    /// Whether an object may have been unloaded since the last look.
    static HAS_CLOSED: Reset<AtomicBool> = Reset::new();
}

/// A request to count calls, or not to count them any more.
#[derive(Clone, Copy)]
enum Request<'a> {
    /// Count the calls of the functions that a list of patterns selects, and of no others; an empty list selects all.
    On(&'a [u8]),
    /// As `On`, before the program begins.
    Start(&'a [u8]),
    /// Do not count the calls of the functions that a list of patterns selects; an empty list selects all.
    Off(&'a [u8]),
    /// Switch off what is on; otherwise, switch on what was on last.
    Toggle,
    /// An object was loaded.
    Look,
}

/// Sets the address of the code that thunks call. Called at start-up.
pub(crate) fn set_counter(counter: usize) {
    COUNTER.store(counter, Relaxed);
}

/// `int gmon_calls(int on, const char *pattern)`: if `on` is not 0, counts the calls of the functions that the list of
/// patterns selects from now on, and of no others; otherwise does not count the calls of these functions any more. Null
/// and an empty list select all functions. The result is 0, or -1 if nothing was changed; a line on standard error then
/// says why. May be called in any thread and in signal handlers.
#[unsafe(no_mangle)]
unsafe extern "C" fn gmon_calls(on: c_int, pattern: *const c_char) -> c_int {
    // SAFETY: null, or a string that the caller keeps.
    let list = if pattern.is_null() { &[] } else { unsafe { CStr::from_ptr(pattern) }.to_bytes() };
    handle(if on != 0 { Request::On(list) } else { Request::Off(list) })
}

/// Begins to count the calls of the functions that a list of patterns selects. Called at start-up.
pub(crate) fn switch_on(list: &[u8]) {
    handle(Request::Start(list));
}

/// Installs the handler that switches the counting at each signal.
pub(crate) fn watch(signal: c_int) {
    unsafe extern "C" fn on_signal(_signal: c_int, _info: *const SignalInfo, _context: *const c_void) {
        handle(Request::Toggle);
    }
    match catch_signal(signal, on_signal) {
        Ok(()) => SIGNAL.store(signal, Relaxed),
        Err(error) => say_error(&[b"GMON_CALLS_SIGNAL: sigaction"], error),
    }
}

/// `void gmon_calls_loaded(void)`: looks for functions in an object that the program has just loaded, if calls are
/// being counted. The constructors of objects call this.
#[unsafe(no_mangle)]
extern "C" fn gmon_calls_loaded() {
    if !STATE.load(SeqCst).is_null() {
        handle(Request::Look);
    }
}

/// Goes on in the child of a fork, whose profile begins now. `was_changing` says that another thread may have been
/// changing the code: that thread does not exist in the child.
pub(super) fn after_fork_in_child(was_changing: bool) {
    if !CHANGES_CODE {
        return;
    }
    // SAFETY: null, or memory that is never freed; the child has one thread.
    let Some(state) = (unsafe { STATE.load(SeqCst).as_mut() }) else { return };
    state.intervals.restart();
    if was_changing {
        state.repair();
    }
}

/// The memory of the state; `None` if there is no memory.
fn state_or_new() -> Option<*mut State> {
    if STATE.load(SeqCst).is_null() {
        let memory = map(size_of::<State>()).cast();
        // Another thread may have been faster.
        let _ = STATE.compare_exchange(ptr::null_mut(), memory, SeqCst, SeqCst);
    }
    let state = STATE.load(SeqCst);
    (!state.is_null()).then_some(state)
}

/// Does what is asked for in one thread at a time. The result is -1 if nothing was changed.
fn handle(request: Request<'_>) -> c_int {
    if !CHANGES_CODE {
        return report(Refusal::System);
    }
    if current().is_none() || !is_ours() || COUNTER.load(Relaxed) == 0 {
        return -1;
    }
    let Some(state) = state_or_new() else { return report(Refusal::NoMemory) };
    // A thread that is closing an object, or has just opened one, has the dynamic linker's lock, so no other thread
    // can be unmapping an object.
    let has_lock = matches!(request, Request::Look) || mcount::is_closing();
    for _ in 0..MOMENTS {
        let mut result = None;
        exclusively(NOBODY, &mut || {
            IS_CHANGING.store(true, SeqCst);
            if has_lock || CLOSING.load(SeqCst) == 0 {
                // SAFETY: one thread at a time is here, and zeros are valid.
                result = Some(unsafe { &mut *state }.handle(request).map_or_else(report, |()| 0));
            }
            IS_CHANGING.store(false, SeqCst);
        });
        if let Some(result) = result {
            return result;
        }
        a_moment();
    }
    report(Refusal::Closing)
}

/// Says that this thread will call the C library's `dlclose`, and waits until no other thread changes code.
#[allow(dead_code, reason = "not all systems close objects")]
pub(crate) fn begin_closing() {
    CLOSING.fetch_add(1, SeqCst);
    for _ in 0..MOMENTS {
        if !IS_CHANGING.load(SeqCst) {
            break;
        }
        a_moment();
    }
}

/// Undoes [`begin_closing`].
#[allow(dead_code, reason = "not all systems close objects")]
pub(crate) fn end_closing() {
    HAS_CLOSED.store(true, SeqCst);
    // A fork child begins at 0, even inside `dlclose`.
    let _ = CLOSING.fetch_update(SeqCst, SeqCst, |threads| threads.checked_sub(1));
}

/// Why a request changed nothing.
#[derive(Clone, Copy)]
enum Refusal<'a> {
    /// No function has room at its entry.
    NoRoom,
    /// Functions have room of another form.
    OtherRoom,
    /// A list of patterns selects no function.
    NoFunction(&'a [u8]),
    ListTooLong,
    TooManyLists,
    NoMemory,
    /// Another thread is closing an object.
    Closing,
    /// The system does not permit changes of code, or the runtime cannot make them there.
    System,
    /// The system does not permit that code is changed.
    Forbidden(Errno),
}

fn report(refusal: Refusal<'_>) -> c_int {
    const WHAT: &[u8] = b"cannot count calls: ";
    match refusal {
        Refusal::NoRoom => say(&[
            WHAT,
            b"no function has room at its entry: compile with gmon-cc --on-demand (-fpatchable-function-entry)",
        ]),
        Refusal::OtherRoom => say(&[
            WHAT,
            b"there is no room before functions: compile with gmon-cc --on-demand (-fpatchable-function-entry=7,5)",
        ]),
        Refusal::NoFunction(list) => say(&[WHAT, b"no function with room at its entry matches ", list]),
        Refusal::ListTooLong => say(&[WHAT, b"the list of patterns is too long"]),
        Refusal::TooManyLists => say(&[WHAT, b"there were too many different lists of patterns"]),
        Refusal::NoMemory => say(&[WHAT, b"no memory near the program's code, or no permission to make code there"]),
        Refusal::System => say(&[WHAT, b"not on this system: compile with -pg"]),
        Refusal::Closing => say(&[WHAT, b"another thread is closing an object"]),
        Refusal::Forbidden(error) => say_error(&[b"cannot count calls: cannot change the program's code"], error),
    }
    -1
}

/// Writes when and which calls were counted, and the samples meanwhile. Called by the thread that may write the file.
fn put(out: &mut Writer) {
    // SAFETY: null, or memory that is never freed; this thread excludes all others.
    let Some(state) = (unsafe { STATE.load(SeqCst).as_ref() }) else { return };
    let (modules, intervals, now) = (&state.modules, &state.intervals, since_start());
    out.part(SELECTIONS, |out| {
        for selection in 0..intervals.number_of_selections() {
            let mut number = 0;
            intervals.each(selection, now, |_| number += 1);
            if number == 0 {
                continue;
            }
            let bit = 1 << selection;
            let mut functions = 0;
            modules.each_selected(bit, |_, _| functions += 1);
            let mut encoder = SelectionEncoder::begin(out, intervals.list(selection), functions);
            modules.each_selected(bit, |object, address| {
                encoder.function(out, side_file::place(object << objects::ADDRESS_BITS | address));
            });
            encoder.begin_intervals(out, number);
            intervals.each(selection, now, |Interval { begin, length, .. }| {
                encoder.interval(out, begin, begin.saturating_add(length));
            });
        }
    });
    side_file::put_elapsed(out, now);
    // SAFETY: this is the thread that may write the file.
    side_file::put_counted_samples(out, unsafe { merge::counted_samples() });
}

impl State {
    fn handle<'a>(&mut self, request: Request<'a>) -> Result<(), Refusal<'a>> {
        let memory = OwnMemory::open().map_err(Refusal::Forbidden)?;
        let result = self.switch(request, &memory);
        memory.close();
        result
    }

    fn switch<'a>(&mut self, request: Request<'a>, memory: &OwnMemory) -> Result<(), Refusal<'a>> {
        let mut list = Text::<LONGEST_LIST>::new();
        let is_on = match request {
            Request::Start(wanted) | Request::On(wanted) => {
                list.push(wanted);
                true
            }
            Request::Off(less) if less.is_empty() => false,
            Request::Off(less) => {
                if self.intervals.current().is_none() {
                    return Ok(());
                }
                self.push_current(&mut list);
                if list.as_bytes().is_empty() {
                    list.push(b"*");
                }
                push_inverted(&mut list, less);
                true
            }
            Request::Toggle if self.intervals.current().is_some() => false,
            Request::Toggle => {
                list.push(self.latest.as_bytes());
                true
            }
            Request::Look => {
                self.push_current(&mut list);
                self.intervals.current().is_some()
            }
        };
        if !list.is_whole() {
            return Err(Refusal::ListTooLong);
        }
        if !is_on {
            if self.intervals.current().is_none() {
                return Ok(());
            }
            // Ticks that are due came while calls were counted.
            kernel::collect();
            self.end();
            if HAS_CLOSED.swap(false, SeqCst) {
                self.look(memory);
            }
            let applied = self.apply(None, memory).or_else(|_| {
                // The program may have unmapped an object without `dlclose`.
                self.look(memory);
                self.apply(None, memory)
            });
            return applied.map_err(Refusal::Forbidden);
        }
        let look = self.look(memory);
        let had = self.intervals.current();
        let selection = self.intervals.selection(list.as_bytes()).ok_or(Refusal::TooManyLists)?;
        self.select(selection, memory);
        let bit = 1 << selection;
        if !self.modules.loaded().any(|module| module.sites.all().iter().any(|site| site.selections & bit != 0)) {
            let has_sites = self.modules.loaded().next().is_some();
            return match request {
                // A program may load objects with such functions later.
                Request::Look | Request::Off(_) => Ok(()),
                Request::Start(list) | Request::On(list) if has_sites => Err(Refusal::NoFunction(list)),
                _ if has_sites => Err(Refusal::NoFunction(b"the list of patterns")),
                _ if look.has_other_room => Err(Refusal::OtherRoom),
                _ if look.lacks_memory => Err(Refusal::NoMemory),
                _ => Err(Refusal::NoRoom),
            };
        }
        if had != Some(selection) {
            self.end();
        }
        let applied = self.apply(Some(selection), memory);
        if applied.is_err() {
            // What was changed is changed back as far as possible.
            let _ = self.apply(None, memory);
            self.end();
            return applied.map_err(Refusal::Forbidden);
        }
        if had != Some(selection) {
            on_demand::set_source(put);
            count_while_counting_calls(true);
            // Before the start, there were no calls.
            let now = if matches!(request, Request::Start(_)) { 0 } else { since_start() };
            self.intervals.begin(selection, now);
        }
        self.latest.clear();
        self.latest.push(list.as_bytes());
        Ok(())
    }

    /// Ends the current interval.
    fn end(&mut self) {
        self.intervals.end(since_start());
        count_while_counting_calls(false);
    }

    /// Appends the list of patterns whose functions' calls are being counted.
    fn push_current(&self, list: &mut Text<LONGEST_LIST>) {
        if let Some(selection) = self.intervals.current() {
            list.push(self.intervals.list(selection));
        }
    }

    /// Makes the code what the current selection wants, whatever another thread had changed when it disappeared.
    fn repair(&mut self) {
        let Ok(memory) = OwnMemory::open() else { return };
        let current = self.intervals.current();
        let bit = current.map_or(0, |selection| 1 << selection);
        for module in self.modules.loaded() {
            for site in module.sites.all_mut() {
                (site.is_on, site.has_jump) = (site.selections & bit == 0, false);
            }
        }
        let _ = self.apply(current, &memory);
        memory.close();
    }

    /// Looks for objects that were loaded or unloaded.
    fn look(&mut self, memory: &OwnMemory) -> Look {
        // SAFETY: this is the thread that may write the file.
        unsafe {
            let _ = merge::look();
            objects::look_at_all();
        }
        self.modules.look(&mut self.room, &mut self.piece, memory, COUNTER.load(Relaxed))
    }

    /// Looks up the functions of a selection in the objects in which that has not been done.
    fn select(&mut self, selection: usize, memory: &OwnMemory) {
        let (list, bit) = (self.intervals.list(selection), 1 << selection);
        for module in self.modules.loaded().filter(|module| module.known & bit == 0) {
            let file = if list.is_empty() { None } else { module.open(memory) };
            module.sites.select(file.as_ref(), list, bit);
            module.known |= bit;
            if let Some(file) = file {
                file.close();
            }
        }
    }

    /// Changes the code so that the calls of a selection are counted, and no others.
    fn apply(&mut self, selection: Option<usize>, memory: &OwnMemory) -> Result<(), Errno> {
        let code = OwnCode::open();
        let result = self.change(selection.map_or(0, |selection| 1 << selection), &code, memory);
        code.close();
        result
    }

    fn change(&mut self, bit: u32, code: &OwnCode, memory: &OwnMemory) -> Result<(), Errno> {
        let State { modules, piece, .. } = self;
        let mut changes = Changes::new(code, memory, piece);
        for step in 0..STEPS_OFF {
            for module in modules.loaded() {
                for site in module.sites.all().iter().filter(|site| site.is_on && site.selections & bit == 0) {
                    let change = site.room.off(step);
                    let at = module.bias.wrapping_add(site.record).wrapping_add(change.distance);
                    changes.change(at, change.bytes.get(..change.length).unwrap_or(&[]), module.code)?;
                }
                changes.finish()?;
            }
            synchronize();
        }
        for module in modules.loaded() {
            module.sites.all_mut().iter_mut().for_each(|site| site.is_on &= site.selections & bit != 0);
        }
        for step in 0..STEPS_ON {
            let is_jump = STEPS_ON > 1 && step == 0;
            for module in modules.loaded() {
                let (bias, limits, thunks) = (module.bias, module.code, module.thunks);
                for (number, site) in module.sites.all_mut().iter_mut().enumerate() {
                    if site.is_on || site.selections & bit == 0 || is_jump && site.has_jump {
                        continue;
                    }
                    let record = bias.wrapping_add(site.record);
                    // Thunks were made in reach.
                    let Some(change) = site.room.on(step, record, thunks.thunk(number)) else { continue };
                    let at = record.wrapping_add(change.distance);
                    changes.change(at, change.bytes.get(..change.length).unwrap_or(&[]), limits)?;
                    site.has_jump = true;
                    // Only the last step lets the function count; a failure in an earlier step is undone as well.
                    site.is_on = step + 1 == STEPS_ON;
                }
                changes.finish()?;
            }
            synchronize();
        }
        Ok(())
    }
}

/// The nanoseconds since the start of the profile.
fn since_start() -> u64 {
    unix_time().saturating_sub(start_time())
}

/// Appends patterns that exclude what the patterns of `list` include.
fn push_inverted(to: &mut Text<LONGEST_LIST>, list: &[u8]) {
    for pattern in list.split(|byte| *byte == b',') {
        to.push(b",");
        match pattern.strip_prefix(b"!") {
            Some(included) => to.push(included),
            None => {
                to.push(b"!");
                to.push(pattern);
            }
        }
    }
}
