//! Changes the code of this process while its threads run.

use core::ffi::CStr;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::file_calls::{O_CLOEXEC, O_RDWR};
use super::machine::numbers;
use super::memory::{Access, PAGE, protect};
use super::{CURRENT, Errno, Fd, call, map, unmap};
use crate::arch::LARGEST_PAGE;
use crate::arch::entry_room::make_visible;
use crate::state::Inherited;

/// `MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE`, and the command that prepares the process for the former.
const SYNC_CORE: usize = 1 << 5;
const REGISTER_SYNC_CORE: usize = 1 << 6;

/// Whether the runtime can change the program's code while threads execute the code.
pub(crate) const CHANGES_CODE: bool = true;

/// Opens the file of an object, or of the program, for reading.
pub(crate) fn open_object_file(path: Option<&CStr>) -> Result<Fd, Errno> {
    CURRENT.open_for_reading(path.unwrap_or(c"/proc/self/exe"))
}

/// Makes whole pages of memory executable, and not writable any more.
///
/// # Safety
///
/// Nobody may write to the memory any more.
pub(crate) unsafe fn make_executable(address: usize, length: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe { protect(address, length, Access::Executable) }
}

/// Write access to the code of this process.
///
/// The kernel writes through a file of `/proc`, also where the memory is read-only: the process gets a copy of each
/// page, and the code stays executable and read-only all the time. If the file cannot be used, the pages become
/// writable for a moment. Security policies may forbid both.
pub(crate) struct OwnCode {
    file: Option<Fd>,
}

impl OwnCode {
    /// Opens the code.
    pub(crate) fn open() -> OwnCode {
        OwnCode { file: CURRENT.open(c"/proc/thread-self/mem", O_RDWR | O_CLOEXEC, 0).ok() }
    }

    /// Whether each write takes calls of its own, so that bytes that do not change should not be written.
    pub(crate) fn writes_single_bytes(&self) -> bool {
        self.file.is_none()
    }

    /// Writes bytes at an address of code. Other threads see single bytes change, or whole instructions of a machine
    /// with instructions of one length.
    ///
    /// # Safety
    ///
    /// The code must be this process's, and may not be unmapped meanwhile. Threads may execute the code before, after,
    /// and during the change.
    pub(crate) unsafe fn write(&self, address: usize, bytes: &[u8]) -> Result<(), Errno> {
        // A kernel may permit the file to be opened, and refuse the write.
        if self.file.is_some_and(|file| file.write_all_at(bytes, address).is_ok()) {
            return Ok(());
        }
        // SAFETY: the code stays executable.
        let pages = unsafe { permit(address, bytes.len()) }?;
        if bytes.len() == size_of::<u32>() && address.is_multiple_of(size_of::<u32>()) {
            // One store, because a processor may execute the instruction at this moment.
            let instruction = bytes.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
            // SAFETY: the page is writable now; the caller's promise.
            unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(instruction) };
        } else {
            let place: *mut u8 = ptr::with_exposed_provenance_mut(address);
            for (index, byte) in bytes.iter().enumerate() {
                // SAFETY: as above.
                unsafe { place.add(index).write_volatile(*byte) };
            }
        }
        make_visible(address, bytes.len());
        // SAFETY: as before the change.
        unsafe { protect(pages.start, pages.len(), Access::Executable) }
    }

    pub(crate) fn close(self) {
        if let Some(file) = self.file {
            let _ = file.close();
        }
    }
}

/// Makes the pages with some code writable. The result is the range of the pages.
///
/// # Safety
///
/// The pages must be code.
unsafe fn permit(address: usize, length: usize) -> Result<Range<usize>, Errno> {
    let pages = |size: usize| address & !(size - 1)..(address + length).next_multiple_of(size);
    // SAFETY: the caller's promise; the code stays executable.
    let permit = |pages: Range<usize>| unsafe {
        protect(pages.start, pages.len(), Access::ExecutableAndWritable).map(|()| pages)
    };
    // The kernel may have larger pages.
    permit(pages(PAGE)).or_else(|_| permit(pages(LARGEST_PAGE)))
}

/// How [`synchronize`] works: 0 if not known.
static WAY: Inherited<AtomicU32> = Inherited::new("the child has the same kernel", AtomicU32::new(0));
const BY_BARRIER: u32 = 1;
const BY_PROTECTION: u32 = 2;

/// Waits until each processor that executes a thread of this process has seen all earlier changes of code.
///
/// Linux has a call for that since 4.16. Otherwise, or if a filter forbids the call, a page of the process loses the
/// right to be written. The kernel then interrupts all processors that execute a thread of this process, because the
/// processors may remember the right; and the return from an interrupt synchronizes.
pub(crate) fn synchronize() {
    let way = WAY.load(Relaxed);
    if way != BY_PROTECTION {
        // SAFETY: the calls have no effect on memory.
        let barrier = |command: usize| unsafe { call(numbers::MEMBARRIER, [command, 0, 0]) }.is_ok();
        // A child is registered if its parent is, but an `exec` ends that.
        if way == BY_BARRIER && barrier(SYNC_CORE) || barrier(REGISTER_SYNC_CORE) && barrier(SYNC_CORE) {
            WAY.store(BY_BARRIER, Relaxed);
            return;
        }
        WAY.store(BY_PROTECTION, Relaxed);
    }
    let page = map(LARGEST_PAGE);
    if page.is_null() {
        return;
    }
    // SAFETY: fresh memory that only this thread uses.
    unsafe {
        page.cast::<u8>().write_volatile(1);
        let _ = protect(page.expose_provenance(), LARGEST_PAGE, Access::Readable);
        unmap(page, LARGEST_PAGE);
    }
}
