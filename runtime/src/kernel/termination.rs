//! Stores the buffer as a file when the process ends.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gmon::layout::{GMONVERSION, GmonHdr, RawArc};

use super::buffer::{KernelsProfil, buffer};
use super::system;
use crate::file::forms::{self, Bins, Finished, Form};
use crate::file::kept::Kept;
use crate::file::names::{self, Children};
use crate::file::output::{self, Refusal};
use crate::file::side_file::{self, Of};
use crate::file::writer::Written;
use crate::file::{live, mapped, successor, sum};
use crate::message::{say_count, say_cure, say_error};
use crate::objects::Tally;
use crate::os::{Errno, Fd};
use crate::ownership::is_ours;
use crate::samples::bins;
use crate::state::{Reset, resets};

resets! {
    /// Whether a child that will add itself to a sum has written a snapshot of its own.
    static HAS_OWN_FILE: Reset<AtomicBool> = Reset::new();
}

/// Does what OpenBSD's kernel does when a process ends: reads the header from the buffer and stores the file. A
/// failure is reported in one line; the process ends normally.
///
/// `more_arcs` are the arcs for which the buffer has no room; they are stored behind the buffer. `outside` are the
/// counts outside the program, for the file beside the file: see [`side_file::write`].
///
/// With `GMON_CHILDREN=sum` and `is_last`, the child of a fork adds itself to the sum of all children, and leaves a
/// file of its own if it cannot.
pub(crate) fn terminate(more_arcs: &[RawArc], outside: Option<&[Tally]>, is_last: bool) {
    system::collect();
    system::report();
    // The runtime's `control` has asked before.
    if buffer().is_none() || !cfg!(feature = "runtime") && !is_ours() {
        return;
    }
    if let Some(kernels) = system::KERNELS_PROFIL {
        if !is_last {
            store_snapshot(&kernels, more_arcs);
        } else if let Some((start, length)) = buffer() {
            // SAFETY: the buffer begins with an aligned header and lives as long as the process; this is the only
            // thread that writes arcs, after the recording of calls has stopped.
            unsafe { (kernels.put_arcs)(start.cast(), length, more_arcs) };
        }
        return;
    }
    if live::is_live() {
        live::report(bins::full_bins());
        // Until the end the side file belongs to any file with the header: later counts would otherwise make the side
        // file that of another file.
        if let Some(of) = if is_last { live::whole().map(Of::Finished) } else { live::header().map(Of::Growing) } {
            let in_profile = finished(&[]).map_or(0, |profile| profile.bins.ticks());
            side_file::write(of, in_profile, outside);
        }
        return;
    }
    if mapped::is_in_file() {
        mapped::finish(outside);
        return;
    }
    let mut outside = outside;
    if names::is_child_that(Children::Sum) && !is_last {
        // A snapshot that will be removed has no files beside it.
        outside = None;
    } else if names::is_child_that(Children::Sum) {
        match add_to_sum(more_arcs, outside) {
            Ok(()) => {
                if HAS_OWN_FILE.load(Relaxed) {
                    output::remove_own();
                }
                return;
            }
            Err((what, error)) => {
                let own = names::name().to_bytes();
                let sum = names::other_sum_name(&[]).to_bytes();
                let is_denied = matches!(error, Errno::EACCES | Errno::EPERM);
                let why: &[&[u8]] = if is_denied { &[b", another user may own the sum or the directory"] } else { &[] };
                say_cure(&[sum, b": using ", own, b" instead: cannot ", what], error, why);
            }
        }
    }
    match store(more_arcs) {
        Ok((written, ticks)) => {
            HAS_OWN_FILE.store(!is_last, Relaxed);
            side_file::write(Of::Finished(written), ticks, outside);
        }
        Err(refusal) => {
            output::say_refusal(names::name().to_bytes(), refusal, b", set GMON_LIVE=1 to open it at the start");
        }
    }
}

/// Writes the buffer and the counts outside the program into two other files, which are empty. The files of the process
/// stay as they are. Without counts, the side file stays empty.
#[allow(dead_code, reason = "not all systems take requests")]
pub(crate) fn write_copy(
    more_arcs: &[RawArc],
    outside: Option<&[Tally]>,
    (profile, side): (Fd, Fd),
    elapsed: u64,
) -> Result<(), Refusal> {
    let buffer = finished(more_arcs).ok_or((&b"use the buffer"[..], Errno::EINVAL))?;
    let copied = if live::is_live() {
        live::copy(profile).map(|written| (written, buffer.bins.ticks()))
    } else {
        forms::write(profile, &buffer, Form::Gnu).map(|(written, sampled)| (written, sampled.ticks))
    };
    let (written, ticks) = copied.map_err(|error| (&b"write the profile"[..], error))?;
    outside.map_or(Ok(()), |outside| side_file::write_copy(side, written, ticks, outside, elapsed))
}

/// Adds the buffer to the sum of all children.
fn add_to_sum(more_arcs: &[RawArc], outside: Option<&[Tally]>) -> Result<(), Refusal> {
    let profile = finished(more_arcs).ok_or((&b"use its buffer"[..], Errno::EINVAL))?;
    let clamped = sum::add(&profile, names::output().form, outside)?;
    say_clamped(names::sum_name(&[]), clamped);
    Ok(())
}

/// Reports bins that did not fit the form of the file.
fn say_clamped(name: &CStr, bins: usize) {
    say_count(name.to_bytes(), bins as u64, b" bins overflowed, GMON_FORMAT=gnu keeps all samples");
}

/// Stores `size` bytes of the program's memory as the file, unchanged. If some of the memory is missing, the file
/// stays empty.
pub fn store_memory(address: usize, size: usize) {
    let stored = output::open_as_captured().and_then(|file| output::finish(file, file.write_memory(address, size)));
    if let Err(refusal) = stored {
        output::say_refusal(names::name().to_bytes(), refusal, b"");
    }
}

/// Removes an empty file, because there is nothing to store.
pub fn store_nothing() {
    output::discard();
}

/// Checks the buffer and writes the file. The result is what was written, and the ticks in the bins.
fn store(more_arcs: &[RawArc]) -> Result<(Written, u64), Refusal> {
    let profile = finished(more_arcs).ok_or((&b"use its buffer"[..], Errno::EINVAL))?;
    let form = names::output().form.unwrap_or_else(|| system::form(bins::carries().is_some()));
    // A snapshot stays until the file is complete.
    let has_earlier = HAS_OWN_FILE.load(Relaxed);
    let (written, sampled) = successor::store(Kept::Profile, has_earlier, |file| forms::write(file, &profile, form))?;
    say_clamped(names::name(), sampled.clamped);
    Ok((written, sampled.ticks))
}

/// Writes the file of a kernel that writes the file only at the end. The arcs in the buffer are the tables of the
/// threads; `arcs` has their sums.
fn store_snapshot(kernels: &KernelsProfil, arcs: &[RawArc]) {
    let profile = finished(arcs).map(|profile| Finished { arcs: [&[], arcs], ..profile });
    let stored = profile.ok_or((&b"use its buffer"[..], Errno::EINVAL)).and_then(|profile| {
        let file = (kernels.open_snapshot)()?;
        output::finish(file, forms::write(file, &profile, system::form(bins::carries().is_some())))
    });
    if let Err((what, error)) = stored {
        say_error(&[names::name().to_bytes(), b": cannot ", what], error);
    }
}

/// The parts of the buffer, and the arcs behind the buffer; `None` if the header is not valid or its lengths do not
/// fit the buffer.
fn finished(more_arcs: &[RawArc]) -> Option<Finished<'_>> {
    let (start, length) = buffer()?;
    let start: *const GmonHdr = start.cast();
    // SAFETY: `profil` was given a buffer that begins with an aligned header and lives as long as the process.
    // Sampling has stopped, and nobody else writes the header.
    let header = unsafe { &*start };
    let arcs_start = usize::try_from(header.ncnt).ok()?;
    let samples_size = arcs_start.checked_sub(size_of::<GmonHdr>())?;
    let arcs_size = usize::try_from(header.totarc).ok()?;
    let aligned = arcs_start.is_multiple_of(align_of::<RawArc>()) && arcs_size.is_multiple_of(size_of::<RawArc>());
    if header.version != GMONVERSION || !aligned || arcs_start.checked_add(arcs_size)? > length {
        return None;
    }
    // SAFETY: both ranges are inside the buffer and aligned, as checked above. Bins are atomic: a handler in another
    // thread may still raise a bin.
    unsafe {
        let samples = core::slice::from_raw_parts(start.add(1).cast(), samples_size / 2);
        let arcs = core::slice::from_raw_parts(start.byte_add(arcs_start).cast(), arcs_size / size_of::<RawArc>());
        let bins = Bins { samples, carries: bins::carries(), touched: bins::touched() };
        Some(Finished { header, bins, arcs: [arcs, more_arcs] })
    }
}
