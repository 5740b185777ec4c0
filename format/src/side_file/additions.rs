//! Adds items to a side file, and refuses items that contradict the others.

use alloc::boxed::Box;
use core::ops::Range;

use super::content::{Added, Refused, SideFile};
use super::contexts::Node;
use super::counts::{Calls, During, Samples, Thread};
use super::estimates::{EstimatedCalls, Estimates, Windows};
use super::functions;
use super::object::{Kind, Mapping, Object};
use super::selections::Selection;
use crate::encode::side_file::{Call, CutReason, Place};
use crate::layout::side_file::{CUT, ELSEWHERE, FIRST_RESERVED, KERNEL, PROGRAM, THREAD};
use crate::{Error, Part, Word};

impl SideFile {
    /// Adds a property of the run. [`property`](crate::side_file::property) has the keys that this version knows.
    ///
    /// # Errors
    ///
    /// When the key is empty or contains `=`.
    pub fn add_property(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        if key.contains(&b'=') {
            return Err(Refused(Part::Property, key.len() as u64).into());
        }
        Ok(self.push_property([key, b"=", value].concat().into())?)
    }

    pub(super) fn push_property(&mut self, property: Box<[u8]>) -> Added<()> {
        if property.iter().position(|byte| *byte == b'=').is_none_or(|length| length == 0) {
            return Err(Refused(Part::Property, property.len() as u64));
        }
        self.properties.push(property);
        Ok(())
    }

    /// Adds an object. The number of the program is [`PROGRAM`]; other objects have any numbers below 0x7ff0.
    ///
    /// # Errors
    ///
    /// When the number is taken or not possible, or when addresses do not fit.
    pub fn add_object(&mut self, number: u32, object: Object) -> Result<(), Error> {
        Ok(self.push_object(number, object)?)
    }

    pub(super) fn push_object(&mut self, number: u32, object: Object) -> Added<()> {
        if number >= FIRST_RESERVED || self.objects.contains_key(&number) {
            return Err(Refused(Part::ObjectNumber, u64::from(number)));
        }
        if (object.kind == Kind::Program) != (number == PROGRAM) {
            return Err(Refused(Part::ObjectFlags, u64::from(number)));
        }
        if object.code.start > object.code.end {
            return Err(Refused(Part::Size, object.code.end));
        }
        self.address(object.code.end)?;
        self.objects.insert(number, object);
        Ok(())
    }

    /// Adds a function to an object that is generated code, and returns the addresses of the function.
    ///
    /// # Errors
    ///
    /// When the object is not known or is no generated code, when the name is empty, or when there are too many
    /// functions.
    pub fn add_function(&mut self, object: u32, name: &[u8]) -> Result<Range<u64>, Error> {
        Ok(self.push_function(object, name)?)
    }

    pub(super) fn push_function(&mut self, object: u32, name: &[u8]) -> Added<Range<u64>> {
        if self.objects.get(&object).is_none_or(|object| object.kind != Kind::Generated) {
            return Err(Refused(Part::Object, u64::from(object)));
        }
        if name.is_empty() {
            return Err(Refused(Part::FunctionName, 0));
        }
        let known = self.functions.entry(object).or_default();
        if known.len() >= functions::MOST {
            return Err(Refused(Part::Items, known.len() as u64));
        }
        let addresses = functions::function_addresses(known.len());
        known.push(name.into());
        Ok(addresses)
    }

    /// Adds a thread, and returns its index.
    pub fn add_thread(&mut self, thread: Thread) -> usize {
        self.threads.push(thread);
        self.threads.len().saturating_sub(1)
    }

    /// Adds a mapping, which replaces what earlier mappings say about its addresses.
    ///
    /// # Errors
    ///
    /// When the object is not known, or when addresses do not fit.
    pub fn add_mapping(&mut self, mapping: Mapping) -> Result<(), Error> {
        Ok(self.push_mapping(mapping)?)
    }

    pub(super) fn push_mapping(&mut self, mapping: Mapping) -> Added<()> {
        if mapping.addresses.start > mapping.addresses.end {
            return Err(Refused(Part::Size, mapping.addresses.end));
        }
        self.address(mapping.addresses.end)?;
        if !self.objects.contains_key(&mapping.object) {
            return Err(Refused(Part::Object, u64::from(mapping.object)));
        }
        self.mappings.push(mapping);
        Ok(())
    }

    /// Adds samples in one bin: in the code of an object from the address `index * bin_size` on. `thread` is the
    /// index of a thread, or `None` for the samples of all threads, which contain those of each thread.
    ///
    /// # Errors
    ///
    /// When the object or the thread is not known, when the bin is beyond the highest address, or when the sum of all
    /// samples exceeds 64 bits.
    pub fn add_samples(
        &mut self,
        thread: Option<usize>,
        object: u32,
        bin_size: u64,
        index: u64,
        ticks: u64,
    ) -> Result<(), Error> {
        let thread = self.begin_samples(thread, object, bin_size)?;
        Ok(self.push_samples(During::Run, (thread, object, bin_size), index, ticks)?)
    }

    /// Adds samples, as [`SideFile::add_samples`] does, that were taken while calls were counted on demand. Samples of
    /// the program may be among them. The profile, or the samples of the whole run, contain these samples.
    ///
    /// # Errors
    ///
    /// As for [`SideFile::add_samples`].
    pub fn add_counted_samples(
        &mut self,
        thread: Option<usize>,
        object: u32,
        bin_size: u64,
        index: u64,
        ticks: u64,
    ) -> Result<(), Error> {
        let thread = self.begin_samples(thread, object, bin_size)?;
        Ok(self.push_samples(During::Intervals, (thread, object, bin_size), index, ticks)?)
    }

    /// Checks what stands before the bins of a part of samples.
    pub(super) fn begin_samples(&self, thread: Option<usize>, object: u32, bin_size: u64) -> Added<Option<u32>> {
        if bin_size == 0 {
            return Err(Refused(Part::BinSize, bin_size));
        }
        self.code_place(Place { object, address: 0 })?;
        self.thread(thread)
    }

    pub(super) fn push_samples(
        &mut self,
        during: During,
        of: (Option<u32>, u32, u64),
        index: u64,
        ticks: u64,
    ) -> Added<()> {
        let (thread, object, bin_size) = of;
        self.address(index.checked_mul(bin_size).ok_or(Refused(Part::Bin, index))?)?;
        let (samples, total) = match during {
            During::Run => (&mut self.samples, &mut self.samples_total),
            During::Intervals => (&mut self.counted_samples, &mut self.counted_samples_total),
        };
        count(total, ticks)?;
        let fits = |last: &&mut Samples| {
            (last.thread, last.object, last.bin_size) == of && last.bins.last().is_none_or(|(last, _)| *last < index)
        };
        match samples.last_mut().filter(fits) {
            Some(last) => last.bins.push((index, ticks)),
            None => samples.push(Samples { thread, object, bin_size, bins: [(index, ticks)].into() }),
        }
        Ok(())
    }

    /// Adds calls. `thread` is the index of a thread, or `None` for the calls of all threads.
    ///
    /// # Errors
    ///
    /// When an object or the thread is not known, when an address does not fit, or when the sum of all calls exceeds
    /// 64 bits.
    pub fn add_call(&mut self, thread: Option<usize>, call: Call) -> Result<(), Error> {
        let thread = self.thread(thread)?;
        Ok(self.push_call(thread, call)?)
    }

    pub(super) fn push_call(&mut self, thread: Option<u32>, call: Call) -> Added<()> {
        self.code_place(call.caller)?;
        self.code_place(call.callee)?;
        count(&mut self.calls_total, call.count)?;
        match self.calls.last_mut().filter(|last| last.thread == thread) {
            Some(last) => last.calls.push(call),
            None => self.calls.push(Calls { thread, calls: [call].into() }),
        }
        Ok(())
    }

    /// Says that calls are counted on demand only, even if nobody demanded it.
    pub fn set_on_demand(&mut self) {
        self.selections.get_or_insert_default();
    }

    /// Adds functions whose calls were counted in intervals.
    ///
    /// # Errors
    ///
    /// When an object is not known, or when an address does not fit.
    pub fn add_selection(&mut self, selection: Selection) -> Result<(), Error> {
        selection.functions.iter().try_for_each(|function| self.code_place(*function))?;
        self.selections.get_or_insert_default().push(selection);
        Ok(())
    }

    /// Says that calls were estimated from windows. [`SideFile::add_estimate`] adds the estimates.
    ///
    /// # Errors
    ///
    /// When the share is more than the whole, or when the file has other windows.
    pub fn set_windows(&mut self, windows: Windows) -> Result<(), Error> {
        Ok(self.begin_estimates(windows)?)
    }

    pub(super) fn begin_estimates(&mut self, windows: Windows) -> Added<()> {
        match &self.estimates {
            None => self.estimates = Some(Estimates::new(windows)?),
            Some(known) if known.windows() == windows => {}
            Some(_) => return Err(Refused(Part::Windows, windows.number)),
        }
        Ok(())
    }

    /// Adds the estimated calls of a function. Functions ascend. The calls from all callers come first, and then those
    /// from each caller, in ascending order.
    ///
    /// # Errors
    ///
    /// When the file has no [windows](SideFile::set_windows), when an object is not known, when an address does not
    /// fit, when the order is another one, when the calls were seen in no window or in more windows than there are, or
    /// when the sum of all estimates exceeds 64 bits, or that of all variances 128 bits.
    pub fn add_estimate(&mut self, calls: EstimatedCalls) -> Result<(), Error> {
        Ok(self.push_estimate(calls)?)
    }

    pub(super) fn push_estimate(&mut self, calls: EstimatedCalls) -> Added<()> {
        self.code_place(calls.callee)?;
        calls.caller.map_or(Ok(()), |caller| self.code_place(caller))?;
        self.estimates.as_mut().ok_or(Refused(Part::Windows, 0))?.push(calls)
    }

    /// Adds a node to the tree of calling contexts, below a node that was added before, and returns its index.
    ///
    /// # Errors
    ///
    /// When the parent, the object or the thread is not known, when the address does not fit, or when the sum of all
    /// ticks exceeds 64 bits.
    pub fn add_context(&mut self, parent: Option<usize>, place: Place, ticks: u64) -> Result<usize, Error> {
        self.context_place(place)?;
        Ok(self.push_context(parent, place, ticks)?)
    }

    /// Adds a node whose object or thread is known.
    pub(super) fn push_context(&mut self, parent: Option<usize>, place: Place, ticks: u64) -> Added<usize> {
        let index = self.contexts.nodes.len();
        if let Some(parent) = parent.filter(|parent| *parent >= index) {
            return Err(Refused(Part::Parent, parent as u64));
        }
        self.address(place.address)?;
        let node = Node::new(parent, place, ticks).ok_or(Refused(Part::Items, index as u64))?;
        count(&mut self.contexts.total, ticks)?;
        self.contexts.nodes.push(node);
        Ok(index)
    }

    /// Adds ticks that are in no node of the tree.
    ///
    /// # Errors
    ///
    /// When the sum of all such ticks exceeds 64 bits.
    pub fn add_cut(&mut self, reason: CutReason, ticks: u64) -> Result<(), Error> {
        Ok(self.push_cut(reason, ticks)?)
    }

    pub(super) fn push_cut(&mut self, reason: CutReason, ticks: u64) -> Added<()> {
        count(&mut self.cuts_total, ticks)?;
        let sum = self.cuts.entry(reason).or_insert(0);
        *sum = sum.saturating_add(ticks);
        Ok(())
    }

    /// Checks a place in the tree.
    pub(super) fn context_place(&self, place: Place) -> Added<()> {
        let is_small = |most: usize| usize::try_from(place.address).is_ok_and(|address| address < most);
        match place.object {
            THREAD if is_small(self.threads.len()) => Ok(()),
            THREAD => Err(Refused(Part::Thread, place.address)),
            CUT if u32::try_from(place.address).is_ok() => Ok(()),
            CUT => Err(Refused(Part::Code, place.address)),
            _ => self.code_place(place),
        }
    }

    /// Checks a place in code.
    pub(super) fn code_place(&self, place: Place) -> Added<()> {
        self.address(place.address)?;
        let is_known = matches!(place.object, KERNEL | ELSEWHERE) || self.objects.contains_key(&place.object);
        if is_known { Ok(()) } else { Err(Refused(Part::Object, u64::from(place.object))) }
    }

    fn address(&self, address: u64) -> Added<()> {
        let fits = self.word == Word::W64 || u32::try_from(address).is_ok();
        if fits { Ok(()) } else { Err(Refused(Part::Address, address)) }
    }

    /// Checks the index of a thread.
    pub(super) fn thread(&self, thread: Option<usize>) -> Added<Option<u32>> {
        let Some(thread) = thread else { return Ok(None) };
        match u32::try_from(thread) {
            Ok(index) if thread < self.threads.len() => Ok(Some(index)),
            _ => Err(Refused(Part::Thread, thread as u64)),
        }
    }
}

/// Adds to a total.
fn count(total: &mut u64, more: u64) -> Added<()> {
    *total = total.checked_add(more).ok_or(Refused(Part::Count, more))?;
    Ok(())
}
