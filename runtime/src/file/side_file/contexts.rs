//! The calling contexts of the samples.

use core::sync::atomic::Ordering::Relaxed;

use gmon::encode::side_file::{CutReason, Place, ThreadItem, context, cut, thread};
use gmon::layout::side_file::{CONTEXTS, CUT, CUTS, THREAD, THREADS};

use super::counts;
use crate::file::writer::Writer;
use crate::objects::{self, NOWHERE};
use crate::per_process::ContextThread;
use crate::samples::contexts::{self, PLACE, ROOT};
use crate::text::Text;

/// Writes the tree, and the ticks that are not in the tree. Without stacks, nothing is written.
///
/// `all` ticks are in the profile and outside. Those that are not in the tree and in no sum came while the file was being written, or their
/// walks had not ended.
pub(super) fn put(out: &mut Writer, all: u64) {
    if !contexts::are_kept() {
        return;
    }
    put_threads(out);
    let mut known = 0_u64;
    out.part(CONTEXTS, |out| {
        contexts::each_node(|node| {
            // Nodes have numbers from 1 on in memory, and from 0 on in the file.
            let distance = if node.parent == ROOT { 0 } else { node.number - node.parent };
            let parent = (node.parent != ROOT).then(|| place(contexts::address(node.parent)));
            context(out, distance, parent, place(node.address), node.ticks);
            known = known.saturating_add(node.ticks);
        });
    });
    out.part(CUTS, |out| {
        contexts::each_cut(|reason, ticks| {
            cut(out, reason, ticks);
            known = known.saturating_add(ticks);
        });
        let others = all.saturating_sub(known);
        if others > 0 {
            cut(out, CutReason::STILL_WALKING, others);
        }
    });
}

/// The place of a node's address.
fn place(address: u64) -> Place {
    if address & PLACE == 0 {
        return counts::place(place_of_code(address as usize));
    }
    let place = address & !PLACE;
    let (object, address) = (place >> objects::ADDRESS_BITS, place & ((1 << objects::ADDRESS_BITS) - 1));
    match object as u32 {
        CUT => Place { object: CUT, address },
        THREAD => Place { object: THREAD, address: listed(address as usize) },
        _ => counts::place(place as usize),
    }
}

/// Writes the threads with ticks.
fn put_threads(out: &mut Writer) {
    if contexts::all_threads().is_empty() {
        return;
    }
    out.part(THREADS, |out| {
        for entry in contexts::all_threads().iter().filter(|entry| has_ticks(entry)) {
            let number = entry.number.load(Relaxed) as u64;
            let [first, second] =
                [0, 1].map(|word| entry.name.get(word).map_or(0, |word| word.load(Relaxed)).to_ne_bytes());
            let mut name = Text::<16>::new();
            first.iter().chain(&second).take_while(|byte| **byte != 0).for_each(|byte| name.push(&[*byte]));
            // The number of threads behind the last entry is not known. Calls are counted for all threads together.
            let (threads, ticks) = (u64::from(number != 0), entry.ticks.load(Relaxed));
            thread(out, &ThreadItem { number, threads, ticks, calls: 0, name: name.as_bytes() });
        }
    });
}

fn has_ticks(entry: &ContextThread) -> bool {
    entry.ticks.load(Relaxed) > 0
}

/// The index in the file of the thread with this index in memory.
fn listed(index: usize) -> u64 {
    contexts::all_threads().iter().take(index).filter(|entry| has_ticks(entry)).count() as u64
}

/// The place of a program counter or a return address. If a function never returns, the return address of its last call may be
/// behind the end of the object's code.
fn place_of_code(pc: usize) -> usize {
    // SAFETY: `control` lets only one thread write files.
    let found = unsafe { objects::place(pc) };
    let Some(last) = pc.checked_sub(1).filter(|_| found == NOWHERE) else { return found };
    // SAFETY: as above.
    match unsafe { objects::place(last) } {
        NOWHERE => NOWHERE,
        before => before + 1,
    }
}
