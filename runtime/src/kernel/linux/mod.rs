//! Linux has no such kernel: this is it, in user space.

mod bins;
mod forms;
mod live;
mod output;
mod sampler;
mod store;
mod writer;

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use gmon::layout::GmonHdr;

pub(crate) use forms::Form;
pub(crate) use live::{arcs_grain, begin as begin_live, is_live, leave as leave_live, map_arcs};
pub(crate) use output::{Naming, Output, configure, is_ours};
pub(crate) use sampler::{Clock, HIGHEST_RATE, Sampler, Wish, choose as choose_sampler, let_in, profrate};
pub(crate) use store::terminate;

use crate::system::{Errno, Fd};

/// `scale` for one bin to two bytes of code; no bin is finer.
const SCALE_ONE_TO_ONE: u32 = 0x10000;

/// The buffer of the first call, null before.
static BUFFER: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
/// Its bytes.
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// OpenBSD's `profil(2)`, its checks in the order of that kernel.
///
/// `scale` 0 stops the sampling and changes nothing else. The first other call fixes the buffer and captures the
/// directory, `dirfd` or the current one for -1, in which [`terminate`] will store the file; every such call begins to
/// sample: a pc counts in the 16-bit bin at byte `((pc - offset) * scale >> 16) & !1` of the samples.
///
/// # Errors
///
/// EINVAL, a scale above 65536; EALREADY, another buffer than the first; EBADF and ENOTDIR, a `dirfd` that is no open
/// descriptor, or not a directory's; and what installing the sampler says.
///
/// # Safety
///
/// `buf` must have `buflen` bytes, aligned as a `struct gmonhdr`, which are never freed, and the header with
/// `samplesize` bytes of samples must fit them.
pub(crate) unsafe fn profil(
    buf: *mut c_void,
    buflen: usize,
    samplesize: usize,
    offset: usize,
    scale: u32,
    dirfd: i32,
) -> Result<(), Errno> {
    if scale > SCALE_ONE_TO_ONE {
        return Err(Errno::EINVAL);
    }
    if scale == 0 {
        sampler::collect();
        bins::stop();
        sampler::stop();
        return Ok(());
    }
    let known = BUFFER.load(Relaxed);
    if known.is_null() {
        output::capture_directory((dirfd != -1).then_some(Fd(dirfd)))?;
        BUFFER.store(buf, Relaxed);
        LENGTH.store(buflen, Relaxed);
    } else if known != buf || LENGTH.load(Relaxed) != buflen {
        return Err(Errno::EALREADY);
    }
    if !bins::is_counting() {
        sampler::discard();
    }
    // SAFETY: the samples stand behind the header, inside the buffer, by the caller's promise.
    unsafe { bins::start(buf.byte_add(size_of::<GmonHdr>()), samplesize, offset, scale) };
    sampler::start()
}

/// What the kernel does for the child of a fork: it goes on sampling, into the same buffer, and will store a file of its
/// own.
pub(crate) fn after_fork_in_child() {
    output::after_fork_in_child();
    bins::after_fork_in_child();
    sampler::after_fork_in_child();
}

/// Puts a larger buffer with the same header and samples in the place of the first one. OpenBSD's kernel has no such
/// call, and none is needed while the arcs fit.
///
/// # Safety
///
/// As for [`profil`]. The first buffer must live on: a signal that is being handled may still count into it.
pub(crate) unsafe fn rebuffer(buf: *mut c_void, buflen: usize) {
    BUFFER.store(buf, Relaxed);
    LENGTH.store(buflen, Relaxed);
    // SAFETY: the samples stand behind the header, by the caller's promise as many as before.
    unsafe { bins::relocate(buf.byte_add(size_of::<GmonHdr>())) };
}
