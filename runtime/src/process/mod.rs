//! The ends of the process, and the ends of what is loaded into it: `_exit`, `daemon`, fatal signals, `dlclose`.

mod dlclose;
pub(crate) mod exits;
