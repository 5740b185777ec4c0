//! Writes side files.

use alloc::vec::Vec;

use super::content::{Checksum, SideFile};
use super::contexts::Node;
use super::counts::Samples;
use super::estimates::Estimates;
use super::selections::Selection;
use crate::encode::Sink as _;
use crate::encode::side_file::{
    BinEncoder, CallEncoder, EstimateEncoder, Header, SelectionEncoder, ThreadItem, context, cut, end, header, mapping,
    number, object, padding, part, property, string, thread,
};
use crate::layout::side_file::{
    BIG, CALLS, CONTEXTS, COUNTED_SAMPLES, CUTS, ESTIMATES, FUNCTIONS, LITTLE, LIVE, MAPPINGS, OBJECTS, PROPERTIES,
    REQUIRED, SAMPLES, SELECTIONS, THREADS, Tag,
};
use crate::output::Output;
use crate::{Order, Word};

impl SideFile {
    /// Writes the file. Reading returns the same content, except the zeros of nodes that a live file had room for.
    ///
    /// ```
    /// # use gmon::Word;
    /// # use gmon::side_file::{CutReason, SideFile};
    /// let mut file = SideFile::new(Word::W64);
    /// file.add_cut(CutReason::NO_STACK, 3)?;
    /// assert_eq!(SideFile::parse(&file.write())?, file);
    /// # Ok::<(), gmon::Error>(())
    /// ```
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer { out: Output::new(self.word, self.order), file: self };
        out.header();
        out.descriptions();
        out.counts();
        out.contexts();
        let mut out = out.out;
        let sum = Checksum::of(out.as_bytes()).sum;
        end(&mut out, sum);
        out.into_bytes()
    }
}

struct Writer<'a> {
    out: Output<'a>,
    file: &'a SideFile,
}

impl Writer<'_> {
    fn header(&mut self) {
        let SideFile { word, order, is_live, profile, .. } = *self.file;
        let profile = profile.unwrap_or_default();
        let fields = Header {
            word_size: if word == Word::W64 { 8 } else { 4 },
            order: if order == Order::Little { LITTLE } else { BIG },
            flags: if is_live { LIVE } else { 0 },
            profile_length: profile.length,
            profile_sum: profile.sum,
        };
        header(&mut self.out, &fields);
    }

    /// Writes a part, unless its content is empty.
    fn part(&mut self, tag: Tag, content: impl FnOnce(&mut Output<'_>)) {
        let mut bytes = Output::new(self.file.word, self.file.order);
        content(&mut bytes);
        let bytes = bytes.into_bytes();
        if !bytes.is_empty() {
            self.whole_part(tag, 0, &bytes);
        }
    }

    fn whole_part(&mut self, tag: Tag, flags: u32, content: &[u8]) {
        let length = content.len() as u64;
        part(&mut self.out, tag, flags, length);
        self.out.bytes(content);
        padding(&mut self.out, length);
    }

    fn descriptions(&mut self) {
        let file = self.file;
        self.part(PROPERTIES, |out| file.properties().for_each(|(key, value)| property(out, key, value)));
        self.part(OBJECTS, |out| file.objects().for_each(|(number, one)| object(out, &one.item(number))));
        for (object, functions) in &file.functions {
            self.part(FUNCTIONS, |out| {
                number(out, u64::from(*object));
                functions.iter().for_each(|name| string(out, name));
            });
        }
        self.part(THREADS, |out| {
            for one in &file.threads {
                let (number, threads, ticks, calls) = (one.number, one.threads, one.ticks, one.calls);
                thread(out, &ThreadItem { number, threads, ticks, calls, name: &one.name });
            }
        });
        self.part(MAPPINGS, |out| {
            for one in &file.mappings {
                mapping(out, one.addresses.start, one.addresses.end, one.bias, one.object);
            }
        });
    }

    fn counts(&mut self) {
        let file = self.file;
        file.samples.iter().for_each(|samples| self.samples(SAMPLES, samples));
        for calls in &self.file.calls {
            self.part(CALLS, |out| {
                let mut encoder = CallEncoder::begin(out, calls.thread);
                calls.calls.iter().for_each(|call| encoder.put(out, call));
            });
        }
        if let Some(selections) = &file.selections {
            let mut bytes = Output::new(file.word, file.order);
            selections.iter().for_each(|one| selection(&mut bytes, one));
            // An empty part means something too.
            self.whole_part(SELECTIONS, 0, &bytes.into_bytes());
        }
        file.counted_samples.iter().for_each(|samples| self.samples(COUNTED_SAMPLES, samples));
        if let Some(known) = &file.estimates {
            let mut bytes = Output::new(file.word, file.order);
            estimates(&mut bytes, known);
            // Who does not know this part would take the calls for 0.
            self.whole_part(ESTIMATES, REQUIRED, &bytes.into_bytes());
        }
    }

    fn samples(&mut self, tag: Tag, samples: &Samples) {
        self.part(tag, |out| {
            let mut bins = BinEncoder::begin(out, samples.thread, samples.object, samples.bin_size);
            samples.bins.iter().for_each(|(index, ticks)| bins.put(out, *index, *ticks));
        });
    }

    fn contexts(&mut self) {
        let file = self.file;
        let nodes = &file.contexts.nodes;
        self.part(CONTEXTS, |out| {
            for (index, node) in nodes.iter().enumerate() {
                let parent = node.parent().and_then(|parent| nodes.get(parent));
                // A parent is before its child, and there are fewer nodes than 32-bit numbers.
                let distance = node.parent().map_or(0, |parent| index.saturating_sub(parent)) as u32;
                context(out, distance, parent.map(Node::place), node.place(), node.ticks);
            }
        });
        self.part(CUTS, |out| file.unwalked().for_each(|(reason, ticks)| cut(out, reason, ticks)));
    }
}

fn selection(out: &mut Output<'_>, selection: &Selection) {
    let mut encoder = SelectionEncoder::begin(out, &selection.pattern, selection.functions.len() as u64);
    selection.functions.iter().for_each(|function| encoder.function(out, *function));
    encoder.begin_intervals(out, selection.intervals.len() as u64);
    selection.intervals.iter().for_each(|interval| encoder.interval(out, interval.start, interval.end));
}

fn estimates(out: &mut Output<'_>, estimates: &Estimates) {
    let windows = estimates.windows();
    let mut encoder = EstimateEncoder::begin(out, windows.share, windows.number, windows.covered, windows.time);
    for row in estimates.rows() {
        match row.caller {
            None => encoder.all_callers(out, row.callee, row.seen, row.calls, row.variance),
            Some(caller) => encoder.caller(out, caller, row.callee, row.seen, row.calls, row.variance),
        }
    }
}
