//! The outermost frames of deep stacks, remembered from one walk to the next.
//!
//! A walk of a stack that is too deep keeps the innermost frames. The outermost frames seldom change, so an earlier
//! walk of the same stack that reached the end has found them. Each of these frames has a slot: the place of the stack
//! where its return address is.
//!
//! What is remembered counts only as far as the stack confirms it:
//!
//! * The walk must have come to a place of the remembered stack: the thread is the same, and the place lies between the
//!   stack's end and the lowest place from which an earlier walk has come to this end.
//! * The slots are read again, the outermost first. As long as a slot has the remembered return address, the caller is
//!   in the same call, so the slot of the next frame is where it was. The first slot with another return address of the
//!   same function is the last frame that counts: the function is in another call, whose frame is not known. Frames
//!   behind the first difference do not count.

use core::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use super::memory::Memory;

/// The number of outermost frames that are remembered for a stack.
pub const OUTER_FRAMES: usize = 32;
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A frame that a walk has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// A return address, or the address behind an interrupted instruction.
    pub(super) address: usize,
    /// Where the return address is on the stack; 0 if it is not known.
    pub(super) slot: usize,
    pub(super) sp: usize,
    /// The lowest stack pointer of this walk on this stack.
    pub(super) bottom: usize,
}

/// The latest frames of a walk, and the outermost frames of a stack. Each walk uses memory of its own, which need not
/// be cleared.
pub struct Trail {
    /// The slots and the addresses of the latest frames, in a ring.
    ring: [[usize; 2]; OUTER_FRAMES],
    /// The number of frames that were put into the ring.
    number: usize,
    outer: [u64; OUTER_FRAMES],
    outers: usize,
}

impl Trail {
    /// A trail without frames.
    #[must_use]
    pub const fn new() -> Trail {
        Trail { ring: [[0; 2]; OUTER_FRAMES], number: 0, outer: [0; OUTER_FRAMES], outers: 0 }
    }

    /// Forgets the frames of an earlier walk.
    pub(super) fn clear(&mut self) {
        (self.number, self.outers) = (0, 0);
    }

    pub(super) fn clear_outer(&mut self) {
        self.outers = 0;
    }

    /// Adds a frame, which is outside of those before.
    pub(super) fn push(&mut self, position: Position) {
        if let Some(place) = self.ring.get_mut(self.number % OUTER_FRAMES) {
            *place = [position.slot, position.address];
        }
        self.number += 1;
    }

    /// The latest frames as (slot, address), the outermost first.
    fn latest(&self) -> impl Iterator<Item = (usize, usize)> {
        let kept = self.number.min(OUTER_FRAMES);
        (1..=kept).map_while(|back| {
            let [slot, address] = *self.ring.get((self.number - back) % OUTER_FRAMES)?;
            Some((slot, address))
        })
    }

    fn push_outer(&mut self, address: usize) {
        if let Some(place) = self.outer.get_mut(self.outers) {
            *place = address as u64;
            self.outers += 1;
        }
    }

    /// Makes those of the latest `passed` frames that are known the outermost ones. The result says whether all are
    /// known.
    pub(super) fn end(&mut self, passed: usize) -> bool {
        self.outers = 0;
        for back in 1..=self.number.min(passed).min(OUTER_FRAMES) {
            let address = self.ring.get((self.number - back) % OUTER_FRAMES).map_or(0, |[_, address]| *address);
            self.push_outer(address);
        }
        passed <= OUTER_FRAMES
    }

    /// The outermost frames of the stack, the outermost first, that the walk did not pass to its caller.
    #[must_use]
    pub fn outer(&self) -> &[u64] {
        self.outer.get(..self.outers).unwrap_or(&[])
    }

    /// See [`Trail::outer`].
    pub fn outer_mut(&mut self) -> &mut [u64] {
        self.outer.get_mut(..self.outers).unwrap_or(&mut [])
    }
}

impl Default for Trail {
    fn default() -> Trail {
        Trail::new()
    }
}

/// The outermost frames of a stack. Memory of zeros is a value that belongs to no thread.
pub struct OuterEnd {
    /// Odd while a walk changes the value.
    version: AtomicU32,
    thread: AtomicUsize,
    /// The lowest place of the stack that is known.
    low: AtomicUsize,
    number: AtomicUsize,
    /// The slots and the return addresses, the outermost first.
    frames: [[AtomicUsize; 2]; OUTER_FRAMES],
}

/// Room for the outermost frames of the stacks of many threads, one stack for each. All threads and their signal
/// handlers may use the room at the same time, without a lock: a value that another thread is changing is not used.
///
/// The room is a list whose length is a power of two and never changes. The list may be made when the first stack is
/// remembered, because few programs have deep stacks.
pub trait OuterEnds {
    /// The list; `None` if there is no list yet.
    fn list(&self) -> Option<&[OuterEnd]>;

    /// As [`OuterEnds::list`]; makes the list if necessary, and if there is memory for the list.
    fn list_or_new(&self) -> Option<&[OuterEnd]>;
}

/// What is known of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Confirmed {
    /// The addresses of the stack that are known.
    pub(super) low: usize,
    base: usize,
    /// Whether all slots had their return addresses.
    pub(super) is_whole: bool,
    /// Whether the last outermost frame is the frame to which the walk has come, so that no frame is missing.
    pub(super) is_joined: bool,
}

impl Confirmed {
    /// Whether a place is on the stack.
    pub(super) fn has(&self, sp: usize) -> bool {
        self.low <= sp && sp <= self.base
    }
}

/// How to confirm a frame.
pub(super) struct Confirming<'a, M, F> {
    pub(super) memory: &'a M,
    /// The bits of a return address that are the address.
    pub(super) address_bits: usize,
    /// Whether the second address is a return address in the same function as the first.
    pub(super) is_same_function: F,
}

/// The value of a thread in a list; `None` if the thread is not known.
fn of_thread(list: &[OuterEnd], thread: usize) -> Option<&OuterEnd> {
    let index = (thread as u64).wrapping_mul(SPREAD) >> (u64::BITS / 2);
    list.get(index as usize & list.len().wrapping_sub(1)).filter(|_| thread != 0)
}

/// Remembers the latest frames of a walk that has reached the end of the stack.
pub(super) fn remember(ends: &impl OuterEnds, thread: usize, bottom: usize, trail: &Trail) {
    // No stack of an unknown thread is remembered.
    let list = if thread == 0 { None } else { ends.list_or_new() };
    let Some(entry) = list.and_then(|list| of_thread(list, thread)) else { return };
    let Some((base, _)) = trail.latest().next().filter(|(slot, _)| *slot != 0) else { return };
    entry.change(|entry| {
        let is_same = entry.thread.load(Relaxed) == thread && entry.base() == base;
        let low = if is_same { entry.low.load(Relaxed).min(bottom) } else { bottom };
        entry.thread.store(thread, Relaxed);
        entry.low.store(low, Relaxed);
        let mut number = 0;
        for ([slot, address], (at, pc)) in entry.frames.iter().zip(trail.latest()) {
            if at == 0 {
                break;
            }
            slot.store(at, Relaxed);
            address.store(pc, Relaxed);
            number += 1;
        }
        entry.number.store(number, Relaxed);
    });
}

/// Remembers that the stack reaches down to `bottom`.
pub(super) fn extend(ends: &impl OuterEnds, thread: usize, known: &Confirmed, bottom: usize) {
    let Some(entry) = ends.list().and_then(|list| of_thread(list, thread)) else { return };
    entry.change(|entry| {
        if entry.thread.load(Relaxed) == thread && entry.base() == known.base {
            entry.low.store(entry.low.load(Relaxed).min(bottom), Relaxed);
        }
    });
}

/// Makes the remembered frames outside of `here` that the stack confirms the outermost frames of `trail`.
#[inline(never)]
pub(super) fn confirm<M: Memory, F: Fn(usize, usize) -> bool>(
    ends: &impl OuterEnds,
    thread: usize,
    here: Position,
    with: &Confirming<'_, M, F>,
    trail: &mut Trail,
) -> Option<Confirmed> {
    trail.clear_outer();
    let entry = of_thread(ends.list()?, thread)?;
    let version = entry.version.load(Acquire);
    if !version.is_multiple_of(2) || entry.thread.load(Relaxed) != thread {
        return None;
    }
    let (low, base) = (entry.low.load(Relaxed), entry.base());
    let mut known = Confirmed { low, base, is_whole: true, is_joined: false };
    for [slot, address] in entry.frames.iter().take(entry.number.load(Relaxed)) {
        let (slot, address) = (slot.load(Relaxed), address.load(Relaxed));
        if slot == here.slot && address == here.address {
            known.is_joined = true;
        } else if slot < here.sp {
            break;
        }
        let found = with.memory.read(slot).map_or(0, |word| word & with.address_bits);
        if found == address || (with.is_same_function)(address, found) {
            trail.push_outer(found);
        }
        known.is_whole = found == address;
        if known.is_joined || !known.is_whole {
            break;
        }
    }
    fence(Acquire);
    if entry.version.load(Relaxed) != version {
        trail.clear_outer();
        return None;
    }
    Some(known)
}

impl OuterEnd {
    /// A value that belongs to no thread.
    #[must_use]
    pub const fn new() -> OuterEnd {
        OuterEnd {
            version: AtomicU32::new(0),
            thread: AtomicUsize::new(0),
            low: AtomicUsize::new(0),
            number: AtomicUsize::new(0),
            frames: [const { [const { AtomicUsize::new(0) }; 2] }; OUTER_FRAMES],
        }
    }

    /// The slot of the outermost frame.
    fn base(&self) -> usize {
        self.frames.first().map_or(0, |[slot, _]| slot.load(Relaxed))
    }

    /// Changes the value, unless another thread is changing the value.
    fn change(&self, change: impl FnOnce(&OuterEnd)) {
        let version = self.version.load(Relaxed);
        let taken = version.wrapping_add(1);
        if version.is_multiple_of(2) && self.version.compare_exchange(version, taken, Acquire, Relaxed).is_ok() {
            fence(Release);
            change(self);
            self.version.store(taken.wrapping_add(1), Release);
        }
    }
}

impl Default for OuterEnd {
    fn default() -> OuterEnd {
        OuterEnd::new()
    }
}

/// The room that tests have: `N` values.
#[cfg(test)]
pub(super) struct Room<const N: usize>(Box<[OuterEnd; N]>);

#[cfg(test)]
impl<const N: usize> Room<N> {
    pub(super) fn new() -> Room<N> {
        Room(Box::new([const { OuterEnd::new() }; N]))
    }
}

#[cfg(test)]
impl<const N: usize> OuterEnds for Room<N> {
    fn list(&self) -> Option<&[OuterEnd]> {
        Some(&*self.0)
    }

    fn list_or_new(&self) -> Option<&[OuterEnd]> {
        self.list()
    }
}

#[cfg(test)]
mod tests;
