//! Walks the stacks of this process, in signal handlers.

use core::ffi::c_void;
use core::ops::Range;

use gmon_unwind::{
    Cache, Cut, Ending, Ends, Frame, Image, Memory, Native, Object, Objects, Reach, SignalFrames, Tables, Trail, Walk,
    Walked,
};

use super::all_objects::AllObjects;
use super::copied::{self, CopiedStack};
use super::in_place;
use super::kept_ends::KeptEnds;
use super::later::{Description, Later};
use super::pages::Pages;
use super::published::{Known, Published};
use super::searches::Searches;
use super::table_copies::{CopiedByKernel, TableCopies};
use super::thunks;
use crate::arch::thread_pointer;
use crate::os::{
    CONTEXT_ABOVE_STACK, CONTEXT_PC, CONTEXT_REGISTERS, SIGNAL_TRAMPOLINE, SIGNAL_TRAMPOLINE_CALL, is_readable,
    is_readable_in_handler,
};
use crate::state::Inherited;

/// The number of rules that are remembered. Entries that no walk needs take no memory but the addresses.
const RULES: usize = 4096;

/// The objects of this process.
static PUBLISHED: Inherited<Published> =
    Inherited::new("the child has the same objects; the readers in its parent are forgotten", Published::new());
/// The rules that walks have found.
static CACHE: Inherited<Cache<RULES>> = Inherited::new("the child has the same objects", Cache::new());
/// The number of threads for whose stacks outermost frames are remembered. A page of entries takes memory once it is
/// used.
const STACKS: usize = 256;
/// The outermost frames of deep stacks.
static OUTER_ENDS: Inherited<KeptEnds<STACKS>> = Inherited::new("the child has the same stacks", KeptEnds::new());
/// The signal frames of this system.
static SIGNALS: Inherited<SignalFrames> = Inherited::new(
    "never changes",
    SignalFrames {
        trampoline: SIGNAL_TRAMPOLINE,
        last_instruction: SIGNAL_TRAMPOLINE_CALL,
        context: CONTEXT_ABOVE_STACK,
        registers: CONTEXT_REGISTERS,
        program_counter: CONTEXT_PC,
    },
);

/// A stack to walk.
#[derive(Clone, Copy)]
pub enum Stack<'a> {
    /// The stack of the code that a signal interrupted. The address is the third argument of the signal's handler.
    Interrupted(*const c_void),
    /// A copy, of which the outer part may be missing.
    Copied(&'a CopiedStack<'a>),
}

/// Walks the stack of the code that a signal interrupted, and passes each frame to `each`, the innermost frame first.
/// `context` is the third argument of the signal's handler.
///
/// If `each` returns false, the walk stops there, and the result is [`Cut::TooDeep`], as for a stack with too many
/// frames.
///
/// Async-signal-safe. The handler must block all signals, because `dlclose` waits for walks.
pub fn walk(context: *const c_void, mut each: impl FnMut(Frame) -> bool) -> Ending {
    const TOO_DEEP: Ending = Ending::Cut(Cut::TooDeep);
    let reading = PUBLISHED.read();
    let (objects, thread) = (reading.objects(), thread_pointer());
    let searches = Searches::new(true);
    let later = reading.later().map(|list| Later { list, copies: None, searches: &searches });
    // SAFETY: `reading` keeps the objects to the end of the walk.
    let objects = unsafe { AllObjects::new(objects, later) };
    let tables = Tables { objects, thread, cache: &CACHE, signals: &SIGNALS };
    let memory = memory(true, 0..0);
    let mut walk = Walk::<Native, _, _, _>::new(&tables, &memory, context.expose_provenance());
    for frame in walk.by_ref() {
        if !each(frame) {
            return TOO_DEEP;
        }
    }
    walk.ending().unwrap_or(TOO_DEEP)
}

/// Walks a stack, as [`walk`] does, and keeps both ends of a deep stack: `trail` gets the outer end.
///
/// Only the thread itself keeps its objects from being unloaded. So where a copy is walked, the tables of objects that
/// were loaded after the start are copies too. A copy does not have the outer end of a deep stack.
pub fn walk_stack(
    stack: Stack<'_>,
    reach: Reach,
    searches: &Searches,
    trail: &mut Trail,
    each: impl FnMut(Frame) -> bool,
) -> Walked {
    let reading = PUBLISHED.read();
    let objects = reading.objects();
    // A copy may be of another thread's stack.
    let (context, source, copies, thread) = match stack {
        Stack::Interrupted(context) => (context.expose_provenance(), Source::Own, None, thread_pointer()),
        Stack::Copied(stack) => {
            let copies = reading.copies();
            (copied::CONTEXT, Source::Copied { stack, objects, copies, searches }, copies, 0)
        }
    };
    // Copies are walked outside of handlers too.
    let is_own = matches!(source, Source::Own);
    let list = reading.later().filter(|_| is_own || copies.is_some());
    let later = list.map(|list| Later { list, copies, searches });
    // SAFETY: `reading` keeps the objects, or the copies of their tables, to the end of the walk.
    let all = unsafe { AllObjects::new(objects, later) };
    let tables = Tables { objects: all, thread, cache: &CACHE, signals: &SIGNALS };
    // The stack that this thread was using stays mapped while this thread is here.
    let memory = AnyMemory { own: memory(is_own, 0..0), source };
    let mut walk = Walk::<Native, _, _, _>::nowhere(&tables, &memory);
    walk.start(context);
    let walked = Ends { walk: &mut walk, memory: &memory, remembered: &*OUTER_ENDS, thread, trail }.run(reach, each);
    match stack {
        Stack::Interrupted(_) => walked,
        Stack::Copied(stack) => Walked { ending: stack.explain(walked.ending), ..walked },
    }
}

/// Memory of this process. The code that reads it exists once, whatever the source is.
struct AnyMemory<'a, M> {
    own: M,
    source: Source<'a>,
}

/// Where words come from.
enum Source<'a> {
    /// From memory that stays as long as it is read.
    Own,
    /// From the kernel, because another thread may unload the object at this moment.
    Kernel,
    /// From a copy of a stack, and from the code of objects. A thread may have changed the rest of its stack since the
    /// copy was made.
    Copied { stack: &'a CopiedStack<'a>, objects: Objects<'a>, copies: Option<&'a TableCopies>, searches: &'a Searches },
}

impl<M: Memory> Memory for AnyMemory<'_, M> {
    fn read(&self, address: usize) -> Option<usize> {
        let Source::Copied { stack, objects, copies, searches } = &self.source else {
            return if let Source::Own = self.source { self.own.read(address) } else { CopiedByKernel.read(address) };
        };
        if searches.counts_word() {
            return CopiedByKernel.read(address);
        }
        stack.read(address).or_else(|| {
            if objects.find(address).is_some() || thunks::have(address) {
                return self.own.read(address);
            }
            // SAFETY: the walk keeps the copies, and the object is not used.
            unsafe { (*copies)?.find(address) }?;
            CopiedByKernel.read(address)
        })
    }
}

/// The memory of this process that can be read at this moment. `in_handler` says whether a signal handler asks. The
/// addresses of `known` are not asked for.
fn memory(in_handler: bool, known: Range<usize>) -> Pages<impl Fn(usize) -> bool> {
    let ask = move |address| if in_handler { is_readable_in_handler(address) } else { is_readable(address) };
    // SAFETY: the users of the memory keep what they read, see there.
    unsafe { Pages::new(ask, known) }
}

/// The memory of objects that the kernel and the dynamic linker have just loaded, and which the process has not left
/// yet: no part of it is missing, so no address is asked for.
fn at_start() -> AnyMemory<'static, impl Memory> {
    AnyMemory { own: memory(false, 0..usize::MAX), source: Source::Own }
}

/// The object with these program headers, at a load bias, as walks need it; `None` if it has no code. Call this at the
/// start.
///
/// # Safety
///
/// The object must be loaded, and stay loaded as long as the result is used.
pub(crate) unsafe fn object(bias: usize, segments: usize, number: usize) -> Option<Object<'static>> {
    // SAFETY: the caller's promise.
    unsafe { in_place::object(Image { bias, segments, number }, &at_start(), true) }
}

/// The object whose first byte is at an address: see [`object`].
///
/// # Safety
///
/// As for [`object`].
pub(crate) unsafe fn object_at(base: usize) -> Option<Object<'static>> {
    let memory = at_start();
    // SAFETY: the caller's promise.
    unsafe { in_place::object(Image::at(&memory, base)?, &memory, true) }
}

/// Publishes the objects for walks.
pub fn publish(known: &'static Known) {
    PUBLISHED.set(known);
}

/// Calls `close`, which may unload objects that were loaded after the start. Calls `wait` before that until no walk
/// uses such an object.
pub fn while_closing<T>(wait: impl FnMut(), close: impl FnOnce() -> T) -> T {
    PUBLISHED.begin_close(wait);
    let result = close();
    PUBLISHED.end_close();
    result
}

/// Whether a thread is in [`while_closing`].
pub(crate) fn is_closing() -> bool {
    PUBLISHED.is_closing()
}

/// Whether an address is in an object that was loaded at the start, and therefore stays. Async-signal-safe.
pub(crate) fn stays(address: usize) -> bool {
    PUBLISHED.read().objects().find(address).is_some()
}

/// Describes the object with code at an address, if it was loaded after the start and no thread is in
/// [`while_closing`]. Stores its build ID and its path. `is_kept` says whether the address is of a frame of this
/// thread, which keeps the object loaded. Async-signal-safe.
pub(crate) fn describe_later(pc: usize, is_kept: bool, build_id: &mut [u8], path: &mut [u8]) -> Option<Description> {
    let reading = PUBLISHED.read();
    let later = reading.later()?;
    // A wrong frame does not keep the object. Then only `reading` does, if the runtime hears when the object is closed.
    let source = if is_kept && later.may_remember { Source::Own } else { Source::Kernel };
    let memory = AnyMemory { own: memory(false, 0..0), source };
    later.describe(&memory, pc, build_id, path)
}

/// Forgets the walks of the parent in the child of a fork.
pub(crate) fn after_fork_in_child() {
    PUBLISHED.reset();
}
