//! The counts of shared objects in a side file.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gmon::Arc;
use gmon::side_file::{
    Call, Calls, Estimates, Identity, KERNEL, Kind, Object, PROGRAM, Samples, SideFile, function_addresses,
};

use super::counts::{ObjectCounts, RunCounts, RunObject, SparseProfile};
use crate::program::image::{self, files};
use crate::sources::shared_objects::counts::OutsideImages;

/// What the counts of a number of a side file belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Program,
    /// A shared object, by its index.
    Object(usize),
    Vdso,
    Kernel,
    Elsewhere,
}

/// The identity of an object, as [`crate::program::image::identity()`] returns it for the object's file.
pub(crate) fn identity(object: &Object) -> Option<String> {
    match &object.identity {
        Identity::BuildId(id) => {
            let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            Some(image::padded_build_id(&digits))
        }
        Identity::Headers(sum) => Some(format!("headers:{sum:016x}")),
        _ => None,
    }
}

/// The path of an object.
pub(crate) fn path(object: &Object) -> PathBuf {
    OsStr::from_bytes(&object.path).into()
}

impl RunCounts {
    /// The counts of all threads in a side file.
    pub(crate) fn of(side: &SideFile) -> RunCounts {
        let mut counts = Sorting::new(side);
        for samples in side.samples().iter().filter(|samples| samples.thread().is_none()) {
            counts.samples(samples.object(), samples.bins());
        }
        for calls in side.calls().iter().filter(|calls| calls.thread().is_none()) {
            calls.calls().iter().for_each(|call| counts.call(call));
        }
        counts.result
    }

    /// Looks for the files of the objects below a directory. Generated code has no file.
    pub(crate) fn take_files_below(&mut self, sysroot: Option<&Path>) {
        for object in self.objects.iter_mut().filter(|object| object.functions.is_empty()) {
            object.path = files::below(sysroot, &object.path);
        }
    }
}

/// Sorts the counts of a side file by object.
struct Sorting {
    owners: BTreeMap<u32, Owner>,
    result: RunCounts,
}

impl Sorting {
    fn new(side: &SideFile) -> Sorting {
        let used = used(side);
        let mut sorting = Sorting { owners: BTreeMap::new(), result: RunCounts::default() };
        // Objects with several numbers are one object.
        let mut known: BTreeMap<(PathBuf, Option<String>), usize> = BTreeMap::new();
        for (number, object) in side.objects() {
            let owner = match object.kind {
                Kind::Program => Owner::Program,
                Kind::Vdso => Owner::Vdso,
                Kind::Generated if side.functions(number).is_empty() => continue,
                _ if !used.contains(&number) => continue,
                _ => {
                    let key = (path(object), identity(object));
                    let functions = side.functions(number);
                    let at = known.get(&key).copied().filter(|_| functions.is_empty());
                    let at = at.unwrap_or_else(|| sorting.add(number, &key, object, functions));
                    known.insert(key, at);
                    sorting.result.numbers.insert(number, at);
                    Owner::Object(at)
                }
            };
            sorting.owners.insert(number, owner);
        }
        sorting
    }

    /// Adds an object without counts, and returns its index.
    fn add(
        &mut self,
        number: u32,
        (path, identity): &(PathBuf, Option<String>),
        object: &Object,
        functions: &[Box<[u8]>],
    ) -> usize {
        let code = match functions.len() {
            0 => object.code.clone(),
            number => 0..function_addresses(number).start,
        };
        let counts = SparseProfile { code, ..SparseProfile::default() };
        self.result.objects.push(RunObject {
            number: number.into(),
            identity: identity.clone(),
            path: path.clone(),
            functions: functions.to_vec(),
            counts: ObjectCounts::Sparse(counts),
        });
        self.result.objects.len() - 1
    }

    fn owner(&self, number: u32) -> Owner {
        match number {
            KERNEL => Owner::Kernel,
            _ => self.owners.get(&number).copied().unwrap_or(Owner::Elsewhere),
        }
    }

    /// The counts of the object at an index.
    fn counts(&mut self, at: usize) -> Option<&mut SparseProfile> {
        match &mut self.result.objects.get_mut(at)?.counts {
            ObjectCounts::Sparse(counts) => Some(counts),
            ObjectCounts::File { .. } => None,
        }
    }

    fn samples(&mut self, number: u32, bins: impl Iterator<Item = (Range<u64>, u64)>) {
        let owner = self.owner(number);
        if let Owner::Object(at) = owner
            && let Some(counts) = self.counts(at)
        {
            counts.bins.extend(bins);
            return;
        }
        let OutsideImages { kernel, vdso, elsewhere, .. } = &mut self.result.outside_images;
        let sum = match owner {
            // The profile has the samples of the program.
            Owner::Program | Owner::Object(_) => return,
            Owner::Kernel => kernel,
            Owner::Vdso => vdso,
            Owner::Elsewhere => elsewhere,
        };
        *sum = bins.fold(*sum, |sum, (_, ticks)| sum.saturating_add(ticks));
    }

    fn call(&mut self, call: &Call) {
        let Call { caller, callee, count } = *call;
        let (from, to) = (self.owner(caller.object), self.owner(callee.object));
        let (from_number, to_number) = (self.number(from), self.number(to));
        match to {
            // The profile has the calls of the program's functions.
            Owner::Program => {}
            Owner::Object(at) => {
                let frompc = if from == to { caller.address } else { 0 };
                if let Some(counts) = self.counts(at) {
                    counts.arcs.push(Arc::new(frompc, callee.address, count));
                }
            }
            Owner::Vdso | Owner::Kernel | Owner::Elsewhere => {
                let calls = &mut self.result.outside_images.calls;
                *calls = calls.saturating_add(count);
            }
        }
        if let (Some(from_number), Some(to_number)) = (from_number, to_number)
            && from != to
        {
            self.result.arcs.push(([from_number, caller.address, to_number, callee.address], count));
        }
    }

    /// The number by which calls between objects refer to the program or to an object.
    fn number(&self, owner: Owner) -> Option<u64> {
        match owner {
            Owner::Program => Some(PROGRAM.into()),
            Owner::Object(at) => self.result.objects.get(at).map(|object| object.number),
            Owner::Vdso | Owner::Kernel | Owner::Elsewhere => None,
        }
    }
}

/// The numbers of objects with samples, calls, estimates of calls, or calling contexts.
fn used(side: &SideFile) -> BTreeSet<u32> {
    let samples = side.samples().iter().map(Samples::object);
    let calls = side.calls().iter().flat_map(Calls::calls);
    let calls = calls.flat_map(|call| [call.caller.object, call.callee.object]);
    let estimates = side.estimates().into_iter().flat_map(Estimates::rows);
    let estimates = estimates.flat_map(|row| [Some(row.callee.object), row.caller.map(|caller| caller.object)]);
    let mut contexts: Vec<u32> = side.contexts().nodes().iter().map(|node| node.place().object).collect();
    contexts.sort_unstable();
    contexts.dedup();
    samples.chain(calls).chain(estimates.flatten()).chain(contexts).collect()
}
