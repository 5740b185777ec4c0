//! Filters of system calls (seccomp) that the program has installed, and which calls they would refuse.
//!
//! A call that a filter refuses may end the process, so the runtime must know the answer before it makes the call. A filter is
//! a program that anybody can run: [`refusal`] runs a copy of each one that binds this thread, as the kernel does. Filters
//! that the process was started with are not known, and need not be: whatever they refuse, they refused at start-up too.

use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use super::bpf::{Instruction, run};
use super::memory::give_back_reserved;
use super::{Errno, PAGE, call, take_reserved};
use crate::arch::{self, numbers};

/// How many filters there is room for at first, and in each piece of the reserve that is taken for more.
const FIRST: usize = 32;
const PIECE: usize = 1024;
/// How many filters are kept: more than the kernel lets a thread have, each of which counts for five instructions at least of
/// 32,768. Where the threads of a process have more of them between them, the process is held to be in strict mode.
const MOST: usize = FIRST + 7 * PIECE;
/// The longest filter that the kernel takes.
const MOST_INSTRUCTIONS: usize = 4096;

const ACTION: u32 = 0xffff_0000;
const RETURN_ERROR: u32 = 0x0005_0000;
const RETURN_LOG: u32 = 0x7ffc_0000;
const RETURN_ALLOW: u32 = 0x7fff_0000;

/// `struct sock_fprog`.
#[repr(C)]
struct Program {
    length: u16,
    instructions: usize,
}

/// A filter. All zero, it binds nobody.
struct Filter {
    /// The copy of its instructions; null for strict mode, which only lets a thread read, write, end and return from a signal.
    instructions: AtomicPtr<Instruction>,
    length: AtomicUsize,
    /// [`NOBODY`], [`ALL`], or the thread that installed the filter, as [`arch::thread_pointer`] has it.
    binds: AtomicUsize,
}

const NOBODY: usize = 0;
const ALL: usize = 1;

static FILTERS: [Filter; FIRST] = [const { Filter::none() }; FIRST];
/// The pieces with more of them; null before they are needed.
static PIECES: [AtomicPtr<Filter>; MOST / PIECE] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST / PIECE];
/// How many places for filters have been used.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// What a program asks to be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Strict,
    /// The address of a `struct sock_fprog`.
    Filter(usize),
}

/// A filter that has been noted, see [`expect`]: its number, and whom it will bind.
pub(crate) struct Expected {
    number: usize,
    binds: usize,
    /// Whom the place bound before: the same for a filter that was there, else [`NOBODY`].
    before: usize,
}

/// The place of the filter of that number, if there is one.
fn place(number: usize) -> Option<&'static Filter> {
    let behind = match FILTERS.get(number) {
        None => number - FIRST,
        found => return found,
    };
    let piece = PIECES.get(behind / PIECE)?.load(Acquire);
    // SAFETY: a piece has so many filters, and is never freed.
    (!piece.is_null()).then(|| unsafe { &*piece.add(behind % PIECE) })
}

/// The same, in a new piece if need be; `None` if there is no memory for that.
fn make_place(number: usize) -> Option<&'static Filter> {
    const SIZE: usize = PIECE * size_of::<Filter>();
    let piece = number.checked_sub(FIRST).and_then(|behind| PIECES.get(behind / PIECE));
    if let Some(piece) = piece.filter(|piece| piece.load(Acquire).is_null()) {
        let memory = take_reserved(SIZE);
        // All zero, it has filters that bind nobody. Another thread may be quicker.
        if piece.compare_exchange(core::ptr::null_mut(), memory.cast(), SeqCst, SeqCst).is_err() {
            give_back_reserved(memory, SIZE);
        }
    }
    place(number)
}

impl Filter {
    const fn none() -> Filter {
        Filter {
            instructions: AtomicPtr::new(core::ptr::null_mut()),
            length: AtomicUsize::new(0),
            binds: AtomicUsize::new(NOBODY),
        }
    }

    /// Whether the filter has just these instructions.
    fn is_of(&self, instructions: *const Instruction, length: usize) -> bool {
        let (known, count) = (self.instructions.load(Relaxed), self.length.load(Relaxed));
        let word = |start: *const Instruction, at: usize| {
            // SAFETY: the copy has so many instructions, each as long as a word.
            unsafe { start.cast::<u64>().add(at).read() }
        };
        count == length
            && known.is_null() == instructions.is_null()
            && (0..length).all(|at| word(known, at) == word(instructions, at))
    }

    /// Whether the filter of that number binds this thread. A thread that began later may be a child of one that is bound.
    fn binds_this_thread(&self, number: usize) -> bool {
        match self.binds.load(Acquire) {
            NOBODY => false,
            ALL => true,
            thread => thread == arch::thread_pointer() || number < arch::filters_before(),
        }
    }

    /// What the filter answers to a call, as [`refusal`] has it.
    #[allow(
        clippy::too_many_arguments,
        reason = "an array would be memory, for which the compiler takes vector registers"
    )]
    fn answer(&self, number: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> u32 {
        let (instructions, length) = (self.instructions.load(Relaxed), self.length.load(Relaxed));
        if instructions.is_null() {
            let is_strict = [numbers::READ, numbers::WRITE, numbers::EXIT, numbers::RT_SIGRETURN].contains(&number);
            return if is_strict { 0 } else { Errno::EPERM.0 as u32 };
        }
        // SAFETY: the copy has so many, and is never freed.
        let instructions = unsafe { core::slice::from_raw_parts(instructions, length) };
        // struct seccomp_data: the number, the machine, the program counter, six arguments.
        let word = |offset: u32| {
            let half = |value: usize| if offset & 4 == 0 { value as u32 } else { (value as u64 >> 32) as u32 };
            if offset == 0 {
                number as u32
            } else if offset == 4 {
                arch::AUDIT_MACHINE
            } else if offset < 16 {
                0 // the program counter: nobody asks for it
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
            // An error of 0 stands for success without the call, which is no use.
            RETURN_ERROR if result & !ACTION != 0 => result & !ACTION,
            _ => Errno::EPERM.0 as u32,
        }
    }
}

/// The error with which a filter of the program's would answer this call, or 0 if all let it pass. A call that would end the
/// process, or ask another one, counts as refused with EPERM. Below mcount.
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

/// How many filters the program has installed.
pub(crate) fn filters() -> usize {
    NUMBER.load(Relaxed)
}

/// Notes a filter that the program is about to install, for this thread or for all. `None` if it is no filter, or none that this
/// thread may install, which the kernel will say.
pub(crate) fn expect(wanted: Wanted, for_all: bool) -> Option<Expected> {
    if !may_install(wanted) {
        return None;
    }
    let (instructions, length) = match wanted {
        Wanted::Strict => (core::ptr::null_mut(), 0),
        Wanted::Filter(program) => copy(program)?,
    };
    let binds = if for_all { ALL } else { arch::thread_pointer() };
    for number in 0..NUMBER.load(SeqCst) {
        if place(number).is_some_and(|filter| filter.binds.load(Acquire) == binds && filter.is_of(instructions, length))
        {
            give_back_reserved(instructions.cast(), length * size_of::<Instruction>());
            return Some(Expected { number, binds, before: binds });
        }
    }
    // The last of the first places is strict for good once it had to serve for more than one.
    let taken = NUMBER.fetch_update(SeqCst, SeqCst, |number| (number < MOST).then_some(number + 1)).ok();
    let found = taken.and_then(make_place);
    let is_full = found.is_none();
    let number = taken.filter(|_| !is_full).unwrap_or(FIRST - 1);
    let filter = found.or_else(|| place(number))?;
    filter.instructions.store(if is_full { core::ptr::null_mut() } else { instructions }, Relaxed);
    filter.length.store(length, Relaxed);
    Some(Expected { number, binds: if is_full { ALL } else { binds }, before: filter.binds.load(Relaxed) })
}

/// Whether the kernel will not refuse to install anything at all: strict mode where there are filters, and filters to a thread that
/// could lead a program with more rights astray.
fn may_install(wanted: Wanted) -> bool {
    const PR_GET_SECCOMP: usize = 21;
    const PR_GET_NO_NEW_PRIVS: usize = 39;
    const CAP_SYS_ADMIN: u32 = 21;
    // SAFETY: no pointers.
    let asked = |what| unsafe { call(numbers::PRCTL, [what, 0, 0, 0, 0]) };
    if wanted == Wanted::Strict {
        return asked(PR_GET_SECCOMP).is_ok_and(|mode| mode == 0);
    }
    // struct __user_cap_header_struct, of the third version and this thread, and what is effective, permitted and inheritable, twice.
    let (header, mut rights) = ([0x2008_0522_u32, 0], [0_u32; 6]);
    asked(PR_GET_NO_NEW_PRIVS) != Ok(0)
        // SAFETY: the kernel reads the one and writes the other.
        || unsafe { call(numbers::CAPGET, [(&raw const header).addr(), rights.as_mut_ptr().addr()]) }.is_err()
        || rights[0] & 1 << CAP_SYS_ADMIN != 0
}

impl Expected {
    /// Whether the filter will let a call pass. Arguments that are not given are held to be 0.
    #[inline(never)]
    pub(crate) fn permits(&self, number: usize, arguments: [usize; 3]) -> bool {
        let [a, b, c] = arguments;
        place(self.number).is_some_and(|filter| filter.answer(number, a, b, c, 0, 0, 0) == 0)
    }

    /// From here on calls that the filter refuses are not made.
    pub(crate) fn enforce(&self) {
        if let Some(filter) = place(self.number) {
            filter.binds.store(self.binds, Release);
        }
    }

    /// Forgets the filter: the kernel has not installed it.
    pub(crate) fn withdraw(self) {
        if let Some(filter) = place(self.number) {
            filter.binds.store(self.before, SeqCst);
            if self.before == NOBODY {
                let _ = NUMBER.compare_exchange(self.number + 1, self.number, SeqCst, SeqCst);
            }
        }
    }
}

/// A copy of a filter, as (instructions, how many). The address may be a bad one.
fn copy(program: usize) -> Option<(*mut Instruction, usize)> {
    if !can_be_read(program, size_of::<Program>()) {
        return None;
    }
    // SAFETY: what a program has for the kernel to read is there, integers only.
    let head = unsafe { core::ptr::with_exposed_provenance::<Program>(program).read_unaligned() };
    let length = usize::from(head.length);
    let size = length * size_of::<Instruction>();
    if length == 0 || length > MOST_INSTRUCTIONS || !can_be_read(head.instructions, size) {
        return None;
    }
    let memory = take_reserved(size);
    if memory.is_null() {
        return Some((memory.cast(), 0)); // as if the mode were strict
    }
    // SAFETY: as above, and memory of that size.
    unsafe {
        core::ptr::copy_nonoverlapping(
            core::ptr::with_exposed_provenance::<u8>(head.instructions),
            memory.cast(),
            size,
        );
    };
    Some((memory.cast(), length))
}

/// Whether the program's memory can be read. The kernel looks by a call that the runtime makes anyway, so that a filter which the process
/// was started with lets that pass; to do what nobody knows is refused only behind the look.
fn can_be_read(address: usize, length: usize) -> bool {
    const UNKNOWN: usize = 3;
    let is_bad = |at: usize| {
        // SAFETY: the kernel reads 8 bytes, or says that there are none.
        let looked = unsafe { call(numbers::RT_SIGPROCMASK, [UNKNOWN, at, 0, size_of::<u64>()]) };
        // Where the kernel does not look for us: no program means to install what is at address 0.
        looked == Err(Errno::EFAULT) || looked != Err(Errno::EINVAL) && address == 0
    };
    let last = address.wrapping_add(length).wrapping_sub(size_of::<u64>());
    !(0..length).step_by(PAGE).any(|offset| is_bad(address.wrapping_add(offset))) && !is_bad(last)
}

#[cfg(test)]
mod tests {
    use super::super::bpf::step;
    use super::*;

    fn answer(instructions: &[Instruction], number: usize, a: usize, f: usize) -> u32 {
        let filter = Filter::none();
        filter.instructions.store(instructions.as_ptr().cast_mut(), Relaxed);
        filter.length.store(instructions.len(), Relaxed);
        filter.answer(number, a, 0, 0, 0, 0, f)
    }

    #[test]
    fn a_list_of_calls_that_are_allowed() {
        let list = [
            step(0x20, 0, 0, 4),
            step(0x15, 1, 0, arch::AUDIT_MACHINE),
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
