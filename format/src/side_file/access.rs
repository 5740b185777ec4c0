//! What a side file says.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::content::{Checksum, SideFile};
use super::contexts::ContextTree;
use super::counts::{Calls, Samples, Thread};
use super::estimates::Estimates;
use super::object::{Mapping, Object};
use super::selections::{Selection, covered};
use crate::encode::side_file::CutReason;
use crate::layout::side_file::{PROGRAM, property};
use crate::{Order, Word};

impl SideFile {
    /// The size of an address of the program.
    #[must_use]
    pub fn word(&self) -> Word {
        self.word
    }

    /// The byte order of the file.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// Whether the program still ran, or was killed.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// The profile that the file belongs to: the checksum of the profile, or of the start of a live one. `None` in a
    /// sum whose profile is not written yet.
    #[must_use]
    pub fn profile(&self) -> Option<Checksum> {
        self.profile
    }

    /// Whether the file belongs to the profile with these bytes.
    #[must_use]
    pub fn is_of(&self, profile: &[u8]) -> bool {
        self.profile.is_some_and(|of| (self.is_live || of.length == profile.len() as u64) && of.begins(profile))
    }

    /// The properties of the run: keys with their values.
    pub fn properties(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.properties.iter().filter_map(|property| {
            let (key, value) = property.split_at_checked(property.iter().position(|byte| *byte == b'=')?)?;
            Some((key, value.get(1..)?))
        })
    }

    /// The value of a property.
    #[must_use]
    pub fn property(&self, key: &[u8]) -> Option<&[u8]> {
        self.properties().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Samples per second; `None` if unknown.
    #[must_use]
    pub fn rate(&self) -> Option<u32> {
        decimal(self.property(property::RATE)?)
    }

    /// The CPU time during which the samples were taken, in nanoseconds; `None` if unknown.
    #[must_use]
    pub fn cpu_time(&self) -> Option<u64> {
        self.property(property::CPU).and_then(decimal)
    }

    /// The time by the wall clock that the profile spans, in nanoseconds; `None` if unknown.
    #[must_use]
    pub fn elapsed(&self) -> Option<u64> {
        self.property(property::ELAPSED).and_then(decimal)
    }

    /// The number of runs that the file is of.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.property(property::RUNS).and_then(decimal).unwrap_or(1)
    }

    /// The objects with their numbers, in ascending order.
    pub fn objects(&self) -> impl Iterator<Item = (u32, &Object)> {
        self.objects.iter().map(|(number, object)| (*number, object))
    }

    /// The object with this number.
    #[must_use]
    pub fn object(&self, number: u32) -> Option<&Object> {
        self.objects.get(&number)
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> Option<&Object> {
        self.object(PROGRAM)
    }

    /// The names of the functions of an object that is generated code. A name need not be text, and several functions
    /// may have the same. [`function_addresses`](crate::side_file::function_addresses) returns the addresses of each.
    #[must_use]
    pub fn functions(&self, object: u32) -> &[Box<[u8]>] {
        self.functions.get(&object).map_or(&[], Vec::as_slice)
    }

    /// The threads, if the run counted by thread. Nodes of the tree and counts name a thread by its index.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Where objects were mapped. A later mapping replaces what earlier ones say about its addresses.
    #[must_use]
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// The samples outside the program, and with threads all samples by thread.
    #[must_use]
    pub fn samples(&self) -> &[Samples] {
        &self.samples
    }

    /// The samples that were taken while calls were counted on demand, those of the program included.
    #[must_use]
    pub fn counted_samples(&self) -> &[Samples] {
        &self.counted_samples
    }

    /// The calls that the profile cannot hold, and with threads all calls by thread.
    #[must_use]
    pub fn calls(&self) -> &[Calls] {
        &self.calls
    }

    /// The calls that were counted on demand. `None` if all calls were counted during the whole run.
    #[must_use]
    pub fn selections(&self) -> Option<&[Selection]> {
        self.selections.as_deref()
    }

    /// The time in nanoseconds during which any calls were counted, if they were counted on demand.
    #[must_use]
    pub fn counted_time(&self) -> Option<u64> {
        self.selections.as_ref().map(|selections| covered(selections.iter()))
    }

    /// The calls that were estimated from short windows. [`SideFile::calls`] and the profile have none of these calls.
    /// A function of a [selection](SideFile::selections) without a row was called in no window.
    #[must_use]
    pub fn estimates(&self) -> Option<&Estimates> {
        self.estimates.as_ref()
    }

    /// The calling contexts of the samples.
    #[must_use]
    pub fn contexts(&self) -> &ContextTree {
        &self.contexts
    }

    /// The ticks that are in no node of the tree, by reason.
    pub fn unwalked(&self) -> impl Iterator<Item = (CutReason, u64)> {
        self.cuts.iter().map(|(reason, ticks)| (*reason, *ticks))
    }
}

/// A decimal number.
pub(super) fn decimal<T: core::str::FromStr>(text: &[u8]) -> Option<T> {
    core::str::from_utf8(text).ok()?.parse().ok()
}
