//! Changes the code of many functions in few system calls.

use crate::os::{Errno, OwnCode, OwnMemory};

/// The size and the alignment of the pieces of code that are changed at once.
const PIECE: usize = 1 << 16;
/// A larger distance between two changes is not written.
const LARGEST_GAP: usize = 1 << 13;

/// Collects changes of code in the order of addresses. All bytes from the first change to the last one are written in
/// one system call; bytes that do not change keep their values. If each write takes several system calls, only changed
/// bytes are written.
pub(super) struct Changes<'a> {
    code: &'a OwnCode,
    memory: &'a OwnMemory,
    piece: &'a mut [u8; PIECE],
    /// The addresses of the piece of which the bytes are known.
    start: usize,
    length: usize,
    /// The addresses that are changed.
    first: usize,
    behind: usize,
}

/// The memory of [`Changes`].
pub(super) type Piece = [u8; PIECE];

impl<'a> Changes<'a> {
    pub(super) fn new(code: &'a OwnCode, memory: &'a OwnMemory, piece: &'a mut Piece) -> Changes<'a> {
        Changes { code, memory, piece, start: 0, length: 0, first: 0, behind: 0 }
    }

    /// Changes bytes of the code from `limits.0` to `limits.1`, now or at the latest with [`Changes::finish`].
    pub(super) fn change(&mut self, address: usize, bytes: &[u8], limits: (usize, usize)) -> Result<(), Errno> {
        if self.first == self.behind || address.wrapping_sub(self.behind) > LARGEST_GAP || !self.has(address, bytes) {
            self.finish()?;
            if !self.has(address, bytes) {
                self.read(address, limits);
            }
            if self.code.writes_single_bytes() || !self.has(address, bytes) {
                // SAFETY: the changes of a gate, or of the room before a function.
                return unsafe { self.code.write(address, bytes) };
            }
            (self.first, self.behind) = (address, address);
        }
        let place = self.piece.get_mut(address - self.start..).unwrap_or(&mut []);
        place.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        self.behind = self.behind.max(address + bytes.len());
        Ok(())
    }

    /// Makes all changes.
    pub(super) fn finish(&mut self) -> Result<(), Errno> {
        let range = self.first.wrapping_sub(self.start)..self.behind.wrapping_sub(self.start);
        let bytes = self.piece.get(range).filter(|bytes| !bytes.is_empty());
        let first = self.first;
        self.first = self.behind;
        // SAFETY: as above; all other bytes keep their values.
        bytes.map_or(Ok(()), |bytes| unsafe { self.code.write(first, bytes) })
    }

    /// Whether the bytes at an address are known.
    fn has(&self, address: usize, bytes: &[u8]) -> bool {
        address.checked_sub(self.start).is_some_and(|distance| distance + bytes.len() <= self.length)
    }

    /// Reads the piece with an address.
    fn read(&mut self, address: usize, (start, end): (usize, usize)) {
        let first = (address & !(PIECE - 1)).max(start);
        let length = ((address & !(PIECE - 1)) + PIECE).min(end).saturating_sub(first);
        let is_read = self.piece.get_mut(..length).is_some_and(|piece| self.memory.fill(first, piece));
        (self.start, self.length) = (first, if is_read { length } else { 0 });
        (self.first, self.behind) = (first, first);
    }
}
