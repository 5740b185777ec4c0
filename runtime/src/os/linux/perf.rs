//! Events that the kernel samples, and the memory to which the kernel writes the samples (`perf_event_open(2)`).

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
const SAMPLE_THREAD: u64 = 1 << 1;
const SAMPLE_REGISTERS_OF_USER: u64 = 1 << 12;
const SAMPLE_STACK_OF_USER: u64 = 1 << 13;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const NAMES_OF_THREADS: u64 = 1 << 9;
const INHERIT_THREAD: u64 = 1 << 35;
const CLOSE_AT_EXEC: usize = 8;

/// `struct perf_event_attr` up to `sample_stack_user` and the padding of that word: the third version of the
/// structure.
type Attributes = [u64; 12];

/// The offsets in `struct perf_event_mmap_page` of the words that have the positions of the kernel's and the
/// runtime's side, and the place of the records.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;
const DATA_OFFSET: usize = 1040;
const DATA_SIZE: usize = 1048;

/// The memory to which the kernel writes the samples of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleMemory {
    start: *mut c_void,
    length: usize,
}

/// Makes the kernel sample this thread and all its later threads while they run on one processor: once per
/// `nanoseconds` of CPU time. A sample has the thread, and the program counter in the program's own code; while the
/// kernel runs for the program, that is the return address. Sampling the kernel requires a privilege; without the
/// privilege, `only_program` must be set.
///
/// If `stack` is not 0, a sample also has the other registers, and that many bytes of the stack, from the stack pointer
/// on: a multiple of 8, less than 65,535. The memory also has a record for each name that a thread gets.
///
/// The event lasts as long as the memory, `pages` of samples, is mapped: until the process ends or executes another
/// program, and not in the child of a fork. No descriptor stays open.
///
/// # Errors
///
/// ENODEV if the processor is offline; EINVAL if there is no processor with that number or a higher one, or if the
/// kernel (before 5.13) does not support such events; EACCES and EPERM if the event, or the amount of memory, is
/// forbidden.
pub(crate) fn sample_on(
    processor: usize,
    nanoseconds: u64,
    only_program: bool,
    pages: usize,
    stack: u32,
) -> Result<SampleMemory, Errno> {
    let mut attributes: Attributes = [0; 12];
    let kernel = if only_program { EXCLUDE_KERNEL } else { 0 };
    attributes[0] = TYPE_SOFTWARE | (size_of::<Attributes>() as u64) << 32;
    attributes[1] = CPU_CLOCK;
    attributes[2] = nanoseconds;
    attributes[3] = SAMPLE_THREAD | SAMPLE_REGISTERS_OF_USER;
    attributes[5] = INHERIT | INHERIT_THREAD | EXCLUDE_HYPERVISOR | NAMES_OF_THREADS | kernel;
    attributes[10] = machine::PERF_ONLY_PROGRAM_COUNTER;
    if stack > 0 {
        attributes[3] |= SAMPLE_STACK_OF_USER;
        attributes[10] = machine::PERF_REGISTERS;
        // sample_stack_user is the lower half of its word on little-endian machines.
        attributes[11] = u64::from(stack);
    }
    let arguments = [attributes.as_ptr().addr(), 0, processor, usize::MAX, CLOSE_AT_EXEC];
    // SAFETY: the kernel reads the attributes, whose size is in them.
    let fd = Fd(unsafe { call(numbers::PERF_EVENT_OPEN, arguments) }? as i32);
    let length = (1 + pages) * PAGE;
    let mapped = map_file(fd, 0, length);
    let _ = fd.close();
    mapped.map(|start| SampleMemory { start, length })
}

impl SampleMemory {
    /// Makes a handle from the result of [`SampleMemory::parts`].
    ///
    /// # Safety
    ///
    /// The memory must still be mapped.
    pub(crate) unsafe fn from_parts(start: *mut c_void, length: usize) -> SampleMemory {
        SampleMemory { start, length }
    }

    pub(crate) fn parts(&self) -> (*mut c_void, usize) {
        (self.start, self.length)
    }

    /// A word of the first page.
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page is a struct perf_event_mmap_page, whose words are aligned; the kernel reads and
        // writes them at any time.
        unsafe { &*self.start.byte_add(offset).cast() }
    }

    /// The words of the records; their number is a power of two.
    pub(crate) fn records(&self) -> &[AtomicU64] {
        let [offset, size] = [DATA_OFFSET, DATA_SIZE].map(|word| self.word(word).load(Relaxed) as usize);
        // SAFETY: the kernel says where the records are in the mapping: after its first page, with the requested
        // number of pages, whatever the page size is.
        unsafe { slice::from_raw_parts(self.start.byte_add(offset).cast(), size / size_of::<u64>()) }
    }

    /// The numbers of bytes that were read and written since the start.
    pub(crate) fn unread(&self) -> (u64, u64) {
        // The acquire makes everything visible that was written before the head.
        (self.word(DATA_TAIL).load(Relaxed), self.word(DATA_HEAD).load(Acquire))
    }

    /// Stores the number of bytes that were read since the start: the kernel may overwrite them.
    pub(crate) fn set_read(&self, bytes: u64) {
        self.word(DATA_TAIL).store(bytes, Release);
    }

    /// Ends the sampling and unmaps the memory.
    ///
    /// # Safety
    ///
    /// Nobody may use the memory any more.
    pub(crate) unsafe fn close(self) {
        // SAFETY: the caller's promise.
        unsafe { unmap(self.start, self.length) };
    }
}
