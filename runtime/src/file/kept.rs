//! Files that stay open since the start: the process may give up the right or the means to open them later, or counts
//! in the file.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use super::names::{Once, SIDE};
use crate::memory::OpenFile;
use crate::os::{Fd, Status};
use crate::state::{Inherited, Reset, resets};

/// A file that may be open since the start.
#[derive(Clone, Copy)]
pub(crate) enum Kept {
    Profile,
    SideFile,
}

/// The status of each file at the start: the program may close the descriptor and open another file with its number.
static STATUS: Inherited<Once<[Option<Status>; 2]>> =
    Inherited::new("says something only while there is a kept file", Once(UnsafeCell::new([None; 2])));

resets! {
    /// The descriptor of the profile's file that was opened at the start; -1 for none.
    static PROFILE: Reset<AtomicI32, -1> = Reset::new();
    /// The descriptor of the side file that was opened at the start; -1 for none.
    static SIDE_FILE: Reset<AtomicI32, -1> = Reset::new();
    /// The live file in which the process counts.
    pub(super) static LIVE_FILE: Reset<OpenFile> = Reset::new();
}

impl Kept {
    /// What the name has behind the name of the profile.
    pub(super) fn suffix(self) -> &'static [u8] {
        match self {
            Kept::Profile => b"",
            Kept::SideFile => SIDE,
        }
    }

    /// The descriptor; -1 for none.
    fn descriptor(self) -> &'static AtomicI32 {
        match self {
            Kept::Profile => &PROFILE,
            Kept::SideFile => &SIDE_FILE,
        }
    }

    /// Keeps an open file, which is used later only if it has a status that `is_usable`.
    ///
    /// # Safety
    ///
    /// Call this only at start-up, while there is one thread, or in the thread that may write files.
    pub(super) unsafe fn keep(self, file: Fd, is_usable: impl Fn(&Status) -> bool) {
        // SAFETY: the caller's promise.
        if let Some(status) = unsafe { &mut *STATUS.0.get() }.get_mut(self as usize) {
            *status = file.status().ok().filter(is_usable);
        }
        self.descriptor().store(file.out_of_the_way().0, Relaxed);
    }

    /// Keeps a new file instead of the file that is kept, if there is one. The result is the descriptor of the new
    /// file.
    ///
    /// # Safety
    ///
    /// Call this only in the thread that may write files.
    pub(super) unsafe fn replace(self, new: Fd) -> Fd {
        if !self.is_some() {
            return new;
        }
        let before = Fd(self.descriptor().load(Relaxed));
        let Some(status) = before.status().ok().filter(|now| self.is_it(now)) else { return new };
        if new.status().is_ok_and(|new| new.is_same_file(&status)) {
            return new;
        }
        let _ = before.close();
        // SAFETY: the caller's promise.
        unsafe { self.keep(new, |_| true) };
        Fd(self.descriptor().load(Relaxed))
    }

    /// Whether a file was kept.
    pub(super) fn is_some(self) -> bool {
        self.descriptor().load(Relaxed) != -1
    }

    /// Whether this is the descriptor of the file.
    pub(super) fn has_descriptor(self, file: Fd) -> bool {
        self.descriptor().load(Relaxed) == file.0
    }

    /// The file, if its descriptor still leads to it, and if it still has a name.
    pub(super) fn file(self) -> Option<Fd> {
        let file = Fd(self.descriptor().load(Relaxed));
        file.status().is_ok_and(|now| self.is_it(&now) && now.links > 0).then_some(file)
    }

    /// Whether a status is that of the file.
    fn is_it(self, now: &Status) -> bool {
        // SAFETY: only the contracts of `keep` and `replace` allow writes.
        let then = unsafe { &*STATUS.0.get() }.get(self as usize).and_then(Option::as_ref);
        then.is_some_and(|then| now.is_same_file(then))
    }
}
