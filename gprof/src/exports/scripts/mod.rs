//! Scripts that several pictures share.

/// Tests and shortens names.
pub(super) const TEXT: &str = include_str!("text.js");

/// Lets the mouse and the keys choose frames of a flame graph.
pub(super) const FRAMES: &str = include_str!("frames.js");
