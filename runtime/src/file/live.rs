//! Counting in the file itself: what had happened is there even if the process is killed.
//!
//! The file has 4.4BSD's form. Header and samples are mapped from its beginning, and each table of arcs from a place of
//! its own behind that: an entry of a table is an arc of the file, and an empty one an arc of no calls. Every moment's
//! file is a whole profile, because samples end at a page's border and tables are whole pages and whole arcs.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use gmon::layout::GmonHdr;

use super::names;
use super::output::{self, Refusal};
use super::writer::{self, Written};
use crate::message::{say_count, say_error};
use crate::os::{Fd, Identity, LARGEST_PAGE, PAGE, Reserve, map, map_file, take_reserved, unmap};
use crate::per_process::PER_PROCESS;
use crate::samples::bins;

/// Tables are of so many bytes: whole pages, and whole arcs of 24 bytes.
const GRAIN: usize = 3 * LARGEST_PAGE;

/// Which file that is: the program may close our descriptor, and open another file with its number.
static INODE: AtomicU64 = AtomicU64::new(0);
static DEVICE: AtomicU64 = AtomicU64::new(0);
/// The unit of the sizes of tables; that of a live file for good once there was one, as its tables have that.
static UNIT: AtomicUsize = AtomicUsize::new(PAGE);
/// Room in the file for tables, mapped before a filter of system calls forbids that.
static RESERVE: Reserve = Reserve::none();
/// How much, a multiple of [`GRAIN`].
const RESERVE_SIZE: usize = 192 * GRAIN;
/// Tables of more bytes have a mapping of their own, for which the kernel has larger pages.
const LARGE: usize = 1 << 20;
/// How long the file is.
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Whether the process counts in its file.
pub(crate) fn is_live() -> bool {
    PER_PROCESS.live_file.load(Relaxed) != -1
}

/// Makes the file `size` bytes, whole pages, of which `fill` gets the memory, all zero: it makes a profile of that, and only
/// then the file gets its name. The memory is null where that fails, which is said; the profile is then written at the end.
pub(crate) fn begin(directory: Option<i32>, size: usize, fill: impl Fn(*mut c_void)) -> *mut c_void {
    match open(directory, size, fill) {
        Ok((file, memory)) => {
            if let Some(identity) = file.identity() {
                INODE.store(identity.inode, Relaxed);
                DEVICE.store(identity.device, Relaxed);
            }
            UNIT.store(GRAIN, Relaxed);
            LENGTH.store(size, Relaxed);
            PER_PROCESS.live_file.store(file.0, SeqCst);
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
            // SAFETY: mapped just now, and nobody keeps it.
            unsafe { unmap(memory, size) };
        }
        output::give_up(file);
    }
    // Where there may be no other file in the directory, or no room for both, it is not a profile for a moment.
    let file = output::open(true)?;
    match prepare(file) {
        Ok(memory) => Ok((file.out_of_the_way(), memory)),
        Err(error) => {
            let _ = file.close();
            Err((b"map it", error))
        }
    }
}

/// The unit of the sizes of tables.
pub(crate) fn arcs_grain() -> usize {
    UNIT.load(Relaxed)
}

/// Memory for a table of arcs, all zero; null when there is none. Below mcount.
pub(crate) fn map_arcs(length: usize) -> *mut c_void {
    let file = PER_PROCESS.live_file.load(Relaxed);
    if file == -1 {
        return if length < LARGE { take_reserved(length) } else { map(length) };
    }
    let reserved = RESERVE.take(length, GRAIN);
    if reserved.is_null() { map_in_file(file, length) } else { reserved }
}

/// Sees to it that there is room in the file for tables to come.
pub(crate) fn reserve_arcs() {
    let file = PER_PROCESS.live_file.load(Relaxed);
    if file != -1 && !RESERVE.has_half_of(RESERVE_SIZE) {
        let memory = map_in_file(file, RESERVE_SIZE);
        if !memory.is_null() {
            let _ = RESERVE.replace(memory, RESERVE_SIZE);
        }
    }
}

fn map_in_file(file: i32, length: usize) -> *mut c_void {
    if !is_ours(Fd(file)) {
        return ptr::null_mut();
    }
    // Each caller gets a part of its own. One that cannot be had is given back, or stays empty if another one is behind it.
    let offset = LENGTH.fetch_add(length, SeqCst);
    match Fd(file).extend(offset, length) {
        Ok(()) => map_file(Fd(file), offset, length).unwrap_or(ptr::null_mut()),
        Err(_) => {
            let _ = LENGTH.compare_exchange(offset + length, offset, SeqCst, SeqCst);
            ptr::null_mut()
        }
    }
}

/// Whether a descriptor is still the file's.
fn is_ours(file: Fd) -> bool {
    file.identity() == Some(Identity { inode: INODE.load(Relaxed), device: DEVICE.load(Relaxed) })
}

/// Leaves the file to the parent; says whether there was one.
pub(crate) fn leave() -> bool {
    let _ = RESERVE.replace(ptr::null_mut(), 0);
    PER_PROCESS.live_file.swap(-1, SeqCst) != -1
}

/// What the file begins with, for good: its header.
pub(crate) fn header() -> Option<Written> {
    let file = Fd(PER_PROCESS.live_file.load(Relaxed));
    if is_live() && is_ours(file) { writer::read_back(file, size_of::<GmonHdr>()).ok() } else { None }
}

/// Says what the file could not have: in its form, a bin ends at 65,535.
pub(crate) fn report(full_bins: usize) {
    say_count(names::name().to_bytes(), full_bins as u64, b" bins are full, some samples are missing");
}

/// What the file is now, if it can be read.
pub(crate) fn whole() -> Option<Written> {
    let file = Fd(PER_PROCESS.live_file.load(Relaxed));
    let status = file.status().ok().filter(|_| is_ours(file))?;
    writer::read_back(file, status.size as usize).ok()
}
