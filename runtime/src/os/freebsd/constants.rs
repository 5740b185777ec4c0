//! Constants and structures in which FreeBSD and OpenBSD differ.

use core::ffi::c_int;

use crate::text::decimal;

/// The limit of memory (`sys/resource.h`): RLIMIT_AS.
pub(super) const RLIMIT_MEMORY: usize = 10;
/// Core dumps leave the memory out: MAP_NOCORE.
pub(super) const MAP_UNDUMPED: usize = 0x2_0000;
pub(super) const F_DUPFD_CLOEXEC: usize = 17;
pub(super) const O_CLOEXEC: usize = 0x10_0000;
/// Opens a directory without permission to read the directory: O_SEARCH.
pub(super) const O_LOOKUP: usize = 0x4_0000;
/// The words of `struct clockinfo` (`sys/time.h`): ticks, tick, an unused word, statistics, samples.
pub(super) const CLOCK_WORDS: usize = 5;

unsafe extern "C" {
    /// Returns the address of the C library's `errno` of this thread.
    #[link_name = "__error"]
    pub(super) fn errno_location() -> *mut c_int;
}

/// Returns the description of an error that only FreeBSD has.
pub(super) fn error_text(number: i32) -> &'static [u8] {
    match number {
        93 => b"capabilities insufficient",
        94 => b"not permitted in capability mode",
        _ => b"",
    }
}

/// `struct stat` (`sys/stat.h`).
#[repr(C)]
pub(super) struct Stat {
    device: u64,
    pub(super) inode: u64,
    links: u64,
    mode: u16,
    bsd_flags: i16,
    pub(super) owner: u32,
    group: u32,
    padding: u32,
    special_device: u64,
    /// The times of the last access, modification, and change.
    times: [u64; 6],
    pub(super) born: [u64; 2],
    pub(super) size: u64,
    rest: [u64; 13],
}

const _: () = assert!(size_of::<Stat>() == 224);

/// Reads the device number with a single read, because code below mcount must not use vector registers.
///
/// # Safety
///
/// The kernel must have written the structure.
pub(super) unsafe fn device(found: *const Stat) -> u64 {
    // SAFETY: the caller guarantees that the structure is initialized.
    unsafe { (&raw const (*found).device).read_volatile() }
}

impl Stat {
    pub(super) fn mode(&self) -> u32 {
        u32::from(self.mode)
    }

    pub(super) fn links(&self) -> u32 {
        self.links as u32
    }

    pub(super) fn device(&self) -> u64 {
        self.device
    }
}

/// The first and the last real-time signal.
const SIGRTMIN: c_int = 65;
const SIGRTMAX: c_int = 126;
pub(super) const HIGHEST_SIGNAL: c_int = SIGRTMAX;
/// The mask of a [`SignalAction`] that blocks no signal.
pub(super) const NO_MASK: [u32; 4] = [0; 4];

/// Returns the signal with the name `RTMIN`, `RTMIN+n`, `RTMAX` or `RTMAX-n`.
pub(super) fn real_time_signal(name: &[u8]) -> Option<c_int> {
    let distance = |digits| decimal(digits).and_then(|number| c_int::try_from(number).ok());
    let signal = match (name.strip_prefix(b"RTMIN"), name.strip_prefix(b"RTMAX")) {
        (Some([]), _) => SIGRTMIN,
        (Some([b'+', digits @ ..]), _) => SIGRTMIN.saturating_add(distance(digits)?),
        (_, Some([])) => SIGRTMAX,
        (_, Some([b'-', digits @ ..])) => SIGRTMAX - distance(digits)?,
        _ => return None,
    };
    (SIGRTMIN..=SIGRTMAX).contains(&signal).then_some(signal)
}

/// `struct sigaction` (`sys/signal.h`).
#[repr(C)]
pub(super) struct SignalAction {
    /// The address of a [`Handler`], or [`SIG_DFL`] or [`SIG_IGN`].
    pub(super) handler: usize,
    pub(super) flags: c_int,
    pub(super) mask: [u32; 4],
}

const _: () = assert!(size_of::<SignalAction>() == 32);

/// The start of `siginfo_t`.
#[repr(C)]
pub struct SignalInfo {
    pub(super) signal: i32,
    error: i32,
    pub(super) code: i32,
}
