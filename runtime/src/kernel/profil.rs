//! OpenBSD's `profil` in user space, for systems whose kernel has it not.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

use gmon::layout::GmonHdr;

use super::system;
use crate::file::{is_live, output};
use crate::objects::program;
use crate::os::{Errno, Fd};
use crate::samples::bins;
use crate::samples::scale::ONE_TO_ONE;

/// The buffer of the first call, null before that call. The buffer never changes.
static BUFFER: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
/// The bytes of the buffer, known before the buffer is.
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// OpenBSD's `profil(2)`: [`accept`]s the call, and samples or stops.
///
/// # Errors
///
/// Those of [`accept`]; and what installing the sampler says.
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
    if !accept(buf, buflen, scale, dirfd)? {
        system::collect();
        system::stop();
        bins::stop();
        return Ok(());
    }
    if !bins::is_counting() {
        system::discard();
    }
    // SAFETY: the samples stand behind the header, inside the buffer, by the caller's promise.
    unsafe { bins::start(buf.byte_add(size_of::<GmonHdr>()), samplesize, offset, scale) };
    system::start()
}

/// The checks of that kernel, in its order: whether the call is one to sample, and not one to stop.
///
/// `scale` 0 stops the sampling and changes nothing else. The first other call fixes the buffer and captures the
/// directory, `dirfd` or the current one for -1, in which the file will be stored; every such call begins to sample: a pc
/// counts in the 16-bit bin at byte `((pc - offset) * scale >> 16) & !1` of the samples.
///
/// # Errors
///
/// EPERM, a program without the note; EINVAL, a scale above 65536; EALREADY, another buffer than the first; EBADF and
/// ENOTDIR, a `dirfd` that is no open descriptor, or not a directory's.
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
            LENGTH.store(buflen, SeqCst);
            BUFFER.store(buf, SeqCst);
        }
        Some(known) if known != (buf, buflen) => return Err(Errno::EALREADY),
        Some(_) => {}
    }
    Ok(true)
}

/// Whether the program may be profiled: it has the note, which start-up objects bring; or it links this runtime without
/// one, and calls it by name.
fn permits() -> bool {
    cfg!(all(feature = "runtime", not(feature = "start"))) || program::may_be_profiled()
}

/// The buffer of the first call and its bytes.
pub fn buffer() -> Option<(*mut c_void, usize)> {
    let buffer = BUFFER.load(SeqCst);
    (!buffer.is_null()).then(|| (buffer, LENGTH.load(SeqCst)))
}

/// [`profil`] for a program that has the runtime and calls it itself: 0, an error number, or [`NO_BUFFER`].
pub type RuntimesProfil = unsafe extern "C" fn(*mut c_void, usize, usize, usize, u32, i32) -> i32;

/// There is no buffer of the runtime's.
pub const NO_BUFFER: i32 = -1;

/// How the part of libgmon.a with other systems' `profil`, which has a kernel of its own, finds the runtime's: another one is
/// weak there, and gives way to this one where the runtime is linked.
#[cfg(all(feature = "runtime", not(test)))]
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's name")]
static gmon_kernel_profil: Option<RuntimesProfil> = Some(for_program);

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
        // SAFETY: if it is our own buffer, that has room for such samples; another one is refused.
        unsafe { profil(buf, buflen, samplesize, offset, scale, dirfd) }
    };
    result.map_or_else(|error| error.0, |()| 0)
}

/// The buffer of the first call, which is forgotten.
pub fn take_buffer() -> Option<(*mut c_void, usize)> {
    let taken = buffer();
    BUFFER.store(core::ptr::null_mut(), SeqCst);
    taken
}
