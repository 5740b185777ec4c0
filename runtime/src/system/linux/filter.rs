//! Filters of system calls (seccomp) that the program has installed, and which calls they would refuse.
//!
//! A call that a filter refuses may end the process, so the runtime must know the answer before it makes the call. A filter is
//! a program that anybody can run: [`refusal`] runs a copy of each one that binds this thread, as the kernel does. Filters
//! that the process was started with are not known, and need not be: whatever they refuse, they refused at start-up too.

use core::mem::MaybeUninit;
use core::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

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
/// The words of memory that a filter has.
const SCRATCH: usize = 16;

const ACTION: u32 = 0xffff_0000;
const RETURN_ERROR: u32 = 0x0005_0000;
const RETURN_LOG: u32 = 0x7ffc_0000;
const RETURN_ALLOW: u32 = 0x7fff_0000;

/// `struct sock_filter`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    operand: u32,
}

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

/// Runs a filter, which gets the words of `struct seccomp_data` from `word`; the result is what the filter returns. `None` if it is none that
/// a kernel would have taken.
fn run(instructions: &[Instruction], word: impl Fn(u32) -> u32) -> Option<u32> {
    const SIZE_OF_DATA: u32 = 64;
    let mut room = MaybeUninit::<[u32; SCRATCH]>::uninit();
    let scratch: *mut u32 = room.as_mut_ptr().cast();
    // SAFETY: inside the room. Volatile, word by word: below mcount no vector register may be used.
    (0..SCRATCH).for_each(|index| unsafe { scratch.add(index).write_volatile(0) });
    let place = |index: u32| (index < SCRATCH as u32).then(|| scratch.wrapping_add(index as usize));
    let [mut accumulator, mut index] = [0_u32; 2];
    let mut at = 0_usize;
    // Jumps lead forward only, so that it ends.
    while let Some(Instruction { code, if_true, if_false, operand }) = instructions.get(at).copied() {
        at += 1;
        let value = if code & 8 == 0 { operand } else { index };
        match code & 7 {
            // LD and LDX, of which each has the modes IMM, ABS, MEM and LEN.
            kind @ (0 | 1) => {
                let loaded = match code & 0xe0 {
                    0x00 => operand,
                    0x20 => word(operand),
                    // SAFETY: inside the room, all of which was written.
                    0x60 => unsafe { place(operand)?.read_volatile() },
                    _ => SIZE_OF_DATA,
                };
                *(if kind == 0 { &mut accumulator } else { &mut index }) = loaded;
            }
            // SAFETY: as above. ST and STX.
            2 => unsafe { place(operand)?.write_volatile(accumulator) },
            // SAFETY: as above.
            3 => unsafe { place(operand)?.write_volatile(index) },
            4 => accumulator = compute(code & 0xf0, accumulator, value)?,
            5 => {
                let jumps = match code & 0xf0 {
                    0x00 => {
                        at = at.checked_add(operand as usize)?;
                        continue;
                    }
                    0x10 => accumulator == value,
                    0x20 => accumulator > value,
                    0x30 => accumulator >= value,
                    _ => accumulator & value != 0,
                };
                at += usize::from(if jumps { if_true } else { if_false });
            }
            6 => return Some(if code & 0x10 == 0 { operand } else { accumulator }),
            // TAX and TXA.
            _ if code & 0x80 == 0 => index = accumulator,
            _ => accumulator = index,
        }
    }
    None
}

/// What an instruction makes of the accumulator and a value; `None` for a division by 0, at which a filter ends.
fn compute(operation: u16, accumulator: u32, value: u32) -> Option<u32> {
    Some(match operation {
        0x00 => accumulator.wrapping_add(value),
        0x10 => accumulator.wrapping_sub(value),
        0x20 => accumulator.wrapping_mul(value),
        0x30 => accumulator.checked_div(value)?,
        0x40 => accumulator | value,
        0x50 => accumulator & value,
        0x60 => accumulator.checked_shl(value).unwrap_or(0),
        0x70 => accumulator.checked_shr(value).unwrap_or(0),
        0x80 => accumulator.wrapping_neg(),
        _ => accumulator ^ value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn step(code: u16, if_true: u8, if_false: u8, operand: u32) -> Instruction {
        Instruction { code, if_true, if_false, operand }
    }

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

    #[test]
    fn every_operation() {
        // The accumulator 12 and the index 5, or an operand.
        let results = [
            (0x04, 5, 17),
            (0x0c, 0, 17),
            (0x14, 5, 7),
            (0x1c, 0, 7),
            (0x24, 5, 60),
            (0x2c, 0, 60),
            (0x34, 5, 2),
            (0x3c, 0, 2),
            (0x44, 5, 13),
            (0x4c, 0, 13),
            (0x54, 5, 4),
            (0x5c, 0, 4),
            (0x64, 5, 384),
            (0x6c, 0, 384),
            (0x74, 2, 3),
            (0x7c, 0, 0),
            (0x84, 0, -12_i32 as u32),
            (0xa4, 5, 9),
            (0xac, 0, 9),
            (0x64, 32, 0),
            (0x80, 0, 64),
            (0x87, 0, 5),
        ];
        for (code, operand, expected) in results {
            let program = [step(0x00, 0, 0, 12), step(0x01, 0, 0, 5), step(code, 0, 0, operand), step(0x16, 0, 0, 0)];
            assert_eq!(run(&program, |_| 0), Some(expected), "{code:#x}");
        }
        let moves = [
            step(0x00, 0, 0, 7),
            step(0x02, 0, 0, 3),  // ST
            step(0x61, 0, 0, 3),  // LDX MEM
            step(0x03, 0, 0, 15), // STX
            step(0x00, 0, 0, 9),
            step(0x07, 0, 0, 0),  // TAX
            step(0x60, 0, 0, 15), // LD MEM
            step(0x05, 0, 0, 1),  // JA
            step(0x06, 0, 0, 0),
            step(0x1d, 1, 0, 0), // JEQ X
            step(0x2d, 1, 0, 0), // JGT X
            step(0x4d, 0, 1, 0), // JSET X
            step(0x16, 0, 0, 0),
            step(0x06, 0, 0, 1),
        ];
        // 7 against 9: neither equal nor greater, and one bit in common.
        assert_eq!(run(&moves, |_| 0), Some(7));
        assert_eq!(run(&[step(0x60, 0, 0, 16)], |_| 0), None);
        assert_eq!(run(&[step(0x05, 0, 0, u32::MAX)], |_| 0), None);
    }
}
