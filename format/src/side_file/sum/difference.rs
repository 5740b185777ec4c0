//! Takes the counts of an earlier file of a run away.

use alloc::format;

use super::tree::is_temporary;
use super::{Accumulator, CallSums, SampleSums, add_calls, add_samples};
use crate::layout::side_file::property;
use crate::side_file::content::SideFile;
use crate::{Error, Part};

impl Accumulator {
    /// Takes the counts of an earlier file of the same run away from a sum that has the later file only. `threads` has
    /// the names that the earlier file's threads have in the later file. Nodes without ticks may remain.
    ///
    /// After an error, the sum is of no use.
    pub(in crate::side_file) fn take_away(&mut self, earlier: &SideFile, threads: &[&[u8]]) -> Result<(), Error> {
        // The nodes of the earlier file that the sum does not have are added.
        self.tree.check(&earlier.contexts)?;
        self.take_times(earlier)?;
        let translation = self.names.find(earlier, threads);
        for (sums, all) in
            [(&mut self.samples, &earlier.samples), (&mut self.counted_samples, &earlier.counted_samples)]
        {
            let mut samples = SampleSums::new();
            add_samples(&mut samples, all, &translation);
            take_samples(sums, samples)?;
        }
        let mut calls = CallSums::new();
        add_calls(&mut calls, &earlier.calls, &translation);
        for (of, count) in calls {
            let (_, _, callee) = of;
            lower(self.calls.get_mut(&of), count, Part::Calls, callee.address)?;
        }
        self.calls.retain(|_, count| *count > 0);
        self.tree.take_away(&earlier.contexts, |place| translation.place(place))?;
        for (reason, ticks) in &earlier.cuts {
            let known = self.cuts.get_mut(reason);
            let ticks =
                if is_temporary(*reason) { known.as_deref().map_or(0, |known| *ticks.min(known)) } else { *ticks };
            lower(known, ticks, Part::Cuts, reason.code().into())?;
        }
        self.cuts.retain(|_, ticks| *ticks > 0);
        self.take_threads(earlier, threads)?;
        let totals = &mut self.totals;
        for (total, less) in [
            (&mut totals.samples, earlier.samples_total),
            (&mut totals.counted_samples, earlier.counted_samples_total),
            (&mut totals.calls, earlier.calls_total),
        ] {
            *total = total.saturating_sub(less);
        }
        totals.cuts = self.cuts.values().fold(0, |sum, ticks| sum.saturating_add(*ticks));
        Ok(())
    }

    /// Takes the times away. A time that is not known in both files is not known.
    fn take_times(&mut self, earlier: &SideFile) -> Result<(), Error> {
        self.runs = 1;
        let Some(shared) = &mut self.shared else { return Ok(()) };
        for (key, time, before) in [
            (property::CPU, &mut shared.cpu_time, earlier.cpu_time()),
            (property::ELAPSED, &mut shared.elapsed, earlier.elapsed()),
        ] {
            let Some((later, before)) = time.zip(before) else {
                *time = None;
                continue;
            };
            *time = later.checked_sub(before);
            if time.is_none() {
                let [earlier, later] = [before, later].map(|time| format!("{time}").into_bytes());
                return Err(Error::NotEarlier { key, earlier, later });
            }
        }
        Ok(())
    }

    /// Takes the counts of threads away.
    fn take_threads(&mut self, earlier: &SideFile, names: &[&[u8]]) -> Result<(), Error> {
        for (thread, name) in earlier.threads.iter().zip(names) {
            let known = self.names.thread_mut(name);
            let (ticks, calls) = known.map(|known| (&mut known.ticks, &mut known.calls)).unzip();
            lower(ticks, thread.ticks, Part::Samples, thread.number)?;
            lower(calls, thread.calls, Part::Calls, thread.number)?;
        }
        Ok(())
    }
}

/// Takes samples away, and removes bins without ticks.
fn take_samples(sums: &mut SampleSums, samples: SampleSums) -> Result<(), Error> {
    for (of, bins) in samples {
        let (_, _, bin_size) = of;
        let mut known = sums.get_mut(&of);
        for (index, ticks) in bins {
            let sum = known.as_mut().and_then(|known| known.get_mut(&index));
            lower(sum, ticks, Part::Samples, index.saturating_mul(bin_size))?;
        }
    }
    sums.values_mut().for_each(|bins| bins.retain(|_, ticks| *ticks > 0));
    Ok(())
}

/// Takes a count away from a sum. The sum is 0 if there is none.
fn lower(sum: Option<&mut u64>, count: u64, part: Part, address: u64) -> Result<(), Error> {
    let mut none = 0;
    let sum = sum.unwrap_or(&mut none);
    let (earlier, later) = (count.into(), (*sum).into());
    *sum = sum.checked_sub(count).ok_or(Error::Lower { part, address, earlier, later })?;
    Ok(())
}
