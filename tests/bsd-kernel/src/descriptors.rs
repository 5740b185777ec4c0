//! The descriptors of a process. The files are open in this tracer; the traced processes have no open files.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use nix::errno::Errno;

/// The object that a descriptor refers to.
#[derive(Debug)]
pub enum Open {
    /// A file, a directory or a pipe.
    File(OwnedFd),
    /// A process descriptor of pdfork(2).
    Process(u32),
}

/// A descriptor.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// The state that copies of the descriptor share.
    pub open: Rc<Open>,
    /// Whether exec closes the descriptor.
    pub closes_at_exec: bool,
}

/// The descriptors by number.
#[derive(Clone, Debug, Default)]
pub struct Descriptors(BTreeMap<i32, Descriptor>);

impl Descriptors {
    /// Adds a descriptor with the lowest free number from `least` on.
    pub fn add(&mut self, open: Rc<Open>, closes_at_exec: bool, least: i32) -> i32 {
        let number = (least..).find(|number| !self.0.contains_key(number)).expect("numbers do not run out");
        self.0.insert(number, Descriptor { open, closes_at_exec });
        number
    }

    /// Assigns a number to a descriptor, and closes the previous descriptor with the number.
    pub fn put(&mut self, number: i32, descriptor: Descriptor) {
        self.0.insert(number, descriptor);
    }

    /// The descriptor with a number.
    ///
    /// # Errors
    ///
    /// EBADF when there is none.
    pub fn get(&self, number: i32) -> Result<&Descriptor, Errno> {
        self.0.get(&number).ok_or(Errno::EBADF)
    }

    /// Returns a mutable reference to the descriptor with a number.
    ///
    /// # Errors
    ///
    /// EBADF when there is none.
    pub fn get_mut(&mut self, number: i32) -> Result<&mut Descriptor, Errno> {
        self.0.get_mut(&number).ok_or(Errno::EBADF)
    }

    /// Closes a descriptor.
    ///
    /// # Errors
    ///
    /// EBADF when there is none.
    pub fn close(&mut self, number: i32) -> Result<(), Errno> {
        self.0.remove(&number).map(|_| ()).ok_or(Errno::EBADF)
    }

    /// Closes all descriptors from a number to another, both included.
    pub fn close_range(&mut self, first: i32, last: i32) {
        self.0.retain(|number, _| !(first..=last).contains(number));
    }

    /// Closes the descriptors that are marked close-on-exec.
    pub fn close_at_exec(&mut self) {
        self.0.retain(|_, descriptor| !descriptor.closes_at_exec);
    }
}
