//! Reads threads.

use alloc::vec::Vec;

use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::layout::side_file::{RAW_THREAD_SIZE, THREAD};
use crate::side_file::content::SideFile;
use crate::side_file::counts::Thread;

/// The name of the entry for all threads that are not told apart, which has neither a number nor a name in memory.
const OTHERS: &[u8] = b"(all other threads)";

/// The threads of the program's memory.
#[derive(Default)]
pub(in crate::side_file::read) struct RawThreads {
    /// The index in memory of each used thread, with the index in the file.
    used: Vec<(u64, u64)>,
    /// The number of threads in memory.
    number: u64,
}

impl RawThreads {
    /// Adds the threads that are used, without ticks.
    pub(in crate::side_file::read) fn add(&mut self, side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
        while content.left() >= RAW_THREAD_SIZE as u64 {
            let (number, is_used) = (content.u32()?, content.u32()?);
            let name: [u8; 16] = content.array()?;
            if is_used != 0 {
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                let name = if name.is_empty() && number == 0 { OTHERS } else { name };
                // How many threads share an entry without a number is not known.
                let threads = u64::from(number != 0);
                let thread = Thread { number: number.into(), name: name.to_vec(), threads, ..Thread::default() };
                self.used.push((self.number, side.add_thread(thread) as u64));
            }
            self.number = self.number.saturating_add(1);
        }
        Ok(())
    }

    /// The index in the file of a thread in memory. If the file has no threads in this form, all are as in memory.
    pub(super) fn index(&self, thread: u64) -> Option<u64> {
        if self.number == 0 {
            return Some(thread);
        }
        let found = self.used.binary_search_by_key(&thread, |(index, _)| *index).ok()?;
        self.used.get(found).map(|(_, index)| *index)
    }

    /// Adds the ticks of the tree to the threads.
    pub(super) fn add_ticks(&self, side: &mut SideFile) {
        if self.used.is_empty() {
            return;
        }
        let inclusive = side.contexts.inclusive();
        for (node, ticks) in side.contexts.nodes.iter().zip(inclusive).filter(|(node, _)| node.object == THREAD) {
            let index = usize::try_from(node.address).unwrap_or(usize::MAX);
            if let Some(thread) = side.threads.get_mut(index) {
                thread.ticks = thread.ticks.saturating_add(ticks);
            }
        }
    }
}
