//! The calling contexts of the samples.

use gmon::encode::side_file::{CutReason, Place, context, cut};
use gmon::layout::side_file::{CONTEXTS, CUT, CUTS, THREAD};

use super::{counts, threads};
use crate::file::writer::Writer;
use crate::objects::{self, ELSEWHERE};
use crate::samples::contexts::{self, PLACE, ROOT};

/// Writes the tree, and the ticks that are not in the tree. Without stacks, nothing is written.
///
/// `all` ticks are in the profile and outside. Those that are not in the tree and in no sum came while the file was
/// being written, or their walks had not ended. While other threads are sampled, they may add nodes, which are not
/// written.
pub(super) fn put(out: &mut Writer, all: u64) {
    if !contexts::are_kept() {
        return;
    }
    // Threads that are added from now on are not listed.
    let last = contexts::last_node();
    threads::put(out);
    let mut known = 0_u64;
    out.part(CONTEXTS, |out| {
        contexts::each_node(last, |node| {
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
        THREAD => Place { object: THREAD, address: threads::index_in_file(address as usize) },
        _ => counts::place(place as usize),
    }
}

/// The place of a program counter or a return address. If a function never returns, the return address of its last call
/// may be behind the end of the object's code.
fn place_of_code(pc: usize) -> usize {
    // SAFETY: `control` lets only one thread write files.
    let found = unsafe { objects::place(pc) };
    if objects::number(found) != ELSEWHERE {
        return found;
    }
    // SAFETY: as above.
    let before = unsafe { objects::place(pc.wrapping_sub(1)) };
    if pc == 0 || objects::number(before) == ELSEWHERE { found } else { before + 1 }
}
