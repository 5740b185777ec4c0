//! Switches the counting of calls: the state, which one thread at a time uses, and what each request changes.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use gmon::encode::side_file::SelectionEncoder;
use gmon::layout::side_file::{ESTIMATES, SELECTIONS};

use super::super::{clock, merge};
use super::changes::{Changes, Piece};
use super::intervals::{Interval, Intervals, LONGEST_LIST};
use super::modules::{Look, Modules};
use super::patterns;
use super::refusal::{COMPRESSED, Refusal};
use super::source_files::Lines;
use super::windows::Windows;
use crate::arch::entry_room::{STEPS_OFF, STEPS_ON};
use crate::file::side_file::{self, on_demand};
use crate::file::writer::Writer;
use crate::kernel;
use crate::message::say;
use crate::objects;
use crate::os::{Errno, MapsRoom, OwnCode, OwnMemory, map, synchronize};
use crate::samples::bins;
use crate::samples::outside_text::count_while_counting_calls;
use crate::state::{Inherited, Reset, resets};
use crate::text::Text;
use crate::unwind::thunks;

/// All that is known of calls on demand. Zeros if nothing is known.
pub(super) struct State {
    modules: Modules,
    intervals: Intervals,
    piece: Piece,
    room: MapsRoom,
    /// The selection that a toggle switches on and 1; 0 for all functions.
    latest: usize,
    /// The selection for which the code is being changed, or was changed last, and 1; 0 for none.
    wanted: usize,
    /// What [`Request::Borrow`] has switched on, and what was before.
    borrowed: Borrowed,
    pub(super) windows: Windows,
}

/// A selection that is switched on for somebody who gives it back. Each number is that of a selection and 1; 0 for
/// none.
#[derive(Clone, Copy)]
struct Borrowed {
    selection: usize,
    /// The selection whose calls were counted before.
    before: usize,
    /// The selection that a toggle would have switched on before.
    latest: usize,
}

static STATE: Inherited<AtomicPtr<State>> =
    Inherited::new("the child has the same code", AtomicPtr::new(ptr::null_mut()));
/// The address of the code that thunks call.
static COUNTER: Inherited<AtomicUsize> = Inherited::new("the child has the same code", AtomicUsize::new(0));

resets! {
    /// Whether an object may have been unloaded since the last look.
    static HAS_CLOSED: Reset<AtomicBool> = Reset::new();
}

/// A request to count calls, or not to count them any more.
#[derive(Clone, Copy)]
pub(super) enum Request<'a> {
    /// Count the calls of the functions that a list of patterns selects, and of no others; an empty list selects all.
    On(&'a [u8]),
    /// As `On`, before the program begins.
    Start(&'a [u8]),
    /// Count the calls of the functions that a list of patterns selects in windows that cover this part of the time, in
    /// millionths.
    Windows(u64, &'a [u8]),
    /// Do not count the calls of the functions that a list of patterns selects; an empty list selects all.
    Off(&'a [u8]),
    /// Switch off what is on; otherwise, switch on what was on last.
    Toggle,
    /// As `On`, until `GiveBack`.
    Borrow(&'a [u8]),
    /// Count the calls that were counted before `Borrow`, unless somebody has asked for others since.
    GiveBack,
    /// An object was loaded.
    Look,
}

/// The state, if calls were ever asked for.
pub(super) fn state() -> Option<*mut State> {
    let state = STATE.load(SeqCst);
    (!state.is_null()).then_some(state)
}

/// The state, in new memory if necessary; `None` if there is no memory.
pub(super) fn state_or_new() -> Option<*mut State> {
    if STATE.load(SeqCst).is_null() {
        let memory = map(size_of::<State>()).cast();
        // Another thread may have been faster.
        let _ = STATE.compare_exchange(ptr::null_mut(), memory, SeqCst, SeqCst);
    }
    state()
}

/// Sets the address of the code that thunks call. Called at start-up.
pub(crate) fn set_counter(counter: usize) {
    COUNTER.store(counter, Relaxed);
}

/// Whether the instruction at an address counts calls: in a thunk, at a jump to one, or in the code that
/// thunks call.
pub(super) fn counts_at(pc: usize) -> bool {
    /// The length of the code that thunks call, or more, in bytes.
    const LENGTH: usize = 320;
    thunks::owner_of_interrupted(pc, || bins::covers(pc)) != pc || pc.wrapping_sub(COUNTER.load(Relaxed)) < LENGTH
}

/// Whether thunks have code that they can call.
pub(super) fn has_counter() -> bool {
    COUNTER.load(Relaxed) != 0
}

/// Says that an object may have been unloaded.
#[allow(dead_code, reason = "not all systems close objects")]
pub(super) fn has_closed() {
    HAS_CLOSED.store(true, SeqCst);
}

/// Writes when and which calls were counted, and the samples meanwhile. Called by the thread that may write the file.
pub(super) fn put(out: &mut Writer) {
    // SAFETY: null, or memory that is never freed; this thread excludes all others.
    let Some(state) = (unsafe { STATE.load(SeqCst).as_mut() }) else { return };
    state.windows.say_lost();
    let (modules, intervals, now) = (&state.modules, &state.intervals, clock::now());
    out.part(SELECTIONS, |out| {
        for selection in 0..intervals.number_of_selections() {
            let mut number = 0;
            intervals.each(selection, now, |_| number += 1);
            if number == 0 && state.windows.selection() != Some(selection) {
                continue;
            }
            let bit = 1 << selection;
            let mut functions = 0;
            modules.each_selected(bit, |_, _| functions += 1);
            let mut name = Text::<LONGEST_LIST>::new();
            intervals.push_name(selection, &mut name);
            let mut encoder = SelectionEncoder::begin(out, name.as_bytes(), functions);
            modules.each_selected(bit, |object, address| {
                encoder.function(out, side_file::place(object << objects::ADDRESS_BITS | address));
            });
            encoder.begin_intervals(out, number);
            intervals.each(selection, now, |Interval { begin, length, .. }| {
                encoder.interval(out, begin, begin.saturating_add(length));
            });
        }
    });
    if state.windows.is_some() {
        out.required_part(ESTIMATES, |out| state.windows.put(out));
    }
    side_file::put_elapsed(out, now);
    // SAFETY: this is the thread that may write the file.
    side_file::put_counted_samples(out, unsafe { merge::counted_samples() });
}

impl State {
    /// Prepares the state for the child of a fork. The profile of the child begins at the fork. `was_changing` tells
    /// whether another thread of the parent may have been changing the code at the fork.
    pub(super) fn restart(&mut self, was_changing: bool) {
        self.intervals.restart();
        self.restart_windows();
        if was_changing {
            if self.windows.is_some() {
                // The child's first window is not open yet.
                self.wanted = 0;
            }
            self.repair();
        }
    }

    /// Does what is asked for.
    pub(super) fn handle<'a>(&mut self, request: Request<'a>) -> Result<(), Refusal<'a>> {
        let memory = OwnMemory::open().map_err(Refusal::Forbidden)?;
        let result = self.switch(request, &memory);
        memory.close();
        result
    }

    fn switch<'a>(&mut self, request: Request<'a>, memory: &OwnMemory) -> Result<(), Refusal<'a>> {
        let current = self.intervals.current();
        match (request, current) {
            (Request::Windows(share, list), _) => {
                let selection = self.selected(list, memory)?;
                self.begin_windows(selection, share)
            }
            (Request::Look, None) => {
                if let Some(selection) = self.windows.selection() {
                    self.look(memory);
                    self.select(selection, memory);
                }
                Ok(())
            }
            _ if self.windows.is_some() => Err(Refusal::Windows),
            (Request::Start(list) | Request::On(list), _) => {
                let is_start = matches!(request, Request::Start(_));
                let selection = self.selected(list, memory)?;
                self.count(selection, is_start, memory)
            }
            (Request::Borrow(list), _) => self.borrow(list, memory),
            (Request::GiveBack, _) => self.give_back(memory),
            (Request::Off(list), Some(current)) if !list.is_empty() => {
                self.look(memory);
                let selection = self.intervals.selection(list, Some(current))?;
                self.select(selection, memory);
                let selection = self.earlier_equal(selection);
                if self.has_functions(selection) {
                    self.count(selection, false, memory)
                } else {
                    self.switch_off(memory)
                }
            }
            (Request::Off(_) | Request::Toggle, Some(_)) => self.switch_off(memory),
            (Request::Off(_), None) => Ok(()),
            (Request::Toggle, None) => {
                let look = self.look(memory);
                let selection = match self.latest.checked_sub(1) {
                    Some(latest) => latest,
                    None => self.intervals.selection(b"", None)?,
                };
                self.select(selection, memory);
                if self.has_functions(selection) {
                    self.count(selection, false, memory)
                } else {
                    Err(self.why_none(look, b"the list of patterns"))
                }
            }
            (Request::Look, Some(current)) => {
                self.look(memory);
                self.select(current, memory);
                self.apply(Some(current), memory).map_err(Refusal::Forbidden)
            }
        }
    }

    /// The selection of a list of patterns, which has functions.
    fn selected<'a>(&mut self, list: &'a [u8], memory: &OwnMemory) -> Result<usize, Refusal<'a>> {
        let look = self.look(memory);
        let selection = self.intervals.selection(list, None)?;
        self.select(selection, memory);
        self.latest = selection + 1;
        if self.has_functions(selection) { Ok(selection) } else { Err(self.why_none(look, list)) }
    }

    /// Whether the calls of the function at a run-time address can be counted on demand.
    pub(super) fn has_site(&self, pc: usize) -> bool {
        self.modules.has_site(pc)
    }

    /// Counts the calls that a list of patterns selects, and remembers what was before.
    fn borrow<'a>(&mut self, list: &'a [u8], memory: &OwnMemory) -> Result<(), Refusal<'a>> {
        let before = self.intervals.current();
        let (latest, before_number) = (self.latest, before.map_or(0, |selection| selection + 1));
        let result = self.switch(Request::On(list), memory);
        match result {
            Ok(()) => self.borrowed = Borrowed { selection: self.latest, before: before_number, latest },
            Err(_) => {
                if let Some(before) = before {
                    let _ = self.count(before, false, memory);
                }
                self.latest = latest;
            }
        }
        result
    }

    /// Undoes [`State::borrow`].
    fn give_back<'a>(&mut self, memory: &OwnMemory) -> Result<(), Refusal<'a>> {
        let Borrowed { selection, before, latest } = self.borrowed;
        self.borrowed.selection = 0;
        if selection == 0 {
            return Ok(());
        }
        let is_it_on = self.intervals.current().is_some_and(|current| current + 1 == selection);
        let is_latest = self.latest == selection;
        let result = match before.checked_sub(1) {
            _ if !is_it_on => Ok(()),
            Some(before) => self.count(before, false, memory),
            None => self.switch_off(memory),
        };
        if is_latest {
            self.latest = latest;
        }
        result
    }

    /// Counts the calls of a selection, and no others.
    fn count<'a>(&mut self, selection: usize, is_start: bool, memory: &OwnMemory) -> Result<(), Refusal<'a>> {
        self.latest = selection + 1;
        let is_new = self.intervals.current() != Some(selection);
        if is_new {
            // Ticks that are due belong to the time until now.
            kernel::collect();
            self.end();
        }
        if let Err(error) = self.apply(Some(selection), memory) {
            let _ = self.apply(None, memory);
            self.end();
            return Err(Refusal::Forbidden(error));
        }
        if is_new {
            if lines(&mut self.modules, self.intervals.list(selection)) == Lines::Compressed {
                say(&[b"not all calls are counted: ", COMPRESSED]);
            }
            on_demand::set_source(put);
            count_while_counting_calls(true);
            // Before the start, there were no calls.
            self.intervals.begin(selection, if is_start { 0 } else { clock::now() });
        }
        Ok(())
    }

    /// Counts no calls any more.
    fn switch_off<'a>(&mut self, memory: &OwnMemory) -> Result<(), Refusal<'a>> {
        kernel::collect();
        self.end();
        if HAS_CLOSED.swap(false, SeqCst) {
            self.look(memory);
        }
        self.apply(None, memory).map_err(Refusal::Forbidden)
    }

    /// Whether any function is in a selection.
    fn has_functions(&mut self, selection: usize) -> bool {
        let bit = 1 << selection;
        self.modules.loaded().any(|module| module.sites.all().iter().any(|site| site.selections & bit != 0))
    }

    /// Why a list selects no function.
    fn why_none<'a>(&mut self, look: Look, list: &'a [u8]) -> Refusal<'a> {
        match look {
            _ if self.modules.loaded().next().is_some() => Refusal::NoFunction(list, lines(&mut self.modules, list)),
            Look { error: Some(error), .. } => Refusal::NoObjects(error),
            Look { has_other_room: true, .. } => Refusal::OtherRoom,
            Look { lacks_memory: true, .. } => Refusal::NoMemory,
            _ => Refusal::NoRoom,
        }
    }

    /// An earlier selection with the functions of the last selection, which is then forgotten; or the last selection.
    fn earlier_equal(&mut self, last: usize) -> usize {
        let equal = (0..last).find(|other| self.modules.are_equal(1 << other, 1 << last));
        let Some(equal) = equal.filter(|_| self.intervals.is_new(last)) else { return last };
        self.modules.forget(1 << last);
        self.intervals.forget(last);
        equal
    }

    /// Makes the code what the wanted selection needs, whatever another thread had changed when it disappeared.
    fn repair(&mut self) {
        let wanted = self.wanted.checked_sub(1);
        self.modules.forget_unfinished();
        if let Ok(memory) = OwnMemory::open() {
            let bit = wanted.map_or(0, |selection| 1 << selection);
            self.modules.loaded().for_each(|module| module.sites.doubt(bit));
            let _ = self.apply(wanted, &memory);
            memory.close();
        }
        if let Some(wanted) = wanted.filter(|_| self.intervals.current().is_none()) {
            self.intervals.begin(wanted, 0);
            count_while_counting_calls(true);
        }
    }

    /// Ends the current interval.
    fn end(&mut self) {
        self.intervals.end(clock::now());
        count_while_counting_calls(false);
    }

    /// Looks for objects that were loaded or unloaded.
    #[inline(never)]
    fn look(&mut self, memory: &OwnMemory) -> Look {
        // SAFETY: this is the thread that may write the file.
        unsafe {
            let _ = merge::look();
            objects::look_at_all();
        }
        let look = self.modules.look(&mut self.room, &mut self.piece, memory, COUNTER.load(Relaxed));
        if look.is_full {
            say(&[
                b"too many objects have functions with room at their entries: calls in some objects are not counted",
            ]);
        }
        look
    }

    /// Looks up the functions of a selection in the objects in which that has not been done.
    fn select(&mut self, selection: usize, memory: &OwnMemory) {
        let less_than = self.intervals.less_than(selection);
        if let Some(from) = less_than {
            // That selection is an earlier one.
            self.select(from, memory);
        }
        let (list, bit) = (self.intervals.list(selection), 1 << selection);
        for module in self.modules.loaded().filter(|module| module.known & bit == 0) {
            module.select(list, bit, memory);
            if let Some(from) = less_than {
                module.sites.subtract(bit, 1 << from);
            }
        }
    }

    /// Changes the code so that the calls of a selection are counted, and no others.
    pub(super) fn apply(&mut self, selection: Option<usize>, memory: &OwnMemory) -> Result<(), Errno> {
        const TRIES: u32 = 3;
        self.wanted = selection.map_or(0, |selection| selection + 1);
        let bit = selection.map_or(0, |selection| 1 << selection);
        let code = OwnCode::open();
        let mut result = self.change(bit, &code, memory);
        for _ in 1..TRIES {
            if result.is_ok() {
                break;
            }
            // The program may have unmapped an object meanwhile, also by a `dlopen` that failed.
            self.look(memory);
            self.modules.loaded().for_each(|module| module.sites.doubt(bit));
            result = self.change(bit, &code, memory);
        }
        code.close();
        result
    }

    fn change(&mut self, bit: u32, code: &OwnCode, memory: &OwnMemory) -> Result<(), Errno> {
        let State { modules, piece, .. } = self;
        let mut changes = Changes::new(code, memory, piece);
        for step in 0..STEPS_OFF {
            let mut has_changes = false;
            for module in modules.loaded() {
                for site in module.sites.all().iter().filter(|site| site.is_on && site.selections & bit == 0) {
                    let change = site.room.off(step);
                    has_changes = true;
                    let at = module.bias.wrapping_add(site.record).wrapping_add(change.distance);
                    changes.change(at, change.bytes.get(..change.length).unwrap_or(&[]), module.code)?;
                }
                changes.finish()?;
            }
            // Each call interrupts all processors that execute a thread of the process.
            if has_changes {
                synchronize();
            }
        }
        for module in modules.loaded() {
            module.sites.all_mut().iter_mut().for_each(|site| site.is_on &= site.selections & bit != 0);
        }
        for step in 0..STEPS_ON {
            let is_jump = STEPS_ON > 1 && step == 0;
            let mut has_changes = false;
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
                    has_changes = true;
                    site.has_jump |= is_jump;
                    // Only the last step lets the function count.
                    site.is_on = step + 1 == STEPS_ON;
                }
                changes.finish()?;
            }
            if has_changes {
                synchronize();
            }
        }
        Ok(())
    }
}

/// What is known of the lines that a list of patterns needs.
fn lines(modules: &mut Modules, list: &[u8]) -> Lines {
    let all = modules.loaded().map(|module| module.lines);
    all.max().filter(|_| patterns::names_files(list)).unwrap_or(Lines::Unknown)
}
