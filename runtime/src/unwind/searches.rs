//! The searches of a walk for objects whose tables are not copied yet.

use core::cell::Cell;

/// The searches of one walk. The kernel copies each word that a search reads, so a search takes longer than a walk.
pub struct Searches {
    are_allowed: bool,
    words: Cell<usize>,
}

impl Searches {
    /// No search yet. `are_allowed` says whether the walk may search.
    #[must_use]
    pub const fn new(are_allowed: bool) -> Searches {
        Searches { are_allowed, words: Cell::new(0) }
    }

    pub(super) fn are_allowed(&self) -> bool {
        self.are_allowed
    }

    /// Counts words.
    pub(super) fn count(&self, words: usize) {
        self.words.set(self.words.get().saturating_add(words));
    }

    /// The number of words that searches have read.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words.get()
    }
}
