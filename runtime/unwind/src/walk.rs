//! The walk from an interrupted function to its outermost caller.

mod without_table;

use core::marker::PhantomData;

use super::architecture::{Architecture, Returning, packing};
use super::chain::{Cut, Ending, Frame, Tables};
use super::expression::{Machine, evaluate};
use super::index::Found;
use super::memory::Memory;
use super::objects::Loaded;
use super::outer_end::Position;
use super::records::Chain;
use super::recursion::{Level, Search};
use super::rule::{Cfa, Place, Rule, Stored};

/// The most frames that are kept of a stack. Of a deeper stack the frames in the middle are left out: see
/// [`OUTERMOST_FRAMES`] and [`Reach`](super::Reach).
pub const MOST_FRAMES: u32 = 4096;
/// When a walk may go on for this number of frames, it leaves out the levels of a recursion: these are the frames for
/// the outermost end of the stack.
pub const OUTERMOST_FRAMES: u32 = 256;
/// Distinguishes the program counters of interrupted frames in the cache from those of calls, whose return addresses
/// were checked. No program has code at such addresses.
const EXACT: usize = 1 << (usize::BITS - 1);
/// The largest distance of two frames on one stack. The callers of a frame that is further up may be on another stack.
const LARGEST_FRAME: usize = 1 << 20;
/// How often the walk may go to a lower address, that is, to another stack: an alternate stack or a coroutine.
const MOST_STACKS: u32 = 16;

/// The frames of a stack, from the innermost on.
pub struct Walk<'a, A, O, M, const N: usize> {
    tables: &'a Tables<'a, O, N>,
    memory: &'a M,
    pc: usize,
    sp: usize,
    fp: usize,
    base: Option<usize>,
    is_exact: bool,
    /// The signal context with the other registers of this frame.
    context: Option<usize>,
    /// The rule of this frame, if there is one.
    found: Option<Found<'a>>,
    frames: u32,
    /// The most frames.
    most: u32,
    stacks: u32,
    /// Where the return address of this frame was on the stack; 0 if it was elsewhere.
    slot: usize,
    /// The lowest stack pointer of the walk on this stack.
    bottom: usize,
    /// A frame that may be a level of a deep recursion.
    level: Option<Level>,
    /// The chain of frame records by which the walk has come here.
    chain: Chain,
    ending: Option<Ending>,
    architecture: PhantomData<A>,
}

impl<'a, A: Architecture, O: Loaded<'a>, M: Memory, const N: usize> Walk<'a, A, O, M, N> {
    /// Starts at the code that a signal interrupted. `context` is the address of the signal's context, the third
    /// argument of its handler.
    #[must_use]
    pub fn new(tables: &'a Tables<'a, O, N>, memory: &'a M, context: usize) -> Self {
        let mut walk = Walk::nowhere(tables, memory);
        walk.start(context);
        walk
    }

    /// A walk that has not started. Handlers start a walk in its place, because the compiler moves so large a value by
    /// a function of the C library.
    #[must_use]
    #[inline(always)]
    pub fn nowhere(tables: &'a Tables<'a, O, N>, memory: &'a M) -> Self {
        Walk {
            tables,
            memory,
            pc: 0,
            sp: 0,
            fp: 0,
            base: None,
            is_exact: true,
            context: None,
            found: None,
            frames: 0,
            most: MOST_FRAMES,
            stacks: 0,
            slot: 0,
            bottom: 0,
            level: None,
            chain: Chain::NONE,
            ending: None,
            architecture: PhantomData,
        }
    }

    /// Starts: see [`Walk::new`].
    pub fn start(&mut self, context: usize) {
        self.ending = self.enter(context).err();
        self.stacks = 0;
    }

    /// Why the walk is over, after the last frame.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Lets the walk have more than [`MOST_FRAMES`] frames.
    pub(super) fn go_on_behind_most(&mut self) {
        self.most = u32::MAX;
    }

    /// The next frame of the walk.
    pub(super) fn here(&self) -> Position {
        let is_interrupted_caller = self.is_exact && self.frames > 0;
        let address = self.pc.wrapping_add(usize::from(is_interrupted_caller));
        Position { address, slot: self.slot, sp: self.sp, bottom: self.bottom }
    }

    /// Whether `other` is a return address in the function with the return address `address`.
    pub(super) fn is_in_same_function(&self, address: usize, other: usize) -> bool {
        let start = |pc: usize| {
            let call = pc.wrapping_sub(1);
            self.tables.objects.with(self.memory, call, |object| object.function(call))
        };
        let function = start(address);
        function.is_some() && function == start(other) && A::follows_call(self.memory, other)
    }

    /// Continues with the code that a signal interrupted.
    fn enter(&mut self, context: usize) -> Result<(), Ending> {
        let register = |number| self.tables.signals.register(self.memory, context, number).ok_or(UNREADABLE);
        let (sp, fp, base) = (register(A::STACK_POINTER)?, register(A::FRAME_POINTER)?, register(A::BASE)?);
        let pc = self.tables.signals.program_counter(self.memory, context).ok_or(UNREADABLE)?;
        self.check(sp, true)?;
        (self.pc, self.sp, self.fp, self.base) = (pc, sp, fp, Some(base));
        (self.is_exact, self.context, self.chain) = (true, Some(context), Chain::NONE);
        (self.slot, self.bottom) = (0, sp);
        self.look_up_interrupted(pc);
        Ok(())
    }

    /// Checks that the caller's stack pointer is above this frame's. Only some rules can lead to another stack.
    fn check(&mut self, sp: usize, may_leave_stack: bool) -> Result<(), Ending> {
        if sp > self.sp || (sp == self.sp && self.is_exact) {
            return Ok(());
        }
        self.stacks += 1;
        if may_leave_stack && self.stacks < MOST_STACKS { Ok(()) } else { Err(MISLED) }
    }

    /// Goes to the caller.
    fn advance(&mut self) -> Result<(), Ending> {
        self.frames += 1;
        if self.frames >= self.most {
            return Err(Ending::Cut(Cut::TooDeep));
        }
        if (MOST_FRAMES - OUTERMOST_FRAMES..MOST_FRAMES).contains(&self.frames) {
            self.leave_recursion();
        }
        if self.found.as_ref().is_none_or(|found| found.is_signal) {
            let signals = self.tables.signals;
            if let Some(context) = signals.context_at(self.memory, self.pc, self.sp, self.is_exact) {
                return self.enter(context);
            }
        }
        match self.found {
            Some(found) => self.apply(&found),
            None => self.go_without_table(),
        }
    }

    /// Goes to the outermost level of a recursion, if this frame and an earlier one are levels of a recursion.
    #[inline(never)]
    fn leave_recursion(&mut self) {
        let here = Level { pc: self.pc, sp: self.sp, fp: self.fp };
        if self.level.is_none_or(|level| level.pc != here.pc) {
            if self.frames == MOST_FRAMES - OUTERMOST_FRAMES {
                self.level = Some(here);
            }
            return;
        }
        let search = Search { memory: self.memory, address_bits: A::ADDRESS_BITS, above: self.tables.thread };
        let outermost = self.level.replace(here).and_then(|level| search.outermost(level, here));
        if let Some(Level { sp, fp, .. }) = outermost {
            (self.sp, self.fp, self.base, self.level, self.slot) = (sp, fp, None, None, 0);
            self.chain = Chain::NONE;
        }
    }

    /// The rule of a table for an address.
    #[inline(never)]
    fn rule(&self, pc: usize) -> Option<Found<'a>> {
        self.tables.objects.with(self.memory, pc, |object| object.rule::<A>(pc))
    }

    /// Finds the rule at an address. Returns whether the rule comes from the cache. `kind` is 0 for the address of a
    /// call.
    fn look_up(&mut self, pc: usize, kind: usize) -> bool {
        let Tables { objects, cache, .. } = self.tables;
        let remembered = cache.get(pc ^ kind, objects.generation(), packing::<A>());
        self.found = match remembered {
            Some(rule) => Some(Found::of(rule)),
            None => self.rule(pc),
        };
        remembered.is_some()
    }

    /// Puts the rule into the cache.
    fn remember(&self, pc: usize, kind: usize) {
        let is_kept = |found: &&Found<'_>| !found.is_signal && self.tables.objects.may_remember(pc);
        if let Some(found) = self.found.as_ref().filter(is_kept) {
            self.tables.cache.put(pc ^ kind, self.tables.objects.generation(), packing::<A>(), &found.rule);
        }
    }

    /// Finds the rule of a frame that was interrupted at `pc`.
    fn look_up_interrupted(&mut self, pc: usize) {
        if !self.look_up(pc, EXACT) {
            self.look_behind_start(pc);
            self.remember(pc, EXACT);
        }
    }

    /// Corrects the rule at the start of the dynamic linker's trampoline, if its table begins to be right behind the
    /// start: see [`Architecture::LATE_TABLE`].
    fn look_behind_start(&mut self, start: usize) {
        let Some(late) = A::LATE_TABLE else { return };
        let is_at_start =
            |found: &Found<'_>| found.is_start && !found.is_signal && found.rule.return_address == Stored::SAME;
        if self.found.as_ref().is_some_and(is_at_start) {
            let behind = self.rule(start.wrapping_add(late));
            if let Some(behind) = behind.filter(|behind| !behind.is_signal && behind.rule.is_return_address_above()) {
                self.found = Some(behind);
            }
        }
    }

    /// Finds the rule of a frame that continues at `pc` after a call. A call can be the last instruction of a function,
    /// so the rule is that of the call.
    ///
    /// An address that no call left on the stack is no frame: an exception that is being thrown overwrites return
    /// addresses, for example. But the C library makes some frames: the trampoline of a signal, and the function at
    /// which a coroutine ends, which has no caller. Rules that come from the cache were checked when they were put
    /// there.
    fn look_up_call(&mut self, pc: usize, sp: usize) -> Result<(), Ending> {
        let call = pc.wrapping_sub(1);
        if self.look_up(call, 0) {
            return Ok(());
        }
        if A::follows_call(self.memory, pc) {
            self.remember(call, 0);
            return Ok(());
        }
        // Not from the cache, which does not know where functions start.
        self.found = self.rule(pc);
        if self.tables.signals.context_at(self.memory, pc, sp, false).is_some() {
            return Ok(());
        }
        let memory = self.memory;
        let ends = |found: &Found<'_>| A::ends_coroutine(memory, pc, found.is_start);
        match &mut self.found {
            Some(found) if found.is_signal => Ok(()),
            Some(found) if ends(found) || found.rule.return_address == Stored::UNDEFINED => {
                found.rule = Rule::OUTERMOST;
                Ok(())
            }
            _ => Err(MISLED),
        }
    }

    #[inline(never)]
    fn apply(&mut self, found: &Found<'_>) -> Result<(), Ending> {
        let rule = &found.rule;
        if rule.return_address == Stored::UNDEFINED {
            return Err(Ending::Outermost);
        }
        let (cfa, is_of_stack) = match rule.cfa {
            Cfa::Register(number, offset) => {
                let value = self.register(number).map(|value| value.wrapping_add_signed(offset as isize));
                (value, number == A::STACK_POINTER)
            }
            Cfa::Expression(offset) => (found.section.and_then(|section| evaluate(section, offset, None, self)), false),
        };
        let cfa = cfa.ok_or(UNREADABLE)?;
        let pc = match rule.return_address.place() {
            Place::Same if A::HAS_LINK_REGISTER && self.is_exact => self.register(A::RETURN_ADDRESS),
            Place::Same => return Err(MISLED),
            place => self.value(place, cfa, found),
        };
        let slot = match rule.return_address.place() {
            Place::Stack(offset) if !found.is_signal => cfa.wrapping_add_signed(offset as isize),
            _ => 0,
        };
        let fp = match rule.frame_pointer.place() {
            Place::Same | Place::Undefined => Some(self.fp),
            place => self.value(place, cfa, found).or_else(|| self.popped(place, cfa, Some(self.fp))),
        };
        let base = match rule.base.place() {
            Place::Same => self.base,
            place => self.value(place, cfa, found).or_else(|| self.popped(place, cfa, self.base)),
        };
        let sp = match rule.stack_pointer.place() {
            // The stack of the caller begins behind the return address.
            Place::Same | Place::Undefined if !found.is_signal && rule.is_return_address_above() => {
                slot.checked_add(size_of::<usize>())
            }
            Place::Same | Place::Undefined => Some(cfa),
            place => self.value(place, cfa, found),
        };
        let (sp, link) = (sp.ok_or(UNREADABLE)?, Some(pc.ok_or(UNREADABLE)?));
        self.check(sp, found.is_signal || !is_of_stack)?;
        self.go_to(Returning { sp, fp: fp.ok_or(UNREADABLE)?, base, link }, found.is_signal, slot)
    }

    /// The caller's value of a register that is not in the same register.
    fn value(&self, place: Place, cfa: usize, found: &Found<'_>) -> Option<usize> {
        match place {
            Place::Same | Place::Undefined => None,
            Place::Stack(offset) => self.memory.read(cfa.wrapping_add_signed(offset as isize)),
            Place::Value(offset) => Some(cfa.wrapping_add_signed(offset as isize)),
            Place::Register(number) => self.register(number),
            Place::Expression(offset) => self.memory.read(evaluate(found.section?, offset, Some(cfa), self)?),
            Place::ValueExpression(offset) => evaluate(found.section?, offset, Some(cfa), self),
        }
    }

    /// The caller's value of a register that the interrupted function has already popped; `value` is the register.
    /// Compilers leave the register's place as it was, below the stack pointer, where a copy of a stack has nothing.
    fn popped(&self, place: Place, cfa: usize, value: Option<usize>) -> Option<usize> {
        let Place::Stack(offset) = place else { return None };
        value.filter(|_| self.is_exact && cfa.wrapping_add_signed(offset as isize) < self.sp)
    }

    /// Continues with the caller, whose return address was in a slot of the stack, or elsewhere (0).
    fn go_to(&mut self, caller: Returning, is_exact: bool, slot: usize) -> Result<(), Ending> {
        let pc = caller.link.unwrap_or(0) & A::ADDRESS_BITS;
        if pc == 0 {
            return Err(Ending::Outermost);
        }
        let is_in_chain = || O::FOLLOWS_RECORDS && self.chain.continues(caller.fp.wrapping_sub(A::RECORD_BELOW));
        if is_exact {
            self.look_up_interrupted(pc);
        } else if is_in_chain() && !self.is_known(pc) {
            self.found = None;
        } else {
            self.look_up_call(pc, caller.sp)?;
        }
        if is_exact || caller.sp.wrapping_sub(self.sp) > LARGEST_FRAME {
            self.bottom = caller.sp;
        }
        (self.pc, self.sp, self.fp, self.base) = (pc, caller.sp, caller.fp, caller.base);
        (self.is_exact, self.context, self.slot) = (is_exact, None, slot);
        Ok(())
    }
}

const UNREADABLE: Ending = Ending::Cut(Cut::Unreadable);
const MISLED: Ending = Ending::Cut(Cut::Misled);

impl<'a, A: Architecture, O: Loaded<'a>, M: Memory, const N: usize> Iterator for Walk<'a, A, O, M, N> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        if self.ending.is_some() {
            return None;
        }
        let frame = Frame { pc: self.pc, is_exact: self.is_exact };
        self.ending = self.advance().err();
        Some(frame)
    }
}

impl<A, O, M: Memory, const N: usize> Memory for Walk<'_, A, O, M, N> {
    fn read(&self, address: usize) -> Option<usize> {
        self.memory.read(address)
    }
}

impl<A: Architecture, O, M: Memory, const N: usize> Machine for Walk<'_, A, O, M, N> {
    fn register(&self, number: u8) -> Option<usize> {
        if number == A::STACK_POINTER {
            Some(self.sp)
        } else if number == A::FRAME_POINTER {
            Some(self.fp)
        } else if number == A::BASE {
            self.base
        } else if number == A::RETURN_ADDRESS && !A::HAS_LINK_REGISTER {
            Some(self.pc)
        } else {
            self.tables.signals.register(self.memory, self.context?, number)
        }
    }
}

#[cfg(test)]
mod tests;
