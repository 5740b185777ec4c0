//! Divides a list among threads.

use std::thread;

/// The number of items that are worth a thread.
const WORTH_A_THREAD: usize = 8;

/// Hands consecutive chunks of a list to threads, and returns the results in the order of the list. This thread
/// handles the first chunk and calls `tell` before each item; other threads call a function that does nothing. If the
/// system refuses a thread, this thread handles its chunk too.
///
/// Returns `None` when the items are too few for two threads, or when the result of a chunk is `None`.
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
        let in_a_thread = |chunk| thread::Builder::new().spawn_scoped(scope, move || read(chunk, &mut || {})).ok();
        let others: Vec<_> = chunks.map(|chunk| (chunk, in_a_thread(chunk))).collect();
        let first = read(first, tell);
        // This joins every thread, whatever its result.
        let others: Vec<_> = others
            .into_iter()
            .map(|(chunk, other)| match other {
                Some(other) => other.join().ok().flatten(),
                None => read(chunk, tell),
            })
            .collect();
        std::iter::once(first).chain(others).collect()
    })
}
