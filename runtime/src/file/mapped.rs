//! The buffer as the file, from a moment on: behind a filter of system calls that forbids to open or to write files.
//!
//! The file has 4.4BSD's form, as with `GMON_LIVE=1`: header and samples are there at any moment, arcs at the end, and behind them
//! arcs of no calls. No descriptor stays open, and nothing needs to be called to write it.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};

use gmon::layout::GmonHdr;

use super::{names, output, shared_objects, stale, writer};
use crate::message::{say, say_error};
use crate::os::map_file;
use crate::samples::bins;
use crate::text::Text;

static IS_IN_FILE: AtomicBool = AtomicBool::new(false);

/// Whether the buffer is in the file.
pub(crate) fn is_in_file() -> bool {
    IS_IN_FILE.load(SeqCst)
}

/// Makes the file, of `length` zeros, for the buffer; null where that fails, which is said.
pub(crate) fn begin(length: usize) -> *mut c_void {
    let mapped = output::open(true).and_then(|file| {
        let mapped = file.extend(0, length).and_then(|()| map_file(file, 0, length));
        if mapped.is_err() {
            let _ = file.truncate();
        }
        let _ = file.close();
        mapped.map_err(|error| (&b"map it"[..], error))
    });
    match mapped {
        Ok(memory) => {
            IS_IN_FILE.store(true, SeqCst);
            memory
        }
        Err((what, error)) => {
            let why = b": the program's filter of system calls leaves no way to write it later, and now: cannot ";
            say_error(&[names::name().to_bytes(), why, what], error);
            ptr::null_mut()
        }
    }
}

/// Takes away what an earlier run left beside the file, once the buffer is there. Where it `has_list`, a list says which program the file
/// is of.
pub(crate) fn announce(has_list: bool) {
    stale::remove(!has_list);
    let file = if has_list { output::open_own_beside(names::name()) } else { None };
    if let Some((file, _)) = file {
        let header = writer::read_back(file, size_of::<GmonHdr>());
        let _ = file.close();
        let _ = header.map(shared_objects::list_live);
    }
}

/// Leaves the file to the parent; says whether the buffer was in it.
pub(crate) fn leave() -> bool {
    IS_IN_FILE.swap(false, SeqCst)
}

/// Says what the file could not have. `is_anything_outside` says whether something was counted outside the program.
pub(crate) fn finish(is_anything_outside: bool) {
    let full = bins::fill_overflowed();
    if full > 0 {
        let mut count = Text::<20>::new();
        count.push_decimal(full as u64);
        say(&[names::name().to_bytes(), b": ", count.as_bytes(), b" bins are full, some samples are missing"]);
    }
    if is_anything_outside {
        say(&[b"what was counted in shared objects is not kept: the program's filter of system calls forbids to write files"]);
    }
}
