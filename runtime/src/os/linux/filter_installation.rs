//! A filter of system calls that the program is about to install: a copy of it is kept, for [`super::filter`].

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::bpf::Instruction;
use super::filter::{ALL, FIRST, Filter, MOST, NOBODY, NUMBER, PIECE, PIECES, place};
use super::machine::numbers;
use super::memory::give_back_reserved;
use super::{Errno, PAGE, call, take_reserved};
use crate::arch;

/// The longest filter that the kernel takes.
const MOST_INSTRUCTIONS: usize = 4096;

/// `struct sock_fprog`.
#[repr(C)]
struct Program {
    length: u16,
    instructions: usize,
}

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

/// The place of the filter of that number, in a new piece if need be; `None` if there is no memory for that.
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
