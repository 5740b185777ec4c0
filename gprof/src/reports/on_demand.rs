//! Calls that were counted on demand, in words.

use crate::model::{Analysis, CallsCounted, Difference};
use crate::reports::number::counted;
use crate::sink::json::Record;
use crate::sink::text::text;
use crate::sources::on_demand::CallsOnDemand;
use crate::sources::side_info::{CountedInterval, SideOnDemand};

/// The number of patterns that a note names at most.
const MOST_PATTERNS: usize = 3;

/// Returns the sentence that says for how long calls were counted, and which. `None` if all calls were counted during
/// the whole time.
pub(crate) fn note(analysis: &Analysis<'_>) -> Option<String> {
    analysis.calls_on_demand().and_then(sentences)
}

/// Returns the same for the call graph, whose times may be estimates from these calls.
pub(crate) fn note_of_graph(analysis: &Analysis<'_>) -> Option<String> {
    let is_estimate = analysis.stacks().is_none() && analysis.lacks_calls();
    let more = if is_estimate { " Times of called functions are estimates from these calls only." } else { "" };
    note(analysis).map(|note| note + more)
}

/// Returns the notes of both sides of a difference. That of the base comes first.
pub(crate) fn notes_of_difference(difference: &Difference<'_, '_>) -> impl Iterator<Item = String> {
    let base = note(difference.base_analysis()).map(|note| format!("Base: {note}"));
    let new = note(difference.new_analysis()).map(|note| format!("Now: {note}"));
    base.into_iter().chain(new)
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

/// Returns a word that says when the calls of a function were counted.
pub(crate) fn word(when: CallsCounted) -> &'static str {
    match when {
        CallsCounted::Always => "always",
        CallsCounted::InAllIntervals => "in all intervals",
        CallsCounted::InSomeIntervals => "in some intervals",
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
