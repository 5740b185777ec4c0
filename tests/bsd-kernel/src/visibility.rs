//! The paths that a process may access after unveil(2) of OpenBSD.

use std::path::{Path, PathBuf};

use nix::errno::Errno;

/// A set of accesses: `r`, `w`, `x` and `c` of unveil(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access(u8);

impl Access {
    /// Opens a file for reading, reads a status, enters a directory.
    pub const READ: Access = Access(1);
    /// Opens a file for writing.
    pub const WRITE: Access = Access(2);
    /// Executes a file.
    pub const EXECUTE: Access = Access(4);
    /// Creates, renames and removes a file.
    pub const CREATE: Access = Access(8);

    /// Reads the second argument of unveil(2).
    ///
    /// # Errors
    ///
    /// EINVAL for an unknown letter.
    pub fn parse(letters: &[u8]) -> Result<Access, Errno> {
        letters.iter().try_fold(Access::default(), |access, letter| match letter {
            b'r' => Ok(access.and(Access::READ)),
            b'w' => Ok(access.and(Access::WRITE)),
            b'x' => Ok(access.and(Access::EXECUTE)),
            b'c' => Ok(access.and(Access::CREATE)),
            _ => Err(Errno::EINVAL),
        })
    }

    /// The union of two sets.
    #[must_use]
    pub fn and(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }

    /// Returns whether the set contains another set.
    #[must_use]
    pub fn has(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The paths that a process unveiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unveiled {
    /// Absolute paths without symbolic links. A directory stands for everything below the directory.
    rules: Vec<(PathBuf, Access)>,
    is_locked: bool,
}

impl Unveiled {
    /// Adds a path, or removes accesses of a path.
    ///
    /// # Errors
    ///
    /// EPERM after [`Unveiled::lock`], and for accesses that the process gave up.
    pub fn add(&mut self, path: PathBuf, access: Access) -> Result<(), Errno> {
        if self.is_locked {
            return Err(Errno::EPERM);
        }
        match self.rules.iter_mut().find(|(known, _)| *known == path) {
            Some((_, current)) if !current.has(access) => return Err(Errno::EPERM),
            Some((_, current)) => *current = access,
            None => self.rules.push((path, access)),
        }
        Ok(())
    }

    /// Makes the rules final.
    pub fn lock(&mut self) {
        self.is_locked = true;
    }

    /// Checks an access to an absolute path without symbolic links.
    ///
    /// # Errors
    ///
    /// ENOENT if the path is not unveiled, EACCES if the path is unveiled for other accesses.
    pub fn check(&self, path: &Path, wanted: Access) -> Result<(), Errno> {
        let covering = self.rules.iter().filter(|(rule, _)| path.starts_with(rule));
        match covering.max_by_key(|(rule, _)| rule.components().count()) {
            _ if self.rules.is_empty() => Ok(()),
            Some((_, access)) if access.has(wanted) => Ok(()),
            Some((_, access)) if *access != Access::default() => Err(Errno::EACCES),
            Some(_) | None => Err(Errno::ENOENT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_decides() {
        let mut unveiled = Unveiled::default();
        let check = |unveiled: &Unveiled, path: &str, access| unveiled.check(Path::new(path), access);
        assert_eq!(check(&unveiled, "/etc", Access::WRITE), Ok(()), "no rule yet");
        for (path, letters) in [("/a", &b"r"[..]), ("/a/b", b"rwc"), ("/a/c", b"")] {
            unveiled.add(path.into(), Access::parse(letters).unwrap()).unwrap();
        }
        assert_eq!(check(&unveiled, "/a/file", Access::READ), Ok(()));
        assert_eq!(check(&unveiled, "/a/file", Access::WRITE), Err(Errno::EACCES));
        assert_eq!(check(&unveiled, "/a/b/file", Access::WRITE.and(Access::CREATE)), Ok(()));
        assert_eq!(check(&unveiled, "/ab", Access::READ), Err(Errno::ENOENT));
        assert_eq!(check(&unveiled, "/a/c", Access::READ), Err(Errno::ENOENT));
        assert_eq!(unveiled.add("/a".into(), Access::WRITE), Err(Errno::EPERM));
        unveiled.lock();
        assert_eq!(unveiled.add("/a".into(), Access::READ), Err(Errno::EPERM));
        assert_eq!(Access::parse(b"q"), Err(Errno::EINVAL));
    }
}
