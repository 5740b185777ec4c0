//! Sends the signal of requests, and notices the end of a process.

use std::io;
use std::time::Duration;

/// A process that signals can be sent to.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has such processes"))]
pub(super) struct Recipient {
    #[cfg(target_os = "linux")]
    pid: rustix::process::Pid,
    /// Stands for the process, also after another process has got its number. `None` before Linux 5.3.
    #[cfg(target_os = "linux")]
    descriptor: Option<std::os::fd::OwnedFd>,
}

#[cfg(target_os = "linux")]
impl Recipient {
    /// Finds a process. Returns `None` if no process can have this number.
    pub(super) fn find(pid: u32) -> Option<Recipient> {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        Some(Recipient { pid, descriptor: pidfd_open(pid, PidfdFlags::empty()).ok() })
    }

    /// Sends [`gmon::layout::request::SIGNAL`]. By default, the signal ends a process that has no handler for it: the
    /// caller must have made sure that the process has one.
    ///
    /// # Errors
    ///
    /// When the process has ended, or is not this user's.
    pub(super) fn send(&self) -> io::Result<()> {
        use gmon::layout::request::SIGNAL;
        use rustix::process::{Signal, kill_process, pidfd_send_signal};
        // SAFETY: 60 is the number of a signal on Linux. The numbers that C libraries keep for themselves, which nobody
        // else may send, are 32 to 34; 60 is one of those that they leave to programs.
        let signal = unsafe { Signal::from_raw_unchecked(SIGNAL) };
        match &self.descriptor {
            Some(descriptor) => pidfd_send_signal(descriptor, signal)?,
            None => kill_process(self.pid, signal)?,
        }
        Ok(())
    }

    /// Waits for this time, or less if a signal comes. Returns whether the process is known to have ended.
    pub(super) fn wait(&self, time: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let (Some(descriptor), Ok(time)) = (&self.descriptor, Timespec::try_from(time)) else {
            std::thread::sleep(time);
            return false;
        };
        let mut files = [PollFd::new(descriptor, PollFlags::IN)];
        matches!(poll(&mut files, Some(&time)), Ok(1))
    }
}

#[cfg(not(target_os = "linux"))]
impl Recipient {
    /// Returns `None`: only Linux has this signal.
    pub(super) fn find(_: u32) -> Option<Recipient> {
        None
    }

    /// Fails.
    pub(super) fn send(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits for this time.
    pub(super) fn wait(&self, time: Duration) -> bool {
        std::thread::sleep(time);
        false
    }
}
