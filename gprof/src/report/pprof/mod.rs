//! The profile in the format of pprof: stacks with samples and time, and pairs of functions with calls.
//!
//! Numbers in comments at fields are those of profile.proto.

mod protobuf;

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::place::{self, Place};
use crate::analysis::{Analysis, SamplePlace};
use crate::image::address_space::Mapping;
use protobuf::Message;

/// Messages are written in pieces of this size.
const PIECE: usize = 1 << 16;

const NANOSECONDS: f64 = 1e9;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut profile = Profile {
        analysis,
        out: GzEncoder::new(out, Compression::default()),
        message: Message::default(),
        strings: HashMap::from([(String::new(), 0)]),
        order: vec![String::new()],
        locations: HashMap::new(),
    };
    profile.types();
    profile.images();
    profile.stacks()?;
    profile.calls()?;
    profile.finish()
}

struct Profile<'a, 'data, W: Write> {
    analysis: &'a Analysis<'data>,
    out: GzEncoder<W>,
    /// The fields that are not yet written.
    message: Message,
    strings: HashMap<String, u64>,
    order: Vec<String>,
    /// The numbers of locations, which are also those of their functions.
    locations: HashMap<SamplePlace<'data>, u64>,
}

impl<'data, W: Write> Profile<'_, 'data, W> {
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
    fn types(&mut self) {
        for (kind, unit) in [("samples", "count"), ("cpu", "nanoseconds"), ("calls", "count")] {
            self.value_type(1, kind, unit);
        }
        let samples = self.string("samples");
        self.message.number(14, samples);
        self.value_type(11, "cpu", "nanoseconds");
        let period = self.nanoseconds(1);
        self.message.number(12, period);
    }

    fn value_type(&mut self, field: u32, kind: &str, unit: &str) {
        let [kind, unit] = [kind, unit].map(|text| self.string(text));
        self.message.message(field, |value_type| {
            value_type.number(1, kind);
            value_type.number(2, unit);
        });
    }

    /// The time of samples; 0 if samples stand for something else.
    fn nanoseconds(&self, samples: u64) -> u64 {
        let clock = self.analysis.clock();
        if clock.is_seconds() { (clock.time(samples as f64) * NANOSECONDS).round() as u64 } else { 0 }
    }

    /// Writes the images as mappings 1 and up.
    fn images(&mut self) {
        let images = self.analysis.images();
        for (at, Mapping { path, build_id, code, .. }) in (1_u64..).zip(images) {
            let path = self.string(&place::text(path.as_os_str().as_encoded_bytes()));
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
    fn stacks(&mut self) -> io::Result<()> {
        let samples = self.analysis.sample_trees();
        let locations: Vec<u64> = samples.places.iter().map(|place| self.location(*place)).collect();
        for tree in &samples.trees {
            let thread = samples.has_threads.then(|| self.string(&place::thread(tree.thread)));
            samples.each_stack(tree, |stack, samples| {
                let stack = stack.iter().rev().map(|place| locations[*place]);
                self.sample(stack, [samples, self.nanoseconds(samples), 0], thread)
            })?;
        }
        Ok(())
    }

    /// Writes the calls of each arc as a stack of two functions.
    fn calls(&mut self) -> io::Result<()> {
        let code = |id| Option::map_or(id, SamplePlace::Outside, SamplePlace::Function);
        let has_threads = self.analysis.sample_trees().has_threads;
        for part in self.analysis.thread_times() {
            let thread = has_threads.then(|| self.string(&place::thread(part.thread)));
            for arc in part.arcs.iter().filter(|arc| arc.calls > 0) {
                let stack = [arc.callee, arc.caller].map(|id| self.location(code(id)));
                self.sample(stack, [0, 0, arc.calls], thread)?;
            }
        }
        Ok(())
    }

    /// Writes a sample with its stack, the innermost frame first, and the name of its thread, if the runs counted by thread.
    fn sample(
        &mut self,
        stack: impl IntoIterator<Item = u64>,
        values: [u64; 3],
        thread: Option<u64>,
    ) -> io::Result<()> {
        let label = thread.map(|thread| (self.string("thread"), thread));
        self.message.message(2, |sample| {
            sample.numbers(1, stack);
            sample.numbers(2, values);
            if let Some((key, thread)) = label {
                sample.message(3, |label| {
                    label.number(1, key);
                    label.number(2, thread);
                });
            }
        });
        if self.message.bytes().len() < PIECE { Ok(()) } else { self.flush() }
    }

    /// Returns the number of the location of code. A new location is written, with its function.
    fn location(&mut self, place: SamplePlace<'data>) -> u64 {
        if let Some(number) = self.locations.get(&place) {
            return *number;
        }
        let number = self.locations.len() as u64 + 1;
        self.locations.insert(place, number);
        let details = Place::of_frame(self.analysis, place);
        let line = details.source.as_ref().map_or(0, |(_, line)| u64::from(*line));
        let file = details.source.as_ref().map_or("", |(file, _)| file);
        let [name, symbol, file] = [&details.name, &details.symbol, file].map(|text| self.string(text));
        self.message.message(5, |function| {
            let fields = [(1, number), (2, name), (3, symbol), (4, file), (5, line)];
            fields.into_iter().for_each(|(field, number)| function.number(field, number));
        });
        self.message.message(4, |location| {
            location.number(1, number);
            location.number(2, details.image.map_or(0, |image| image as u64 + 1));
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
