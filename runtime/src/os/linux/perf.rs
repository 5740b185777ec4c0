//! Events that the kernel samples, and the memory in which it leaves what it saw (`perf_event_open(2)`).

use core::ffi::c_void;
use core::slice;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::machine::{self, numbers};
use super::memory::{PAGE, map_file, unmap};
use super::{Errno, Fd, call};

const TYPE_SOFTWARE: u64 = 1;
const CPU_CLOCK: u64 = 0;
const SAMPLE_REGISTERS_OF_USER: u64 = 1 << 12;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const INHERIT_THREAD: u64 = 1 << 35;
const CLOSE_AT_EXEC: usize = 8;

/// `struct perf_event_attr` up to `sample_stack_user` and what fills that word: the third version of the structure.
type Attributes = [u64; 12];

/// Where the words of `struct perf_event_mmap_page` are that say how far the kernel has written and we have read, and
/// where the records are.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;
const DATA_OFFSET: usize = 1040;
const DATA_SIZE: usize = 1048;

/// The memory in which the kernel leaves the samples of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleMemory {
    start: *mut c_void,
    length: usize,
}

/// Lets the kernel sample this thread, and those that it and they will make, while they run on one processor: once each
/// `nanoseconds` of CPU time. Each sample has the program counter in the program's own code, where the system's runs for
/// it the one that that will return to. A sample in the kernel needs a right; without it, `only_program` must be set.
///
/// The event lasts as long as the memory, `pages` of samples, is mapped: until the process ends or executes another program,
/// and not in the child of a fork. No descriptor stays open.
///
/// # Errors
///
/// ENODEV, the processor is not there; EINVAL, there is none of that number or more, or the kernel (before 5.13) knows no
/// such events; EACCES and EPERM, it is forbidden, or so much memory is.
pub(crate) fn sample_on(
    processor: usize,
    nanoseconds: u64,
    only_program: bool,
    pages: usize,
) -> Result<SampleMemory, Errno> {
    let mut attributes: Attributes = [0; 12];
    let kernel = if only_program { EXCLUDE_KERNEL } else { 0 };
    attributes[0] = TYPE_SOFTWARE | (size_of::<Attributes>() as u64) << 32;
    attributes[1] = CPU_CLOCK;
    attributes[2] = nanoseconds;
    attributes[3] = SAMPLE_REGISTERS_OF_USER;
    attributes[5] = INHERIT | INHERIT_THREAD | EXCLUDE_HYPERVISOR | kernel;
    attributes[10] = machine::PERF_PROGRAM_COUNTER;
    let arguments = [attributes.as_ptr().addr(), 0, processor, usize::MAX, CLOSE_AT_EXEC];
    // SAFETY: the kernel reads the attributes, as many bytes as they say.
    let fd = Fd(unsafe { call(numbers::PERF_EVENT_OPEN, arguments) }? as i32);
    let length = (1 + pages) * PAGE;
    let mapped = map_file(fd, 0, length);
    let _ = fd.close();
    mapped.map(|start| SampleMemory { start, length })
}

impl SampleMemory {
    /// The memory that [`SampleMemory::parts`] came from.
    ///
    /// # Safety
    ///
    /// The parts must be those of one that is still mapped.
    pub(crate) unsafe fn from_parts(start: *mut c_void, length: usize) -> SampleMemory {
        SampleMemory { start, length }
    }

    pub(crate) fn parts(&self) -> (*mut c_void, usize) {
        (self.start, self.length)
    }

    /// A word of the first page.
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page is a struct perf_event_mmap_page, whose words are aligned; the kernel reads and writes
        // them at any time.
        unsafe { &*self.start.byte_add(offset).cast() }
    }

    /// The words of the records, a power of two of them.
    pub(crate) fn records(&self) -> &[AtomicU64] {
        let [offset, size] = [DATA_OFFSET, DATA_SIZE].map(|word| self.word(word).load(Relaxed) as usize);
        // SAFETY: the kernel says where they are in the mapping: after its first page, and as many pages as were asked for,
        // whatever size its pages have.
        unsafe { slice::from_raw_parts(self.start.byte_add(offset).cast(), size / size_of::<u64>()) }
    }

    /// How many bytes were read, and how many written since the beginning.
    pub(crate) fn unread(&self) -> (u64, u64) {
        // What is written before the head is seen once the head is.
        (self.word(DATA_TAIL).load(Relaxed), self.word(DATA_HEAD).load(Acquire))
    }

    /// Says how many bytes were read since the beginning: the kernel may write over them.
    pub(crate) fn set_read(&self, bytes: u64) {
        self.word(DATA_TAIL).store(bytes, Release);
    }

    /// Ends the sampling and gives the memory back.
    ///
    /// # Safety
    ///
    /// Nobody may use the memory any more.
    pub(crate) unsafe fn close(self) {
        // SAFETY: the caller's promise.
        unsafe { unmap(self.start, self.length) };
    }
}
