//! The samples and the calls that the profile cannot hold.

use core::iter;

use gmon::encode::side_file::{BinEncoder, Call, CallEncoder, Place};
use gmon::layout::side_file::{CALLS, COUNTED_SAMPLES, SAMPLES, Tag};

use crate::file::writer::Writer;
use crate::objects::{ADDRESS_BITS, ELSEWHERE, KERNEL, PROGRAM, Tally, VDSO, is_object, number, object};
use crate::samples::outside_text;

/// The number of bytes of code of a bin.
const BIN: usize = 4;

/// Whether there are counts that the profile does not have.
pub(crate) fn has_contents(counts: &[Tally]) -> bool {
    outside_text::elsewhere() > 0 || counts.iter().any(|count| number(count.place) != PROGRAM)
}

/// Splits counts by the object of their place. (The library's way of splitting slices contains code that can panic.)
pub(super) fn groups(counts: &[Tally]) -> impl Iterator<Item = (usize, &[Tally])> {
    let mut left = counts;
    iter::from_fn(move || {
        let (number, group, rest) = cut(left)?;
        left = rest;
        Some((number, group))
    })
}

#[inline(never)]
fn cut(counts: &[Tally]) -> Option<(usize, &[Tally], &[Tally])> {
    let first = number(counts.first()?.place);
    let (group, rest) = counts.split_at_checked(counts.partition_point(|count| number(count.place) == first))?;
    Some((first, group, rest))
}

/// The sum of the samples among counts.
pub(super) fn samples(counts: &[Tally]) -> u64 {
    let samples = counts.iter().filter(|count| count.is_samples());
    samples.fold(0, |sum, count| sum.saturating_add(count.count))
}

/// Writes the samples of each object, of the kernel, and of everything else. The result is their number.
pub(super) fn put_samples(out: &mut Writer, counts: &[Tally]) -> u64 {
    let mut elsewhere = outside_text::elsewhere();
    let mut listed = 0_u64;
    for (number, group) in groups(counts) {
        let ticks = samples(group);
        if !has_samples_of_its_own(number) {
            elsewhere = elsewhere.saturating_add(ticks);
        } else if ticks > 0 {
            listed = listed.saturating_add(ticks);
            put_bins(out, SAMPLES, number, group);
        }
    }
    if elsewhere > 0 {
        put_bins(out, SAMPLES, ELSEWHERE, &[Tally::samples(0, elsewhere)]);
    }
    listed.saturating_add(elsewhere)
}

/// Writes the samples, those of the program too, while calls were counted on demand. They are sorted by place.
#[allow(dead_code, reason = "not all systems count calls on demand")]
pub(crate) fn put_counted_samples(out: &mut Writer, counts: &[Tally]) {
    for (number, group) in groups(counts).filter(|(number, _)| is_listed(*number)) {
        put_bins(out, COUNTED_SAMPLES, number, group);
    }
}

/// Whether samples with this number have a part of their own. Samples in the program's code outside the sampled range
/// are elsewhere.
fn has_samples_of_its_own(number: usize) -> bool {
    number != PROGRAM && is_listed(number)
}

/// Whether places may have this number.
fn is_listed(number: usize) -> bool {
    // SAFETY: `control` lets only one thread write files.
    matches!(number, PROGRAM | VDSO | KERNEL | ELSEWHERE) || unsafe { object(number) }.is_some()
}

/// Writes the samples among counts as those of an object.
fn put_bins(out: &mut Writer, tag: Tag, number: usize, counts: &[Tally]) {
    out.part(tag, |out| {
        let mut bins = BinEncoder::begin(out, None, number as u32, BIN as u64);
        for count in counts.iter().filter(|count| count.is_samples()) {
            bins.put(out, (address(count.place) / BIN) as u64, count.count);
        }
    });
}

/// Writes the calls from objects, to objects, and inside them. The file describes the objects up to the number
/// `described`; places in others are elsewhere.
pub(super) fn put_calls(out: &mut Writer, counts: &[Tally], described: usize) {
    if counts.iter().all(Tally::is_samples) {
        return;
    }
    out.part(CALLS, |out| {
        let mut calls = CallEncoder::begin(out, None);
        for count in counts {
            if let Some(caller) = count.caller() {
                let [caller, callee] = [caller, count.place].map(|place| place_among(described, place));
                let call = Call { caller, callee, count: count.count };
                calls.put(out, &call);
            }
        }
    });
}

/// A place as the file has it.
pub(crate) fn place(place: usize) -> Place {
    place_among(usize::MAX, place)
}

/// A place as a file has it that describes the objects up to the number `described`.
fn place_among(described: usize, place: usize) -> Place {
    let is_described = !is_object(number(place)) || number(place) <= described;
    if is_described && is_listed(number(place)) {
        Place { object: number(place) as u32, address: address(place) as u64 }
    } else {
        Place { object: ELSEWHERE as u32, address: 0 }
    }
}

/// The link-time address of a place.
fn address(place: usize) -> usize {
    place & ((1 << ADDRESS_BITS) - 1)
}
