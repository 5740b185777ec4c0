//! Starts and stops profiling: `monstartup`, `moncontrol` and `_mcleanup`.

use core::ffi::{c_int, c_ulong};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};

use gmon::layout::RawArc;

use super::buffer::{Buffer, Range};
use super::merge::{self, RECORDED_BIAS};
use super::writing_thread::exclusively;
use crate::arch;
use crate::file;
use crate::file::one_writer::{DONE, NOBODY, become_writer_soon, set_writer, writer};
use crate::kernel;
use crate::message::{say, say_count, say_error};
use crate::objects::{self, Tally, program};
#[cfg(feature = "start")]
use crate::os::NO_SIGNALS;
use crate::os::{Errno, SignalSet, a_moment, block_signals, give_way, set_blocked_signals};
use crate::ownership::begin_now;
use crate::samples::{contexts, outside_text};
use crate::state::{Inherited, Reset, resets};
use crate::{mcount, ownership};

/// Whether calls are recorded, and with which addresses; 0 if calls are not recorded.
pub(crate) static RECORDING: Inherited<AtomicU32> =
    Inherited::new("the child is profiled as its parent is", AtomicU32::new(0));
/// All ones while [`RECORDING`] is certainly [`RECORD_AS_RUN`]; otherwise 0. mcount looks at this word first.
pub(crate) static RECORDING_AS_RUN: Inherited<AtomicU32> =
    Inherited::new("the child is profiled as its parent is", AtomicU32::new(0));
/// Calls are recorded with run-time addresses, which is faster.
const RECORD_AS_RUN: u32 = 1;
/// Calls are recorded with the addresses of the executable file, because the tables are the file.
const RECORD_AS_LINKED: u32 = 2;

/// Set by the first call of [`monstartup`], even if it fails.
static STARTED: Inherited<AtomicBool> =
    Inherited::new("the child is profiled as its parent is", AtomicBool::new(false));
/// Whether the process is profiled. The kernel then has the buffer.
static IS_PROFILED: Inherited<AtomicBool> =
    Inherited::new("the child is profiled as its parent is", AtomicBool::new(false));
/// The lowest sampled run-time address.
static LOWPC: Inherited<AtomicUsize> = Inherited::new("the child is profiled as its parent is", AtomicUsize::new(0));

/// The mode of the latest call of [`moncontrol`].
static WANTED: Inherited<AtomicBool> = Inherited::new("the child is profiled as its parent is", AtomicBool::new(true));

/// Whether what happens outside the program is kept.
pub(super) static KEEPS_OUTSIDE: Inherited<AtomicBool> =
    Inherited::new("the child is profiled as its parent is", AtomicBool::new(true));

/// Whether profiling goes on only for the one who has called [`borrow`].
static IS_BORROWED: Inherited<AtomicBool> =
    Inherited::new("the child gives back what its parent has borrowed", AtomicBool::new(false));

resets! {
    /// The `arch::thread_pointer` of the thread that started; most programs end in this thread.
    static FIRST_THREAD: Reset<AtomicUsize> = Reset::new();
}

/// Makes this thread the first one.
pub(super) fn this_is_first_thread() {
    FIRST_THREAD.store(arch::thread_pointer(), SeqCst);
}

/// Whether this thread is the one that started.
#[allow(dead_code, reason = "only Linux asks")]
pub(super) fn is_first_thread() -> bool {
    arch::thread_pointer() == FIRST_THREAD.load(SeqCst)
}

/// A bin for every four bytes of code: a scale of one half, in fixed point with 16 bits of fraction.
const SCALE: u32 = 0x8000;

/// Starts profiling the addresses from `lowpc` to `highpc`; the file is in `directory`, or in the current directory.
/// With `live`, the process counts in the file itself if possible. Only the first call has an effect. A failure is
/// reported in one line, and the program runs on. Signals should be blocked; the thread will block the signals
/// `blocked`.
pub(crate) fn start(lowpc: usize, highpc: usize, directory: Option<c_int>, live: bool, blocked: SignalSet) {
    if STARTED.swap(true, SeqCst) {
        return;
    }
    let Some(range) = Range::around(lowpc, highpc) else {
        say(&[b"not profiling: the address range is empty or too large"]);
        return;
    };
    let in_file = if live { live_buffer(range, directory) } else { None };
    let Some(buffer) = in_file.or_else(|| Buffer::allocate(range, program::bias(), kernel::profrate())) else {
        say(&[b"not profiling: cannot allocate memory"]);
        return;
    };
    this_is_first_thread();
    begin_now();
    objects::set_program(program::base(), program::bias());
    if contexts::are_kept() {
        objects::publish(cfg!(feature = "start"));
    }
    if KEEPS_OUTSIDE.load(SeqCst) {
        outside_text::keep_ticks_outside();
        // SAFETY: this is the first call, and nobody else reads the lists before it returns.
        unsafe {
            if file::is_live() {
                // A reader of the live file needs the mappings.
                objects::look_at_all();
            } else {
                objects::look_ahead();
            }
            file::remember_run(kernel::profrate(), kernel::is_wall());
        }
        contexts::set_rate(kernel::profrate());
        file::announce(buffer.sampled());
    }
    LOWPC.store(range.lowpc, SeqCst);
    // SAFETY: the buffer comes from `allocate` and is never freed.
    if let Err(error) = unsafe { profil(&buffer, SCALE, directory.unwrap_or(-1)) } {
        kernel::say_start_failure(error);
        return;
    }
    if KEEPS_OUTSIDE.load(SeqCst) {
        file::keep_side_file();
    }
    file::release_directory();
    IS_PROFILED.store(true, SeqCst);
    RECORDED_BIAS.store(if file::is_live() { program::bias() } else { 0 }, SeqCst);
    record(true);
    if !mcount::enter_this_thread(kernel::to_be_blocked(blocked)) {
        say(&[b"cannot allocate memory for the first thread's calls"]);
    }
}

/// Whether [`start`] was called, even if it failed.
#[cfg(not(feature = "start"))]
pub(crate) fn is_started() -> bool {
    STARTED.load(SeqCst)
}

/// Makes [`start`] do nothing from now on. Returns whether this is the first call of either function.
#[allow(dead_code, reason = "only systems that do not profile all programs ask")]
pub(crate) fn forbid_start() -> bool {
    !STARTED.swap(true, SeqCst)
}

/// Turns off the counts outside the program. Call this before [`start`].
pub(crate) fn forget_outside() {
    KEEPS_OUTSIDE.store(false, SeqCst);
}

/// Makes a buffer in the file itself, if the file can be mapped.
fn live_buffer(range: Range, directory: Option<c_int>) -> Option<Buffer> {
    let range = range.in_whole_pages();
    let length = range.ncnt();
    let memory = file::begin_live(directory, length, |memory| {
        // SAFETY: memory of that length at the beginning of a page, all zero.
        unsafe { Buffer::place(memory, length, range, program::bias(), kernel::profrate()) };
    });
    // SAFETY: the buffer that was placed there above.
    (!memory.is_null()).then(|| unsafe { Buffer::from_parts(memory, length) })
}

/// Starts or stops the recording of calls.
fn record(on: bool) {
    // Once link-time addresses are recorded, the mode stays, because the tables contain link-time addresses.
    let mode = match RECORDED_BIAS.load(SeqCst) {
        _ if !on => 0,
        0 => RECORD_AS_RUN,
        _ => RECORD_AS_LINKED,
    };
    // Two threads may be here at once; the later one stores both values again.
    RECORDING_AS_RUN.store(0, SeqCst);
    RECORDING.store(mode, SeqCst);
    if mode == RECORD_AS_RUN {
        RECORDING_AS_RUN.store(u32::MAX, SeqCst);
    }
}

/// Calls `profil` with the buffer of the runtime.
///
/// # Safety
///
/// The buffer must never be freed.
unsafe fn profil(buffer: &Buffer, scale: u32, directory: c_int) -> Result<(), Errno> {
    let (start, length) = buffer.parts();
    // SAFETY: a buffer has a header, and samples of that size behind it.
    unsafe { kernel::profil(start, length, buffer.samples_size(), LOWPC.load(SeqCst), scale, directory) }
}

/// The buffer, if profiling was started.
pub(super) fn current() -> Option<Buffer> {
    let (start, length) = kernel::buffer().filter(|_| IS_PROFILED.load(SeqCst))?;
    // SAFETY: `start` gave the kernel the parts of a buffer.
    Some(unsafe { Buffer::from_parts(start, length) })
}

/// `void monstartup(unsigned long lowpc, unsigned long highpc)`: starts profiling the code between two addresses. The
/// start-up code has already done so for the whole program; only the first call has an effect. (Without start-up
/// code, the function is in `start`.)
#[cfg(feature = "start")]
#[unsafe(no_mangle)]
extern "C" fn monstartup(lowpc: c_ulong, highpc: c_ulong) {
    // A handler that comes meanwhile may make the thread's record, which then serves.
    start(lowpc as usize, highpc as usize, None, false, NO_SIGNALS);
}

/// glibc's own name for [`monstartup`].
#[cfg(feature = "start")]
#[unsafe(no_mangle)]
extern "C" fn __monstartup(lowpc: c_ulong, highpc: c_ulong) {
    monstartup(lowpc, highpc);
}

/// `void moncontrol(int mode)`: stops recording calls and samples if `mode` is 0, and resumes otherwise. May be
/// called in signal handlers and in any thread; of two concurrent calls, the later one takes effect.
#[unsafe(no_mangle)]
extern "C" fn moncontrol(mode: c_int) {
    if let Some(buffer) = current().filter(|_| is_ours()) {
        IS_BORROWED.store(false, SeqCst);
        switch_to(&buffer, mode != 0);
    }
}

/// Whether calls and samples are recorded.
pub(super) fn is_recording() -> bool {
    WANTED.load(SeqCst)
}

/// Resumes profiling until [`give_back`].
pub(super) fn borrow() {
    if let Some(buffer) = current() {
        IS_BORROWED.store(true, SeqCst);
        switch_to(&buffer, true);
    }
}

/// Stops what [`borrow`] has resumed, unless the program has called [`moncontrol`] since.
pub(super) fn give_back() {
    if IS_BORROWED.swap(false, SeqCst)
        && let Some(buffer) = current()
    {
        switch_to(&buffer, false);
    }
}

/// Does the work of [`moncontrol`].
fn switch_to(buffer: &Buffer, mut on: bool) {
    WANTED.store(on, SeqCst);
    loop {
        switch(buffer, on);
        // Another thread or a handler may have switched in between, and this call has overwritten the change: repeat
        // with the latest mode.
        let now = WANTED.load(SeqCst);
        if now == on {
            return;
        }
        on = now;
    }
}

/// Resumes or stops the recording of calls and samples.
fn switch(buffer: &Buffer, on: bool) {
    if !on {
        // Before the samples are stopped, so that the ticks that are due are counted.
        mcount::run_clocks(false);
    }
    // SAFETY: the runtime's buffer is never freed.
    if let Err(error) = unsafe { profil(buffer, if on { SCALE } else { 0 }, -1) } {
        say_error(&[b"moncontrol: profil"], error);
        return;
    }
    // Once more, for threads that started in between.
    mcount::run_clocks(on);
    record(on);
}

/// glibc's own name for [`moncontrol`].
#[unsafe(no_mangle)]
extern "C" fn __moncontrol(mode: c_int) {
    moncontrol(mode);
}

/// `void _mcleanup(void)`: stops profiling for good and writes the file. The start-up code calls the function at
/// exit; only the first call has an effect. A call while another thread writes waits for that thread. In a child that
/// shares its parent's profile (made by `vfork`, or without the C library's `fork`), the function does nothing.
///
/// In a shared object, the name belongs to another function: see `entry/linux/preload`.
#[cfg_attr(not(feature = "preload"), unsafe(no_mangle))]
pub(crate) extern "C" fn _mcleanup() {
    if let Some(buffer) = current().filter(|_| !is_complete() && is_ours()) {
        exclusively(DONE, &mut || {
            switch_to(&buffer, false);
            record(false); // also if the system refused to stop the samples
            contexts::wait_for_walks();
            write(buffer, true);
        });
    }
}

/// Writes the file with the counts so far; profiling continues. May be called in signal handlers.
pub(crate) fn write_snapshot() {
    if let Some(buffer) = current() {
        exclusively(NOBODY, &mut || write(buffer, false));
    }
}

/// Writes the file. `is_last` says that the process ends.
fn write(buffer: Buffer, is_last: bool) {
    mcount::settle_clocks(is_last);
    if is_last {
        kernel::settle_for_good();
    }
    if !file::is_in_file() {
        kernel::collect();
        contexts::freeze();
    }
    write_files(buffer, is_last);
    contexts::thaw();
    say_lost();
}

fn write_files(buffer: Buffer, is_last: bool) {
    // SAFETY: `exclusively` excludes all other threads, here and below.
    let outside = unsafe { outside(is_last) };
    let mut more_arcs: &[RawArc] = &[];
    if !file::is_live() {
        let in_file = file::room_for_arcs_in_file();
        let mut room = in_file.unwrap_or(buffer.room_for_arcs());
        if kernel::is_kernels() {
            room.1 = 0; // the tables of the threads are there
        }
        // SAFETY: as above; nobody else writes there.
        let own = unsafe { merge::own_arcs(room) };
        if kernel::is_kernels() {
            more_arcs = own.more;
        } else if in_file.is_none() {
            buffer.set_arcs(own.in_room);
            more_arcs = own.more;
        } else {
            let without_room = own.more.iter().map(|arc| arc.raw_count as u64).sum();
            say_count(b"", without_room, b" calls are not in the file: no room for more arcs");
        }
        if kernel::is_kernels() && own.lost > 0 {
            let instead: &[u8] =
                if is_last { b"the kernel writes the tables of the threads" } else { b"the profile is not written" };
            say(&[b"cannot allocate memory for the sums of calls: ", instead]);
            return;
        }
        say_count(b"", own.lost, b" calls are not in the file: cannot allocate memory");
    }
    kernel::terminate(more_arcs, outside, is_last);
}

/// Reports calls that could not be counted.
fn say_lost() {
    say_count(b"", mcount::lost(), b" calls were not recorded: cannot allocate memory");
    let why = b" calls were not recorded: children of vfork made them in threads without earlier profiled calls";
    say_count(b"", mcount::lost_in_children(), why);
}

/// Whether this process is profiled and is not a child that shares its parent's memory.
#[allow(dead_code, reason = "not all systems ask where there is no start-up code")]
pub(crate) fn is_profiled() -> bool {
    is_ours() && current().is_some()
}

/// Whether this process is profiled and has not completed its files yet.
#[allow(dead_code, reason = "only Linux asks, where several threads can be in `exit` at once")]
pub(crate) fn is_unfinished() -> bool {
    !is_complete() && is_profiled()
}

/// Whether the files are complete. This is no system call, so it comes before the question whose profile it is.
fn is_complete() -> bool {
    writer() == DONE
}

/// Whether the profile belongs to this process, and not to a parent whose memory the process shares.
pub(crate) fn is_ours() -> bool {
    ownership::is_ours()
}

/// Stops counting for good in this process.
pub(super) fn give_up() {
    moncontrol(0);
    IS_PROFILED.store(false, SeqCst);
}

/// Reads the dynamic linker's list of objects, before and after objects may be unloaded, and settles the counts in
/// objects: see [`merge::settle`].
///
/// # Safety
///
/// `iterate` must be the C library's `dl_iterate_phdr`.
pub(crate) unsafe fn look_at_objects(iterate: objects::Iterate) {
    if !KEEPS_OUTSIDE.load(SeqCst) || !ownership::is_ours() || current().is_none() {
        return;
    }
    // Each other thread can come first once or twice at most before it waits for this thread; a writer that takes
    // longer has failed.
    const TURNS: u32 = 1_000_000;
    const MOMENTS: u32 = 30_000;
    let blocked = block_signals();
    for turn in 0..TURNS + MOMENTS {
        // SAFETY: the caller's promise.
        let (entered, seen) = unsafe { look_once(iterate) };
        match entered {
            Some(true) => {}
            Some(false) => break,
            // Not while this thread holds the dynamic linker's lock, for which others wait.
            None if turn < TURNS => give_way(),
            None => a_moment(),
        }
        // Errors are reported at the end.
        if entered.is_some() && seen != Ok(objects::Seen::NewObjects) {
            break;
        }
    }
    set_blocked_signals(blocked);
}

/// Reads the list once. The first part of the result says whether this thread was the writer meanwhile: see
/// [`become_writer_soon`].
///
/// # Safety
///
/// As for [`look_at_objects`]. Signals must be blocked.
unsafe fn look_once(iterate: objects::Iterate) -> (Option<bool>, Result<objects::Seen, Errno>) {
    let (mut entered, mut is_changed) = (None, false);
    let mut enter = || {
        entered = become_writer_soon();
        entered == Some(true)
    };
    let mut settle = |has_changed| {
        // Ticks that are due belong to the objects that are loaded now.
        mcount::settle_clocks(false);
        is_changed = has_changed;
        // SAFETY: this thread may write the file at that moment.
        unsafe {
            if has_changed {
                file::describe_objects();
            }
            merge::settle(has_changed);
        }
    };
    // SAFETY: the caller's promise.
    let seen = unsafe { objects::look_at_list(iterate, &mut enter, &mut settle) };
    if entered == Some(true) {
        if is_changed {
            // SAFETY: as above.
            unsafe { file::describe_mappings() };
        }
        set_writer(NOBODY);
    }
    (entered, seen)
}

/// The counts outside the program; `None` if they are not kept.
///
/// # Safety
///
/// Call this only in the thread that may write the file.
pub(super) unsafe fn outside(is_last: bool) -> Option<&'static [Tally]> {
    if !KEEPS_OUTSIDE.load(SeqCst) {
        return None;
    }
    // A profile was moved into its file because no file can be opened any more: the list from that time must do.
    // SAFETY: the caller's promise.
    let seen = if file::is_in_file() { Ok(()) } else { unsafe { merge::look() } };
    if is_last {
        // SAFETY: as above.
        unsafe { merge::settle_live() };
    }
    // SAFETY: as above.
    let found = unsafe { merge::outside() };
    if let Err(error) = seen
        && found.iter().any(|entry| objects::number(entry.place) == objects::ELSEWHERE)
    {
        say_error(&[b"cannot read the list of loaded objects, using only totals for unknown objects"], error);
    }
    Some(found)
}
