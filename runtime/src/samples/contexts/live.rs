//! Counts in the live side file, so that the tree survives the program and can be read while the program runs.
//!
//! The nodes and the sums of the tree are mapped from the file. Samples outside the bins are found in the nodes; only
//! those that are in no node have a sum of their own. Objects that the program loads are described in the file when the
//! first frame in them is added to the tree: the runtime does not hear of `dlopen`.

use core::ffi::c_void;
use core::ops::Range;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use gmon::encode::side_file::{IdentityBytes, ObjectItem};
use gmon::layout::side_file::{FIRST_RESERVED, OBJECTS};

use super::storage::{CONTEXTS, Changing, Contexts, PLACE, encode_object, key_of};
use super::tree::without_mark;
use crate::os::{Fd, PAGE};
use crate::unwind::{Description, describe_later, stays};

/// The segments of the tree that are mapped from the start on: 15,359 nodes. Most programs need no more.
const SEGMENTS: usize = 4;
/// The segments that are mapped before a seccomp filter may forbid that: 130,047 nodes.
const SEGMENTS_BEHIND_FILTER: usize = 7;
/// The numbers of the objects that handlers describe. `objects` gives lower numbers.
const FIRST_FOUND: u32 = 0x4000;
const VDSO_NUMBER: u32 = FIRST_RESERVED - 1;
/// The longest build ID that is kept.
const MOST_BUILD_ID: usize = 64;
/// The most objects that are looked for at one sample.
const MOST_AT_ONCE: usize = 8;

/// Counts in the live side file from now on. `start` is where the file has room for the parts that change, `offset` is
/// the place of the nodes, and `bins` are the addresses of the profile's bins. The result is false if nodes cannot be
/// mapped; then they are in memory. Called before any tick is counted.
///
/// # Safety
///
/// As for `LiveParts::begin`: see `storage`.
pub(crate) unsafe fn begin_live(
    file: Fd,
    (start, length): (*mut c_void, usize),
    offset: usize,
    bins: Range<usize>,
) -> bool {
    let contexts: &Contexts = &CONTEXTS;
    // SAFETY: the caller's promise.
    unsafe { contexts.live.begin(start, length, contexts.threads.all().len(), bins) };
    contexts.tree.live.offset.store(offset, Relaxed);
    contexts.tree.live.file.set(file);
    let is_mapped = (0..SEGMENTS).all(|number| contexts.tree.segment_or_new(number).is_some());
    if !is_mapped {
        contexts.give_up_file();
    }
    is_mapped
}

/// Whether ticks are counted in the live side file.
pub(crate) fn is_live() -> bool {
    CONTEXTS.live.is_there()
}

/// Maps nodes before a seccomp filter may forbid that.
pub(crate) fn reserve_live() {
    if is_live() {
        let tree = &CONTEXTS.tree;
        let _ = (0..SEGMENTS_BEHIND_FILTER).all(|number| tree.segment_or_new(number).is_some());
    }
}

/// Copies the tree to memory of its own, because another file will replace the live side file. The result is false if
/// there is no memory for that. Call this when no ticks are counted any more.
pub(crate) fn leave_live() -> bool {
    CONTEXTS.leave_file()
}

impl Contexts {
    /// Counts ticks that are neither in the bins, if they are outside, nor in a node.
    pub(super) fn count_outside(&self, is_outside: bool, ticks: u32) {
        if is_outside {
            self.sums().outside.fetch_add(u64::from(ticks), Relaxed);
        }
    }

    /// Stores a thread in the file.
    pub(super) fn put_thread(&self, index: usize) {
        if let Some(thread) = self.threads.all().get(index).filter(|_| self.live.is_there()) {
            let name = thread.name.each_ref().map(|word| word.load(Relaxed));
            self.live.set_thread(index, thread.number.load(Relaxed), name);
        }
    }

    /// Describes the objects of frames in the file, if they were loaded after the start and are not there yet.
    /// `is_kept` says whether the frames are of this thread, which keeps the objects loaded.
    pub(super) fn describe_frames(&self, frames: impl Iterator<Item = u64>, is_kept: bool, has_new_nodes: bool) {
        let can_add = self.live.is_there() && !self.live.is_full.load(Relaxed);
        if !can_add || !(has_new_nodes || self.live.has_missed.swap(false, SeqCst)) {
            return;
        }
        let addresses = frames.map(without_mark).filter(|frame| frame & PLACE == 0);
        let unknown = addresses.map(|pc| pc as usize).filter(|pc| !stays(*pc) && !self.live.is_mapped(*pc));
        for pc in unknown.take(MOST_AT_ONCE) {
            match self.live.change() {
                Some(changing) => self.describe(&changing, pc, is_kept),
                None => self.live.has_missed.store(true, SeqCst),
            }
        }
    }

    /// Describes the object with code at an address.
    fn describe(&self, changing: &Changing<'_>, pc: usize, is_kept: bool) {
        let number = FIRST_FOUND + self.live.found.load(Relaxed);
        let mut found = None;
        let is_new = changing.append(OBJECTS, |room| {
            // The path is first read into the other half of the room.
            let (room, path) = room.split_at_mut_checked(room.len() / 2)?;
            let mut build_id = [0; MOST_BUILD_ID];
            let object = describe_later(pc, is_kept, &mut build_id, path)?;
            let identity = build_id.get(..object.build_id)?;
            let item = item(number, &object, identity, path.get(..object.path)?);
            let key = key_of(&item, identity);
            let known = changing.number(key);
            found = Some((object, key, known));
            let is_new = known.is_none() && number < VDSO_NUMBER;
            if is_new { encode_object(room, &item, identity) } else { None }
        });
        let Some((object, key, known)) = found else { return };
        if is_new {
            self.live.found.fetch_add(1, Relaxed);
            changing.set_number(key, number as usize);
        }
        if let Some(number) = known.or(is_new.then_some(number as usize)) {
            changing.map(object.start & !(PAGE - 1), object.end.next_multiple_of(PAGE), object.bias, number);
        }
    }
}

fn item<'a>(number: u32, object: &Description, identity: &'a [u8], path: &'a [u8]) -> ObjectItem<'a> {
    ObjectItem {
        number,
        lowpc: (object.start.wrapping_sub(object.bias) & !15) as u64,
        highpc: object.end.wrapping_sub(object.bias).next_multiple_of(16) as u64,
        identity: if identity.is_empty() { IdentityBytes::Unknown } else { IdentityBytes::BuildId(identity) },
        path,
        ..ObjectItem::default()
    }
}
