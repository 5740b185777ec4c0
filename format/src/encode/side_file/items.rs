//! The items in the parts of a side file.

use super::numbers::{LARGEST_NUMBER, number, string, zigzag};
use super::place::{Call, CutReason, Place};
use crate::encode::Sink;
use crate::layout::side_file::PROGRAM;

/// The most bytes of what stands before the items of a part of samples or of calls.
pub const LARGEST_HEAD: usize = 3 * LARGEST_NUMBER;
/// The most bytes of a bin.
pub const LARGEST_BIN: usize = 2 * LARGEST_NUMBER;
/// The most bytes of a call.
pub const LARGEST_CALL: usize = 5 * LARGEST_NUMBER;
/// The most bytes of a node of the tree of calling contexts.
pub const LARGEST_CONTEXT: usize = 4 * LARGEST_NUMBER;

/// What identifies an object's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdentityBytes<'a> {
    /// Nothing.
    #[default]
    Unknown,
    /// The build ID, as in the ELF note.
    BuildId(&'a [u8]),
    /// The sum of the program headers, for an object without a build ID.
    Headers(u64),
}

/// An object for [`object`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectItem<'a> {
    /// The number by which places name the object.
    pub number: u32,
    /// [`IS_PROGRAM`](crate::layout::side_file::IS_PROGRAM) and the other flags.
    pub flags: u64,
    /// The number of other objects of the same path that were loaded before.
    pub generation: u32,
    /// The lowest address of its code.
    pub lowpc: u64,
    /// The address after its code.
    pub highpc: u64,
    /// What identifies its file.
    pub identity: IdentityBytes<'a>,
    /// The path of its file when it was loaded; empty if unknown.
    pub path: &'a [u8],
}

/// A thread for [`thread`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadItem<'a> {
    /// The system's number; 0 for several threads.
    pub number: u64,
    /// The number of threads that the counts are of.
    pub threads: u64,
    /// The ticks.
    pub ticks: u64,
    /// The calls.
    pub calls: u64,
    /// The name.
    pub name: &'a [u8],
}

/// Writes a property of the run.
pub fn property<S: Sink>(out: &mut S, key: &[u8], value: &[u8]) {
    let length = key.len().saturating_add(1).saturating_add(value.len());
    number(out, length as u64);
    out.bytes(key);
    out.bytes(b"=");
    out.bytes(value);
}

/// Writes an object.
pub fn object<S: Sink>(out: &mut S, object: &ObjectItem<'_>) {
    number(out, u64::from(object.number));
    number(out, object.flags);
    number(out, u64::from(object.generation));
    number(out, object.lowpc);
    number(out, object.highpc.wrapping_sub(object.lowpc));
    match object.identity {
        IdentityBytes::Unknown => number(out, 0),
        IdentityBytes::BuildId(bytes) => {
            number(out, 1);
            string(out, bytes);
        }
        IdentityBytes::Headers(sum) => {
            number(out, 2);
            number(out, sum);
        }
    }
    string(out, object.path);
}

/// Writes a thread.
pub fn thread<S: Sink>(out: &mut S, thread: &ThreadItem<'_>) {
    for value in [thread.number, thread.threads, thread.ticks, thread.calls] {
        number(out, value);
    }
    string(out, thread.name);
}

/// Writes whose counts follow in a part of samples or calls: those of all threads, or of the thread with this index.
pub fn thread_of<S: Sink>(out: &mut S, thread: Option<u32>) {
    number(out, thread.map_or(0, |thread| u64::from(thread).saturating_add(1)));
}

/// Writes a mapping: the addresses `start` to `end` were those of an object `bias` bytes below.
pub fn mapping<S: Sink>(out: &mut S, start: u64, end: u64, bias: u64, object: u32) {
    number(out, start);
    number(out, end.wrapping_sub(start));
    number(out, bias);
    number(out, u64::from(object));
}

/// Writes ticks that have no node in the tree.
pub fn cut<S: Sink>(out: &mut S, reason: CutReason, ticks: u64) {
    number(out, u64::from(reason.code()));
    number(out, ticks);
}

/// Encodes the bins of one part of samples, in ascending order.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinEncoder {
    /// The index of the bin after the last one.
    next: u64,
}

impl BinEncoder {
    /// Writes whose samples follow: `bin_size` is the number of bytes of code for each bin.
    pub fn begin<S: Sink>(out: &mut S, thread: Option<u32>, object: u32, bin_size: u64) -> BinEncoder {
        thread_of(out, thread);
        number(out, u64::from(object));
        number(out, bin_size);
        BinEncoder::default()
    }

    /// Writes a bin. Bin `index` starts at the address `index * bin_size`. Each index is higher than the one before.
    pub fn put<S: Sink>(&mut self, out: &mut S, index: u64, ticks: u64) {
        number(out, index.wrapping_sub(self.next));
        number(out, ticks);
        self.next = index.wrapping_add(1);
    }
}

/// Encodes the calls of one part, in any order. Ascending callers are the smallest.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallEncoder {
    caller: u64,
    callee: u64,
}

impl CallEncoder {
    /// Writes whose calls follow.
    pub fn begin<S: Sink>(out: &mut S, thread: Option<u32>) -> CallEncoder {
        thread_of(out, thread);
        CallEncoder::default()
    }

    /// Writes calls.
    pub fn put<S: Sink>(&mut self, out: &mut S, call: &Call) {
        number(out, u64::from(call.caller.object));
        number(out, zigzag(call.caller.address.wrapping_sub(self.caller)));
        number(out, u64::from(call.callee.object));
        number(out, zigzag(call.callee.address.wrapping_sub(self.callee)));
        number(out, call.count);
        (self.caller, self.callee) = (call.caller.address, call.callee.address);
    }
}

/// Writes a node of the tree of calling contexts. Nodes have numbers in the order of the file, from 0 on, through all
/// parts.
///
/// `distance` is the node's number less its parent's, 0 for a node without a parent. `parent` is the place of the
/// parent. `ticks` does not contain those of the node's children.
pub fn context<S: Sink>(out: &mut S, distance: u32, parent: Option<Place>, place: Place, ticks: u64) {
    const MOST: u64 = u64::MAX >> 1;
    let base = parent.unwrap_or(Place { object: PROGRAM, address: 0 });
    number(out, u64::from(distance));
    match zigzag(place.address.wrapping_sub(base.address)) {
        near @ 0..=MOST if place.object == base.object => number(out, near << 1),
        _ => {
            number(out, u64::from(place.object) << 1 | 1);
            number(out, place.address);
        }
    }
    number(out, ticks);
}
