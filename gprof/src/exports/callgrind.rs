//! Self times and the times of calls in the format of callgrind, for KCachegrind and callgrind_annotate.
//!
//! Costs are whole numbers of ten nanoseconds, which readers show as time, or else of samples.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::model::{Analysis, ArcTimes, FunctionTimes, ThreadTimes};
use crate::program::symbols::functions::FunctionId;
use crate::reports::place::{self, Place};
use crate::reports::{on_demand, warnings};
use crate::sink::callgrind::{Numbers, position};
use crate::sink::text::text;

/// The name of callgrind for a file that is not known.
const UNKNOWN: &str = "???";

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let event = if analysis.clock().is_seconds() { "Time_(10ns)" } else { "Samples" };
    writeln!(out, "# callgrind format\nversion: 1\ncreator: gprof {}", env!("CARGO_PKG_VERSION"))?;
    if let Some(image) = analysis.images().first() {
        writeln!(out, "cmd: {}", text(image.path.as_os_str().as_encoded_bytes()))?;
    }
    for warning in warnings::of(analysis) {
        writeln!(out, "desc: {warning}")?;
    }
    // Readers of the format take all numbers for exact ones.
    let without_estimates = on_demand::without_estimates(analysis, "file");
    for note in on_demand::note_of_graph(analysis).into_iter().chain(without_estimates) {
        writeln!(out, "desc: {note}")?;
    }
    let has_threads = analysis.sample_trees().has_threads;
    let parts = analysis.thread_times();
    let called: HashSet<FunctionId> = parts.iter().flat_map(|part| &part.arcs).filter_map(|arc| arc.callee).collect();
    let mut numbers = <[Numbers; 3]>::default();
    for (at, part) in (1..).zip(&parts) {
        numbers.iter_mut().for_each(Numbers::begin_part);
        let mut costs = Costs { analysis, called: &called, numbers, functions: HashMap::new() };
        writeln!(out, "part: {at}")?;
        if has_threads {
            // Some readers take the sum of the last part for that of the file. Without sums, all readers add up.
            writeln!(
                out,
                "thread: {at}\ndesc: Thread: {}\npositions: line\nevents: {event}",
                place::thread(part.thread)
            )?;
            costs.part(part, out)?;
        } else {
            let total = costs.total(part);
            writeln!(out, "positions: line\nevents: {event}\nsummary: {total}")?;
            costs.part(part, out)?;
            writeln!(out, "\ntotals: {total}")?;
        }
        numbers = costs.numbers;
    }
    Ok(())
}

/// The code to which costs belong.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Code {
    Function(FunctionId),
    /// Code in no function of the images.
    Outside,
    /// Callers that are not known.
    Spontaneous,
}

impl Code {
    fn of(function: Option<FunctionId>) -> Code {
        function.map_or(Code::Outside, Code::Function)
    }
}

struct Costs<'a, 'data> {
    analysis: &'a Analysis<'data>,
    /// The functions that have calls in any part.
    called: &'a HashSet<FunctionId>,
    /// The numbers of objects, of files, and of functions.
    numbers: [Numbers; 3],
    /// The functions by their identity: two functions may have one name, and each has its number.
    functions: HashMap<Code, Known>,
}

/// What the file says of a function that it has named.
struct Known {
    /// The numbers of the object, the file, and the function.
    numbers: [usize; 3],
    /// The line where the function begins; 0 if it is not known.
    line: u32,
}

impl Costs<'_, '_> {
    fn cost(&self, samples: f64) -> u64 {
        let clock = self.analysis.clock();
        let cost = if clock.is_seconds() { clock.time(samples) * 1e8 } else { samples };
        // Negative costs become 0.
        cost.round() as u64
    }

    /// The self costs of a part.
    fn total(&self, part: &ThreadTimes<'_>) -> u64 {
        part.functions.iter().map(|function| self.cost(function.own)).fold(0, u64::saturating_add)
    }

    /// Writes the functions of a part with their calls.
    fn part(&mut self, part: &ThreadTimes<'_>, out: &mut dyn Write) -> io::Result<()> {
        let ThreadTimes { functions, arcs, .. } = part;
        let mut inside = arcs.iter().filter(|arc| arc.caller.is_some() && arc.callee.is_some()).peekable();
        for function in functions {
            let (position, line) = self.position("", Code::Function(function.id));
            writeln!(out, "\n{position}{line} {}", self.cost(function.own))?;
            while let Some(arc) = inside.next_if(|arc| arc.caller == Some(function.id)) {
                self.arc(arc, line, out)?;
            }
        }
        // These callers have no costs of their own in the file: hidden functions, and code in no function.
        let mut others = inside.chain(arcs.iter().filter(|arc| arc.caller.is_none())).peekable();
        while let Some(caller) = others.peek().map(|arc| arc.caller) {
            let (position, line) = self.position("", Code::of(caller));
            write!(out, "\n{position}")?;
            while let Some(arc) = others.next_if(|arc| arc.caller == caller) {
                self.arc(arc, line, out)?;
            }
        }
        self.unknown_callers(part, out)
    }

    /// Writes the calls of an arc.
    fn arc(&mut self, arc: &ArcTimes, caller: u32, out: &mut dyn Write) -> io::Result<()> {
        let inclusive = self.cost(arc.times.map_or(0.0, |(_, inclusive)| inclusive));
        if arc.estimate.is_some() && inclusive == 0 {
            return Ok(());
        }
        self.call(Code::of(arc.callee), (arc.calls, inclusive), caller, out)
    }

    /// Writes calls with their costs, below the costs of the caller, at the line where the caller begins. Calls that
    /// nobody counted, but that a stack shows, are written as one call: readers take the costs of no call for self
    /// costs.
    fn call(
        &mut self,
        callee: Code,
        (calls, inclusive): (u64, u64),
        caller: u32,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (position, callee) = self.position("c", callee);
        let calls = calls.max(u64::from(inclusive > 0));
        writeln!(out, "{position}calls={calls} {callee}\n{caller} {inclusive}")
    }

    /// Writes the inclusive costs of called functions that no arc has, because some stacks do not show the caller.
    /// Readers take the costs of all calls of a function for its inclusive costs.
    fn unknown_callers(&mut self, part: &ThreadTimes<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut handed: HashMap<FunctionId, u64> = HashMap::new();
        for arc in &part.arcs {
            if let (Some(callee), Some((_, inclusive))) = (arc.callee, arc.times) {
                let sum = handed.entry(callee).or_default();
                *sum = sum.saturating_add(self.cost(inclusive));
            }
        }
        // The estimated time of a member of a cycle is not the time that its arcs hand up.
        let is_comparable = |function: &&FunctionTimes| function.cycle.is_none() || self.analysis.stacks().is_some();
        let called = part.functions.iter().filter(|function| self.called.contains(&function.id)).filter(is_comparable);
        let rest = |function: &FunctionTimes| {
            let handed = handed.get(&function.id).copied().unwrap_or_default();
            (function.id, self.cost(function.inclusive).saturating_sub(handed))
        };
        let rests: Vec<(FunctionId, u64)> = called.map(rest).filter(|(_, rest)| *rest > 0).collect();
        if rests.is_empty() {
            return Ok(());
        }
        let (position, line) = self.position("", Code::Spontaneous);
        write!(out, "\n{position}")?;
        rests.into_iter().try_for_each(|(id, rest)| self.call(Code::Function(id), (0, rest), line, out))
    }

    /// Returns the lines that name the object, the file and the function of the costs that follow; with the prefix `c`,
    /// of a called function. Returns the line where the function begins as well.
    fn position(&mut self, prefix: &str, code: Code) -> (String, u32) {
        let file_option = if prefix.is_empty() { "fl" } else { "fi" };
        let options = ["ob", file_option, "fn"];
        let (numbers, line, names) = match self.functions.get(&code) {
            Some(Known { numbers, line }) => (*numbers, *line, [const { None }; 3]),
            None => self.add(code),
        };
        let mut lines = String::new();
        for ((option, number), name) in options.into_iter().zip(numbers).zip(names) {
            lines.push_str(prefix);
            lines.push_str(&position(option, number, name.as_deref()));
        }
        (lines, line)
    }

    /// Numbers a function, which must be new. Returns the numbers of its object, its file and the function, the line
    /// where the function begins, and the names that the file does not have yet.
    fn add(&mut self, code: Code) -> ([usize; 3], u32, [Option<String>; 3]) {
        let (place, no_name) = match code {
            Code::Function(id) => (Some(Place::of(self.analysis, id)), ""),
            Code::Outside => (None, "<outside>"),
            Code::Spontaneous => (None, "<spontaneous>"),
        };
        let image = place.as_ref().and_then(|place| place.image).map(|image| place::image(self.analysis, image));
        let object = image.unwrap_or_else(|| UNKNOWN.to_owned());
        let (name, source) = place.map_or((no_name.to_owned(), None), |place| (place.name, place.source));
        let (file, line) = source.unwrap_or_else(|| (UNKNOWN.to_owned(), 0));
        let [objects, files, functions] = &mut self.numbers;
        let ((object_number, object), (file_number, file)) = (objects.of(object), files.of(file));
        let numbers = [object_number, file_number, functions.fresh()];
        self.functions.insert(code, Known { numbers, line });
        (numbers, line, [object, file, Some(name)])
    }
}
