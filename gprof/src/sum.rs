//! The sum of profiles as a file.

use std::fs;

use gmon::{Arc, Encoding, Form, Order, Profile, Word};

use crate::analysis::Blocks;
use crate::error::Error;
use crate::functions::{Function, Functions};
use crate::graph::arcs::Arcs;
use crate::selection::ArcSelection;

/// The file's name, which stands in the current directory.
pub const NAME: &str = "gmon.sum";

/// How many times the length of what was summed the records may take that are repeated because a count is too wide for
/// the form, and what they may always take. Sums of GNU's form need no more than was read; a count of 64 bits of another
/// form may ask for anything, but that of a program that calls a function each nanosecond for ten days is within this, and so
/// are 30 million samples in one bin: an hour and a half of 64 threads in one loop.
const FACTOR: u64 = 256;
const SLACK: u64 = 16 << 20;

/// Stores a sum in GNU's form. Nothing of it is lost: counts too wide for the form are spread over several records.
/// `summed` is the length of the files that were summed.
///
/// # Errors
///
/// When the file cannot be written, or a number is too great to be spread.
pub fn write(profile: &Profile, word: Word, order: Order, summed: u64) -> Result<(), Error> {
    let limit = summed.saturating_mul(FACTOR).saturating_add(SLACK).min(gmon::REPEAT_LIMIT);
    let bytes = gmon::write_within(profile, Encoding { form: Form::Gnu, word, order }, limit)
        .map_err(|source| Error::Profile { file: NAME.to_owned(), source })?;
    fs::write(NAME, bytes).map_err(|source| Error::Write { file: NAME.to_owned(), source })
}

/// The sum that GNU's reader writes: calls are from lines to functions, in the order of the callers, and of each caller the
/// one that the profiles name last comes first. What is chosen against is left out. Bins lose what does not fit into 16
/// bits and counts what does not fit into 32, in the form of the 4.4BSD family as well.
#[must_use]
pub fn as_gnu(profile: &Profile, functions: &Functions<'_>, chosen: &ArcSelection) -> Profile {
    let mut sum = Profile { histograms: profile.histograms.clone(), ..Profile::default() };
    for bin in sum.histograms.iter_mut().flat_map(|histogram| &mut histogram.bins) {
        *bin &= u64::from(u16::MAX);
    }
    let arcs = Arcs::chosen(&profile.arcs, functions, chosen, &[], false);
    let calls = functions.ids().flat_map(|caller| arcs.children(caller)).map(|id| {
        let arc = arcs.get(*id);
        let address = |function: &Function<'_>| function.address;
        let (frompc, selfpc) = (address(&functions[arc.parent]), address(&functions[arc.child]));
        Arc { frompc, selfpc, count: arc.count & u64::from(u32::MAX) }
    });
    sum.arcs = calls.collect();
    let blocks = Blocks::new(&profile.blocks, functions, Blocks::MOST_OF_GNU);
    sum.blocks = functions.ids().flat_map(|line| blocks.of(line)).copied().collect();
    sum
}
