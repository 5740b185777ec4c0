//! Decides whether the first spare word of a header is FreeBSD's type of counters.
//!
//! Old writers of the plain form leave memory of their stack in the three spare words, and a small number there can
//! look like a type. The writers that store a type clear the header first, so the other two words are 0.

use super::raw_samples::WideCounts;
use super::read::Header;
use crate::decode::Result;
use crate::detection::evidence::Evidence;
use crate::detection::file::File;
use crate::older_rust::is_multiple;
use crate::{Counter, Order, Word};

/// The bytes of code for each counter of FreeBSD: the alignment of functions on x86, on 32-bit ARM and PowerPC (and in
/// kernels for x86), and on AArch64.
const FUNCTION_ALIGNMENTS: [u64; 3] = [4, 16, 32];

/// The bytes of code for each counter of the writers that do not clear the header.
const PLAIN_BIN: u64 = 4;

/// A rate that no clock of samples has. Kernels with GUPROF count a timer of one megahertz or more.
const TIMER_RATE: u32 = 100_000;

/// What the first spare word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spare {
    /// The type of the counters.
    Type(Counter),
    /// Memory that was never initialized: the counters are the 16-bit ones of the plain form.
    Garbage(Reason),
    /// Either, with different meanings of the samples.
    Both(Counter),
}

/// Why a word that looks like a type of counters is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The other two spare words are not 0.
    OtherWords,
    /// Plain counters have the density of known writers, and counters of the type have none.
    Density,
    /// Counters of the type have counts that no program reaches.
    Counts,
}

impl Reason {
    /// The fact for the caller.
    pub(super) fn evidence(self, value: i32) -> Evidence {
        match self {
            Reason::OtherWords => Evidence::UnclearedHeader { value },
            Reason::Density => Evidence::PlainDensity { value },
            Reason::Counts => Evidence::ImpossibleCounts { value },
        }
    }
}

/// What the header says. `None` if the word is not a type of counters, or the samples are not whole counters of it.
pub(super) fn by_header(header: &Header, word: Word) -> Option<Spare> {
    let has_whole_counters = |counter: &Counter| is_multiple(header.samples_size, counter.width.size() as u64);
    let counter = Counter::from_histcounter_type(header.spare).filter(has_whole_counters)?;
    if header.has_other_spare {
        return Some(Spare::Garbage(Reason::OtherWords));
    }
    let is_plain_possible = is_multiple(header.samples_size, 2);
    if counter == Counter::U16 || !is_plain_possible || has_careful_writer(header, word) {
        return Some(Spare::Type(counter));
    }
    let span = header.highpc.saturating_sub(header.lowpc);
    let bins = |width: u64| header.samples_size.checked_div(width).unwrap_or(0);
    let is_plain = bins(2).saturating_mul(PLAIN_BIN).abs_diff(span) < PLAIN_BIN;
    let wide_bins = bins(counter.width.size() as u64);
    // The last bin may cover less code than the others.
    let has_bins_of = |size: &u64| {
        let more = wide_bins.saturating_mul(*size).checked_sub(span);
        more.is_some_and(|more| more == 0 || wide_bins > 1 && more < *size)
    };
    // Sums of glibc's profiles: glibc rounds the number of bins up to a whole `long`.
    let is_rounded = wide_bins >= 16 && wide_bins % 4 == 0;
    let is_of_glibc = is_rounded && wide_bins.saturating_mul(4).checked_sub(span).is_some_and(|more| more < 16);
    // No system has signed counters of 16 bits.
    let is_wide = counter.width.size() != 2 && (is_of_glibc || FUNCTION_ALIGNMENTS.iter().any(has_bins_of));
    Some(match (is_plain, is_wide) {
        (true, false) => Spare::Garbage(Reason::Density),
        (false, true) => Spare::Type(counter),
        _ => Spare::Both(counter),
    })
}

/// Whether only a writer that clears the header makes such a file: `kgmon` for the addresses of a kernel or the rate of
/// a timer, and `pmcstat` for events without a rate.
fn has_careful_writer(header: &Header, word: Word) -> bool {
    let kernel = match word {
        Word::W32 => 0xc000_0000,
        Word::W64 => 1 << 63,
    };
    header.lowpc >= kernel || header.profrate == 0 || header.profrate >= TIMER_RATE && header.spare == -64
}

/// What header and samples say, if the header alone leaves two meanings.
pub(super) fn by_samples(file: &mut impl File, header: &Header, counter: Counter, at: (Word, Order)) -> Result<Spare> {
    let (word, order) = at;
    let start = word.header_size();
    let mut counts = WideCounts::new(counter, order);
    file.scan(start..start.saturating_add(header.samples_size), |piece| counts.see(piece))?;
    Ok(match counts {
        // The meaning of the samples is the same.
        WideCounts { differ: false, .. } => Spare::Type(counter),
        WideCounts { impossible: true, .. } => Spare::Garbage(Reason::Counts),
        _ => Spare::Both(counter),
    })
}
