//! Divides a list among threads.

use std::thread;

/// How many items are worth a thread of their own.
const WORTH_A_THREAD: usize = 8;

/// Hands consecutive parts of a list to threads, and gives what became of each part, in the order of the list. The first part
/// is handled by this thread, which calls `tell` before each item; the others call a function that does nothing.
///
/// Gives nothing when the items are too few for two threads, or when a part comes to nothing.
pub(super) fn map_chunks<T: Sync, R: Send>(
    items: &[T],
    read: impl Fn(&[T], &mut dyn FnMut()) -> Option<R> + Sync,
    tell: &mut dyn FnMut(),
) -> Option<Vec<R>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(items.len() / WORTH_A_THREAD);
    if threads < 2 {
        return None;
    }
    let mut chunks = items.chunks(items.len().div_ceil(threads));
    let first = chunks.next()?;
    let read = &read;
    thread::scope(|scope| {
        let others: Vec<_> = chunks.map(|chunk| scope.spawn(move || read(chunk, &mut || {}))).collect();
        let first = read(first, tell);
        // All threads have ended when this is over, whatever came of them.
        let others: Vec<_> = others.into_iter().map(|other| other.join().ok().flatten()).collect();
        std::iter::once(first).chain(others).collect()
    })
}
