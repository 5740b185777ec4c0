//! Chains of frame records that count because of the code to which they lead.
//!
//! Programs generate code while they run. No object has this code, so a return address in the code proves nothing, and
//! no table and no search for an instruction near by tells whether the code keeps a frame pointer. A function may also
//! switch to another stack and call another function there, as Go does to call C. The called function's frame pointer
//! then leads to a record on the first stack. In both cases a record counts only if the next records, toward the
//! outermost function, lead to code of an object.

use core::ops::Range;

use super::architecture::Architecture;
use super::memory::Memory;

/// The most records that are read.
const MOST_RECORDS: u32 = 4096;
/// The largest distance of two records.
pub(super) const LARGEST_DISTANCE: usize = 1 << 20;

/// The stack on which a chain of records begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    /// The stack of the function. The chain must lead to a return address in an object; those before may be in
    /// generated code.
    SameStack,
    /// Another stack. All return addresses must be in objects, and the chain must have an end.
    OtherStack,
}

/// The chain of frame records that a walk follows.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    /// The address of the next record; 0 if there is no chain.
    next: usize,
    /// The last record that [`lead_out`] has read.
    last: usize,
}

impl Chain {
    /// No chain: the walk has come by other rules.
    pub(super) const NONE: Chain = Chain { next: 0, last: 0 };

    /// Whether a record is the next one of the chain.
    pub(super) fn continues(&self, at: usize) -> bool {
        self.next != 0 && at == self.next
    }

    /// Whether a record is the next one of the chain, and `lead_out` has read the record.
    pub(super) fn has_read(&self, at: usize) -> bool {
        self.continues(at) && at <= self.last
    }

    /// `lead_out` has read the records up to this one.
    pub(super) fn set_read(&mut self, last: usize) {
        self.last = last;
    }

    /// Goes on behind the record at `at`. A chain ascends, but the last record may lead anywhere.
    pub(super) fn go_on(&mut self, at: usize, next: usize) {
        self.next = if next > at { next } else { 0 };
    }
}

/// A frame record: the caller's frame pointer and the return address.
pub(super) fn record<A: Architecture>(memory: &impl Memory, record: usize) -> Option<(usize, usize)> {
    if !record.is_multiple_of(size_of::<usize>()) {
        return None;
    }
    let above = memory.read(record)?;
    Some((above, memory.read(record.checked_add(size_of::<usize>())?)? & A::ADDRESS_BITS))
}

/// The last record that was read, if the records from this one on lead to code of an object. Data may look like any
/// number of records of generated code, so [`MOST_RECORDS`] records prove nothing. `is_known` says whether an object
/// has the code before an address.
#[inline(never)]
pub(super) fn lead_out<A: Architecture>(
    memory: &impl Memory,
    first: usize,
    on: On,
    is_known: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut at = first;
    for number in 0..MOST_RECORDS {
        let (above, pc) = record::<A>(memory, at)?;
        let is_known = is_known(pc);
        if !is_known && on == On::OtherStack {
            return None;
        }
        let follows_call = if is_known { A::follows_call(memory, pc) } else { is_generated(memory, first..at, pc) };
        if is_known && follows_call && on == On::SameStack {
            return Some(at);
        }
        if above == 0 {
            let is_end = is_known && number > 0 && (follows_call || A::ends_goroutine(memory, pc));
            return is_end.then_some(at);
        }
        let next = above.wrapping_sub(A::RECORD_BELOW);
        if !follows_call || next <= at || next - at > LARGEST_DISTANCE {
            return None;
        }
        at = next;
    }
    None
}

/// Whether an address can be one to which generated code returns. Interpreters make such addresses without a call, as
/// that of Java does.
fn is_generated(memory: &impl Memory, stack: Range<usize>, pc: usize) -> bool {
    let is_on_stack = stack.contains(&pc) || pc.abs_diff(stack.end) < LARGEST_DISTANCE;
    pc != 0 && !is_on_stack && memory.read(pc).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::X86_64;
    use super::super::tests::x86_64::called;
    use super::super::tests::{CODE, Made, OTHER, STACK};
    use super::*;

    const GENERATED: usize = 0x50_0000;
    /// Where a goroutine ends.
    const END: usize = CODE + 0x80;

    fn last(memory: &Made, on: On) -> Option<usize> {
        lead_out::<X86_64>(memory, STACK, on, |pc| (CODE..OTHER).contains(&pc))
    }

    fn lead(memory: &Made, on: On) -> bool {
        last(memory, on).is_some()
    }

    /// A chain of records with these return addresses, 32 bytes each, and the frame pointer of the last.
    fn chain(memory: &mut Made, calls: &[usize], last: usize) {
        for (number, call) in calls.iter().enumerate() {
            let at = STACK + 32 * number;
            memory.words(at, &[if number + 1 == calls.len() { last } else { at + 32 }, *call]);
        }
    }

    #[test]
    fn records_lead_through_generated_code_to_an_object() {
        let mut memory = Made::default();
        let [known, generated] = [CODE + 0x10, GENERATED].map(|pc| called(&mut memory, pc));
        let no_code = GENERATED + 0x110;
        memory.write(STACK + 0x100, &[0x90; 8]);
        memory.write(END - 1, &[0x90, 0xe8, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90]);
        memory.write(END - 17, &[0x90; 16]);
        let mut leads = |calls: &[usize], last| {
            chain(&mut memory, calls, last);
            [On::SameStack, On::OtherStack].map(|on| lead(&memory, on))
        };
        assert_eq!(leads(&[generated, generated, known], 1), [true, false]);
        assert_eq!(leads(&[known, known], 0), [true, true]);
        assert_eq!(leads(&[known, known, END], 0), [true, true]);
        assert_eq!(leads(&[generated, END], 0), [true, false]);
        assert_eq!(leads(&[known, END + 1], 0), [true, false], "neither a call nor the end of a goroutine");
        assert_eq!(leads(&[END], 0), [false; 2], "one word proves nothing");
        assert!(!leads(&[known], 0)[1]);
        assert_eq!(leads(&[generated + 1, known], 1), [true, false], "an interpreter needs no call");
        for wrong in [no_code, STACK, STACK + 0x100, 0] {
            assert_eq!(leads(&[generated, wrong, known], 0), [false; 2], "{wrong:#x}");
        }
        assert_eq!(leads(&[generated, generated], 0), [false; 2], "no object");
        for wrong in [STACK, STACK - 32, STACK + 36, STACK + 32 + LARGEST_DISTANCE + 8] {
            assert_eq!(leads(&[generated], wrong), [false; 2], "{wrong:#x}");
        }
    }

    #[test]
    fn endless_chains_end() {
        let mut memory = Made::default();
        let generated = called(&mut memory, GENERATED);
        let known = called(&mut memory, CODE + 0x10);
        let mut calls = vec![generated; MOST_RECORDS as usize - 1];
        calls.push(known);
        chain(&mut memory, &calls, 0);
        let end = STACK + 32 * (MOST_RECORDS as usize - 1);
        assert_eq!(last(&memory, On::SameStack), Some(end));
        calls.insert(0, generated);
        chain(&mut memory, &calls, 0);
        assert_eq!(last(&memory, On::SameStack), None);
    }
}
