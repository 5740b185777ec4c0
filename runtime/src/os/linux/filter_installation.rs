//! Copies a seccomp filter that the program is about to install, for [`super::filter`].

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::bpf::Instruction;
use super::file_calls::RLIMIT_NOFILE;
use super::filter::{ALL, FIRST, Filter, MOST, NOBODY, NUMBER, PIECE, PIECES, place};
use super::limits::Limit;
use super::machine::numbers;
use super::memory::give_back_reserved;
use super::{Errno, PAGE, call, take_reserved};
use crate::arch;

/// The longest filter that the kernel accepts.
const MOST_INSTRUCTIONS: usize = 4096;

/// `struct sock_fprog`.
#[repr(C)]
struct Program {
    length: u16,
    instructions: usize,
}

/// What a program asks to install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Strict,
    /// The address of a `struct sock_fprog`.
    Filter(usize),
}

/// A filter that was recorded by [`expect`], with its number and its threads.
pub(crate) struct Expected {
    number: usize,
    binds: usize,
    /// The threads that the place bound before: the same threads for a known filter, otherwise [`NOBODY`].
    before: usize,
}

/// The place of the filter with this number, in a new piece if necessary; `None` if there is no memory.
fn make_place(number: usize) -> Option<&'static Filter> {
    const SIZE: usize = PIECE * size_of::<Filter>();
    let piece = number.checked_sub(FIRST).and_then(|behind| PIECES.get(behind / PIECE));
    if let Some(piece) = piece.filter(|piece| piece.load(Acquire).is_null()) {
        let memory = take_reserved(SIZE);
        // Memory of zeros has filters that bind no thread. Another thread may be faster.
        if piece.compare_exchange(core::ptr::null_mut(), memory.cast(), SeqCst, SeqCst).is_err() {
            give_back_reserved(memory, SIZE);
        }
    }
    place(number)
}

impl Filter {
    /// Whether the filter has exactly these instructions.
    fn is_of(&self, instructions: *const Instruction, length: usize) -> bool {
        let (known, count) = (self.instructions.load(Relaxed), self.length.load(Relaxed));
        let word = |start: *const Instruction, at: usize| {
            // SAFETY: the copy has this number of instructions, each one word long.
            unsafe { start.cast::<u64>().add(at).read() }
        };
        count == length
            && known.is_null() == instructions.is_null()
            && (0..length).all(|at| word(known, at) == word(instructions, at))
    }
}

/// Records a filter that the program is about to install, for this thread or for all threads. `None` if the kernel
/// will refuse: the filter is invalid, or this thread may not install filters.
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
    // The last of the first places means strict mode for good once it had to serve for several filters.
    let taken = NUMBER.fetch_update(SeqCst, SeqCst, |number| (number < MOST).then_some(number + 1)).ok();
    let found = taken.and_then(make_place);
    let is_full = found.is_none();
    let number = taken.filter(|_| !is_full).unwrap_or(FIRST - 1);
    let filter = found.or_else(|| place(number))?;
    filter.instructions.store(if is_full { core::ptr::null_mut() } else { instructions }, Relaxed);
    filter.length.store(length, Relaxed);
    Some(Expected { number, binds: if is_full { ALL } else { binds }, before: filter.binds.load(Relaxed) })
}

/// Whether the kernel may accept the request. The kernel refuses strict mode if there are filters, and filters of a
/// thread that could mislead a program with more privileges.
fn may_install(wanted: Wanted) -> bool {
    const PR_GET_SECCOMP: usize = 21;
    const PR_GET_NO_NEW_PRIVS: usize = 39;
    const CAP_SYS_ADMIN: u32 = 21;
    // SAFETY: no pointers.
    let asked = |what| unsafe { call(numbers::PRCTL, [what, 0, 0, 0, 0]) };
    if wanted == Wanted::Strict {
        return asked(PR_GET_SECCOMP).is_ok_and(|mode| mode == 0);
    }
    // struct __user_cap_header_struct, third version, for this thread; then the effective, permitted and inheritable
    // sets, in two words each.
    let (header, mut rights) = ([0x2008_0522_u32, 0], [0_u32; 6]);
    asked(PR_GET_NO_NEW_PRIVS) != Ok(0)
        // SAFETY: the kernel reads the header and writes the sets.
        || unsafe { call(numbers::CAPGET, [(&raw const header).addr(), rights.as_mut_ptr().addr()]) }.is_err()
        || rights[0] & 1 << CAP_SYS_ADMIN != 0
}

impl Expected {
    /// Whether the filter will allow a call. Arguments that are not given count as 0.
    #[inline(never)]
    pub(crate) fn permits(&self, number: usize, arguments: [usize; 3]) -> bool {
        let [a, b, c] = arguments;
        place(self.number).is_some_and(|filter| filter.answer(number, a, b, c, 0, 0, 0) == 0)
    }

    /// Enforces the filter: from here on calls that it refuses are not made.
    pub(crate) fn enforce(&self) {
        if let Some(filter) = place(self.number) {
            filter.binds.store(self.binds, Release);
        }
    }

    /// Forgets the filter, because the kernel refused it.
    pub(crate) fn withdraw(self) {
        if let Some(filter) = place(self.number) {
            filter.binds.store(self.before, SeqCst);
            if self.before == NOBODY {
                let _ = NUMBER.compare_exchange(self.number + 1, self.number, SeqCst, SeqCst);
            }
        }
    }
}

/// Copies a filter; the result is its instructions and their number. The address may be invalid.
fn copy(program: usize) -> Option<(*mut Instruction, usize)> {
    if !can_be_read(program, size_of::<Program>()) {
        return None;
    }
    // SAFETY: the memory is readable, as checked above, and contains integers only.
    let head = unsafe { core::ptr::with_exposed_provenance::<Program>(program).read_unaligned() };
    let length = usize::from(head.length);
    let size = length * size_of::<Instruction>();
    if length == 0 || length > MOST_INSTRUCTIONS || !can_be_read(head.instructions, size) {
        return None;
    }
    let memory = take_reserved(size);
    if memory.is_null() {
        return Some((memory.cast(), 0)); // treated as strict mode
    }
    // SAFETY: as above, and fresh memory of that size.
    unsafe {
        core::ptr::copy_nonoverlapping(
            core::ptr::with_exposed_provenance::<u8>(head.instructions),
            memory.cast(),
            size,
        );
    };
    Some((memory.cast(), length))
}

/// Whether a resource and the new limit at an address leave a process so few descriptors that it may use all. The
/// address may be invalid.
pub(crate) fn are_few_descriptors(resource: usize, limit: usize) -> bool {
    const FEW: u64 = 64;
    resource as u32 as usize == RLIMIT_NOFILE
        && can_be_read(limit, size_of::<Limit>())
        // SAFETY: the memory is readable, as checked above, and contains integers only.
        && unsafe { core::ptr::with_exposed_provenance::<Limit>(limit).read_unaligned() }.most < FEW
}

/// Whether the program's memory can be read. The check is a system call that the runtime makes anyway, so inherited
/// filters allow the call. The kernel reads the set before it refuses the unknown operation.
#[inline(never)]
fn can_be_read(address: usize, length: usize) -> bool {
    const UNKNOWN: usize = 3;
    let is_bad = |at: usize| {
        // SAFETY: the kernel reads 8 bytes, or reports that they are missing.
        let looked = unsafe { call(numbers::RT_SIGPROCMASK, [UNKNOWN, at, 0, size_of::<u64>()]) };
        // If a filter answers instead of the kernel: no program installs a filter at address 0.
        looked == Err(Errno::EFAULT) || looked != Err(Errno::EINVAL) && address == 0
    };
    let last = address.wrapping_add(length).wrapping_sub(size_of::<u64>());
    !(0..length).step_by(PAGE).any(|offset| is_bad(address.wrapping_add(offset))) && !is_bad(last)
}
