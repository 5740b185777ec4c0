//! Functions without a table: the caller by the function's instructions, by the call, or by frame records.

use super::Walk;
use crate::architecture::{Architecture, LARGEST_LEAF, Returning};
use crate::chain::{Cut, Ending};
use crate::expression::Machine;
use crate::memory::Memory;
use crate::objects::Loaded;
use crate::records::{LARGEST_DISTANCE, On, lead_out, record};

impl<'a, A: Architecture, O: Loaded<'a>, M: Memory, const N: usize> Walk<'a, A, O, M, N> {
    /// Finds the caller of a function without a table: by the function's instructions if the function is about to
    /// return or has just begun, else by the frame pointer.
    pub(super) fn go_without_table(&mut self) -> Result<(), Ending> {
        let link = if self.is_exact { self.register(A::RETURN_ADDRESS) } else { None };
        let frame = Returning { sp: self.sp, fp: self.fp, base: self.base, link };
        let is_return = |caller: &Returning| {
            self.is_return(caller.link, caller.sp) || O::FOLLOWS_RECORDS && self.is_in_generated(caller.link)
        };
        let enters = || A::enters_at(self.memory, self.pc, frame).filter(is_return);
        let is_exact = self.is_exact;
        let (caller, slot) = match A::returns_at(self.memory, self.pc, frame).or_else(|| is_exact.then(enters)?) {
            Some(caller) => (caller, 0),
            None => match is_exact.then(|| self.leaf(frame)).flatten() {
                Some(caller) => (caller, 0),
                None => (self.frame_record()?, self.record().wrapping_add(size_of::<usize>())),
            },
        };
        let is_elsewhere = O::FOLLOWS_RECORDS && slot != 0 && slot < self.sp;
        self.check(caller.sp, is_elsewhere)?;
        self.go_to(caller, false, slot)
    }

    /// The caller of an interrupted function that has pushed nothing. The return address must follow a call of this
    /// very function, because the word may be left from an earlier call if the function has pushed something.
    fn leaf(&self, frame: Returning) -> Option<Returning> {
        let caller = A::leaf(self.memory, frame).filter(|caller| self.is_called(caller.link))?;
        let start = A::callee(self.memory, caller.link? & A::ADDRESS_BITS)?;
        let is_inside = self.pc.checked_sub(start).is_some_and(|offset| offset < LARGEST_LEAF);
        (is_inside && self.rule(start).is_none()).then_some(caller)
    }

    /// Whether a word is the address of a known instruction after a call, or the address to which the handler of a
    /// signal returns with this stack pointer.
    fn is_return(&self, link: Option<usize>, sp: usize) -> bool {
        let is_trampoline =
            |link: usize| self.tables.signals.context_at(self.memory, link & A::ADDRESS_BITS, sp, false).is_some();
        self.is_called(link) || link.is_some_and(is_trampoline)
    }

    /// Whether a word is the address of a known instruction after a call.
    fn is_called(&self, link: Option<usize>) -> bool {
        // The object comes first: a walk of a copied stack can read only the code of objects that it has met.
        link.map(|link| link & A::ADDRESS_BITS).is_some_and(|pc| self.is_known(pc) && A::follows_call(self.memory, pc))
    }

    /// Whether an object has the code before an address.
    pub(super) fn is_known(&self, pc: usize) -> bool {
        self.tables.objects.with(self.memory, pc.wrapping_sub(1), |_| Some(())).is_some()
    }

    /// Whether a word is an address after a call in code that no object has, as the interrupted code.
    fn is_in_generated(&self, link: Option<usize>) -> bool {
        !self.is_known(self.pc.wrapping_add(1))
            && link
                .map(|link| link & A::ADDRESS_BITS)
                .is_some_and(|pc| !self.is_known(pc) && A::follows_call(self.memory, pc))
    }

    /// The address of the frame record.
    fn record(&self) -> usize {
        self.fp.wrapping_sub(A::RECORD_BELOW)
    }

    /// The caller by the frame pointer, if the frame pointer leads to a higher address of the stack with the address of
    /// an instruction after a call, or of the trampoline of a signal; or to a chain of frame records that leads to code
    /// of an object.
    pub(super) fn frame_record(&mut self) -> Result<Returning, Ending> {
        const NO_TABLE: Ending = Ending::Cut(Cut::NoTable);
        if self.fp == 0 {
            return Err(Ending::Outermost);
        }
        let at = self.record();
        if at < self.sp && !O::FOLLOWS_RECORDS {
            return Err(NO_TABLE);
        }
        let (above, pc) = record::<A>(self.memory, at).ok_or(NO_TABLE)?;
        let sp = at.wrapping_add(2 * size_of::<usize>());
        // A record that was read needs no search for an instruction.
        let is_checked = O::FOLLOWS_RECORDS && self.chain.has_read(at);
        let keeps_record = !is_checked && at >= self.sp && A::keeps_frame_pointer(self.memory, self.pc);
        if !(keeps_record && (pc == 0 || self.is_return(Some(pc), sp))) {
            if !O::FOLLOWS_RECORDS {
                return Err(NO_TABLE);
            }
            self.follow_chain(at, above, pc, keeps_record)?;
        }
        Ok(Returning { sp, fp: above, base: None, link: Some(pc) })
    }

    /// Checks a frame record whose return address is in no object, or which is on another stack, by the next records.
    fn follow_chain(&mut self, at: usize, above: usize, pc: usize, keeps_record: bool) -> Result<(), Ending> {
        let continues = self.chain.continues(at);
        if above == 0 && (continues || keeps_record) && self.is_known(pc) && A::ends_goroutine(self.memory, pc) {
            return Err(Ending::Outermost);
        }
        if !self.chain.has_read(at) {
            let lead = |on| lead_out::<A>(self.memory, at, on, |pc| self.is_known(pc));
            let is_near = at.checked_sub(self.sp).is_some_and(|distance| distance < LARGEST_DISTANCE);
            let is_generated = || !self.is_known(self.pc.wrapping_add(usize::from(self.is_exact)));
            // An object's function without a table may keep data in the register. Generated code calls such a function,
            // so the return address follows a call.
            let is_call = (continues || keeps_record) && A::follows_call(self.memory, pc);
            // A left stack may have old records that still lead to its end, so the function must keep the register.
            let found = if at < self.sp {
                A::keeps_frame_pointer(self.memory, self.pc).then(|| lead(On::OtherStack)).flatten()
            } else if is_near && (is_call || is_generated()) {
                lead(On::SameStack)
            } else {
                None
            };
            self.chain.set_read(found.ok_or(Ending::Cut(Cut::NoTable))?);
        }
        self.chain.go_on(at, above.wrapping_sub(A::RECORD_BELOW));
        Ok(())
    }
}
