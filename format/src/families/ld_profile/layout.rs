//! The sizes of an `LD_PROFILE` file, which follow from the address range.

use crate::Word;

/// The sizes that glibc's dynamic linker works out for an address range. The linker adds up runs in a file of exactly
/// these sizes, and does not touch a file of other sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LdProfileSizes {
    /// The number of bins: one for each four bytes of code.
    pub(crate) bins: u64,
    /// The number of arcs that the linker uses.
    pub(crate) most_arcs: u64,
    /// The size of an arc in bytes.
    pub(crate) arc: u64,
    /// The size of the room for arcs in bytes. The room is far larger than the arcs need: the linker also multiplies by
    /// the size of an entry of its own table.
    pub(crate) arcs: u64,
}

/// The arcs for each 100 bytes of code.
const DENSITY: u64 = 3;
/// The smallest and the largest number of arcs.
const ARCS: (u64, u64) = (50, 1 << 20);

impl LdProfileSizes {
    /// The sizes for this many bytes of code.
    pub(crate) fn new(span: u64, word: Word) -> LdProfileSizes {
        let (entry, arc): (u64, u64) = match word {
            Word::W32 => (8, 12),
            Word::W64 => (16, 20),
        };
        let most_arcs = (span.saturating_mul(DENSITY) / 100).clamp(ARCS.0, ARCS.1);
        let arcs = most_arcs.saturating_mul(entry).saturating_mul(arc);
        LdProfileSizes { bins: span / 4, most_arcs, arc, arcs }
    }

    /// The size of the whole file in bytes: header, tag, histogram, tag, number of arcs, and the room for arcs.
    pub(crate) fn file(self, word: Word) -> u64 {
        let head = match word {
            Word::W32 => 64,
            Word::W64 => 72,
        };
        self.bins.saturating_mul(2).saturating_add(self.arcs).saturating_add(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        // Measured: a library with 4 KiB of code, and glibc 2.36 itself (1 400 832 bytes of code).
        let small = LdProfileSizes::new(0x1000, Word::W64);
        assert_eq!((small.bins, small.most_arcs, small.file(Word::W64)), (1024, 122, 41_160));
        assert_eq!(LdProfileSizes::new(0x15_6000, Word::W64).file(Word::W64), 14_148_168);
        // The bounds of the number of arcs.
        assert_eq!(LdProfileSizes::new(4, Word::W32).file(Word::W32), 64 + 2 + 50 * 8 * 12);
        assert_eq!(LdProfileSizes::new(u64::MAX, Word::W32).most_arcs, 1 << 20);
    }
}
