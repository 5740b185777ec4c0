//! The profile in the format of pprof: stacks with samples and time, and pairs of functions with calls, in the encoding
//! of protocol buffers.
//!
//! Numbers in comments at fields are those of profile.proto.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::model::{Analysis, Difference, SamplePlace};
use crate::program::image::address_space::Mapping;
use crate::reports::place::{self, Place};
use crate::reports::{on_demand, warnings};
use crate::sink::text::text;

/// Messages are written in pieces of this size.
const PIECE: usize = 1 << 16;

const NANOSECONDS: f64 = 1e9;

/// The label of the samples of a base, as `go tool pprof -diff_base` has it.
const BASE: (&str, &str) = ("pprof::base", "true");

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let side = Side { analysis, base: None };
    let mut profile = Profile::new(out);
    profile.types(analysis, "samples");
    profile.comments(&warnings::of(analysis));
    profile.comments(on_demand::note(analysis).as_slice());
    profile.comments(on_demand::without_estimates(analysis, "file").as_slice());
    profile.images(side);
    profile.stacks(side)?;
    profile.calls(side)?;
    profile.finish()
}

/// Writes the samples of both sides. Those of the base are negative, and have the label by which pprof knows a base.
pub(super) fn render_difference(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let new = Side { analysis: difference.new_analysis(), base: None };
    let base = Side { analysis: difference.base_analysis(), base: Some(difference) };
    // Numbers of samples can be compared only if the samples of both sides are as long.
    let is_same_rate = new.analysis.clock().rate == base.analysis.clock().rate;
    let shows_time = new.analysis.clock().is_seconds() && !is_same_rate;
    let mut profile = Profile::new(out);
    profile.types(new.analysis, if shows_time { "cpu" } else { "samples" });
    profile.comments(&warnings::of_difference(difference));
    profile.comments(&on_demand::notes_of_difference(difference).collect::<Vec<_>>());
    let without = [difference.base_analysis(), difference.new_analysis()];
    let without = without.into_iter().find_map(|side| on_demand::without_estimates(side, "file"));
    profile.comments(without.as_slice());
    for side in [new, base] {
        profile.images(side);
    }
    for side in [new, base] {
        profile.stacks(side)?;
        profile.calls(side)?;
    }
    profile.finish()
}

/// The side of a difference whose samples are written, or an analysis alone.
#[derive(Clone, Copy)]
struct Side<'a, 'data> {
    analysis: &'a Analysis<'data>,
    /// The difference, if this is its base.
    base: Option<&'a Difference<'a, 'data>>,
}

impl<'a, 'data> Side<'a, 'data> {
    /// Returns the side by which code is named, and the code there. A function of the base has the name and the place
    /// of the function that it is compared with.
    fn named(self, place: SamplePlace<'data>) -> (Side<'a, 'data>, SamplePlace<'data>) {
        let Some(difference) = self.base else { return (self, place) };
        let new = Side { analysis: difference.new_analysis(), base: None };
        match place {
            SamplePlace::Function(id) => match difference.counterpart(id) {
                Some(id) => (new, SamplePlace::Function(id)),
                None => (self, place),
            },
            _ => (new, place),
        }
    }

    /// The number of the first image of this side.
    fn first_image(self) -> u64 {
        1 + self.base.map_or(0, |difference| difference.new_analysis().images().len() as u64)
    }

    /// The time of samples; 0 if samples stand for something else.
    fn nanoseconds(self, samples: u64) -> f64 {
        let clock = self.analysis.clock();
        if clock.is_seconds() { clock.time(samples as f64) * NANOSECONDS } else { 0.0 }
    }

    /// A value as it is written: negative in the base, which is multiplied by a factor if it was normalized, or has
    /// another number of runs.
    fn value(self, number: f64) -> u64 {
        let factor = self.base.map_or(1.0, |difference| -difference.base_scale());
        ((number * factor).round() as i64).cast_unsigned()
    }
}

struct Profile<'data, W: Write> {
    out: GzEncoder<W>,
    /// The fields that are not yet written.
    message: Message,
    strings: HashMap<String, u64>,
    order: Vec<String>,
    /// The numbers of locations, which are also those of their functions. Those of functions that only the base has are
    /// marked.
    locations: HashMap<(bool, SamplePlace<'data>), u64>,
}

impl<'data, W: Write> Profile<'data, W> {
    fn new(out: W) -> Profile<'data, W> {
        Profile {
            out: GzEncoder::new(out, Compression::default()),
            message: Message::default(),
            strings: HashMap::from([(String::new(), 0)]),
            order: vec![String::new()],
            locations: HashMap::new(),
        }
    }

    /// Returns the index of a text in the table of texts.
    fn string(&mut self, text: &str) -> u64 {
        if let Some(number) = self.strings.get(text) {
            return *number;
        }
        let number = self.order.len() as u64;
        self.strings.insert(text.to_owned(), number);
        self.order.push(text.to_owned());
        number
    }

    /// Writes what each value of a sample is, and what a sample stands for.
    fn types(&mut self, analysis: &Analysis<'_>, default: &str) {
        for (kind, unit) in [("samples", "count"), ("cpu", "nanoseconds"), ("calls", "count")] {
            self.value_type(1, kind, unit);
        }
        let default = self.string(default);
        self.message.number(14, default);
        self.value_type(11, "cpu", "nanoseconds");
        let period = Side { analysis, base: None }.nanoseconds(1);
        self.message.number(12, period.round() as u64);
    }

    /// Writes comments, which `go tool pprof -comments` prints.
    fn comments(&mut self, comments: &[String]) {
        for comment in comments {
            let comment = self.string(comment);
            self.message.number(13, comment);
        }
    }

    fn value_type(&mut self, field: u32, kind: &str, unit: &str) {
        let [kind, unit] = [kind, unit].map(|text| self.string(text));
        self.message.message(field, |value_type| {
            value_type.number(1, kind);
            value_type.number(2, unit);
        });
    }

    /// Writes the images of a side as mappings.
    fn images(&mut self, side: Side<'_, 'data>) {
        for (at, Mapping { path, build_id, code, .. }) in (side.first_image()..).zip(side.analysis.images()) {
            let path = self.string(&text(path.as_os_str().as_encoded_bytes()));
            let build_id = self.string(build_id.as_deref().unwrap_or_default());
            self.message.message(3, |mapping| {
                // Functions, files and lines are known, so pprof need not read the image. Inlined functions are not.
                let known = [(7, 1), (8, 1), (9, 1)];
                let fields = [(1, at), (2, code.start), (3, code.end), (5, path), (6, build_id)];
                fields.into_iter().chain(known).for_each(|(field, number)| mapping.number(field, number));
            });
        }
    }

    /// Writes the samples with their stacks.
    fn stacks(&mut self, side: Side<'_, 'data>) -> io::Result<()> {
        let samples = side.analysis.sample_trees();
        let locations: Vec<u64> = samples.places.iter().map(|place| self.location(side, *place)).collect();
        for tree in &samples.trees {
            let thread = samples.has_threads.then(|| place::thread(tree.thread));
            let labels = self.labels(side, thread.as_deref());
            samples.each_stack(tree, |stack, samples| {
                let stack = stack.iter().rev().map(|place| locations[*place]);
                self.sample(side, &labels, stack, [samples as f64, side.nanoseconds(samples), 0.0])
            })?;
        }
        Ok(())
    }

    /// Writes the calls of each arc as a stack of two functions.
    fn calls(&mut self, side: Side<'_, 'data>) -> io::Result<()> {
        let code = |id| Option::map_or(id, SamplePlace::Outside, SamplePlace::Function);
        let has_threads = side.analysis.sample_trees().has_threads;
        for part in side.analysis.thread_times() {
            let thread = has_threads.then(|| place::thread(part.thread));
            let labels = self.labels(side, thread.as_deref());
            for arc in part.arcs.iter().filter(|arc| arc.calls > 0) {
                let stack = [arc.callee, arc.caller].map(|id| self.location(side, code(id)));
                self.sample(side, &labels, stack, [0.0, 0.0, arc.calls as f64])?;
            }
        }
        Ok(())
    }

    /// The labels of the samples of a side and of a thread: names and values as indexes of texts.
    fn labels(&mut self, side: Side<'_, '_>, thread: Option<&str>) -> Vec<[u64; 2]> {
        let labels = side.base.map(|_| BASE).into_iter().chain(thread.map(|thread| ("thread", thread)));
        labels.map(|(name, value)| [name, value].map(|text| self.string(text))).collect()
    }

    /// Writes a sample with its labels and its stack, the innermost frame first.
    fn sample(
        &mut self,
        side: Side<'_, '_>,
        labels: &[[u64; 2]],
        stack: impl IntoIterator<Item = u64>,
        values: [f64; 3],
    ) -> io::Result<()> {
        self.message.message(2, |sample| {
            sample.numbers(1, stack);
            sample.numbers(2, values.map(|value| side.value(value)));
            for [name, value] in labels {
                sample.message(3, |label| {
                    label.number(1, *name);
                    label.number(2, *value);
                });
            }
        });
        if self.message.bytes().len() < PIECE { Ok(()) } else { self.flush() }
    }

    /// Returns the number of the location of code. A new location is written, with its function.
    fn location(&mut self, side: Side<'_, 'data>, place: SamplePlace<'data>) -> u64 {
        let (side, place) = side.named(place);
        let key = (side.base.is_some(), place);
        if let Some(number) = self.locations.get(&key) {
            return *number;
        }
        let number = self.locations.len() as u64 + 1;
        self.locations.insert(key, number);
        let details = Place::of_frame(side.analysis, place);
        let line = details.source.as_ref().map_or(0, |(_, line)| u64::from(*line));
        let file = details.source.as_ref().map_or("", |(file, _)| file);
        let [name, symbol, file] = [&details.name, &details.symbol, file].map(|text| self.string(text));
        self.message.message(5, |function| {
            let fields = [(1, number), (2, name), (3, symbol), (4, file), (5, line)];
            fields.into_iter().for_each(|(field, number)| function.number(field, number));
        });
        self.message.message(4, |location| {
            location.number(1, number);
            location.number(2, details.image.map_or(0, |image| image as u64 + side.first_image()));
            location.number(3, details.address);
            location.message(4, |message| {
                message.number(1, number);
                message.number(2, line);
            });
        });
        number
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(std::mem::take(&mut self.message).bytes())
    }

    /// Writes the table of texts, and the end of the compressed data.
    fn finish(mut self) -> io::Result<()> {
        for text in std::mem::take(&mut self.order) {
            self.message.part(6, text.as_bytes());
        }
        self.flush()?;
        self.out.try_finish()
    }
}

/// A message that is being written.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// The bytes of the message.
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a number. A number of 0 is the default, which messages leave out.
    fn number(&mut self, field: u32, number: u64) {
        if number != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(number);
        }
    }

    /// Adds a list of numbers.
    fn numbers(&mut self, field: u32, numbers: impl IntoIterator<Item = u64>) {
        let mut packed = Message::default();
        numbers.into_iter().for_each(|number| packed.varint(number));
        self.part(field, &packed.bytes);
    }

    /// Adds bytes, or a text.
    fn part(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a message.
    fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message)) {
        let mut message = Message::default();
        fill(&mut message);
        self.part(field, &message.bytes);
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded() {
        let mut message = Message::default();
        message.number(1, 150);
        message.number(2, 0);
        message.part(2, b"testing");
        message.message(3, |inner| inner.number(1, 150));
        message.numbers(4, [3, 270, 86942]);
        // The examples of the encoding's documentation.
        let expected = b"\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01\x22\x06\x03\x8e\x02\x9e\xa7\x05";
        assert_eq!(message.bytes(), expected);
        let mut largest = Message::default();
        largest.number(1, u64::MAX);
        assert_eq!(largest.bytes(), b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    }
}
