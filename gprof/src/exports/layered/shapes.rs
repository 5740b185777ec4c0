//! What a layout is about.

/// A place or a size: across and down, in pixels.
pub(crate) type Point = [f64; 2];

/// An arrow between two boxes, by their indexes. An arrow from a box to itself has no route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
}
