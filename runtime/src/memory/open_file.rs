//! A file that is open as long as the process counts in it.

use core::sync::atomic::{
    AtomicI32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use crate::os::{Fd, Identity};
use crate::state::Resettable;

/// A file that is kept open. The program may close its descriptor and open another file with the same number, so the
/// file also has its identity.
pub(crate) struct OpenFile {
    /// The descriptor; -1 for none.
    descriptor: AtomicI32,
    inode: AtomicU64,
    device: AtomicU64,
}

impl OpenFile {
    pub(crate) const fn none() -> OpenFile {
        OpenFile { descriptor: AtomicI32::new(-1), inode: AtomicU64::new(0), device: AtomicU64::new(0) }
    }

    /// Sets the file.
    pub(crate) fn set(&self, file: Fd) {
        if let Some(identity) = file.identity() {
            self.inode.store(identity.inode, Relaxed);
            self.device.store(identity.device, Relaxed);
        }
        self.descriptor.store(file.0, SeqCst);
    }

    /// Whether a file was set.
    pub(crate) fn is_set(&self) -> bool {
        self.descriptor.load(Relaxed) != -1
    }

    /// The file, if its descriptor still leads to it. May be called below mcount and in signal handlers.
    pub(crate) fn file(&self) -> Option<Fd> {
        let file = Fd(self.descriptor.load(Relaxed));
        let identity = Identity { inode: self.inode.load(Relaxed), device: self.device.load(Relaxed) };
        (self.is_set() && file.identity() == Some(identity)).then_some(file)
    }

    /// Forgets the file, which stays open. The result says whether a file was set.
    pub(crate) fn forget(&self) -> bool {
        self.descriptor.swap(-1, SeqCst) != -1
    }
}

/// A child forgets the file. Without a descriptor, the identity says nothing.
impl Resettable for OpenFile {
    const VALUE: OpenFile = OpenFile::none();

    #[inline(always)]
    fn reset(&self) {
        let _ = self.forget();
    }

    #[cfg(test)]
    fn change(&self) {
        self.set(Fd(0));
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        !self.is_set()
    }
}
