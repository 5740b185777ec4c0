//! Writes the side file: what stands beside the profile, and no profile can hold.
//!
//! The side file says which program the profile belongs to, which other objects were loaded, and what was counted in
//! these objects, between them, and in no object. docs/side-file.md has the layout; [`gmon::encode::side_file`] encodes
//! the items, and [`Writer::part`] writes parts of any length in one pass.

mod contexts;
mod counts;
mod header;
mod live_file;
mod objects;
pub(crate) mod on_demand;
pub(crate) mod run;
mod slots;
pub(crate) mod threads;
pub(crate) mod totals;

use super::kept::Kept;
use super::output::{self, Refusal};
use super::writer::{Writer, Written};
use super::{live, names, stale, successor};
pub(crate) use counts::{has_contents, place, put_counted_samples};
pub(crate) use header::Of;
pub(crate) use live_file::{describe_mappings, describe_objects};
pub(crate) use run::{Sampled, gets_ticks, put_elapsed, remember as remember_run, set_rank, set_sampler};
#[allow(unused_imports, reason = "not all systems pass the words to the runtime")]
pub(crate) use run::{add_counted_time, counted_time, remember_command};

use core::ops::Range;

use crate::message::say_error;
use crate::objects::Tally;
use crate::os::Fd;
use crate::samples::contexts::{self as tree, has_ticks};

/// Writes the side file of a profile with `in_profile` ticks, and with the counts outside the program, sorted by place
/// and caller. A failure is reported if counts or calling contexts are lost.
///
/// Without counts, the user wants no side file. Files of an earlier run are removed then.
pub(crate) fn write(of: Of, in_profile: u64, counts: Option<&[Tally]>) {
    stale::remove(counts.is_none());
    let Some(counts) = counts else { return };
    let path = names::name_beside(&[names::SIDE]);
    if tree::is_live() && of.is_growing() {
        // The file has all but the calls.
        if let Err(refusal) = live_file::put_calls(counts) {
            output::say_refusal(path.to_bytes(), refusal, b"");
        }
        return;
    }
    // Without memory, the live file stays what it is: the file of a profile that begins as this profile. It also stays
    // if the new file cannot be written.
    let is_live = tree::is_live();
    if !tree::leave_live() {
        return;
    }
    // If nothing was counted outside, and there is no sample, the profile is complete without the side file.
    if let Err(refusal) = write_file(of, in_profile, counts, is_live)
        && (has_contents(counts) || has_ticks())
    {
        output::say_refusal(path.to_bytes(), refusal, b"");
    }
}

/// Writes the side file of a live profile at start-up, because the file may be all that remains of the run. The profile
/// has bins for the addresses `bins`.
pub(crate) fn announce(bins: Range<usize>) {
    let Some(header) = live::header() else { return };
    if tree::are_kept() {
        stale::remove(false);
        match live_file::begin(header, bins) {
            Ok(()) => return,
            Err((what, error)) => {
                let path = names::name_beside(&[names::SIDE]);
                say_error(&[b"GMON_LIVE: writing ", path.to_bytes(), b" only at the end: cannot ", what], error);
            }
        }
    }
    announce_of(header);
}

/// Writes the side file of a growing profile that begins with `header`.
pub(crate) fn announce_of(header: Written) {
    stale::remove(false);
    // A failure is reported later, if there is something to lose.
    let _ = write_file(Of::Growing(header), 0, &[], false);
}

/// Writes the side file of a copy of the profile, `elapsed` nanoseconds after the start of the profile. The files of
/// the process stay as they are.
#[allow(dead_code, reason = "not all systems take requests")]
pub(crate) fn write_copy(
    file: Fd,
    of: Written,
    in_profile: u64,
    counts: &[Tally],
    elapsed: u64,
) -> Result<(), Refusal> {
    let mut out = Writer::new(file);
    put_parts(&mut out, Of::Finished(of), in_profile, counts, Some(elapsed));
    out.finish().map(|_| ()).map_err(|error| (&b"write the side file"[..], error))
}

/// Writes the file. With `has_earlier`, this run has written a file that is better than none.
fn write_file(of: Of, in_profile: u64, counts: &[Tally], has_earlier: bool) -> Result<(), Refusal> {
    successor::store(Kept::SideFile, has_earlier, |file| {
        let mut out = Writer::new(file);
        put_parts(&mut out, of, in_profile, counts, None);
        out.finish().map(|_| ())
    })
}

/// Writes all parts, in the order of the file. The time that has `elapsed` since the start of the profile is there at
/// least if it is known here.
fn put_parts(out: &mut Writer, of: Of, in_profile: u64, counts: &[Tally], elapsed: Option<u64>) {
    header::put(out, of);
    run::put(out);
    objects::put(out);
    if of.is_growing() {
        objects::put_mappings(out);
    }
    let outside = counts::put_samples(out, counts);
    counts::put_calls(out, counts, usize::MAX);
    contexts::put(out, in_profile.saturating_add(outside));
    if !on_demand::put(out)
        && let Some(elapsed) = elapsed
    {
        put_elapsed(out, elapsed);
    }
    out.put_end();
}

#[cfg(test)]
pub(super) mod tests;
