//! What a layout is about.

/// A place or a size: across and down, in pixels.
pub(in crate::report) type Point = [f64; 2];

/// An arrow between two boxes, by their indexes. An arrow from a box to itself has no route.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Arrow {
    pub(in crate::report) from: usize,
    pub(in crate::report) to: usize,
}
