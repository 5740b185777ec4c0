//! Counts in the file itself, so that the counts survive if the process is killed.
//!
//! The file has 4.4BSD's form. Header and samples are mapped from the start of the file, and each table of arcs
//! behind them: an entry of a table is an arc of the file, and an empty entry is an arc without calls. The file is a
//! complete profile at every moment, because the samples end at a page boundary and tables consist of whole pages and
//! whole arcs.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::GmonHdr;

use super::kept::LIVE_FILE;
use super::names;
use super::output::{self, Refusal};
use super::writer::{self, Writer, Written};
use crate::message::{say_count, say_error};
use crate::os::{Errno, Fd, LARGEST_PAGE, PAGE, Reserve, map, map_file, take_reserved, unmap};
use crate::samples::bins;
use crate::state::Inherited;

/// The unit of the size of tables: whole pages, and whole arcs of 24 bytes.
const GRAIN: usize = 3 * LARGEST_PAGE;

/// The unit of the size of tables. After the start of a live file the unit stays, because its tables have that unit.
static UNIT: Inherited<AtomicUsize> =
    Inherited::new("the child's tables have the sizes that they were made with", AtomicUsize::new(PAGE));
/// Room in the file for tables, mapped before a seccomp filter may forbid that.
static RESERVE: Inherited<Reserve> = Inherited::new("given up where the child leaves the live file", Reserve::none());
/// The size of the reserve, a multiple of [`GRAIN`].
const RESERVE_SIZE: usize = 192 * GRAIN;
/// Larger tables get a mapping of their own, for which the kernel can use larger pages.
const LARGE: usize = 1 << 20;
/// The length of the file.
static LENGTH: Inherited<AtomicUsize> =
    Inherited::new("says something only while there is a live file", AtomicUsize::new(0));

/// Whether the process counts in its file.
pub(crate) fn is_live() -> bool {
    LIVE_FILE.is_set()
}

/// Makes the file `size` bytes long, whole pages. `fill` gets the memory, all zero, and makes a profile of it; only
/// then the file gets its name. If this fails, the failure is reported and the result is null; the profile is then
/// written at the end.
pub(crate) fn begin(directory: Option<i32>, size: usize, fill: impl Fn(*mut c_void)) -> *mut c_void {
    match open(directory, size, fill) {
        Ok((file, memory)) => {
            UNIT.store(GRAIN, Relaxed);
            LENGTH.store(size, Relaxed);
            LIVE_FILE.set(file);
            bins::are_file();
            memory
        }
        Err((what, error)) => {
            say_error(&[b"GMON_LIVE: writing ", names::name().to_bytes(), b" only at the end: cannot ", what], error);
            ptr::null_mut()
        }
    }
}

fn open(directory: Option<i32>, size: usize, fill: impl Fn(*mut c_void)) -> Result<(Fd, *mut c_void), Refusal> {
    output::capture_directory(directory.map(Fd)).map_err(|error| (&b"find its directory"[..], error))?;
    let prepare =
        |file: Fd| file.extend(0, size).and_then(|()| map_file(file, 0, size)).inspect(|memory| fill(*memory));
    if let Some(file) = output::open_beforehand()? {
        if let Ok(memory) = prepare(file) {
            if output::put_in_place().is_ok() {
                return Ok((file.out_of_the_way(), memory));
            }
            // SAFETY: mapped above, and nobody keeps it.
            unsafe { unmap(memory, size) };
        }
        output::give_up(file);
    }
    // If no other file may be created in the directory, or there is no room for both files, the file is not a profile
    // for a moment.
    let file = output::open(true)?;
    match prepare(file) {
        Ok(memory) => Ok((file.out_of_the_way(), memory)),
        Err(error) => {
            let _ = file.close();
            Err((b"map it", error))
        }
    }
}

/// The unit of the size of tables.
pub(crate) fn arcs_grain() -> usize {
    UNIT.load(Relaxed)
}

/// Maps memory for a table of arcs, all zero; null if there is none. Called below mcount.
pub(crate) fn map_arcs(length: usize) -> *mut c_void {
    if !is_live() {
        return if length < LARGE { take_reserved(length) } else { map(length) };
    }
    let reserved = RESERVE.take(length, GRAIN);
    if reserved.is_null() { map_in_file(length) } else { reserved }
}

/// Reserves room in the file for later tables.
pub(crate) fn reserve_arcs() {
    if is_live() && !RESERVE.has_half_of(RESERVE_SIZE) {
        let memory = map_in_file(RESERVE_SIZE);
        if !memory.is_null() {
            let _ = RESERVE.replace(memory, RESERVE_SIZE);
        }
    }
}

fn map_in_file(length: usize) -> *mut c_void {
    let Some(file) = LIVE_FILE.file() else { return ptr::null_mut() };
    // Each caller gets a part of its own. A part that cannot be allocated is given back, or stays empty if another
    // part follows it.
    let offset = LENGTH.fetch_add(length, SeqCst);
    match file.extend(offset, length) {
        Ok(()) => map_file(file, offset, length).unwrap_or(ptr::null_mut()),
        Err(_) => {
            let _ = LENGTH.compare_exchange(offset + length, offset, SeqCst, SeqCst);
            ptr::null_mut()
        }
    }
}

/// Leaves the file to the parent, in the child of a fork. The result says whether there was a live file.
pub(crate) fn leave() -> bool {
    let _ = RESERVE.replace(ptr::null_mut(), 0);
    LIVE_FILE.forget()
}

/// The header of the file, which does not change any more.
pub(crate) fn header() -> Option<Written> {
    writer::read_back(LIVE_FILE.file()?, size_of::<GmonHdr>()).ok()
}

/// Reports full bins: a bin of this form ends at 65,535.
pub(crate) fn report(full_bins: usize) {
    say_count(names::name().to_bytes(), full_bins as u64, b" bins are full, some samples are missing");
}

/// Copies the file, in which the process goes on counting.
#[allow(dead_code, reason = "not all systems take requests")]
pub(crate) fn copy(to: Fd) -> Result<Written, Errno> {
    let file = LIVE_FILE.file().ok_or(Errno::EINVAL)?;
    let (mut out, mut at) = (Writer::new(to), 0);
    let mut bytes = [0; PAGE];
    loop {
        match file.read_at(&mut bytes, at) {
            Ok(0) => return out.finish(),
            Ok(length) => {
                let bytes = bytes.get(..length).unwrap_or_default();
                at += length;
                if bytes.iter().all(|byte| *byte == 0) {
                    out.zeros(length);
                } else {
                    out.put(bytes);
                }
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// The current contents of the file, if they can be read.
pub(crate) fn whole() -> Option<Written> {
    let file = LIVE_FILE.file()?;
    let status = file.status().ok()?;
    writer::read_back(file, status.size as usize).ok()
}
