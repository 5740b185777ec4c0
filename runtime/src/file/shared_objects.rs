//! Writes the files beside the file: a profile for each object with counts, and a list of these profiles.
//!
//! The profiles have GNU's form and link-time addresses: any reader takes them with the object as image. The list
//! says which program the file belongs to, which objects the profiles belong to, and what no single profile can
//! contain: calls from one object to another, and counts that belong to no known object. docs/format.md has its
//! layout.

use core::ffi::CStr;
use core::iter;

use gmon::encode::{Arc, gnu_arc, gnu_bin, gnu_header, gnu_histograms};
use gmon::layout::GmonHdr;

use super::output::{self, Refusal};
use super::writer::{Writer, Written};
use super::{live, names, stale};
use crate::objects::{self, ADDRESS_BITS, KERNEL, Object, PROGRAM, Tally, VDSO, is_object, number};
use crate::os::{Errno, Fd};
use crate::samples::outside_text;
use crate::text::Digits;

/// The number of bytes of code of a bin.
const BIN: usize = 4;

/// Counts that are only kept as sums.
#[derive(Default)]
pub(crate) struct Sums {
    kernel: u64,
    vdso: u64,
    elsewhere: u64,
    calls: u64,
}

/// The first word of a list, for a complete file, or for a file that still grows, of which only the start is
/// described.
pub(crate) const PROFILE: &[u8] = b"profile";
pub(crate) const LIVE: &[u8] = b"live";

/// Writes the list with the program's identity, and the profiles of objects. `main` describes the file itself, or its
/// start.
///
/// The entries are sorted by place and caller. Without entries, nothing is written. Files of an earlier run are
/// removed.
pub(crate) fn write(what: &[u8], main: Written, profrate: i32, entries: Option<&[Tally]>) {
    stale::remove(entries.is_none());
    let Some(entries) = entries else { return };
    let mut sums = Sums { elsewhere: outside_text::elsewhere(), ..Sums::default() };
    // SAFETY: `control` lets only one thread write files.
    (1..)
        .map_while(|number| unsafe { objects::object(number) })
        .for_each(|object| object.written.set(objects::Written::default()));
    let mut objects = 0;
    let mut refused = None;
    for group in groups(entries) {
        let number = group.first().map_or(PROGRAM, |entry| number(entry.place));
        // SAFETY: as above.
        match unsafe { objects::object(number) } {
            Some(object) => {
                let twins = twins(entries, number, object);
                let written = write_profile(object, twins, profrate, group, &mut refused);
                if written.length == 0 {
                    sums.add(objects::ELSEWHERE, group);
                } else {
                    objects += 1;
                }
                object.written.set(objects::Written { twins, length: written.length, sum: written.sum });
            }
            None => sums.add(number, group),
        }
    }
    let path = names::name_beside(&[b".objects"]);
    let listed = output::open_beside(path).and_then(|file| {
        let listed = write_list(file, what, main, entries, &sums);
        finish(file, listed)
    });
    // If nothing was counted outside, the profile is complete without the list.
    if let Err(refusal) = listed
        && (objects > 0 || !sums.is_nothing())
    {
        say_once(path.to_bytes(), refusal, &mut refused);
    }
}

/// Writes a list for a live file at start-up, because the list may be all that remains of the run.
pub(crate) fn announce() {
    if let Some(header) = live::header() {
        stale::remove(false);
        list_live(header);
    }
}

/// Writes a list for a growing file that begins with `header`.
pub(crate) fn list_live(header: Written) {
    // A failure is reported later, if there are counts to lose.
    let _ = output::open_beside(names::name_beside(&[b".objects"])).and_then(|file| {
        let mut out = Writer::new(file);
        out.begin(LIVE, header);
        out.put(b"end\n");
        finish(file, out.finish())
    });
}

/// Whether there are entries or sums that only files beside the file can contain.
pub(crate) fn has_contents(entries: &[Tally]) -> bool {
    outside_text::elsewhere() > 0 || entries.iter().any(|entry| number(entry.place) != PROGRAM)
}

/// Splits the entries by object. (The library's way of splitting slices contains code that can panic.)
fn groups(entries: &[Tally]) -> impl Iterator<Item = &[Tally]> {
    let mut left = entries;
    iter::from_fn(move || {
        let (group, rest) = cut(left)?;
        left = rest;
        Some(group)
    })
}

#[inline(never)]
fn cut(entries: &[Tally]) -> Option<(&[Tally], &[Tally])> {
    let first = number(entries.first()?.place);
    entries.split_at_checked(entries.partition_point(|entry| number(entry.place) == first))
}

/// The number of objects before this one with a profile of the same name.
fn twins(entries: &[Tally], this: usize, object: &Object) -> u64 {
    let numbers = groups(entries).filter_map(|group| group.first()).map(|entry| number(entry.place));
    // SAFETY: as in `write`.
    let before = numbers.take_while(|other| *other < this).filter_map(|other| unsafe { objects::object(other) });
    let same = before.filter(|other| other.name() == object.name()).count() as u64;
    // The list itself uses the name `objects`.
    same + u64::from(object.name() == b"objects")
}

/// Closes a written file. A file that was not written completely is emptied.
fn finish(file: Fd, written: Result<Written, Errno>) -> Result<Written, Refusal> {
    if written.is_err() {
        let _ = file.truncate();
    }
    let closed = file.close();
    written.and_then(|written| closed.map(|()| written)).map_err(|error| (&b"write"[..], error))
}

/// Reports why a file could not be written, unless the previous file failed for the same reason.
fn say_once(path: &[u8], refusal: Refusal, refused: &mut Option<Errno>) {
    if refused.replace(refusal.1) != Some(refusal.1) {
        output::say_refusal(path, refusal, b"");
    }
}

/// Writes an object's profile. A failure is reported, and the result is then a length of 0.
fn write_profile(
    object: &Object,
    twins: u64,
    profrate: i32,
    entries: &[Tally],
    refused: &mut Option<Errno>,
) -> Written {
    let path = names::name_of_object(object.path.as_bytes(), twins);
    let written = output::open_beside(path).and_then(|file| {
        let mut out = Writer::new(file);
        profile(&mut out, object, profrate, entries);
        finish(file, out.finish())
    });
    written.unwrap_or_else(|refusal| {
        say_once(path.to_bytes(), refusal, refused);
        Written::default()
    })
}

/// Writes a profile in GNU's form. Calls from other objects come from address 0 there.
fn profile(out: &mut Writer, object: &Object, profrate: i32, entries: &[Tally]) {
    let header = GmonHdr { lpc: object.lowpc, hpc: object.highpc, profrate, ..GmonHdr::default() };
    let bins = (object.highpc - object.lowpc) / BIN;
    let ticks = || entries.iter().filter(|entry| entry.is_samples());
    let highest = ticks().map(|entry| entry.count).max().unwrap_or(0);
    gnu_header(out);
    for histogram in 0..gnu_histograms(highest) {
        out.gnu_histogram(&header, bins);
        let mut next = 0;
        for entry in ticks() {
            let bin = (address(entry.place) - object.lowpc) / BIN;
            out.zeros((bin - next) * size_of::<u16>());
            out.put(&gnu_bin(entry.count, histogram).to_ne_bytes());
            next = bin + 1;
        }
        out.zeros((bins - next) * size_of::<u16>());
    }
    for call in entries {
        let Some(from) = call.caller() else { continue };
        let frompc = if number(from) == number(call.place) { address(from) as u64 } else { 0 };
        let Ok(()) = gnu_arc(out, &Arc { frompc, selfpc: address(call.place) as u64, count: call.count });
    }
}

/// The link-time address of a place.
fn address(place: usize) -> usize {
    place & ((1 << ADDRESS_BITS) - 1)
}

impl Object {
    /// The last part of the object's path.
    fn name(&self) -> &[u8] {
        names::last_part(self.path.as_bytes())
    }
}

impl Sums {
    /// The sum of all entries, if there are no profiles of single objects.
    pub(crate) fn of(entries: &[Tally]) -> Sums {
        let mut sums = Sums { elsewhere: outside_text::elsewhere(), ..Sums::default() };
        for group in groups(entries) {
            sums.add(group.first().map_or(PROGRAM, |entry| number(entry.place)), group);
        }
        sums
    }

    /// The sums that a line of a list contains, if it contains any.
    fn place(&mut self, line: &[u8]) -> Option<(&mut u64, u64)> {
        let places: [(&[u8], &mut u64); 4] = [
            (b"samples kernel ", &mut self.kernel),
            (b"samples vdso ", &mut self.vdso),
            (b"samples elsewhere ", &mut self.elsewhere),
            (b"calls elsewhere ", &mut self.calls),
        ];
        places.into_iter().find_map(|(name, place)| {
            let digits = line.strip_prefix(name)?;
            let add =
                |number: u64, digit: &u8| number.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')));
            digits.iter().all(u8::is_ascii_digit).then(|| (place, digits.iter().fold(0, add)))
        })
    }

    /// Adds the entries of an object number.
    fn add(&mut self, number: usize, entries: &[Tally]) {
        let ticks = match number {
            KERNEL => &mut self.kernel,
            VDSO => &mut self.vdso,
            _ => &mut self.elsewhere,
        };
        for entry in entries {
            let sum = if entry.is_samples() {
                &mut *ticks
            } else if number == PROGRAM {
                continue; // the file itself contains these
            } else {
                &mut self.calls
            };
            *sum = sum.saturating_add(entry.count);
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        [self.kernel, self.vdso, self.elsewhere, self.calls] == [0; 4]
    }
}

/// Writes the list.
fn write_list(file: Fd, what: &[u8], main: Written, entries: &[Tally], sums: &Sums) -> Result<Written, Errno> {
    let mut out = Writer::new(file);
    out.begin(what, main);
    for group in groups(entries) {
        let Some(number) = group.first().map(|entry| number(entry.place)) else { continue };
        let Some((object, written)) = described(number) else { continue };
        out.put(b"object");
        for number in [number as u64, written.twins, written.length as u64] {
            out.number(number);
        }
        out.mark(written.sum);
        out.put(b" ");
        out.put(if object.build_id.as_bytes().is_empty() { b"-" } else { object.build_id.as_bytes() });
        out.put(b" ");
        out.put(object.path.as_bytes());
        out.put(b"\n");
    }
    let is_described = |number: usize| number == PROGRAM || described(number).is_some();
    for call in entries {
        let Some(caller) = call.caller() else { continue };
        let (from, to) = (number(caller), number(call.place));
        if from != to && is_described(from) && is_described(to) {
            out.put(b"arc");
            for number in [from as u64, address(caller) as u64, to as u64, address(call.place) as u64] {
                out.number(number);
            }
            out.number(call.count);
            out.put(b"\n");
        }
    }
    write_sum_lines(&mut out, sums);
    out.put(b"end\n");
    out.finish()
}

/// Adds the sums of an existing list, if there is one.
pub(crate) fn add_sums(path: &CStr, sums: &mut Sums) {
    let file = output::directory_of(path).ok().and_then(|directory| directory.open_regular_for_reading(path).ok());
    let Some(file) = file else { return };
    // The sums are in the last, short lines.
    let mut bytes = [0; 512];
    let start = file.status().map_or(0, |status| (status.size as usize).saturating_sub(bytes.len()));
    let read = file.read_at(&mut bytes, start).unwrap_or(0);
    let _ = file.close();
    // The first piece may be the end of a longer line.
    let lines = bytes.get(..read).unwrap_or(&[]).split(|byte| *byte == b'\n').skip(usize::from(start > 0));
    for line in lines {
        if let Some((place, number)) = sums.place(line) {
            *place = place.saturating_add(number);
        }
    }
}

/// Writes a list that contains only sums, beside the file described by `main`.
pub(crate) fn write_sums(mut out: Writer, main: Written, sums: &Sums) -> Result<Written, Errno> {
    out.begin(PROFILE, main);
    write_sum_lines(&mut out, sums);
    out.put(b"end\n");
    out.finish()
}

fn write_sum_lines(out: &mut Writer, sums: &Sums) {
    let sums: [(&[u8], u64); 4] = [
        (b"samples kernel", sums.kernel),
        (b"samples vdso", sums.vdso),
        (b"samples elsewhere", sums.elsewhere),
        (b"calls elsewhere", sums.calls),
    ];
    for (name, sum) in sums.iter().filter(|(_, sum)| *sum > 0) {
        out.put(name);
        out.number(*sum);
        out.put(b"\n");
    }
}

/// An object that has a profile, and the description of the profile.
fn described(number: usize) -> Option<(&'static Object, objects::Written)> {
    // SAFETY: as in `write`.
    let object = unsafe { objects::object(number) }.filter(|_| is_object(number))?;
    let written = object.written.get();
    (written.length > 0).then_some((object, written))
}

impl Writer {
    /// Writes the start of a list: the file and the program that the list belongs to.
    #[inline(never)]
    fn begin(&mut self, what: &[u8], main: Written) {
        self.put(b"gmon objects 2\n");
        self.put(what);
        self.number(main.length as u64);
        self.mark(main.sum);
        self.put(b"\n");
        self.program();
    }

    /// Writes a space and a number.
    fn number(&mut self, number: u64) {
        self.put(b" ");
        let mut text = Digits::new();
        text.push_decimal(number);
        self.put(text.as_bytes());
    }

    /// Writes a space and a sum of marks.
    fn mark(&mut self, sum: u64) {
        let mut text = Digits::new();
        text.push(b" ");
        text.push_hexadecimal(sum, 16);
        self.put(text.as_bytes());
    }
}
