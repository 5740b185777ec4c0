//! What the profiled program does to its own process: exits and fatal signals, handlers and masks of signals, `dlclose`.

pub(crate) mod dispositions;
mod dlclose;
pub(crate) mod exits;
mod signal_masks;
