//! Reads the parts of a live file that are the program's memory: the tree, sums, mappings, and threads.
//!
//! The program may change these parts while the file is read, and it may have been killed while it changed them. So
//! it is no error if the file does not describe something yet: a place in no mapping is elsewhere, and a chain whose
//! outer part is not there is cut.

mod nodes;
mod places;
mod samples;
mod threads;

use alloc::vec::Vec;
use core::mem;

use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::encode::side_file::CutReason;
use crate::layout::side_file::{ELSEWHERE, RAW_MAPPING_SIZE};
use crate::side_file::content::SideFile;
use crate::side_file::object::Mapping;
use nodes::RawNodes;
use places::Places;
use samples::Outside;
use threads::RawThreads;

/// The memory of the program in a file.
#[derive(Default)]
pub(super) struct Raw<'a> {
    pub(super) nodes: RawNodes<'a>,
    pub(super) threads: RawThreads,
    mappings: Vec<Mapping>,
    outside: Outside,
}

impl Raw<'_> {
    /// Adds the bins of the profile, and the ticks that are in no node.
    pub(super) fn add_sums(&mut self, side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
        let offset = content.offset();
        self.outside.set(content.u64()?..content.u64()?, content.u64()?, offset);
        let mut code = 0_u32;
        while content.left() > 0 {
            let offset = content.offset();
            let ticks = content.u64()?;
            if ticks > 0 {
                side.push_cut(CutReason::from_code(code), ticks).map_err(|refused| refused.at(offset))?;
            }
            code = code.saturating_add(1);
        }
        Ok(())
    }

    /// Adds mappings. Some entries may not be used.
    pub(super) fn add_mappings(&mut self, content: &mut Cursor<'_>) -> Result<()> {
        while content.left() >= RAW_MAPPING_SIZE as u64 {
            let (start, end, bias) = (content.u64()?, content.u64()?, content.u64()?);
            let object = u32::try_from(content.u64()?).unwrap_or(ELSEWHERE);
            if start < end {
                self.mappings.push(Mapping::new(start..end, bias, object));
            }
        }
        Ok(())
    }

    /// Adds the tree, and the samples outside the profile.
    pub(super) fn finish(self, side: &mut SideFile) -> Result<()> {
        let Raw { nodes, threads, mappings, mut outside } = self;
        for mapping in mappings {
            // The object may not be described yet.
            let _ = side.push_mapping(mapping);
        }
        // The nodes are added to the file, but no mappings.
        let mappings = mem::take(&mut side.mappings);
        nodes.finish(side, &Places::new(&mappings), &threads, &mut outside)?;
        side.mappings = mappings;
        threads.add_ticks(side);
        outside.finish(side)
    }
}
