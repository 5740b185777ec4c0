//! Self times and the times of calls in the format of callgrind, for KCachegrind and callgrind_annotate.
//!
//! Costs are whole numbers of ten nanoseconds, which readers show as time, or else of samples.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::place::{self, Place};
use crate::analysis::{Analysis, ArcTimes};
use crate::symbols::functions::FunctionId;

/// The name of callgrind for a file that is not known.
const UNKNOWN: &str = "???";

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let functions: Vec<_> = analysis.function_times().collect();
    let arcs: Vec<ArcTimes> = analysis.arc_times().collect();
    let mut costs = Costs { analysis, objects: HashMap::new(), files: HashMap::new(), functions: HashMap::new() };
    let total: u64 = functions.iter().map(|function| costs.cost(function.own)).fold(0, u64::saturating_add);
    let event = if analysis.clock().is_seconds() { "Time_(10ns)" } else { "Samples" };
    writeln!(out, "# callgrind format\nversion: 1\ncreator: gprof {}", env!("CARGO_PKG_VERSION"))?;
    if let Some(image) = analysis.images().first() {
        writeln!(out, "cmd: {}", place::text(image.path.as_os_str().as_encoded_bytes()))?;
    }
    writeln!(out, "part: 1\npositions: line\nevents: {event}\nsummary: {total}")?;
    let mut inside = arcs.iter().filter(|arc| arc.caller.is_some() && arc.callee.is_some()).peekable();
    for function in &functions {
        let Place { source, .. } = Place::of(analysis, function.id);
        writeln!(out, "\n{}{} {}", costs.position("", Some(function.id)), line(&source), costs.cost(function.own))?;
        while let Some(arc) = inside.next_if(|arc| arc.caller == Some(function.id)) {
            costs.call(arc, out)?;
        }
    }
    let outside: Vec<_> = arcs.iter().filter(|arc| arc.caller.is_none()).collect();
    if !outside.is_empty() {
        write!(out, "\n{}", costs.position("", None))?;
        outside.into_iter().try_for_each(|arc| costs.call(arc, out))?;
    }
    writeln!(out, "\ntotals: {total}")
}

struct Costs<'a, 'data> {
    analysis: &'a Analysis<'data>,
    objects: HashMap<String, usize>,
    files: HashMap<String, usize>,
    /// The numbers of functions: two functions may have one name, and each has its number.
    functions: HashMap<Option<FunctionId>, usize>,
}

impl Costs<'_, '_> {
    fn cost(&self, samples: f64) -> u64 {
        let clock = self.analysis.clock();
        let cost = if clock.is_seconds() { clock.time(samples) * 1e8 } else { samples };
        // Negative costs become 0.
        cost.round() as u64
    }

    /// Writes the calls of an arc, below the costs of the caller.
    fn call(&mut self, arc: &ArcTimes, out: &mut dyn Write) -> io::Result<()> {
        let source = |id: Option<FunctionId>| id.and_then(|id| Place::of(self.analysis, id).source);
        let (caller, callee) = (line(&source(arc.caller)), line(&source(arc.callee)));
        let inclusive = self.cost(arc.times.map_or(0.0, |(_, inclusive)| inclusive));
        let position = self.position("c", arc.callee);
        writeln!(out, "{position}calls={} {callee}\n{caller} {inclusive}", arc.calls)
    }

    /// Returns the lines that name the object, the file and the function of the costs that follow; with the prefix `c`, of a
    /// called function.
    fn position(&mut self, prefix: &str, function: Option<FunctionId>) -> String {
        let place = function.map(|id| Place::of(self.analysis, id));
        let image = place.as_ref().and_then(|place| place.image).map(|image| place::image(self.analysis, image));
        let name = place.as_ref().map_or("<outside>", |place| &place.name);
        let file = place.as_ref().and_then(|place| place.source.as_ref()).map_or(UNKNOWN, |(file, _)| file);
        let mut lines = String::new();
        let object = image.unwrap_or_else(|| UNKNOWN.to_owned());
        let file_option = if prefix.is_empty() { "fl" } else { "fi" };
        for (option, (number, is_new), name) in [
            ("ob", number(&mut self.objects, object.clone()), object.as_str()),
            (file_option, number(&mut self.files, file.to_owned()), file),
            ("fn", number(&mut self.functions, function), name),
        ] {
            let name = if is_new { format!(" {name}") } else { String::new() };
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{prefix}{option}=({number}){name}");
        }
        lines
    }
}

/// The number of a key, and whether the key is new.
fn number<K: std::hash::Hash + Eq>(numbers: &mut HashMap<K, usize>, key: K) -> (usize, bool) {
    let next = numbers.len() + 1;
    let number = *numbers.entry(key).or_insert(next);
    (number, number == next)
}

/// The line where a function begins; 0 if it is not known.
fn line(source: &Option<(String, u32)>) -> u32 {
    source.as_ref().map_or(0, |(_, line)| *line)
}
