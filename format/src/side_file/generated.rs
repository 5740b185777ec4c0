//! Finds the samples in code that the program generated while it ran, and gives the functions there their names.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use super::content::SideFile;
use super::contexts::Node;
use super::counts::Samples;
use super::estimates::Estimates;
use super::functions;
use super::object::{Kind, Object};
use crate::encode::side_file::Place;
use crate::layout::side_file::{ELSEWHERE, FIRST_RESERVED, GENERATED, PROGRAM};
use crate::perf_map;

impl SideFile {
    /// Returns whether counts at addresses in no known object are there: code that the program generated, and that
    /// [`SideFile::name_generated_code`] has not named.
    #[must_use]
    pub fn has_unnamed_code(&self) -> bool {
        !self.has_generated_code() && !self.unknown_addresses(&self.callers()).is_empty()
    }

    /// Whether an object is generated code.
    fn has_generated_code(&self) -> bool {
        self.objects.values().any(|object| object.kind == Kind::Generated)
    }

    /// Moves counts at known addresses in no known object to a new object, the code that the program generated. `map`
    /// is the perf map file of the process, or empty. Code that the map names has the functions of the map, and all
    /// other code is one function with the name [`GENERATED`].
    ///
    /// Addresses of generated code mean nothing in another run, so functions of one name become one function, whose
    /// address follows from the order of the names.
    ///
    /// Returns false, and changes nothing, if there is no such code, or if the file already has generated code.
    pub fn name_generated_code(&mut self, map: &[u8]) -> bool {
        if self.has_generated_code() {
            return false;
        }
        let callers = self.callers();
        let addresses = self.unknown_addresses(&callers);
        let mut free = (PROGRAM.saturating_add(1)..FIRST_RESERVED).filter(|number| !self.objects.contains_key(number));
        let Some(number) = free.next().filter(|_| !addresses.is_empty()) else { return false };
        let names = perf_map::names(map, addresses.clone());
        let name_of = |address: u64| names.get(&address).copied().unwrap_or(GENERATED);
        let all: BTreeSet<&[u8]> = addresses.iter().map(|address| name_of(*address)).collect();
        if all.len() > functions::MOST {
            return false;
        }
        let indexes: BTreeMap<&[u8], usize> = all.into_iter().zip(0..).collect();
        let index = |address: u64| indexes.get(name_of(address)).copied().unwrap_or(0);
        let places: BTreeMap<u64, u64> =
            addresses.into_iter().map(|address| (address, functions::address_of(index(address)))).collect();
        self.move_unknown(number, &callers, &places);
        let code = 0..functions::function_addresses(indexes.len()).start;
        self.objects.insert(number, Object { code, ..Object::new(Kind::Generated, GENERATED) });
        self.functions.insert(number, indexes.into_keys().map(Into::into).collect());
        true
    }

    /// The addresses in no known object. For a bin, this is the last byte, and for a return address the address before
    /// the return address. `callers` has a flag for each node of the tree that has callees.
    fn unknown_addresses(&self, callers: &[bool]) -> BTreeSet<u64> {
        let nodes = self.contexts.nodes.iter().zip(callers);
        let nodes = nodes.filter_map(|(node, is_caller)| address_in_function(node.place(), *is_caller));
        let samples = self.samples.iter().chain(&self.counted_samples);
        let samples = samples.filter(|samples| samples.object == ELSEWHERE);
        let bins = samples.flat_map(|samples| samples.bins.iter().filter_map(|(index, _)| last_byte(samples, *index)));
        let calls = self.calls.iter().flat_map(|calls| &calls.calls).flat_map(|call| {
            [address_in_function(call.caller, true), address_in_function(call.callee, false)].into_iter().flatten()
        });
        let estimates = self.estimates.iter().flat_map(Estimates::rows).flat_map(|row| {
            let caller = row.caller.and_then(|caller| address_in_function(caller, true));
            [caller, address_in_function(row.callee, false)].into_iter().flatten()
        });
        nodes.chain(bins).chain(calls).chain(estimates).collect()
    }

    /// For each node of the tree whether it has callees.
    fn callers(&self) -> Vec<bool> {
        let mut callers = vec![false; self.contexts.nodes.len()];
        for parent in self.contexts.nodes.iter().filter_map(Node::parent) {
            if let Some(is_caller) = callers.get_mut(parent) {
                *is_caller = true;
            }
        }
        callers
    }

    /// Moves everything at the unknown addresses to an object. `places` has the new address for each of them.
    fn move_unknown(&mut self, object: u32, callers: &[bool], places: &BTreeMap<u64, u64>) {
        let address_of = |address: u64| places.get(&address).copied().unwrap_or(0);
        let moved = |place: Place, is_caller: bool| match address_in_function(place, is_caller) {
            Some(address) => Place { object, address: address_of(address) },
            None => place,
        };
        for (node, is_caller) in self.contexts.nodes.iter_mut().zip(callers) {
            Place { object: node.object, address: node.address } = moved(node.place(), *is_caller);
        }
        for call in self.calls.iter_mut().flat_map(|calls| &mut calls.calls) {
            (call.caller, call.callee) = (moved(call.caller, true), moved(call.callee, false));
        }
        if let Some(estimates) = &mut self.estimates {
            *estimates = estimates.moved(|callee| moved(callee, false), |caller| moved(caller, true));
        }
        move_samples(&mut self.samples, object, address_of);
        move_samples(&mut self.counted_samples, object, address_of);
    }
}

/// Moves the samples at unknown addresses to an object. `address_of` has the new address for each of them.
fn move_samples(all: &mut Vec<Samples>, object: u32, address_of: impl Fn(u64) -> u64) {
    let mut bins: BTreeMap<Option<u32>, BTreeMap<u64, u64>> = BTreeMap::new();
    for samples in all.iter_mut().filter(|samples| samples.object == ELSEWHERE) {
        let (thread, mut left) = (samples.thread, Vec::new());
        for (index, ticks) in core::mem::take(&mut samples.bins) {
            let Some(address) = last_byte(samples, index) else {
                left.push((index, ticks));
                continue;
            };
            let bin = address_of(address).checked_div(functions::BIN).unwrap_or(0);
            let sum = bins.entry(thread).or_default().entry(bin).or_insert(0);
            // The sum of all samples fits.
            *sum = sum.saturating_add(ticks);
        }
        samples.bins = left;
    }
    all.retain(|samples| !samples.bins.is_empty());
    all.extend(bins.into_iter().map(|(thread, bins)| Samples {
        thread,
        object,
        bin_size: functions::BIN,
        bins: bins.into_iter().collect(),
    }));
}

/// The address of a place in no known object, or the address before a return address. `None` for other places, and for
/// address 0, which is unknown.
fn address_in_function(place: Place, is_return_address: bool) -> Option<u64> {
    let address = Some(place.address).filter(|address| place.object == ELSEWHERE && *address != 0)?;
    Some(address.saturating_sub(u64::from(is_return_address)))
}

/// The last byte of a bin. `None` for the bin at address 0, which has the ticks at unknown addresses.
fn last_byte(samples: &Samples, index: u64) -> Option<u64> {
    let start = Some(index.saturating_mul(samples.bin_size)).filter(|start| *start != 0)?;
    Some(start.saturating_add(samples.bin_size.saturating_sub(1)))
}
