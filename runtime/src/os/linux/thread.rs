//! Processes and threads.

use core::mem::MaybeUninit;
use core::sync::atomic::AtomicU64;

use super::descriptor::CURRENT;
use super::machine::{self, numbers};
use super::{Errno, call};
use crate::state::Inherited;
use crate::text::{Text, decimal};

/// The number of this process; 0 if a seccomp filter hides it.
pub(crate) fn process_id() -> i32 {
    known_process_id().unwrap_or(0)
}

/// The number of this process; `None` if a seccomp filter hides it.
pub(crate) fn known_process_id() -> Option<i32> {
    // SAFETY: takes no argument.
    unsafe { call(numbers::GETPID, []) }.ok().map(|id| id as i32)
}

/// Waits for a millisecond.
pub fn a_moment() {
    static MILLISECOND: Inherited<[i64; 2]> = Inherited::new("never changes", [0, 1_000_000]);
    // SAFETY: the kernel reads a struct timespec. An early return does no harm.
    let waited = unsafe { call(numbers::NANOSLEEP, [(&raw const MILLISECOND).addr(), 0]) };
    if waited.is_err() {
        // A seccomp filter refuses the call.
        (0..50_000).for_each(|_| core::hint::spin_loop());
    }
}

/// Lets other threads run.
pub(crate) fn give_way() {
    // SAFETY: takes no argument.
    let _ = unsafe { call(numbers::SCHED_YIELD, []) };
}

/// The effective user of the process.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { call(numbers::GETEUID, []) }.unwrap_or(0) as u32
}

/// The kernel's number of this thread; [`UNKNOWN_THREAD`] if a seccomp filter hides it.
pub fn thread_id() -> i32 {
    // SAFETY: takes no argument.
    unsafe { call(numbers::GETTID, []) }.map_or(UNKNOWN_THREAD, |id| id as i32)
}

/// Stores the name of this thread, padded with zeros, in two words; leaves them if a seccomp filter hides the name. May
/// be called below mcount.
pub(crate) fn store_thread_name(name: &[AtomicU64; 2]) {
    const PR_GET_NAME: usize = 16;
    // SAFETY: the kernel writes 16 bytes, any of which are valid.
    let _ = unsafe { call(numbers::PRCTL, [PR_GET_NAME, name.as_ptr().addr()]) };
}

/// The name of another thread of this process, padded with zeros, as two words; zeros if the thread has ended or the
/// name cannot be read. Async-signal-safe.
pub(crate) fn name_of_thread(number: i32) -> [u64; 2] {
    let mut path = Text::<64>::new();
    path.push(b"/proc/self/task/");
    path.push_decimal(u64::from(number.unsigned_abs()));
    path.push(b"/comm");
    let Some(file) = path.as_c_str().and_then(|path| CURRENT.open_for_reading(path).ok()) else { return [0; 2] };
    let mut line = [0_u8; 16];
    let length = file.read(&mut line).unwrap_or(0);
    let _ = file.close();
    // A newline follows the name.
    if let Some(newline) = length.checked_sub(1).and_then(|last| line.get_mut(last)) {
        *newline = 0;
    }
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    [word(line.first_chunk()), word(line.last_chunk())]
}

/// A number that no thread has, and for which [`thread_is_gone`] is false.
pub(crate) const UNKNOWN_THREAD: i32 = -1;

/// The first two numbers of the kernel's release; zeros if the release is not known.
pub(crate) fn system_release() -> (u32, u32) {
    with_system_name(2, release)
}

/// Appends the name of the machine to `host`; nothing if a seccomp filter hides the name.
pub(crate) fn push_host_name<const N: usize>(host: &mut Text<N>) {
    with_system_name(1, |name| host.push(name));
}

/// Passes one of the names of struct utsname to `use_name`: 1 is the machine's, 2 is the kernel's release. The name is
/// empty if it is not known.
fn with_system_name<T>(index: usize, use_name: impl FnOnce(&[u8]) -> T) -> T {
    // Six names of 65 bytes, each with a NUL after it. The memory is not cleared, because handlers may call this
    // function, and the compiler would clear the memory with the C library's memset.
    const NAME: usize = 65;
    const SIZE: usize = 6 * NAME;
    let mut names = MaybeUninit::<[u8; SIZE]>::uninit();
    // SAFETY: the kernel writes the whole structure, or nothing if it returns an error.
    let names = unsafe {
        match call(numbers::UNAME, [names.as_mut_ptr().addr()]) {
            Ok(_) => names.assume_init_ref().as_slice(),
            Err(_) => &[],
        }
    };
    let name = names.chunks_exact(NAME).nth(index).unwrap_or_default();
    use_name(name.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// Parses the first two numbers of a text.
fn release(text: &[u8]) -> (u32, u32) {
    let mut numbers = text.split(|byte| !byte.is_ascii_digit()).map(|digits| decimal(digits).unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Ends the process.
pub(crate) fn exit_process(status: i32) -> ! {
    loop {
        // The call is made whatever a filter answers, because there is no other way.
        // SAFETY: the call does not return.
        let _ = unsafe { machine::syscall(numbers::EXIT_GROUP, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Whether this process has no thread with the number.
pub(crate) fn thread_is_gone(id: i32) -> bool {
    // SAFETY: signal 0 is not sent; the kernel only checks whether the thread exists.
    let result = unsafe { call(numbers::TGKILL, [process_id() as usize, id as usize, 0]) };
    result == Err(Errno::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_release() {
        assert_eq!(release(b"6.18.44-fc"), (6, 18));
        assert_eq!(release(b"5.4-rc1\0"), (5, 4));
        assert_eq!(release(b""), (0, 0));
        assert!(system_release() > (2, 6), "{:?}", system_release());
    }

    #[test]
    fn another_thread_knows_the_name_of_this_thread() {
        let thread_name = || {
            let name = [const { AtomicU64::new(0) }; 2];
            store_thread_name(&name);
            name.map(AtomicU64::into_inner)
        };
        let (number, own) = std::thread::Builder::new()
            .name("fifteen-letters".to_owned())
            .spawn(move || (thread_id(), [name_of_thread(thread_id()), thread_name()]))
            .unwrap()
            .join()
            .unwrap();
        assert_eq!(own[0], own[1]);
        assert_eq!(own[0].map(u64::to_ne_bytes).concat(), b"fifteen-letters\0");
        // The kernel removes the thread a moment after the thread has ended.
        while name_of_thread(number) != [0; 2] {
            std::thread::yield_now();
        }
        let here = thread_name();
        let this = thread_id();
        assert_eq!(std::thread::spawn(move || name_of_thread(this)).join().unwrap(), here);
    }

    #[test]
    fn the_machines_name_is_that_of_the_kernel() {
        let mut host = Text::<64>::new();
        push_host_name(&mut host);
        let expected = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(host.as_bytes(), expected.trim_end().as_bytes());
    }
}
