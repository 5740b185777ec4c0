//! The gprofs that the command line can choose.

/// The gprof whose output the user wants where gprofs differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// This project's gprof.
    #[default]
    None,
    /// GNU gprof's.
    Gnu,
}

/// A BSD whose gprof is reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// FreeBSD's.
    #[default]
    FreeBsd,
    /// OpenBSD's.
    OpenBsd,
}

impl Dialect {
    /// The dialect of the system that this program runs on, if that system is one of these BSDs.
    #[must_use]
    pub fn native() -> Option<Dialect> {
        if cfg!(target_os = "freebsd") {
            Some(Dialect::FreeBsd)
        } else if cfg!(target_os = "openbsd") {
            Some(Dialect::OpenBsd)
        } else {
            None
        }
    }
}
