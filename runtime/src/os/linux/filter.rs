//! The seccomp filters that the program has installed, and which system calls they refuse.
//!
//! A call that a filter refuses may end the process, so the runtime must know the answer before the call. A filter is
//! a program that anybody can run: [`refusal`] runs a copy of each filter that binds this thread, as the kernel does.
//! Filters from before the start of the process are not known and need not be: what they refuse, they refused at
//! start-up too.

use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Acquire, Relaxed},
};

use super::bpf::{Instruction, run};
use super::errno::Errno;
use super::machine::{self, numbers};
use crate::arch;
use crate::state::Inherited;

/// The number of filters for which there is room at first, and in each further piece.
pub(super) const FIRST: usize = 32;
pub(super) const PIECE: usize = 1024;
/// The maximum number of filters: more than the kernel allows for a thread, because each filter counts for at least
/// five of 32,768 instructions. If all threads together have more filters, the process is treated as if in strict
/// mode.
pub(super) const MOST: usize = FIRST + 7 * PIECE;
const ACTION: u32 = 0xffff_0000;
const RETURN_ERROR: u32 = 0x0005_0000;
const RETURN_LOG: u32 = 0x7ffc_0000;
const RETURN_ALLOW: u32 = 0x7fff_0000;

/// A filter. A filter of zeros binds no thread.
pub(super) struct Filter {
    /// The copy of the filter's instructions; null for strict mode, which allows only read, write, exit and
    /// rt_sigreturn.
    pub(super) instructions: AtomicPtr<Instruction>,
    pub(super) length: AtomicUsize,
    /// [`NOBODY`], [`ALL`], or the [`arch::thread_pointer`] of the thread that installed the filter.
    pub(super) binds: AtomicUsize,
}

pub(super) const NOBODY: usize = 0;
pub(super) const ALL: usize = 1;

pub(super) static FILTERS: Inherited<[Filter; FIRST]> =
    Inherited::new("the child inherits the filters", [const { Filter::none() }; FIRST]);
/// Further pieces of filters; null before they are needed.
pub(super) static PIECES: Inherited<[AtomicPtr<Filter>; MOST / PIECE]> =
    Inherited::new("the child inherits the filters", [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST / PIECE]);
/// The number of used places.
pub(super) static NUMBER: Inherited<AtomicUsize> =
    Inherited::new("the child inherits the filters", AtomicUsize::new(0));

/// The place of the filter with this number.
pub(super) fn place(number: usize) -> Option<&'static Filter> {
    let behind = match FILTERS.get(number) {
        None => number - FIRST,
        found => return found,
    };
    let piece = PIECES.get(behind / PIECE)?.load(Acquire);
    // SAFETY: a piece has this number of filters and is never freed.
    (!piece.is_null()).then(|| unsafe { &*piece.add(behind % PIECE) })
}

impl Filter {
    const fn none() -> Filter {
        Filter {
            instructions: AtomicPtr::new(core::ptr::null_mut()),
            length: AtomicUsize::new(0),
            binds: AtomicUsize::new(NOBODY),
        }
    }

    /// Whether the filter with this number binds this thread. A thread that started later may be a child of a bound
    /// thread.
    fn binds_this_thread(&self, number: usize) -> bool {
        match self.binds.load(Acquire) {
            NOBODY => false,
            ALL => true,
            thread => thread == arch::thread_pointer() || number < arch::filters_before(),
        }
    }

    /// The filter's answer to a call, as the result of [`refusal`].
    #[allow(
        clippy::too_many_arguments,
        reason = "an array would be memory, for which the compiler takes vector registers"
    )]
    pub(super) fn answer(&self, number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> u32 {
        let (instructions, length) = (self.instructions.load(Relaxed), self.length.load(Relaxed));
        if instructions.is_null() {
            let is_strict = [numbers::READ, numbers::WRITE, numbers::EXIT, numbers::RT_SIGRETURN].contains(&number);
            return if is_strict { 0 } else { Errno::EPERM.0 as u32 };
        }
        // SAFETY: the copy has this number of instructions and is never freed.
        let instructions = unsafe { core::slice::from_raw_parts(instructions, length) };
        // struct seccomp_data: the number, the architecture, the program counter, six arguments.
        let word = |offset: u32| {
            let half = |value: usize| if offset & 4 == 0 { value as u32 } else { (value as u64 >> 32) as u32 };
            if offset == 0 {
                number as u32
            } else if offset == 4 {
                machine::AUDIT_MACHINE
            } else if offset < 16 {
                0 // the program counter, which no filter uses
            } else if offset < 24 {
                half(a)
            } else if offset < 32 {
                half(b)
            } else if offset < 40 {
                half(c)
            } else if offset < 48 {
                half(d)
            } else if offset < 56 {
                half(e)
            } else {
                half(f)
            }
        };
        let result = run(instructions, word).unwrap_or(0);
        match result & ACTION {
            RETURN_ALLOW | RETURN_LOG => 0,
            // An error of 0 means success without the call, which is useless here.
            RETURN_ERROR if result & !ACTION != 0 => result & !ACTION,
            _ => Errno::EPERM.0 as u32,
        }
    }
}

/// The error with which a filter of the program would answer this call, or 0 if all filters allow the call. A call
/// that would end the process, or ask another process, counts as refused with EPERM. Called below mcount.
#[inline]
#[allow(clippy::too_many_arguments, reason = "an array would be memory, for which the compiler takes vector registers")]
pub(super) fn refusal(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> u32 {
    let filters = NUMBER.load(Relaxed);
    if filters == 0 { 0 } else { refusal_of(filters, number, a, b, c, d, e, f) }
}

#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments, reason = "an array would be memory, for which the compiler takes vector registers")]
fn refusal_of(filters: usize, number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> u32 {
    for index in 0..filters {
        if let Some(filter) = place(index).filter(|filter| filter.binds_this_thread(index)) {
            let answer = filter.answer(number, a, b, c, d, e, f);
            if answer != 0 {
                return answer;
            }
        }
    }
    0
}

/// Records in this thread's block which filters were installed before the thread started. Called when a thread gets a
/// record.
pub(crate) fn enter_thread() {
    arch::set_filters_before(NUMBER.load(Relaxed));
}

#[cfg(test)]
mod tests {
    use super::super::bpf::step;
    use super::*;

    pub(super) fn answer(instructions: &[Instruction], number: usize, a: usize, f: usize) -> u32 {
        let filter = Filter::none();
        filter.instructions.store(instructions.as_ptr().cast_mut(), Relaxed);
        filter.length.store(instructions.len(), Relaxed);
        filter.answer(number, a, 0, 0, 0, 0, f)
    }

    #[test]
    fn a_list_of_calls_that_are_allowed() {
        let list = [
            step(0x20, 0, 0, 4),
            step(0x15, 1, 0, machine::AUDIT_MACHINE),
            step(0x06, 0, 0, 0x8000_0000),
            step(0x20, 0, 0, 0),
            step(0x35, 0, 1, 1000),
            step(0x06, 0, 0, 0x0005_0000),
            step(0x15, 0, 1, 12),
            step(0x06, 0, 0, 0x7fff_0000),
            step(0x15, 0, 1, 13),
            step(0x06, 0, 0, 0x7ffc_0000),
            step(0x06, 0, 0, 0x0005_0026),
        ];
        assert_eq!([12, 13, 14, 1000].map(|number| answer(&list, number, 0, 0)), [0, 0, 38, 1]);
    }

    #[test]
    fn actions_that_end_the_process_or_ask_somebody_refuse() {
        for action in [0_u32, 0x8000_0000, 0x0003_0007, 0x7ff0_0001, 0x7fc0_0000] {
            assert_eq!(answer(&[step(0x06, 0, 0, action)], 1, 0, 0), 1, "{action:#x}");
        }
        assert_eq!(answer(&[], 1, 0, 0), 1, "no filter at all");
        assert_eq!(answer(&[step(0x34, 0, 0, 0), step(0x06, 0, 0, 0x7fff_0000)], 1, 0, 0), 1, "a division by 0");
    }

    #[test]
    fn both_halves_of_arguments_are_seen() {
        let equal = |offset, value| {
            [step(0x20, 0, 0, offset), step(0x15, 1, 0, value), step(0x06, 0, 0, 0), step(0x06, 0, 0, 0x7fff_0000)]
        };
        let (a, f) = (0x1111_2222_3333_4444, 0x5555_6666_7777_8888);
        for (offset, value) in [(16, 0x3333_4444), (20, 0x1111_2222), (56, 0x7777_8888), (60, 0x5555_6666), (24, 0)] {
            assert_eq!(answer(&equal(offset, value), 7, a, f), 0, "{offset}");
            assert_eq!(answer(&equal(offset, value + 1), 7, a, f), 1, "{offset}");
        }
    }
}
