//! The live side file: the side file of a live profile, in which the process counts calling contexts.
//!
//! The file begins with what does not change: the properties, and the objects that are loaded at the start. Then comes
//! what the process changes in the file itself, which is mapped; two slots for calls; and the nodes of the tree.
//! docs/side-file.md has the parts.

use core::ops::Range;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::header::{self, Of};
use super::{objects, run, slots};
use crate::file::output::{self, Refusal};
use crate::file::writer::{Writer, Written};
use crate::objects::{Listed, Tally, for_each_mapping, for_each_object, is_object, object};
use crate::os::{Errno, Fd, LARGEST_PAGE, map_file, unmap};
use crate::samples::contexts::{CONTEXTS, Changing, LiveParts, begin_live, patience, size_of_parts};
use crate::unwind::stays;

/// The least room for the descriptions of objects.
const ROOM: usize = 48 << 10;

/// Makes the live side file of a profile that begins with `header` and has bins for the addresses `bins`, and counts
/// there from now on.
pub(super) fn begin(header: Written, bins: Range<usize>) -> Result<(), Refusal> {
    let file = output::open_side_file_to_map()?.out_of_the_way();
    let made = put_start(file, header).and_then(|start| put_changing(file, start, bins));
    if made.is_err() {
        let _ = file.truncate();
        let _ = file.close();
    }
    made.map_err(|error| (&b"map it"[..], error))
}

/// Writes what does not change. The result is the number of bytes.
fn put_start(file: Fd, header: Written) -> Result<usize, Errno> {
    let mut out = Writer::new(file);
    header::put(&mut out, Of::Growing(header));
    run::put(&mut out);
    objects::put(&mut out);
    objects::put_mappings(&mut out);
    out.finish().map(|written| written.length)
}

/// Makes the parts that change, from the offset `start` on, the slots for calls, and the first nodes.
fn put_changing(file: Fd, start: usize, bins: Range<usize>) -> Result<(), Errno> {
    let first = start & !(LARGEST_PAGE - 1);
    let end = (start + size_of_parts(CONTEXTS.threads.all().len()) + ROOM).next_multiple_of(LARGEST_PAGE);
    file.extend(start, end - start)?;
    let mut out = Writer::at(file, end);
    slots::put(&mut out);
    let nodes = out.finish()?.length;
    let memory = map_file(file, first, end - first)?;
    // SAFETY: zeros of the file, from a multiple of 8 on, which stay mapped, and more than the parts need.
    let is_mapped = unsafe { begin_live(file, (memory.byte_add(start - first), end - start), nodes, bins) };
    if !is_mapped {
        // SAFETY: mapped above, and nobody uses the memory.
        unsafe { unmap(memory, end - first) };
        return Err(file.extend(nodes, LARGEST_PAGE).err().unwrap_or(Errno::ENOMEM));
    }
    // SAFETY: at start-up there is one thread.
    CONTEXTS.live.described.store(unsafe { last_object() }, Relaxed);
    Ok(())
}

/// The highest number of an object.
///
/// # Safety
///
/// As for [`describe_objects`].
unsafe fn last_object() -> usize {
    let mut last = 0;
    // SAFETY: the caller's promise.
    unsafe { for_each_object(&mut |listed: &Listed| last = listed.number) };
    last
}

/// Waits until no handler changes the live side file, but not for long: see [`patience`]. `None` if a handler does not
/// come to its end, or if there is no such file.
fn change() -> Option<Changing<'static>> {
    change_within(&CONTEXTS.live, patience())
}

/// Waits as [`change`] does, by calls of `wait`. The waiting ends when `wait` returns false.
fn change_within(live: &LiveParts, mut wait: impl FnMut() -> bool) -> Option<Changing<'_>> {
    loop {
        let changing = live.change();
        if changing.is_some() || !live.is_there() || !wait() {
            return changing;
        }
    }
}

/// Describes the objects that are known now. Call this before the tree has places in these objects.
///
/// # Safety
///
/// Call this only in the thread that may write files, with signals blocked.
pub(crate) unsafe fn describe_objects() {
    let Some(changing) = change() else { return };
    let described = &CONTEXTS.live.described;
    // SAFETY: the caller's promise.
    unsafe {
        for_each_object(&mut |listed: &Listed| {
            if listed.number == described.load(Relaxed) + 1
                && changing.add_object(&objects::item(listed), listed.object.build_id.as_bytes())
            {
                described.store(listed.number, Relaxed);
            }
        });
    }
}

/// Says in the file where the objects are that were loaded after the start.
///
/// # Safety
///
/// As for [`describe_objects`].
pub(crate) unsafe fn describe_mappings() {
    let Some(changing) = change() else { return };
    let live = &CONTEXTS.live;
    changing.keep(|known| {
        let mut is_kept = false;
        // SAFETY: the caller's promise.
        unsafe {
            for_each_mapping(&mut |start, end, _, object| {
                is_kept |= known == (start as u64, end as u64, object as u64);
            });
        }
        is_kept
    });
    // SAFETY: as above.
    unsafe {
        for_each_mapping(&mut |start, end, bias, number| {
            if is_object(number) && number <= live.described.load(Relaxed) && can_go(number, bias) {
                changing.map(start, end, bias, number);
            }
        });
    }
    // A handler may have described an object that is newer than the list.
    live.has_missed.store(true, SeqCst);
}

/// Whether an object was loaded after the start.
///
/// # Safety
///
/// As for [`describe_objects`].
unsafe fn can_go(number: usize, bias: usize) -> bool {
    // SAFETY: the caller's promise.
    let lowpc = unsafe { object(number) }.map_or(0, |object| object.lowpc);
    // The code begins less than 16 bytes behind.
    !stays(bias.wrapping_add(lowpc | 15))
}

/// Writes the calls of a snapshot, in place of those of the snapshot before. If there is no room to describe an object,
/// the calls of the object are elsewhere, and the result says so.
pub(super) fn put_calls(counts: &[Tally]) -> Result<(), Refusal> {
    // SAFETY: `control` lets only one thread write files.
    let last = unsafe {
        describe_objects();
        describe_mappings();
        last_object()
    };
    let calls = counts.iter().filter(|count| !count.is_samples()).count();
    if !slots::has_room(calls) {
        return Err((b"write its calls", Errno::EFBIG));
    }
    let file = CONTEXTS.tree.live.file.file().ok_or((&b"find it"[..], Errno::EBADF))?;
    let described = CONTEXTS.live.described.load(Relaxed);
    slots::replace(file, counts, described).map_err(|error| (&b"write"[..], error))?;
    if described < last { Err((b"describe all objects in it", Errno::EFBIG)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::map;

    #[test]
    fn a_handler_that_does_not_end_is_not_waited_for_for_ever() {
        let live = LiveParts::new();
        assert!(change_within(&live, || panic!("there is no file")).is_none());
        let length = size_of_parts(0) + ROOM;
        // SAFETY: fresh memory of that length, which stays mapped.
        unsafe { live.begin(map(length), length, 0, 0..0) };
        let mut stopped = live.change();
        let mut looks = 0;
        let mut wait = |most| {
            looks += 1;
            looks < most
        };
        assert!(change_within(&live, || wait(10)).is_none());
        assert!(
            change_within(&live, || {
                stopped = None;
                true
            })
            .is_some()
        );
        assert_eq!(looks, 10);
    }
}
