//! The names of the file and of the files beside it.

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::forms::Form;
use crate::objects::program;
use crate::os::{NAME_END, NAME_START, PLAIN_NAME, PROCESS_VARIABLE, process_id};
use crate::ownership::{FORKED, PROCESS};
use crate::state::{Inherited, Reset, resets};
use crate::text::{Digits, Text};

/// The longest name of a file, with its NUL (`PATH_MAX`).
pub(crate) const NAME_SIZE: usize = 4096;

/// The name and the form of the file. Fixed at start-up, because the program may change its environment and
/// arguments.
pub struct Output {
    pub naming: Naming,
    /// The beginning of the name, or all of it, for [`Naming::Prefix`]. [`NUMBER`] stands for the process number.
    pub(crate) prefix: Text<NAME_SIZE>,
    /// Whether the prefix has [`NUMBER`].
    pub(crate) has_number: bool,
    /// Whether the process number does not follow the prefix.
    pub(crate) is_whole_name: bool,
    /// The number of the process that started.
    pub(crate) process: i32,
    /// The name of the program.
    pub program: Text<256>,
    /// Whether a file with the process number in its name is replaced, as OpenBSD's kernel does.
    pub replaces: bool,
    /// The process's umask at the start, because the program may clear it later.
    pub(crate) mask: usize,
    /// What the children of a fork leave.
    pub(crate) children: Children,
    /// Whether the user set [`PROCESS_VARIABLE`].
    pub(crate) wants_process: bool,
    /// The form of the file; `None` for the buffer as it is, or for the GNU form if the buffer cannot hold a count.
    pub(crate) form: Option<Form>,
}

/// The byte in a prefix that stands for the process number: no variable has this byte.
pub(crate) const NUMBER: u8 = 0;

/// How the file is named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// `gmon.out`; for the child of a fork `gmon.<program>.<pid>.out`. [`PLAIN_NAME`] and the constants beside it have
    /// the names of other systems.
    Plain,
    /// `<prefix>.<pid>`, or the prefix alone if it says where the process number or the rank is. Then a child of a fork
    /// appends its number if the prefix has no number.
    Prefix,
    /// `gmon.<program>.<pid>.out`, as OpenBSD's kernel has it: only the user may access the file.
    Private,
}

/// What the children of a fork leave.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Children {
    /// A file each.
    Separate,
    /// One file for all, to which each adds itself: see [`super::sum`].
    Sum,
    /// Nothing.
    None,
}

/// A value that is written at start-up, when there is one thread, or by the thread that writes the file: `control`
/// excludes other threads.
pub(super) struct Once<T>(pub(super) UnsafeCell<T>);

// SAFETY: the contracts of the functions that write keep writes apart from reads.
unsafe impl<T> Sync for Once<T> {}

static OUTPUT: Inherited<Once<Output>> = Inherited::new(
    "what the user asked for",
    Once(UnsafeCell::new(Output {
        naming: Naming::Plain,
        prefix: Text::new(),
        has_number: false,
        is_whole_name: false,
        process: 0,
        program: Text::new(),
        replaces: false,
        mask: 0,
        children: Children::Separate,
        wants_process: false,
        form: None,
    })),
);
/// The name of the file, formed anew each time. A static, because the stack may be a thread's smallest, or a
/// signal's.
static NAME: Inherited<Once<Text<NAME_SIZE>>> =
    Inherited::new("made anew for each use", Once(UnsafeCell::new(Text::new())));
/// The name of a file beside the file.
static BESIDE: Inherited<Once<Text<NAME_SIZE>>> =
    Inherited::new("made anew for each use", Once(UnsafeCell::new(Text::new())));

resets! {
    /// The number of this process among the processes with the same process number, as in the file's name; 0 before it
    /// is known. Processes in different namespaces may have the same number.
    static ATTEMPT: Reset<AtomicU32> = Reset::new();
}

/// The number of this process among the processes with the same process number; 0 before it is known.
pub(super) fn attempt() -> u32 {
    ATTEMPT.load(Relaxed)
}

/// Sets the number of this process among the processes with the same process number.
pub(super) fn set_attempt(attempt: u32) {
    ATTEMPT.store(attempt, Relaxed);
}

pub(crate) const MOST_ATTEMPTS: u32 = 10_000;
/// What the name of a side file has behind the name of the profile.
pub(crate) const SIDE: &[u8] = b".side";

/// Sets how the file is named and laid out.
///
/// # Safety
///
/// Call this only at start-up, while there is one thread.
pub unsafe fn configure(change: impl FnOnce(&mut Output)) {
    // SAFETY: nobody else reads or writes it, by the caller's promise.
    change(unsafe { &mut *OUTPUT.0.get() });
}

/// How the file is named and laid out.
pub(crate) fn output() -> &'static Output {
    // SAFETY: nothing writes it after start-up.
    unsafe { &*OUTPUT.0.get() }
}

/// Whether the file has the process number in its name, and must not replace a file of another process.
pub(crate) fn has_process_number() -> bool {
    let output = output();
    let is_in_name = match output.naming {
        Naming::Plain => is_numbered(output),
        Naming::Prefix => output.has_number || ends_in_number(output),
        Naming::Private => true,
    };
    is_in_name && !output.replaces
}

/// Whether the name that the user did not choose has the process number in it.
fn is_numbered(output: &Output) -> bool {
    FORKED.load(Relaxed) || (!PROCESS_VARIABLE.is_empty() && output.wants_process)
}

/// Whether the process number follows the prefix. The child of a fork must not replace its parent's file.
fn ends_in_number(output: &Output) -> bool {
    !output.is_whole_name || (FORKED.load(Relaxed) && !output.has_number)
}

/// The name of the file.
pub(crate) fn name() -> &'static CStr {
    name_with(b"")
}

/// The name of the file followed by `suffix`.
fn name_with(suffix: &[u8]) -> &'static CStr {
    // SAFETY: only the thread that writes the file calls this, and no longer uses the name of an earlier call.
    let name = unsafe { &mut *NAME.0.get() };
    name.clear();
    push_name(name);
    name.push(suffix);
    // A name that is too long is not usable.
    name.as_c_str().unwrap_or(c"")
}

fn push_name(name: &mut Text<NAME_SIZE>) {
    let output = output();
    match output.naming {
        Naming::Plain if !is_numbered(output) => {
            if PLAIN_NAME.is_empty() {
                name.push(output.program.as_bytes());
            }
            name.push(if PLAIN_NAME.is_empty() { NAME_END } else { PLAIN_NAME });
        }
        Naming::Prefix => {
            push_prefix(name, PROCESS.load(Relaxed));
            if ends_in_number(output) {
                name.push(b".");
                name.push_decimal(PROCESS.load(Relaxed) as u64);
            }
            push_attempt(name);
        }
        Naming::Plain | Naming::Private => {
            name.push(NAME_START);
            name.push(output.program.as_bytes());
            name.push(b".");
            name.push_decimal(PROCESS.load(Relaxed) as u64);
            push_attempt(name);
            name.push(NAME_END);
        }
    }
}

/// Appends the prefix, in which `number` is the process number.
fn push_prefix(name: &mut Text<NAME_SIZE>, number: i32) {
    for byte in output().prefix.as_bytes() {
        if *byte == NUMBER {
            name.push_decimal(number as u64);
        } else {
            name.push(slice::from_ref(byte));
        }
    }
}

/// Appends `-<attempt>` if this is not the first process with its number.
fn push_attempt(name: &mut Text<NAME_SIZE>) {
    let attempt = attempt();
    if attempt > 1 {
        name.push(b"-");
        name.push_decimal(u64::from(attempt));
    }
}

/// Whether this process is the child of a fork, and children leave `leaves`.
pub(crate) fn is_child_that(leaves: Children) -> bool {
    FORKED.load(Relaxed) && children_leave(leaves)
}

/// Whether the children of a fork leave `leaves`.
pub(crate) fn children_leave(leaves: Children) -> bool {
    output().children == leaves
}

/// The name of the sum of all children: `gmon.<program>.children-<build>.out` or `<prefix>.children-<build>`,
/// followed by `parts`.
pub(crate) fn sum_name(parts: &[&[u8]]) -> &'static CStr {
    // SAFETY: as for the name itself.
    make_sum_name(unsafe { &mut *NAME.0.get() }, parts)
}

/// As [`sum_name`], in other memory, if two names are needed at once.
pub(crate) fn other_sum_name(parts: &[&[u8]]) -> &'static CStr {
    // SAFETY: as above.
    make_sum_name(unsafe { &mut *BESIDE.0.get() }, parts)
}

fn make_sum_name<'a>(name: &'a mut Text<NAME_SIZE>, parts: &[&[u8]]) -> &'a CStr {
    let output = output();
    let is_prefixed = output.naming == Naming::Prefix;
    name.clear();
    if is_prefixed {
        // All children add to one file, so the number is not theirs.
        push_prefix(name, output.process);
    } else {
        name.push(NAME_START);
        name.push(output.program.as_bytes());
    }
    push_build(name, b".children-");
    name.push(if is_prefixed { b"" } else { NAME_END });
    parts.iter().for_each(|part| name.push(part));
    name.as_c_str().unwrap_or(c"")
}

/// Appends `separator` and the first eight digits of the program's build ID, or of the sum of its headers.
#[inline(never)]
pub(crate) fn push_build(text: &mut Text<NAME_SIZE>, separator: &[u8]) {
    text.push(separator);
    text.push_hexadecimal(u64::from(program::build()), 8);
}

pub(crate) fn name_beforehand() -> &'static CStr {
    let mut number = Digits::new();
    number.push_decimal(process_id() as u64);
    name_beside(&[b".", number.as_bytes(), b".new"])
}

/// The name of the file followed by `parts`.
pub(crate) fn name_beside(parts: &[&[u8]]) -> &'static CStr {
    // SAFETY: as for the name itself.
    let beside = unsafe { &mut *BESIDE.0.get() };
    beside.clear();
    beside.push(name().to_bytes());
    parts.iter().for_each(|part| beside.push(part));
    beside.as_c_str().unwrap_or(c"")
}

/// The name of the file or of a file beside it, and the name of the file that is to replace that file.
pub(super) fn successor(suffix: &[u8]) -> (&'static CStr, &'static CStr) {
    let new = name_beside(&[suffix, b".new"]);
    (name_with(suffix), new)
}

/// The name of the profile of an object, which earlier runtimes wrote. `twins` is the number of earlier objects with
/// the same name.
#[inline(never)]
pub(super) fn name_of_object(path: &[u8], twins: u64) -> &'static CStr {
    let mut suffix = Digits::new();
    if twins > 0 {
        suffix.push(b".");
        suffix.push_decimal(twins.wrapping_add(1));
    }
    let last_part = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    name_beside(&[b".", last_part, suffix.as_bytes()])
}
