//! Constants and structures in which FreeBSD and OpenBSD differ.

use core::ffi::c_int;

/// The resource limit of memory: RLIMIT_DATA (`sys/resource.h`).
pub(super) const RLIMIT_MEMORY: usize = 2;
/// Excludes a mapping from core dumps: MAP_CONCEAL.
pub(super) const MAP_UNDUMPED: usize = 0x8000;
pub(super) const F_DUPFD_CLOEXEC: usize = 10;
pub(super) const O_CLOEXEC: usize = 0x1_0000;
/// Opens a directory for lookups: no flag, because OpenBSD has no O_SEARCH.
pub(super) const O_LOOKUP: usize = 0;
/// The words of `struct clockinfo` (`sys/time.h`): ticks, tick, statistics, samples.
pub(super) const CLOCK_WORDS: usize = 4;

unsafe extern "C" {
    /// Returns the address of the C library's `errno` of this thread.
    #[link_name = "__errno"]
    pub(super) fn errno_location() -> *mut c_int;
}

/// Returns the description of an error number that only OpenBSD has: empty, because no call of the runtime returns such
/// an error.
pub(super) fn error_text(_number: i32) -> &'static [u8] {
    b""
}

/// `struct stat` (`sys/stat.h`).
#[repr(C)]
pub(super) struct Stat {
    mode: u32,
    device: u32,
    pub(super) inode: u64,
    links: u32,
    pub(super) owner: u32,
    group: u32,
    special_device: u32,
    /// The times of the last access, modification, and change.
    times: [u64; 6],
    pub(super) size: u64,
    blocks: u64,
    rest: [u32; 4],
    pub(super) born: [u64; 2],
}

const _: () = assert!(size_of::<Stat>() == 128);

/// Reads the device number with a single read, because code below mcount must not use vector registers.
///
/// # Safety
///
/// The kernel must have written the structure.
pub(super) unsafe fn device(found: *const Stat) -> u64 {
    // SAFETY: the caller guarantees that the structure is initialized.
    u64::from(unsafe { (&raw const (*found).device).read_volatile() })
}

impl Stat {
    pub(super) fn mode(&self) -> u32 {
        self.mode
    }

    pub(super) fn links(&self) -> u32 {
        self.links
    }

    pub(super) fn device(&self) -> u64 {
        u64::from(self.device)
    }
}

pub(super) const HIGHEST_SIGNAL: c_int = 32;
/// The mask of a [`SignalAction`] that blocks no signal.
pub(super) const NO_MASK: u32 = 0;

/// Returns the real-time signal with this name: always `None`, because OpenBSD has no real-time signals.
pub(super) fn real_time_signal(_name: &[u8]) -> Option<c_int> {
    None
}

/// `struct sigaction` (`sys/signal.h`).
#[repr(C)]
pub(super) struct SignalAction {
    /// The address of a [`Handler`](super::Handler), or SIG_DFL or SIG_IGN.
    pub(super) handler: usize,
    pub(super) mask: u32,
    pub(super) flags: c_int,
}

const _: () = assert!(size_of::<SignalAction>() == 16);

/// The start of `siginfo_t`.
#[repr(C)]
pub struct SignalInfo {
    pub(super) signal: i32,
    pub(super) code: i32,
}
