//! The user as which a process accesses files.

use nix::unistd::{Uid, geteuid, setfsuid};

/// The IDs of a process's user. This kernel has no groups, and real, effective and saved IDs are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The user's ID.
    pub user: u32,
}

/// The superuser's ID.
const ROOT: u32 = 0;

impl Credentials {
    /// The user of the tracer.
    #[must_use]
    pub fn of_tracer() -> Credentials {
        Credentials { user: geteuid().as_raw() }
    }

    /// Returns whether the user is the superuser.
    #[must_use]
    pub fn is_root(self) -> bool {
        self.user == ROOT
    }

    /// Returns the user that owns the files which [`Credentials::with`] creates. Only the superuser can create files of
    /// another user, so a tracer of an ordinary user creates files of that user.
    #[must_use]
    pub fn owner(self) -> u32 {
        if geteuid().is_root() { self.user } else { geteuid().as_raw() }
    }

    /// Accesses files with the user's permissions.
    pub fn with<T>(self, access: impl FnOnce() -> T) -> T {
        let tracer = geteuid();
        setfsuid(Uid::from_raw(self.owner()));
        let result = access();
        setfsuid(tracer);
        result
    }
}
