//! OpenBSD's `profil` for programs that call it themselves: one buffer in the layout of the file, which is stored
//! when the process ends.
//!
//! The runtime of `cc -pg` makes the same call, with the checks of `kernel`. In a program with the runtime, the first
//! call was the runtime's, and the runtime answers. In a program without the runtime, this crate's copy of `kernel`
//! answers.

use core::ffi::{c_int, c_uint, c_ulong, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use gmon::layout::GmonHdr;

use super::engine::{begin, exchange, exclusively, returned};
use super::profile::{Profile, Range};
use super::rules::Dialect;
use gmon_runtime::file::{self, Naming};
use gmon_runtime::kernel::profil_clock::HUNDRED;
use gmon_runtime::kernel::{self, RuntimesProfil};
use gmon_runtime::objects::program;
use gmon_runtime::os::{Errno, executed_path, read};
use gmon_runtime::ownership;

/// The bytes of samples in the latest call.
static SAMPLES_SIZE: AtomicUsize = AtomicUsize::new(0);

/// `int profil(void *buf, size_t buflen, size_t samplesize, u_long offset, u_int scale, int dirfd)`: samples into the
/// buffer, and stores the buffer when the process ends.
///
/// # Safety
///
/// The memory at `buf` must be memory of the program that may be written. The kernel makes the accesses, and refuses
/// invalid addresses.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn gmon_profil_openbsd(
    buf: *mut c_void,
    buflen: usize,
    samplesize: usize,
    offset: c_ulong,
    scale: c_uint,
    dirfd: c_int,
) -> c_int {
    returned(exclusively(|| {
        let runtimes = runtimes_profil().filter(|_| program::may_be_profiled());
        // SAFETY: the function checks the buffer itself.
        match runtimes.map(|profil| unsafe { profil(buf, buflen, samplesize, offset as usize, scale, dirfd) }) {
            None | Some(kernel::NO_BUFFER) => profil(buf, buflen, samplesize, offset as usize, scale, dirfd),
            Some(0) => Ok(()),
            Some(error) => Err(Errno(error)),
        }
    }))
}

/// The runtime's `profil`, if the runtime is linked: this definition is weak, and the runtime's overrides it.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_upper_case_globals, reason = "C's name")]
static gmon_kernel_profil: Option<RuntimesProfil> = None;

fn runtimes_profil() -> Option<RuntimesProfil> {
    // SAFETY: one of two statics; the read is volatile because the compiler knows only this static.
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

/// Names the file as OpenBSD's kernel does, after the executed program.
fn name_file() {
    let path = executed_path();
    let name = path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    // SAFETY: no file has a name yet, and no other thread is here.
    unsafe {
        file::configure(|output| {
            output.program.clear();
            output.program.push(name);
            output.naming = Naming::Private;
            output.replaces = true;
        });
    }
}

/// Does what OpenBSD's kernel does when a process ends: reads the header from the buffer, and stores the buffer if
/// there are arcs. Only the first call has an effect.
pub(crate) fn store() {
    exclusively(|| {
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
    // SAFETY: integers without padding, for which any bytes are valid.
    Some(unsafe { core::mem::transmute::<[u8; size_of::<GmonHdr>()], GmonHdr>(bytes) })
}

/// The size of the file: header, samples and arcs. `None` if the program has not stored arcs, or if the header has
/// more arcs than the buffer has room for.
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
                // OpenBSD's kernel computes ((pc - offset) * scale >> 16) & ~1, in bytes.
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
