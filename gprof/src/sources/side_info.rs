//! What side files contain, in numbers, and why stacks are cut, in words.

use std::collections::BTreeMap;

use gmon::layout::side_file::WHOLE_SHARE;
use gmon::side_file::{Calls, CutReason, Estimates, Kind, Selection, SideFile, property};

use super::profile_file::HOST_RATE;
use super::shared_objects::{identity, path};
use super::threads;

/// What the side files of one program's runs contain, in numbers.
///
/// [`Analysis::side_files`](crate::Analysis::side_files) returns one for each program that ran.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SideInfo {
    /// The path of the program; empty if unknown.
    pub program: String,
    /// The number of runs.
    pub runs: u64,
    /// Whether the program still ran, or was killed.
    pub is_live: bool,
    /// The properties that all runs have in common: names and values.
    pub properties: Vec<(String, String)>,
    /// The program, its shared objects and the vDSO, by number.
    pub objects: Vec<SideObject>,
    /// Samples in the kernel.
    pub kernel: u64,
    /// Samples in no known object.
    pub elsewhere: u64,
    /// The threads, those with the most ticks first; empty if the runs did not count by thread.
    pub threads: Vec<SideThread>,
    /// The number of nodes in the tree of stacks.
    pub nodes: u64,
    /// The ticks with a whole stack.
    pub whole: u64,
    /// The ticks whose stack is missing, wholly or in part: the reason and the number.
    pub cuts: Vec<(String, u64)>,
    /// When calls were counted, if they were counted on demand.
    pub on_demand: Option<SideOnDemand>,
    /// From what calls were estimated, if they were.
    pub estimates: Option<SideEstimates>,
}

/// From what runs estimated calls. Times are in seconds of CPU time.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SideEstimates {
    /// The number of windows in which calls were counted.
    pub windows: u64,
    /// The length of all windows together.
    pub covered: f64,
    /// The time for which the estimates stand.
    pub time: f64,
    /// The part of the time that the windows cover as the user asked for it; `None` if runs had different parts.
    pub share: Option<f64>,
    /// The number of functions of which a call was seen in a window.
    pub functions: u64,
    /// The patterns of the functions whose calls were to be estimated, empty for all functions, with the numbers of
    /// these functions.
    pub selections: Vec<(String, u64)>,
}

/// When runs counted calls on demand. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SideOnDemand {
    /// The time during which any calls were counted.
    pub time: f64,
    /// The time that the profile spans; `None` if unknown.
    pub elapsed: Option<f64>,
    /// The first intervals, ten at most.
    pub intervals: Vec<CountedInterval>,
    /// The number of further intervals.
    pub more_intervals: u64,
}

/// An interval in which the calls of some functions were counted. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CountedInterval {
    /// The time from the start of the profile to the begin; `None` for the sum of several runs, which has no such time.
    pub begin: Option<f64>,
    /// The length.
    pub length: f64,
    /// The pattern of the functions; empty for all functions.
    pub pattern: String,
    /// The number of functions; `None` for runs that counted all calls.
    pub functions: Option<u64>,
}

/// An object of a side file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideObject {
    /// The number in the side file.
    pub number: u32,
    /// The path when the object was loaded; `[vdso]` for the vDSO.
    pub path: String,
    /// The build ID in hexadecimal, or a checksum of headers after `headers:`, if the run knew one of these.
    pub identity: Option<String>,
    /// The samples in the object. Those of the program are in the profile and count as 0 here.
    pub samples: u64,
    /// Whether the program generated the code while it ran, so the object has no file.
    pub is_generated: bool,
    /// The calls of the object's functions. Calls inside the program are in the profile and do not count here.
    pub calls: u64,
}

/// A thread of a side file, or several threads of one name.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SideThread {
    /// The system's number of the thread; `None` for several threads.
    pub number: Option<u64>,
    /// The name, which need not be text.
    pub name: Vec<u8>,
    /// The number of threads.
    pub threads: u64,
    /// The ticks.
    pub ticks: u64,
    /// The time in seconds.
    pub time: f64,
    /// The percentage of the time of all threads.
    pub percent: f64,
    /// The number of calls; `None` if the runs did not count calls by thread.
    pub calls: Option<u64>,
}

impl SideInfo {
    /// What a side file contains.
    pub(super) fn new(side: &SideFile) -> SideInfo {
        let outside = side.outside();
        let cut: Vec<_> = side.cut_ticks().collect();
        let ticks = side.unwalked().fold(side.contexts().total(), |sum, (_, ticks)| sum.saturating_add(ticks));
        SideInfo {
            program: side.program().map(|program| path(program).display().to_string()).unwrap_or_default(),
            runs: side.runs(),
            is_live: side.is_live(),
            properties: properties(side),
            objects: objects(side),
            kernel: outside.kernel,
            elsewhere: outside.elsewhere,
            threads: threads(side, side.rate().unwrap_or(HOST_RATE)),
            nodes: side.contexts().nodes().len() as u64,
            whole: cut.iter().fold(ticks, |whole, (_, ticks)| whole.saturating_sub(*ticks)),
            cuts: cut.into_iter().map(|(reason, ticks)| (reason_text(reason), ticks)).collect(),
            on_demand: side.selections().map(|selections| on_demand(side, selections)),
            estimates: side.estimates().map(|found| estimates(side, found)),
        }
    }
}

/// The number of intervals that are listed at most.
const MOST_INTERVALS: usize = 10;

const NANOSECONDS: f64 = 1e9;

fn on_demand(side: &SideFile, selections: &[Selection]) -> SideOnDemand {
    let all = |selection: &Selection| selection.intervals().len();
    let mut intervals: Vec<(u64, u64, usize)> = Vec::with_capacity(selections.iter().map(all).sum());
    for (at, selection) in selections.iter().enumerate() {
        intervals.extend(selection.intervals().iter().map(|interval| (interval.start, interval.end, at)));
    }
    intervals.sort_unstable();
    let more = intervals.len().saturating_sub(MOST_INTERVALS);
    intervals.truncate(MOST_INTERVALS);
    let seconds = |nanoseconds: u64| nanoseconds as f64 / NANOSECONDS;
    let intervals = intervals.into_iter().filter_map(|(start, end, at)| {
        let selection = selections.get(at)?;
        Some(CountedInterval {
            begin: (side.runs() == 1).then(|| seconds(start)),
            length: seconds(end.saturating_sub(start)),
            pattern: String::from_utf8_lossy(selection.pattern()).into_owned(),
            functions: (!selection.is_of_whole_runs()).then_some(selection.functions().len() as u64),
        })
    });
    SideOnDemand {
        time: side.counted_time().map_or(0.0, seconds),
        elapsed: side.elapsed().map(seconds),
        intervals: intervals.collect(),
        more_intervals: more as u64,
    }
}

fn estimates(side: &SideFile, found: &Estimates) -> SideEstimates {
    let windows = found.windows();
    let seconds = |nanoseconds: u64| nanoseconds as f64 / NANOSECONDS;
    let selections = side.selections().unwrap_or_default().iter();
    let selections = selections.filter(|one| one.intervals().is_empty() && !one.is_of_whole_runs());
    let selection =
        |one: &Selection| (String::from_utf8_lossy(one.pattern()).into_owned(), one.functions().len() as u64);
    SideEstimates {
        windows: windows.number,
        covered: seconds(windows.covered),
        time: seconds(windows.time),
        share: Some(windows.share as f64 / WHOLE_SHARE as f64).filter(|share| *share > 0.0),
        functions: found.rows().iter().filter(|row| row.caller.is_none()).count() as u64,
        selections: selections.map(selection).collect(),
    }
}

/// The rank of the process in its parallel job, and the name of its machine. A sum of several processes has what they
/// have in common.
pub(super) fn process(side: &SideFile) -> (Option<u64>, Option<String>) {
    let rank = side.property(property::RANK).and_then(|rank| str::from_utf8(rank).ok()?.parse().ok());
    let host = side.property(property::HOST).map(|host| String::from_utf8_lossy(host).into_owned());
    (rank, host)
}

/// The properties of runs. The number of runs has a field of its own.
fn properties(side: &SideFile) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let others = side.properties().filter(|(key, _)| *key != property::RUNS);
    let property = |(key, value): (&[u8], &[u8])| {
        // Each word of a command line has a NUL after it.
        let words = value.strip_suffix(b"\0").unwrap_or(value).split(|byte| *byte == 0);
        let words: Vec<String> = words.map(text).collect();
        (text(key), if key == property::COMMAND { words.join(" ") } else { text(value) })
    };
    others.map(property).collect()
}

fn objects(side: &SideFile) -> Vec<SideObject> {
    let (mut ticks, mut calls): (BTreeMap<u32, u64>, BTreeMap<u32, u64>) = Default::default();
    let add = |sums: &mut BTreeMap<u32, u64>, number, more| {
        let sum = sums.entry(number).or_insert(0);
        *sum = sum.saturating_add(more);
    };
    for samples in side.samples().iter().filter(|samples| samples.thread().is_none()) {
        add(&mut ticks, samples.object(), samples.total());
    }
    let of_all = side.calls().iter().filter(|calls| calls.thread().is_none());
    of_all.flat_map(Calls::calls).for_each(|call| add(&mut calls, call.callee.object, call.count));
    let of = |sums: &BTreeMap<u32, u64>, number| sums.get(&number).copied().unwrap_or(0);
    let objects = side.objects().map(|(number, object)| SideObject {
        number,
        path: if object.kind == Kind::Vdso { "[vdso]".to_owned() } else { path(object).display().to_string() },
        identity: identity(object),
        samples: of(&ticks, number),
        is_generated: object.kind == Kind::Generated,
        calls: of(&calls, number),
    });
    objects.collect()
}

fn threads(side: &SideFile, profrate: u32) -> Vec<SideThread> {
    let all = side.threads().iter().fold(0_u64, |sum, thread| sum.saturating_add(thread.ticks));
    let counts_calls = threads::counts_calls(side);
    let threads = side.threads().iter().map(|thread| SideThread {
        number: Some(thread.number).filter(|number| *number != 0),
        name: thread.name.clone(),
        threads: thread.threads,
        ticks: thread.ticks,
        time: thread.ticks as f64 / f64::from(profrate.max(1)),
        percent: 100.0 * thread.ticks as f64 / all.max(1) as f64,
        calls: counts_calls.then_some(thread.calls),
    });
    let mut threads: Vec<SideThread> = threads.collect();
    threads.sort_by(|one, other| {
        let by_ticks = other.ticks.cmp(&one.ticks);
        by_ticks.then_with(|| one.name.cmp(&other.name)).then(one.number.cmp(&other.number))
    });
    threads
}

/// Why the chain of callers of a sample is missing, wholly or in part.
fn reason_text(reason: CutReason) -> String {
    match cut_words(reason) {
        Some(words) => words.text.to_owned(),
        None => format!("reason {}", reason.code()),
    }
}

/// A reason in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutWords {
    /// A name of a few words, for rows.
    pub name: &'static str,
    /// What happened.
    pub text: &'static str,
    /// What the user can do, as a sentence; empty if nothing is known to help.
    pub help: &'static str,
}

/// Returns the words of a reason; `None` if this version does not know the reason.
pub(crate) fn cut_words(reason: CutReason) -> Option<CutWords> {
    let [name, text, help] = match reason {
        CutReason::NO_STACK => [
            "no stack",
            "the sample came without a stack",
            "A lower rate (GMON_HZ), a less busy machine, and more locked memory (ulimit -l) for copies of stacks help",
        ],
        CutReason::OFF => ["walking is off", "walking was switched off", "Run the program without GMON_STACKS=0"],
        CutReason::NO_MEMORY => [
            "tree of stacks full",
            "the tree of stacks was full (GMON_HZ with a lower rate needs less room)",
            "A lower rate (GMON_HZ) needs less room",
        ],
        CutReason::NO_BUFFER => {
            ["no buffer", "all buffers for walks were in use", "A lower rate (GMON_HZ) needs fewer buffers"]
        }
        CutReason::NO_TABLE => [
            "code without unwind table and frame pointer",
            "code without unwind table and frame pointer",
            "Compile all code with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer",
        ],
        CutReason::UNSUPPORTED => ["unknown unwind table", "an unwind table with an unknown operation", ""],
        CutReason::BAD_FRAME => ["wrong frame pointer", "a frame below its callee", ""],
        CutReason::UNREADABLE => ["stack not readable", "the stack was not readable", ""],
        CutReason::UNKNOWN_CODE => ["return address in unknown code", "a return address in no known code", ""],
        CutReason::TOO_DEEP => {
            ["stack too deep", "more frames than are walked", "A lower rate (GMON_HZ) leaves more time for each stack"]
        }
        CutReason::UNFINISHED => ["still being written", "the file was read while the run was writing it", ""],
        CutReason::NOT_KEPT => [
            "stacks not kept",
            "the process added its counts to those of other processes (GMON_CHILDREN=sum)",
            "Run the program without GMON_CHILDREN=sum",
        ],
        CutReason::STILL_WALKING => ["walk not ended", "the walk had not ended when the file was written", ""],
        CutReason::MIDDLE => ["middle of a deep stack", "the frames in the middle of a deep stack were left out", ""],
        CutReason::COPY_TOO_SMALL => [
            "copy of the stack too small",
            "the kernel's copy of the stack was too small",
            "A lower rate (GMON_HZ) and more locked memory (ulimit -l) leave room for larger copies, and GMON_SAMPLER=timer needs none",
        ],
        CutReason::COPY_INCOMPLETE => [
            "copy of the stack incomplete",
            "the kernel's copy of the stack ended at a page that the program had never touched",
            "GMON_SAMPLER=timer needs no copies",
        ],
        _ => return None,
    };
    Some(CutWords { name, text, help })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_reasons_of_this_version_have_words() {
        let known = (0..32).filter(|code| cut_words(CutReason::from_code(*code)).is_some());
        assert_eq!(known.collect::<Vec<_>>(), (1..=16).collect::<Vec<u32>>());
        for code in 1..=16 {
            let CutWords { name, text, help } = cut_words(CutReason::from_code(code)).unwrap();
            assert!(!name.is_empty() && !text.is_empty() && !help.ends_with('.'), "{code}");
        }
    }
}
