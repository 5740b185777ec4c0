//! The state that belongs to one process, which the child of a fork resets.
//!
//! One list defines the structure, its first values and [`PerProcess::reset`], so no value is forgotten in the reset.
//! A test of the project's structure lists every other static, with the reason why a child keeps the static.

mod account;
mod contexts;
mod live_changes;
mod live_nodes;
mod live_parts;
mod memory;
mod nodes;
mod open_file;
mod threads;
mod writer;

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst,
};

use crate::os::WALKS_STACKS;

pub(crate) use account::{Account, LATEST_NOTICE, NOTICE_OF_OTHERS, Settling};
pub(crate) use contexts::{
    ContextTree, Contexts, Frozen, GROUP, MOST_NODES, OBJECT_SHIFT, PLACE, Segment, WHILE_CLOSING, position,
};
pub(crate) use live_changes::{encode_object, key_of};
pub(crate) use live_parts::{Changing, LiveParts, size_of_parts};
pub(crate) use memory::{Memory, Row, Rows, SLOTS, STRETCH, Slot, TicksOutside};
pub(crate) use nodes::ContextNode;
pub(crate) use open_file::OpenFile;
pub(crate) use threads::{EndedCall, EndedCalls, NAMES, OTHERS, THREADS, ThreadCalls, ThreadEntry, ThreadRow};
pub(crate) use writer::{DONE, NOBODY, become_writer_soon};

macro_rules! per_process {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        /// All that a forked child resets.
        pub(crate) struct PerProcess {
            $($(#[$doc])* pub(crate) $name: $type,)*
            /// The live file in which the process counts.
            pub(crate) live_file: OpenFile,
            /// The ticks of the process's POSIX timer.
            pub(crate) process_account: Account,
            pub(crate) memory: Memories,
        }

        impl PerProcess {
            const fn new() -> PerProcess {
                PerProcess {
                    $($name: <$type>::new($value),)*
                    live_file: OpenFile::none(),
                    process_account: Account::new(),
                    memory: Memories::new(),
                }
            }

            /// Gives every value its first value. Called in the child of a fork, which has one thread.
            pub(crate) fn reset(&self) {
                self.memory.reset(self.has_overflowed.load(SeqCst));
                let _ = self.live_file.forget();
                self.process_account.reset();
                $(self.$name.store($value, SeqCst);)*
            }

            /// Whether every value is its first value.
            #[cfg(test)]
            fn is_initial(&self) -> bool {
                self.process_account.is_initial() && !self.live_file.is_set() $(&& is_same(self.$name.load(SeqCst), $value))*
            }

            /// Calls `each` with the name of every value that is its first value.
            #[cfg(test)]
            fn for_each_initial(&self, mut each: impl FnMut(&'static str)) {
                $(if is_same(self.$name.load(SeqCst), $value) { each(stringify!($name)); })*
            }
        }
    };
}

per_process! {
    /// The descriptor of the file that was opened at the start; -1 for none.
    kept_file: AtomicI32 = -1;
    /// The descriptor of the side file that was opened at the start; -1 for none.
    kept_side_file: AtomicI32 = -1;
    /// When the profile began, in nanoseconds since 1970; 0 if that is not known.
    start_time: AtomicU64 = 0;
    /// The number of this process among the processes with the same process number, as in the file's name; 0 before
    /// it is known. Processes in different namespaces may have the same number.
    name_attempt: AtomicU32 = 0;
    /// Whether a child that will add itself to a sum has written a snapshot of its own.
    has_own_file: AtomicBool = false;
    /// The address of the mapped file in which samples are counted behind a filter; null for none.
    mapped_file: AtomicPtr<c_void> = ptr::null_mut();
    /// The samples in which the process counted before that file; null for none.
    left_samples: AtomicPtr<AtomicU16> = ptr::null_mut();
    /// Whether the samples are the file itself, in which a bin ends at 65,535.
    samples_are_file: AtomicBool = false;
    /// All ticks, in the bins and outside.
    ticks: AtomicU64 = 0;
    /// Whether a bin overflowed its 16 bits.
    has_overflowed: AtomicBool = false;
    /// The process's CPU time when the sampler last started; `u64::MAX` while the sampler is stopped.
    counting_since: AtomicU64 = u64::MAX;
    /// The CPU time that passed between starts and stops of the sampler, up to `counting_since`.
    counted_time: AtomicU64 = 0;
    /// The kernel's number of the process's timer, or a negative value that replaces it.
    process_timer: AtomicI32 = NO_TIMER;
    /// Whether the program uses the interval timer.
    is_interval_timer_taken: AtomicBool = false;
    /// The number of rings.
    rings: AtomicUsize = 0;
    /// The samples for which there was no room in the rings.
    lost_in_rings: AtomicU64 = 0;
    /// The number of times that the kernel paused the rings.
    throttled: AtomicU32 = 0;
    /// The calls that were lost for lack of memory.
    lost_calls: AtomicU64 = 0;
    /// The calls that were lost in vfork children, in threads without a record.
    lost_calls_of_children: AtomicU64 = 0;
    /// The `arch::thread_pointer` of the thread that writes the file; 0 for none.
    writer: AtomicUsize = 0;
    /// The `arch::thread_pointer` of the thread that started; most programs end in this thread.
    first_thread: AtomicUsize = 0;
}

#[cfg(test)]
fn is_same<T: PartialEq>(value: T, other: T) -> bool {
    value == other
}

/// The process has no timer.
pub(crate) const NO_TIMER: i32 = -1;

/// The memory in which the process counts.
pub(crate) struct Memories {
    /// The number of overflows of each bin, as an array parallel to the samples.
    pub(crate) carries: Memory,
    /// Whether each stretch of the bins has ticks.
    pub(crate) touched: Memory,
    /// The ticks outside the bins.
    pub(crate) ticks_outside: TicksOutside,
    /// The calling contexts of all ticks.
    pub(crate) contexts: Contexts,
    /// The counts in unloaded objects, and between these and others.
    pub(crate) settled: Rows,
    /// All counts outside the program, collected anew for each file.
    pub(crate) outside: Rows,
    /// The program's own arcs, collected anew for each file.
    pub(crate) own_arcs: Rows,
    /// The calls by thread, if threads are told apart.
    pub(crate) threads: ThreadCalls,
}

impl Memories {
    const fn new() -> Memories {
        Memories {
            carries: Memory::none(),
            touched: Memory::none(),
            ticks_outside: TicksOutside::new(),
            contexts: Contexts::new(),
            settled: Rows::new(),
            outside: Rows::new(),
            own_arcs: Rows::new(),
            threads: ThreadCalls::new(),
        }
    }

    /// Clears the memory, which stays mapped. The carries are zero unless a bin `has_overflowed`.
    fn reset(&self, has_overflowed: bool) {
        let Memories { carries, touched, ticks_outside, contexts, settled, outside, own_arcs, threads } = self;
        if has_overflowed {
            carries.clear();
        }
        touched.clear();
        ticks_outside.clear();
        if WALKS_STACKS {
            contexts.clear();
            threads.clear();
        }
        for rows in [settled, outside, own_arcs] {
            rows.clear();
            rows.lost.store(0, SeqCst);
        }
    }
}

/// The state of this process.
pub(crate) static PER_PROCESS: PerProcess = PerProcess::new();

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn a_child_resets_every_value() {
        let state = PerProcess::new();
        assert!(state.is_initial());
        // SAFETY: bytes of 1 are valid numbers, booleans, and pointers that nobody dereferences; the memories are
        // replaced.
        unsafe {
            ptr::write_bytes((&raw const state).cast_mut().cast::<u8>(), 1, size_of::<PerProcess>());
            ptr::write((&raw const state.memory).cast_mut(), Memories::new());
        }
        assert!(!state.process_account.is_initial());
        state.for_each_initial(|name| panic!("{name} has a first value that this test cannot tell from another"));
        state.reset();
        assert!(state.is_initial());
    }

    #[test]
    fn a_child_empties_all_memory() {
        const LENGTH: usize = 100_000;
        let state = PerProcess::new();
        let Memories { carries, touched, ticks_outside, contexts, settled, outside, own_arcs, threads } = &state.memory;
        state.has_overflowed.store(true, Relaxed);
        for memory in [carries, touched] {
            memory.map(LENGTH);
            // SAFETY: fresh memory of that length.
            unsafe { ptr::write_bytes(memory.start::<u8>(), 7, LENGTH) };
        }
        ticks_outside.prepare();
        for number in [0, 1, SLOTS - 1] {
            let slot = ticks_outside.slot(number).unwrap();
            slot.pc.store(5, Relaxed);
            slot.ticks.store(5, Relaxed);
            ticks_outside.touched[number / STRETCH].store(true, Relaxed);
        }
        ticks_outside.elsewhere.store(3, Relaxed);
        contexts.tree.nodes.store(3000, Relaxed);
        let nodes = || [1, 3000].map(|number| contexts.tree.node(number).unwrap());
        for number in [0, 1] {
            let segment = contexts.tree.segment_or_new(number).unwrap();
            segment.heads[7].store(7, Relaxed);
        }
        nodes().iter().for_each(|node| node.ticks.store(7, Relaxed));
        contexts.cuts()[3].store(3, Relaxed);
        contexts.walks.store(3, Relaxed);
        for rows in [settled, outside, own_arcs] {
            for value in [&rows.length, &rows.capacity] {
                value.store(9, Relaxed);
            }
            rows.lost.store(9, Relaxed);
            rows.is_full.store(true, Relaxed);
        }
        let ThreadCalls { of_ended, settled: settled_calls, all: all_calls } = threads;
        // SAFETY: there were no slots.
        unsafe { of_ended.replace(EndedCalls::map(1024).unwrap(), 1) };
        of_ended.slots()[1000].count.store(7, Relaxed);
        for rows in [settled_calls, all_calls] {
            [&rows.length, &rows.capacity].iter().for_each(|value| value.store(9, Relaxed));
            rows.lost.store(9, Relaxed);
            rows.is_full.store(true, Relaxed);
        }
        contexts.threads.map();
        contexts.threads.threads.store(1, Relaxed);
        contexts.threads.all()[0].ticks.store(7, Relaxed);
        state.reset();
        for memory in [carries, touched] {
            // SAFETY: as above.
            let bytes = unsafe { std::slice::from_raw_parts(memory.start::<u8>(), LENGTH) };
            assert!(bytes.iter().all(|byte| *byte == 0));
        }
        let is_free = |slot: &Slot| slot.pc.load(Relaxed) == 0 && slot.ticks.load(Relaxed) == 0;
        assert!((0..SLOTS).all(|number| is_free(ticks_outside.slot(number).unwrap())));
        assert!(ticks_outside.touched.iter().all(|touched| !touched.load(Relaxed)));
        assert_eq!(ticks_outside.elsewhere.load(Relaxed), 0);
        assert!(nodes().iter().all(|node| node.ticks.load(Relaxed) == 0));
        assert!([0, 1].iter().all(|number| contexts.tree.segment(*number).unwrap().heads[7].load(Relaxed) == 0));
        assert_eq!((contexts.tree.nodes.load(Relaxed), contexts.walks.load(Relaxed)), (0, 0));
        assert!(contexts.cuts().iter().all(|cut| cut.load(Relaxed) == 0));
        for rows in [settled, outside, own_arcs] {
            let left = (rows.length.load(Relaxed), rows.lost.load(Relaxed), rows.is_full.load(Relaxed));
            assert_eq!((left, rows.capacity.load(Relaxed)), ((0, 0, false), 9), "memory stays for what is to come");
        }
        assert_eq!((of_ended.used.load(Relaxed), of_ended.slots()[1000].count.load(Relaxed)), (0, 0));
        for rows in [settled_calls, all_calls] {
            let left = (rows.length.load(Relaxed), rows.lost.load(Relaxed), rows.is_full.load(Relaxed));
            assert_eq!((left, rows.capacity.load(Relaxed)), ((0, 0, false), 9));
        }
        assert_eq!(contexts.threads.threads.load(Relaxed), 0);
        assert_eq!(contexts.threads.all()[0].ticks.load(Relaxed), 0);
    }
}
