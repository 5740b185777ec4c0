//! Calls that were counted on demand, and calls that were estimated, in words.

use crate::model::{Analysis, CallsCounted, ComparedCalls, Difference};
use crate::reports::number::counted;
use crate::sink::json::Record;
use crate::sink::text::text;
use crate::sources::estimates::CallWindows;
use crate::sources::on_demand::CallsOnDemand;
use crate::sources::side_info::{CountedInterval, SideEstimates, SideOnDemand};

/// The number of patterns that a note names at most.
const MOST_PATTERNS: usize = 3;

/// Returns the sentences that say for how long calls were counted or estimated, and which. `None` if all calls were
/// counted during the whole time.
pub(crate) fn note(analysis: &Analysis<'_>) -> Option<String> {
    let (calls, windows) = (analysis.calls_on_demand()?, analysis.call_windows());
    match windows.map(estimated) {
        None => sentences(calls),
        Some(estimated) if has_counts(calls) => {
            let both = "Estimates have no calls of the runs that counted them.";
            Some([sentences(calls).unwrap_or_default(), estimated, both.to_owned()].join(" "))
        }
        estimated => estimated,
    }
}

/// Whether runs counted calls in intervals, or all calls.
fn has_counts(calls: &CallsOnDemand) -> bool {
    calls.time > 0.0 || calls.has_whole_runs
}

/// Returns the same for the call graph, whose times may be estimates from these calls.
pub(crate) fn note_of_graph(analysis: &Analysis<'_>) -> Option<String> {
    let more = match analysis.stacks().is_none() && analysis.lacks_calls() {
        false => "",
        true if lacks_times(analysis) => NO_TIMES,
        true => " Times of called functions are estimates from these calls only.",
    };
    note(analysis).map(|note| note + more)
}

/// What is said if nothing tells the times of called functions.
const NO_TIMES: &str = " Without stacks, the times of called functions are not known.";

/// Returns whether nothing tells the times of called functions: there are no stacks, and all calls are estimates, which
/// hand up no time.
pub(crate) fn lacks_times(analysis: &Analysis<'_>) -> bool {
    let has_counts = analysis.calls_on_demand().is_some_and(has_counts);
    analysis.stacks().is_none() && analysis.call_windows().is_some() && !has_counts
}

/// Returns the sentence that says that an output, of which `what` is the kind, has no estimates although there are any.
pub(crate) fn without_estimates(analysis: &Analysis<'_>, what: &str) -> Option<String> {
    analysis.has_estimates().then(|| format!("This {what} leaves estimated calls out."))
}

/// Returns the sentence that says from which windows calls were estimated.
fn estimated(windows: &CallWindows) -> String {
    if windows.are_left_out {
        return "Calls were estimated for all threads together, so this report has no estimates.".to_owned();
    }
    if windows.number == 0 {
        return "No calls are known: the run was too short for a window in which calls are counted.".to_owned();
    }
    let (number, covered, time) = (counted(windows.number, "window"), windows.covered, windows.time);
    let functions = functions(&windows.patterns).map(|functions| format!(", those of {functions}")).unwrap_or_default();
    format!(
        "Calls are estimates from {number}, {} of {} of CPU time (95 % intervals){functions}.",
        seconds(covered),
        seconds(time)
    )
}

/// Returns the notes of both sides of a difference, that of the base first, and what the difference says about calls.
pub(crate) fn notes_of_difference(difference: &Difference<'_, '_>) -> impl Iterator<Item = String> {
    let note = |analysis: &Analysis<'_>| {
        let more = if lacks_times(analysis) { NO_TIMES } else { "" };
        note(analysis).map(|note| note + more)
    };
    let base = note(difference.base_analysis()).map(|note| format!("Base: {note}"));
    let new = note(difference.new_analysis()).map(|note| format!("Now: {note}"));
    let calls = match difference.calls {
        ComparedCalls::Counted => None,
        ComparedCalls::Estimated => Some("Estimated calls have a ~. A change within the 95 % interval is noise."),
        ComparedCalls::Different => Some("Calls are not compared: those of one side are estimates."),
    };
    base.into_iter().chain(new).chain(calls.map(str::to_owned))
}

fn sentences(calls: &CallsOnDemand) -> Option<String> {
    let functions = functions(&calls.patterns);
    if calls.is_whole && functions.is_none() {
        return None;
    }
    let time = match calls.elapsed {
        _ if calls.is_whole => "the whole time".to_owned(),
        Some(elapsed) => format!("{} of {}", seconds(calls.time), seconds(elapsed)),
        None => seconds(calls.time),
    };
    let functions = functions.map(|functions| format!(", those of {functions}")).unwrap_or_default();
    let others = if calls.has_whole_runs { " Some of the runs counted all calls the whole time." } else { "" };
    Some(format!("Calls were counted during {time}{functions}.{others}"))
}

/// Returns the functions whose calls were counted; `None` if these were all functions.
fn functions(patterns: &[String]) -> Option<String> {
    if patterns.iter().all(String::is_empty) {
        return None;
    }
    let (all, named): (Vec<&String>, Vec<&String>) = patterns.iter().partition(|pattern| pattern.is_empty());
    let mut names: Vec<String> =
        named.iter().take(MOST_PATTERNS).map(|pattern| format!("`{}'", text(pattern.as_bytes()))).collect();
    let more = named.len().saturating_sub(MOST_PATTERNS);
    if more > 0 {
        names.push(format!("{more} more patterns"));
    }
    let all = if all.is_empty() { "" } else { "all functions, or " };
    Some(format!("{all}functions that match {}", names.join(" or ")))
}

/// Returns a time in words. Short times are in milliseconds.
fn seconds(time: f64) -> String {
    if time > 0.0 && time < 0.1 { format!("{:.3} ms", time * 1e3) } else { format!("{time:.2} s") }
}

/// Returns when runs counted calls on demand: one line for the time of all intervals together, and one for each of the
/// first intervals.
pub(crate) fn intervals(calls: &SideOnDemand) -> (String, Vec<String>) {
    let of = calls.elapsed.map(|elapsed| format!(" of {}", seconds(elapsed))).unwrap_or_default();
    let mut lines: Vec<String> = calls.intervals.iter().map(interval).collect();
    if calls.more_intervals > 0 {
        lines.push(counted(calls.more_intervals, "more interval"));
    }
    (format!("{}{of}", seconds(calls.time)), lines)
}

fn interval(interval: &CountedInterval) -> String {
    let begin = interval.begin.map(|begin| format!("from {} ", seconds(begin))).unwrap_or_default();
    let what = match interval.functions.map(|functions| counted(functions, "function")) {
        None => "all calls of runs that counted them the whole time".to_owned(),
        Some(functions) if interval.pattern.is_empty() => format!("all functions ({functions})"),
        Some(functions) => format!("`{}' ({functions})", text(interval.pattern.as_bytes())),
    };
    format!("{begin}for {}: {what}", seconds(interval.length))
}

/// Returns what JSON says about calls that were counted on demand.
pub(crate) fn record(calls: &CallsOnDemand) -> Record<'_> {
    let patterns = calls.patterns.iter().map(|pattern| vec![("pattern", pattern.as_bytes().into())]);
    vec![
        ("time", calls.time.into()),
        ("elapsed", calls.elapsed.into()),
        ("is_whole", calls.is_whole.into()),
        ("has_whole_runs", calls.has_whole_runs.into()),
        ("patterns", patterns.collect::<Vec<_>>().into()),
    ]
}

/// Returns what JSON says about the windows from which calls were estimated.
pub(crate) fn record_of_windows(windows: &CallWindows) -> Record<'_> {
    let patterns = windows.patterns.iter().map(|pattern| vec![("pattern", pattern.as_bytes().into())]);
    vec![
        ("windows", windows.number.into()),
        ("covered", windows.covered.into()),
        ("time", windows.time.into()),
        ("share", windows.share.into()),
        ("are_of_all_samples", windows.are_of_all_samples.into()),
        ("are_left_out", windows.are_left_out.into()),
        ("patterns", patterns.collect::<Vec<_>>().into()),
    ]
}

/// Returns what a side file says about estimated calls: a line about the windows, and a line for each selection.
pub(crate) fn of_side(estimates: &SideEstimates) -> (String, Vec<String>) {
    let SideEstimates { windows, covered, time, share, functions, selections } = estimates;
    let share = share.map(|share| format!(" ({} % asked for)", 100.0 * share)).unwrap_or_default();
    let windows = counted(*windows, "window");
    let seen = counted(*functions, "function");
    let line = format!("{windows}, {} of {} of CPU time{share}: {seen} seen", seconds(*covered), seconds(*time));
    let selection = |(pattern, functions): &(String, u64)| {
        let functions = counted(*functions, "function");
        let pattern =
            if pattern.is_empty() { "all functions".to_owned() } else { format!("`{}'", text(pattern.as_bytes())) };
        format!("{pattern} ({functions})")
    };
    (line, selections.iter().map(selection).collect())
}

/// Returns a word that says when the calls of a function were counted.
pub(crate) fn word(when: CallsCounted) -> &'static str {
    match when {
        CallsCounted::Always => "always",
        CallsCounted::InAllIntervals => "in all intervals",
        CallsCounted::InSomeIntervals => "in some intervals",
        CallsCounted::Estimated => "estimated",
        CallsCounted::Never => "never",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_name_times_and_patterns() {
        let calls = |patterns: &[&str]| {
            let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            CallsOnDemand { time: 10.0, elapsed: Some(63.2), patterns, ..CallsOnDemand::default() }
        };
        let of = |calls: CallsOnDemand| sentences(&calls).unwrap();
        assert_eq!(of(calls(&[])), "Calls were counted during 10.00 s of 63.20 s.");
        assert_eq!(of(calls(&[""])), "Calls were counted during 10.00 s of 63.20 s.");
        assert_eq!(
            of(CallsOnDemand { elapsed: None, ..calls(&["a\n*"]) }),
            "Calls were counted during 10.00 s, those of functions that match `a\\n*'."
        );
        assert_eq!(
            of(calls(&["", "a", "b", "c", "d", "e"])),
            "Calls were counted during 10.00 s of 63.20 s, those of all functions, or functions that match `a' or \
             `b' or `c' or 2 more patterns."
        );
        assert_eq!(
            of(CallsOnDemand { has_whole_runs: true, time: 0.0042, ..calls(&[]) }),
            "Calls were counted during 4.200 ms of 63.20 s. Some of the runs counted all calls the whole time."
        );
    }

    #[test]
    fn nothing_is_said_if_all_calls_were_counted() {
        let whole = CallsOnDemand { is_whole: true, ..CallsOnDemand::default() };
        assert_eq!(sentences(&whole), None);
        let some = CallsOnDemand { patterns: vec!["a*".to_owned()], ..whole };
        let expected = "Calls were counted during the whole time, those of functions that match `a*'.";
        assert_eq!(sentences(&some).unwrap(), expected);
    }
}
