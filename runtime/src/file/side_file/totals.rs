//! The side file of a sum of processes (`GMON_CHILDREN=sum`), which has only totals.
//!
//! A process that adds itself to a sum keeps neither its objects nor the calling contexts of its samples. The last
//! parts of the file have a fixed layout, so that the next process finds the totals without a reader of side files.

use core::ffi::CStr;

use gmon::encode::side_file::{
    BinEncoder, CutReason, Piece, number, padded_number, padding, part, property, read_number, thread_of,
};
use gmon::layout::side_file::{CALLS, CUTS, OBJECTS, PROPERTIES, SAMPLES, property};

use super::counts::{groups, samples};
use super::header::{self, Of};
use super::{objects, run};
use crate::file::output;
use crate::file::writer::{Writer, Written};
use crate::objects::{ELSEWHERE, KERNEL, PROGRAM, Tally, VDSO};
use crate::samples::outside_text;
use crate::text::{Digits, decimal};

/// Counts of several processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// The number of processes.
    pub(crate) processes: u32,
    /// The samples in the vDSO, in the kernel, and everywhere else outside the program.
    vdso: u64,
    kernel: u64,
    elsewhere: u64,
    /// The calls of functions outside the program.
    calls: u64,
    /// The samples in the program and outside. None of them has a stack.
    ticks: u64,
}

/// The size of the parts with totals.
const SIZE: usize = 200;
/// The size of the part behind them: a header and a number.
const END_SIZE: usize = 24;
/// The sizes of the contents: `runs=` with ten digits and its length; a head of six bytes and a number; a head of nine
/// bytes and a number; a code and a number.
const RUNS_SIZE: u64 = 16;
const BIN_SIZE: u64 = 16;
const CALLS_SIZE: u64 = 19;
const CUT_SIZE: u64 = 11;
/// The offsets of the numbers in the parts.
const RUNS_AT: usize = 22;
const BINS_AT: [usize; 3] = [54, 86, 118];
const CALLS_AT: usize = 153;
const CUT_AT: usize = 185;

impl Totals {
    /// The totals of this process, which has these counts outside the program.
    pub(crate) fn of(counts: &[Tally]) -> Totals {
        let mut totals = Totals { processes: 1, elsewhere: outside_text::elsewhere(), ..Totals::default() };
        for (number, group) in groups(counts) {
            let ticks = match number {
                KERNEL => &mut totals.kernel,
                VDSO => &mut totals.vdso,
                _ => &mut totals.elsewhere,
            };
            *ticks = ticks.saturating_add(samples(group));
            // The profile has the calls of the program's functions.
            let calls = group.iter().filter(|count| number != PROGRAM && !count.is_samples());
            totals.calls = calls.fold(totals.calls, |sum, count| sum.saturating_add(count.count));
        }
        totals
    }

    /// Adds the totals of an existing file. The result is false if there is no such file.
    pub(crate) fn add_file(&mut self, path: &CStr) -> bool {
        let Some(other) = read(path) else { return false };
        self.processes = self.processes.saturating_add(other.processes);
        for (sum, more) in [
            (&mut self.vdso, other.vdso),
            (&mut self.kernel, other.kernel),
            (&mut self.elsewhere, other.elsewhere),
            (&mut self.calls, other.calls),
        ] {
            *sum = sum.saturating_add(more);
        }
        true
    }

    /// Sets the samples in the program.
    pub(crate) fn set_samples_in_program(&mut self, ticks: u64) {
        let all = [self.vdso, self.kernel, self.elsewhere];
        self.ticks = all.into_iter().fold(ticks, u64::saturating_add);
    }

    /// Encodes the parts with totals.
    fn encode(&self, room: &mut [u8; SIZE]) {
        let out = &mut Piece::new(room);
        let mut digits = Digits::new();
        (self.processes.max(1).ilog10()..9).for_each(|_| digits.push(b"0"));
        digits.push_decimal(u64::from(self.processes));
        part(out, PROPERTIES, 0, RUNS_SIZE);
        property(out, property::RUNS, digits.as_bytes());
        for (object, ticks) in [(VDSO, self.vdso), (KERNEL, self.kernel), (ELSEWHERE, self.elsewhere)] {
            part(out, SAMPLES, 0, BIN_SIZE);
            let _ = BinEncoder::begin(out, None, object as u32, 1);
            number(out, 0);
            padded_number(out, ticks);
        }
        part(out, CALLS, 0, CALLS_SIZE);
        thread_of(out, None);
        for value in [ELSEWHERE as u64, 0, ELSEWHERE as u64, 0] {
            number(out, value);
        }
        padded_number(out, self.calls);
        padding(out, CALLS_SIZE);
        part(out, CUTS, 0, CUT_SIZE);
        number(out, u64::from(CutReason::NOT_KEPT.code()));
        padded_number(out, self.ticks);
        padding(out, CUT_SIZE);
    }

    /// Decodes the parts with totals; `None` if these are other parts.
    fn decode(bytes: &[u8; SIZE]) -> Option<Totals> {
        let number = |at: usize| read_number(bytes.get(at..)?).map(|(value, _)| value);
        let [vdso, kernel, elsewhere] = BINS_AT;
        let totals = Totals {
            processes: decimal(bytes.get(RUNS_AT..RUNS_AT + 10)?)?,
            vdso: number(vdso)?,
            kernel: number(kernel)?,
            elsewhere: number(elsewhere)?,
            calls: number(CALLS_AT)?,
            ticks: number(CUT_AT)?,
        };
        let mut same = [0; SIZE];
        totals.encode(&mut same);
        (same == *bytes).then_some(totals)
    }
}

/// Reads the totals of a file; `None` if there is no file with totals.
fn read(path: &CStr) -> Option<Totals> {
    let file = output::directory_of(path).ok()?.open_regular_for_reading(path).ok()?;
    let mut bytes = [0; SIZE];
    let start = file.status().ok().and_then(|status| (status.size as usize).checked_sub(SIZE + END_SIZE));
    let is_whole = start.is_some_and(|start| file.read_at(&mut bytes, start) == Ok(SIZE));
    let _ = file.close();
    if is_whole { Totals::decode(&bytes) } else { None }
}

/// Writes the file of totals, beside the sum described by `profile`.
pub(crate) fn put(out: &mut Writer, profile: Written, totals: &Totals) {
    header::put(out, Of::Finished(profile));
    out.part(PROPERTIES, run::put_sampling);
    out.part(OBJECTS, objects::put_program);
    let mut parts = [0; SIZE];
    totals.encode(&mut parts);
    out.put(&parts);
    out.put_end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_come_back_and_nothing_else_is_taken_for_totals() {
        for (processes, count) in [(1, 0), (9, 127), (10, 128), (u32::MAX, u64::MAX)] {
            let totals =
                Totals { processes, vdso: count, kernel: count / 2, elsewhere: count / 3, calls: 7, ticks: count };
            let mut bytes = [0; SIZE];
            totals.encode(&mut bytes);
            assert_eq!(Totals::decode(&bytes), Some(totals));
            for at in 0..SIZE {
                let mut other = bytes;
                other[at] ^= 0x40;
                assert_ne!(Totals::decode(&other), Some(totals), "byte {at}");
            }
        }
    }
}
