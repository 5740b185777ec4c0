//! The ends of the process and of loaded objects: `_exit`, `daemon`, fatal signals, `dlclose`.

mod dlclose;
pub(crate) mod exits;
