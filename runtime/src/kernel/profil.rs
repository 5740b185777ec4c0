//! OpenBSD's `profil` in user space, for systems whose kernel does not have this call.

use core::ffi::c_void;

use gmon::layout::GmonHdr;

use super::buffer::{buffer, set_buffer};
use super::system;
use crate::file::{is_live, output};
use crate::objects::program;
use crate::os::{Errno, Fd, process_id};
use crate::ownership::own;
use crate::samples::bins;
use crate::samples::scale::ONE_TO_ONE;
use crate::state::Inherited;

/// Whether the kernel has the call, and writes the file at the end of the process.
pub(crate) const fn is_kernels() -> bool {
    system::KERNELS_PROFIL.is_some()
}

/// OpenBSD's `profil(2)`: checks the call by [`accept`], and starts or stops sampling.
///
/// # Errors
///
/// Those of [`accept`], and those of installing the sampler.
///
/// # Safety
///
/// `buf` must have `buflen` bytes, aligned as a `struct gmonhdr`, which are never freed; the header and `samplesize`
/// bytes of samples must fit the buffer.
pub(crate) unsafe fn profil(
    buf: *mut c_void,
    buflen: usize,
    samplesize: usize,
    offset: usize,
    scale: u32,
    dirfd: i32,
) -> Result<(), Errno> {
    if let Some(kernels) = system::KERNELS_PROFIL {
        // SAFETY: the caller's promise.
        unsafe { (kernels.call)(buf, buflen, samplesize, offset, scale, dirfd) }?;
        if scale != 0 && buffer().is_none() {
            own(process_id());
            set_buffer(buf, buflen);
        }
        return Ok(());
    }
    if !accept(buf, buflen, scale, dirfd)? {
        system::collect();
        system::stop();
        bins::stop();
        return Ok(());
    }
    if !bins::is_counting() {
        system::discard();
    }
    // SAFETY: the samples are behind the header, inside the buffer, by the caller's promise.
    unsafe { bins::start(buf.byte_add(size_of::<GmonHdr>()), samplesize, offset, scale) };
    system::start()
}

/// Makes the checks of OpenBSD's kernel, in its order. The result is true if the call starts sampling and false if
/// the call stops sampling.
///
/// `scale` 0 stops sampling and changes nothing else. The first other call sets the buffer and captures the directory
/// of the file, `dirfd`, or the current directory for -1. Every such call starts sampling: a pc counts in the 16-bit
/// bin at byte `((pc - offset) * scale >> 16) & !1` of the samples.
///
/// # Errors
///
/// EPERM for a program without the note; EINVAL for a scale above 65536; EALREADY for another buffer than the first;
/// EBADF and ENOTDIR for a `dirfd` that is not an open descriptor of a directory.
pub fn accept(buf: *mut c_void, buflen: usize, scale: u32, dirfd: i32) -> Result<bool, Errno> {
    // A program whose buffer was accepted has the permission.
    if buffer().is_none() && !permits() {
        return Err(Errno::EPERM);
    }
    if scale > ONE_TO_ONE {
        return Err(Errno::EINVAL);
    }
    if scale == 0 {
        return Ok(false);
    }
    match buffer() {
        None => {
            output::capture_directory((dirfd != -1).then_some(Fd(dirfd)))?;
            if !is_live() {
                output::keep_file();
            }
            if !cfg!(feature = "runtime") {
                output::release_directory();
            }
            set_buffer(buf, buflen);
        }
        Some(known) if known != (buf, buflen) => return Err(Errno::EALREADY),
        Some(_) => {}
    }
    Ok(true)
}

/// Whether the program may be profiled: the program has the note of the start-up objects, or is linked with this
/// runtime without start-up objects and calls the runtime by name.
fn permits() -> bool {
    cfg!(all(feature = "runtime", not(feature = "start"))) || program::may_be_profiled()
}

/// [`profil`] for a program that contains the runtime and makes the call itself. The result is 0, an error number, or
/// [`NO_BUFFER`].
pub type RuntimesProfil = unsafe extern "C" fn(*mut c_void, usize, usize, usize, u32, i32) -> i32;

/// The runtime has no buffer.
pub const NO_BUFFER: i32 = -1;

/// The way by which the crate gmon-profil in libgmon.a, which has its own copy of this module, finds the runtime's
/// `profil`. The crate has a weak definition, which this definition overrides if the runtime is linked.
#[cfg(all(feature = "runtime", not(test)))]
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static gmon_kernel_profil: Inherited<Option<RuntimesProfil>> = Inherited::new("never changes", Some(for_program));

unsafe extern "C" fn for_program(
    buf: *mut c_void,
    buflen: usize,
    samplesize: usize,
    offset: usize,
    scale: u32,
    dirfd: i32,
) -> i32 {
    let Some(known) = buffer() else { return NO_BUFFER };
    let result = if known == (buf, buflen) && samplesize > buflen.saturating_sub(size_of::<GmonHdr>()) {
        Err(Errno::EINVAL)
    } else {
        // SAFETY: the runtime's own buffer has room for the samples; `profil` refuses any other buffer.
        unsafe { profil(buf, buflen, samplesize, offset, scale, dirfd) }
    };
    result.map_or_else(|error| error.0, |()| 0)
}
