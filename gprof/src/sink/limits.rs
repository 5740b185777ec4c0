//! The maximum numbers of what an export may have any number of: functions of a drawing, lines of a page.
//!
//! The limits are those of readers: a person cannot read a larger drawing, and a browser cannot show a larger page.
//! Profiles of usual programs stay below all limits but those of drawings.

/// The maximum number of functions in a drawing. A person cannot read a larger drawing, and its layout would take long.
pub(crate) const DRAWN_FUNCTIONS: usize = 250;

/// The maximum number of calls in a drawing.
pub(crate) const DRAWN_CALLS: usize = 750;

/// The maximum number of characters of a name in a box of a drawing. The whole name is the title of the box.
pub(crate) const LETTERS_OF_BOX: usize = 36;

/// The functions that a sentence at the head of the page names.
pub(crate) const NAMED_IN_SUMMARY: usize = 3;

/// The letters of a name in the sentences at the head of the page.
pub(crate) const LETTERS_OF_SUMMARY: usize = 80;

/// The maximum number of threads that can be chosen in a page: those with the longest times.
pub(crate) const THREADS_OF_PAGE: usize = 64;

/// The maximum number of source lines in a page. The files with the longest times come first.
pub(crate) const SOURCE_LINES: usize = 20_000;

/// What is left of a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    most: usize,
    left: usize,
}

impl Room {
    /// Returns room for this many items.
    pub(crate) fn new(most: usize) -> Room {
        Room { most, left: most }
    }

    /// Takes room for as many of these items as there is room for, and returns their number.
    pub(crate) fn take(&mut self, items: usize) -> usize {
        let taken = items.min(self.left);
        self.left -= taken;
        taken
    }

    /// Returns the number of items that have room.
    pub(crate) fn taken(&self) -> usize {
        self.most - self.left
    }
}

/// Keeps as many items as the limit allows, and adds the number of the others to `left_out`.
pub(crate) fn keep<T>(items: &mut Vec<T>, most: usize, left_out: &mut usize) {
    *left_out += items.len().saturating_sub(most);
    items.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_once() {
        let mut room = Room::new(10);
        assert_eq!([room.take(4), room.take(0), room.take(9), room.take(1)], [4, 0, 6, 0]);
        assert_eq!(room.taken(), 10);
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let (mut items, mut left_out) = (vec![1, 2, 3], 5);
        keep(&mut items, 3, &mut left_out);
        assert_eq!((items.len(), left_out), (3, 5));
        keep(&mut items, 1, &mut left_out);
        assert_eq!((items, left_out), (vec![1], 7));
    }
}
