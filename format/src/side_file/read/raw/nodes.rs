//! Reads the tree: nodes as the program has them in memory, at addresses of that run.

use alloc::vec::Vec;

use super::places::Places;
use super::samples::Outside;
use super::threads::RawThreads;
use crate::Part;
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::encode::side_file::{CutReason, Place};
use crate::layout::side_file::{ELSEWHERE, RAW_NODE_SIZE, THREAD};
use crate::older_rust::is_multiple;
use crate::side_file::content::{Added, Refused, SideFile};

/// The raw nodes of a file, in pieces.
#[derive(Default)]
pub(in crate::side_file::read) struct RawNodes<'a> {
    /// The number of the first node of each piece, and the nodes.
    pieces: Vec<(u64, Cursor<'a>)>,
}

/// A raw node, and its offset in the file.
struct RawNode {
    address: u64,
    parent: u32,
    ticks: u64,
    offset: u64,
}

impl<'a> RawNodes<'a> {
    /// Adds the content of a part: the number of the first node, then nodes.
    pub(in crate::side_file::read) fn add(&mut self, content: &mut Cursor<'a>) -> Result<()> {
        let first = content.u64()?;
        let size = content.left();
        if !is_multiple(size, RAW_NODE_SIZE as u64) {
            return Err(Refused(Part::NodesSize, size).at(content.offset()));
        }
        self.pieces.push((first, *content));
        Ok(())
    }

    /// Adds all nodes to the tree, and their ticks to those outside the profile.
    pub(super) fn finish(
        mut self,
        side: &mut SideFile,
        places: &Places<'_>,
        threads: &RawThreads,
        outside: &mut Outside,
    ) -> Result<()> {
        self.pieces.sort_by_key(|(first, _)| *first);
        let size = self.pieces.iter().fold(0, |sum: usize, (_, piece)| sum.saturating_add(piece.rest().len()));
        let most = size / RAW_NODE_SIZE;
        side.contexts.nodes.reserve(most);
        let mut adding = Adding { side, places, threads, indexes: Vec::with_capacity(most), unfinished: None };
        for (first, mut piece) in self.pieces {
            if first != adding.indexes.len() as u64 {
                return Err(Refused(Part::FirstNode, first).at(piece.offset()));
            }
            while piece.left() > 0 {
                let raw = RawNode::read(&mut piece)?;
                let place = adding.add(&raw).map_err(|refused| refused.at(raw.offset))?;
                if let Some(place) = place {
                    outside.add(raw.address, place, raw.ticks);
                }
            }
        }
        Ok(())
    }
}

impl RawNode {
    fn read(piece: &mut Cursor<'_>) -> Result<RawNode> {
        let offset = piece.offset();
        let address = piece.u64()?;
        let parent = piece.u32()?;
        // The next node in the bucket, which means something only in the program.
        let _ = piece.u32()?;
        Ok(RawNode { address, parent, ticks: piece.u64()?, offset })
    }
}

/// The nodes that are being added.
struct Adding<'a> {
    side: &'a mut SideFile,
    places: &'a Places<'a>,
    threads: &'a RawThreads,
    /// For each raw node so far the index of its node in the tree, if it is used.
    indexes: Vec<Option<u32>>,
    /// The node below which chains without an outer part hang.
    unfinished: Option<usize>,
}

impl Adding<'_> {
    /// Adds a node to the tree, and returns its place; `None` if it is not used.
    fn add(&mut self, raw: &RawNode) -> Added<Option<Place>> {
        if raw.address == 0 || self.indexes.is_empty() {
            self.indexes.push(None);
            if raw.ticks > 0 {
                // The node got its address after the address was read.
                self.side.push_cut(CutReason::UNFINISHED, raw.ticks)?;
            }
            return Ok(None);
        }
        let parent = self.parent(raw)?;
        let place = self.place(raw.address);
        let index = self.side.push_context(parent, place, raw.ticks)?;
        self.indexes.push(Some(u32::try_from(index).map_err(|_| Refused(Part::Items, index as u64))?));
        Ok(Some(place))
    }

    /// The index of the parent in the tree.
    fn parent(&mut self, raw: &RawNode) -> Added<Option<usize>> {
        let known = self.indexes.get(raw.parent as usize).ok_or(Refused(Part::Parent, u64::from(raw.parent)))?;
        match known {
            _ if raw.parent == 0 => Ok(None),
            Some(parent) => Ok(Some(*parent as usize)),
            None => {
                if self.unfinished.is_none() {
                    let cut = CutReason::UNFINISHED.place();
                    self.unfinished = Some(self.side.push_context(None, cut, 0)?);
                }
                Ok(self.unfinished)
            }
        }
    }

    /// The place of an address; elsewhere if the file does not describe the object or the thread.
    fn place(&self, address: u64) -> Place {
        let place = self.places.of(address);
        let known = if place.object == THREAD {
            self.threads.index(place.address).map(|index| Place { address: index, ..place })
        } else {
            Some(place)
        };
        // The address in an unknown object says nothing.
        let is_known = |place: &Place| self.side.context_place(*place).is_ok();
        known.filter(is_known).unwrap_or(Place { object: ELSEWHERE, address: 0 })
    }
}
