//! The searches of a walk for objects whose tables are not copied yet.

use core::cell::Cell;

/// The searches of one walk. The kernel copies each word that a search reads, so a search takes longer than a walk.
pub struct Searches {
    are_allowed: bool,
    words: Cell<usize>,
    is_searching: Cell<bool>,
}

impl Searches {
    /// No search yet. `are_allowed` says whether the walk may search.
    #[must_use]
    pub const fn new(are_allowed: bool) -> Searches {
        Searches { are_allowed, words: Cell::new(0), is_searching: Cell::new(false) }
    }

    pub(super) fn are_allowed(&self) -> bool {
        self.are_allowed
    }

    /// Searches. Until the end of the search, the memory of the walk is as the kernel copies it.
    pub(super) fn run<R>(&self, search: impl FnOnce() -> R) -> R {
        self.is_searching.set(true);
        let found = search();
        self.is_searching.set(false);
        found
    }

    /// Whether a search reads a word, which then counts.
    pub(super) fn counts_word(&self) -> bool {
        let is_searching = self.is_searching.get();
        self.words.set(self.words.get().saturating_add(usize::from(is_searching)));
        is_searching
    }

    /// The number of words that searches have read.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words.get()
    }
}
