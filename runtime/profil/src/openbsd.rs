//! OpenBSD's `profil` for programs that call it themselves: one buffer in the layout of the file, which is stored when the
//! process ends.
//!
//! It is the call that the runtime of `cc -pg` goes through, and the checks are those of `kernel`. In a program that has that
//! runtime, the first call was the runtime's; it answers then. In one that has not, `kernel` is here for it alone.

use core::ffi::{c_int, c_uint, c_ulong, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use gmon::layout::GmonHdr;

use super::engine::{alone, begin, exchange, returned};
use super::profile::{Profile, Range};
use super::rules::Dialect;
use gmon_runtime::file::{self, Naming};
use gmon_runtime::kernel::profil_clock::HUNDRED;
use gmon_runtime::kernel::{self, RuntimesProfil};
use gmon_runtime::objects::program;
use gmon_runtime::os::{Errno, executed_path, read};
use gmon_runtime::ownership;

/// How many bytes of samples the last call has asked for.
static SAMPLES_SIZE: AtomicUsize = AtomicUsize::new(0);

/// `int profil(void *buf, size_t buflen, size_t samplesize, u_long offset, u_int scale, int dirfd)`: samples into the
/// buffer, and stores it when the process ends.
///
/// # Safety
///
/// The memory at `buf` must be the program's to have counted in. It is written by way of the kernel, which refuses what is no memory.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn gmon_profil_openbsd(
    buf: *mut c_void,
    buflen: usize,
    samplesize: usize,
    offset: c_ulong,
    scale: c_uint,
    dirfd: c_int,
) -> c_int {
    returned(alone(|| {
        let runtimes = runtimes_profil().filter(|_| program::may_be_profiled());
        // SAFETY: it looks for itself whether the buffer is its own.
        match runtimes.map(|profil| unsafe { profil(buf, buflen, samplesize, offset as usize, scale, dirfd) }) {
            None | Some(kernel::NO_BUFFER) => profil(buf, buflen, samplesize, offset as usize, scale, dirfd),
            Some(0) => Ok(()),
            Some(error) => Err(Errno(error)),
        }
    }))
}

/// The runtime's `profil`, if that is linked: this one is weak then, and gives way to the runtime's.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_upper_case_globals, reason = "C's name")]
static gmon_kernel_profil: Option<RuntimesProfil> = None;

fn runtimes_profil() -> Option<RuntimesProfil> {
    // SAFETY: one of two statics; volatile, because the other one is not what the compiler sees.
    unsafe { (&raw const gmon_kernel_profil).read_volatile() }
}

fn profil(
    buf: *mut c_void,
    buflen: usize,
    samplesize: usize,
    offset: usize,
    scale: u32,
    dirfd: c_int,
) -> Result<(), Errno> {
    if kernel::buffer().is_none() {
        name_file();
    }
    if !kernel::accept(buf, buflen, scale, dirfd)? {
        return exchange(None).map(drop);
    }
    SAMPLES_SIZE.store(samplesize, SeqCst);
    let bins = buf.expose_provenance().wrapping_add(size_of::<GmonHdr>());
    let range = Range { lowpc: offset, highpc: usize::MAX, scale, bins, length: samplesize / size_of::<u16>() };
    begin(Profile::new(Dialect::OpenBsd, HUNDRED, core::iter::once(range)))
}

/// The file is called as that kernel calls it: after the program that was executed.
fn name_file() {
    let path = executed_path();
    let name = path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    // SAFETY: no file has a name yet, and nobody else is in here.
    unsafe {
        file::configure(|output| {
            output.program.clear();
            output.program.push(name);
            output.naming = Naming::Private;
            output.replaces = true;
        });
    }
}

/// What that kernel does when a process ends: reads the header back from the buffer, and stores the whole if there are arcs.
/// Only the first call does anything.
pub(crate) fn store() {
    alone(|| {
        let Some((buf, buflen)) = kernel::take_buffer() else { return };
        let _ = exchange(None);
        if !ownership::is_ours() {
            return;
        }
        match header(buf.addr()).and_then(|header| file_size(&header, SAMPLES_SIZE.load(SeqCst), buflen)) {
            Some(size) => kernel::store_memory(buf.expose_provenance(), size),
            None => kernel::store_nothing(),
        }
    });
}

fn header(buf: usize) -> Option<GmonHdr> {
    let mut bytes = [0; size_of::<GmonHdr>()];
    read(buf, &mut bytes).ok()?;
    // SAFETY: integers without a gap between them, which any bytes are.
    Some(unsafe { core::mem::transmute::<[u8; size_of::<GmonHdr>()], GmonHdr>(bytes) })
}

/// How many bytes of the buffer are the file: header, samples and arcs. `None` if the program has not put arcs there, or
/// says that there are more than the buffer has room for.
fn file_size(header: &GmonHdr, samplesize: usize, buflen: usize) -> Option<usize> {
    let arcs = usize::try_from(header.totarc).ok().filter(|arcs| *arcs > 0)?;
    let size = size_of::<GmonHdr>().checked_add(samplesize)?.checked_add(arcs)?;
    (size <= buflen).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_every_scale;

    #[test]
    fn the_bin_is_4_4bsds() {
        for_every_scale(|scale, distance| {
            let pc = 0x40_1000 + distance;
            let bin = |pc, offset, scale| Dialect::OpenBsd.bin(pc, offset, scale);
            assert_eq!(bin(pc, 0x40_1000, scale), Dialect::Bsd.bin(pc, 0x40_1000, scale));
            if let Some(bin) = bin(pc, 0x40_1000, scale) {
                // The kernel's: ((pc - offset) * scale >> 16) & ~1, in bytes.
                assert_eq!(bin as u128 * 2, ((distance as u128 * u128::from(scale)) >> 16) & !1);
            }
        });
    }

    #[test]
    fn a_file_has_header_samples_and_arcs_and_at_least_one_of_these() {
        let header = |totarc| GmonHdr { totarc, ..GmonHdr::default() };
        assert_eq!(file_size(&header(24), 100, 164), Some(164));
        assert_eq!(file_size(&header(24), 100, 163), None);
        for totarc in [0, -1, i32::MIN] {
            assert_eq!(file_size(&header(totarc), 100, 1 << 20), None);
        }
        assert_eq!(file_size(&header(i32::MAX), 100, 1 << 20), None);
        assert_eq!(file_size(&header(24), usize::MAX - 30, usize::MAX), None);
    }
}
