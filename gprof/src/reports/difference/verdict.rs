//! What changed for certain, in words; and the verdict on limits (`--fail-if`).

use super::cells;
use crate::model::{ArcChange, CallsJudged, Cause, Difference, DifferenceRow, Evidence, Finding, Judgement, Presence};
use crate::question::gate::{Gate, Limited};
use crate::sink::text::text;

/// The functions that a verdict names at most.
const MOST_NAMES: usize = 5;

/// The lines of each kind in a report, at most.
const MOST_LINES: usize = 10;

/// The part of the total time from which on a function must be visible if the user names none: 5 %.
const VISIBLE_PART: f64 = 0.05;

/// The result of the limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// What is beyond a limit, if anything is.
    pub(crate) failure: Option<String>,
    /// What the runs could not have shown, if there is something.
    pub(crate) unsure: Option<String>,
}

/// Returns a p-value as people read it.
pub(crate) fn p(p: f64) -> String {
    match p {
        _ if p >= 0.0995 => format!("{p:.2}"),
        _ if p >= 0.000_995 => format!("{p:.3}"),
        _ if p < 1e-300 => "<1e-300".to_owned(),
        _ => format!("{p:.0e}"),
    }
}

/// Returns a percentage with a sign; empty if the base has nothing.
pub(crate) fn percent(percent: Option<f64>) -> String {
    percent.map(cells::signed_percent).unwrap_or_default()
}

/// Returns half of the width of the interval, in percent if the base has time.
pub(crate) fn half_width(time: &Judgement) -> String {
    time.percent(time.half_width()).map(|percent| format!("±{percent:.1}")).unwrap_or_default()
}

/// Returns a change with its interval and p-value: `+24.6 % ±3.9 (p 2e-7)`.
pub(crate) fn sized(time: &Judgement) -> String {
    let change = match time.percent(time.change()) {
        Some(_) => format!("{} % {}", percent(time.percent(time.change())), half_width(time)),
        None => cells::signed(time.change()),
    };
    match time.corrected {
        Some(corrected) => format!("{change} (p {})", p(corrected)),
        None => change,
    }
}

fn name(difference: &Difference<'_, '_>, row: &DifferenceRow) -> String {
    text(&difference.row_name(row))
}

fn arc(difference: &Difference<'_, '_>, arc: &ArcChange) -> String {
    let [caller, called] = difference.arc_names(arc).map(|name| text(&name));
    format!("{caller} > {called}")
}

fn counts(calls: &CallsJudged) -> String {
    let change = percent(calls.percent());
    let change = if change.is_empty() { change } else { format!(" ({change} %)") };
    format!("{:.0} -> {:.0}{change}", calls.base, calls.new)
}

/// Returns lines of one kind, and how many more there are.
fn listed(mut lines: Vec<String>, what: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    lines.extend((more > 0).then(|| format!("{more} more {what}")));
    lines
}

/// Returns what changed for certain, each in a line: first the calls, which have no error, and then the times.
pub(crate) fn lines(difference: &Difference<'_, '_>) -> Vec<String> {
    let runs = &difference.runs;
    let calls = runs.calls.iter().map(|call| format!("calls: {} {}", arc(difference, call), counts(&call.calls)));
    let times = runs.findings.iter().map(|finding| found(difference, finding));
    let (calls, times) = (calls.collect(), times.collect());
    let mut lines = listed(calls, "changes of calls");
    lines.extend(listed(times, "changes of times"));
    lines
}

fn found(difference: &Difference<'_, '_>, finding: &Finding) -> String {
    let row = &finding.row;
    let grows = row.runs.own.change() > 0.0;
    let what = match (row.presence, grows) {
        (Presence::Added, _) => "added",
        (Presence::Removed, _) => "removed",
        (Presence::Both, true) => "slower",
        (Presence::Both, false) => "faster",
    };
    let often = if row.runs.calls.is_some_and(|calls| calls.new > calls.base) { "more calls" } else { "fewer calls" };
    let longer = if grows { "each call takes longer" } else { "each call is shorter" };
    let why = match finding.cause {
        Cause::EachCall => format!(": {longer}"),
        Cause::Calls => format!(": {often}, each as long"),
        Cause::Both => format!(": {often}, and {longer}"),
        Cause::Unknown => String::new(),
    };
    let origin = finding.origin.map(|origin| format!(", from {}", arc(difference, &origin))).unwrap_or_default();
    let mut path: Vec<String> = difference.path_names(finding).iter().map(|name| text(name)).collect();
    path.push(name(difference, row));
    let path = if path.len() > 1 { format!("; {}", path.join(" > ")) } else { String::new() };
    format!("{what}: {} {}{why}{origin}{path}", name(difference, row), sized(&row.runs.own))
}

/// Returns the numbers of runs, and by what the sides are compared, each in a line.
pub(crate) fn method(difference: &Difference<'_, '_>) -> [String; 2] {
    let runs = &difference.runs;
    let [base, new] = runs.counts;
    let counts = match runs.evidence {
        Evidence::Sampling => {
            "The errors are those of sampling alone: several runs a side tell what differs from run to run."
        }
        Evidence::Runs => "Changes are compared with the spread between the runs of each side.",
        Evidence::Pairs => "They took turns, so changes are compared with the spread between the pairs.",
    };
    let test = match runs.evidence {
        Evidence::Sampling => "those of sampling",
        Evidence::Runs => "those of Welch's t-test",
        Evidence::Pairs => "those of the t-test of pairs",
    };
    let (tests, level) = (runs.tests, runs.evidence.level());
    [
        format!("Runs: {base} of the base, {new} now. {counts}"),
        format!("p-values are {test}, corrected for {tests} changes (Holm), and count below {level}."),
    ]
}

/// Returns the growth of the total that the runs would show, as a percentage of the base.
pub(crate) fn growth_shown(difference: &Difference<'_, '_>) -> Option<f64> {
    let total = &difference.runs.total;
    total.percent(total.visible?)
}

/// Returns which change of everything the runs would show.
pub(crate) fn shows(difference: &Difference<'_, '_>) -> Option<String> {
    let percent = growth_shown(difference)?;
    Some(format!("These runs show a growth of the total from {percent:.1}% on, with a probability of 0.8."))
}

/// Judges the limits.
pub(crate) fn judge(difference: &Difference<'_, '_>, gates: &[Gate]) -> Verdict {
    let of = |limited: Limited| gates.iter().filter(move |gate| gate.limited == limited);
    let mut failures: Vec<String> = Vec::new();
    failures.extend(named("calls", of(Limited::Calls).flat_map(|gate| more_calls(difference, gate)).collect()));
    failures.extend(named("slower", of(Limited::Functions).flat_map(|gate| slower(difference, gate)).collect()));
    let total = &difference.runs.total;
    let is_beyond = |gate: &&Gate| is_beyond(total, gate.percent);
    failures.extend(of(Limited::Total).find(is_beyond).map(|_| format!("total: {}", sized(total))));
    let unsure = of(Limited::Functions).chain(of(Limited::Total)).find_map(|gate| unsure(difference, gate));
    Verdict { failure: (!failures.is_empty()).then(|| failures.join("; ")), unsure }
}

/// Returns names behind a word, without repetition.
fn named(what: &str, names: Vec<String>) -> Option<String> {
    let mut once: Vec<String> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
        if once.len() > 10 * MOST_NAMES {
            break;
        }
    }
    let more = once.len().saturating_sub(MOST_NAMES);
    once.truncate(MOST_NAMES);
    let more = if more > 0 { ", and more" } else { "" };
    (!once.is_empty()).then(|| format!("{what}: {}{more}", once.join(", ")))
}

fn is_beyond(time: &Judgement, percent: f64) -> bool {
    time.is_certain && time.change() > 0.0 && time.percent(time.change()).is_none_or(|change| change > percent)
}

/// The rows that a limit counts for. A function that only one side has became neither slower nor called more often.
fn rows<'d>(difference: &'d Difference<'_, '_>, gate: &'d Gate) -> impl Iterator<Item = &'d DifferenceRow> {
    difference.runs.rows.iter().filter(move |row| {
        let [base, new] = difference.row_functions(row);
        let of_base = base.iter().map(|id| difference.base_analysis().function(*id).symbol);
        let of_new = new.iter().map(|id| difference.new_analysis().function(*id).symbol);
        let shown = difference.row_name(row);
        row.presence == Presence::Both
            && (gate.counts_for(of_base.chain(of_new)) || gate.counts_for(std::iter::once(&*shown)))
    })
}

fn slower<'d>(difference: &'d Difference<'_, '_>, gate: &'d Gate) -> impl Iterator<Item = String> {
    let rows = rows(difference, gate).filter(|row| is_beyond(&row.runs.own, gate.percent));
    rows.map(|row| format!("{} {}", name(difference, row), sized(&row.runs.own)))
}

fn more_calls<'d>(difference: &'d Difference<'_, '_>, gate: &'d Gate) -> impl Iterator<Item = String> {
    rows(difference, gate).filter_map(|row| {
        let calls = row.runs.calls.filter(|calls| calls.has_changed && calls.new > calls.base)?;
        let is_beyond = calls.percent().is_none_or(|percent| percent > gate.percent);
        is_beyond.then(|| format!("{} {}", name(difference, row), counts(&calls)))
    })
}

/// What the runs could not have shown: of the total, of the functions that the limit names, or of those with a part of
/// the time that counts.
fn unsure(difference: &Difference<'_, '_>, gate: &Gate) -> Option<String> {
    let runs = &difference.runs;
    let limit = gate.percent;
    let is_hidden = |time: &Judgement| match time.visible.and_then(|visible| time.percent(visible)) {
        Some(percent) => percent > limit,
        None => true,
    };
    let counts = |row: &&DifferenceRow| gate.pattern.is_some() || row.runs.own.base >= VISIBLE_PART * runs.total.base;
    let (who, time, more) = match gate.limited {
        Limited::Total => ("the total".to_owned(), Some(&runs.total), 0),
        Limited::Functions | Limited::Calls => {
            let mut hidden: Vec<&DifferenceRow> =
                rows(difference, gate).filter(counts).filter(|row| is_hidden(&row.runs.own)).collect();
            // The function that hides the largest growth comes first.
            hidden.sort_by(|one, other| other.runs.own.base.total_cmp(&one.runs.own.base));
            let first = hidden.first().map(|row| (name(difference, row), &row.runs.own));
            let (who, time) = first.map_or((String::new(), None), |(who, time)| (who, Some(time)));
            (who, time, hidden.len().saturating_sub(1))
        }
    };
    let time = time.filter(|time| is_hidden(time))?;
    let more = match more {
        0 => String::new(),
        1 => ", and one more function is as uncertain".to_owned(),
        _ => format!(", and {more} more functions are as uncertain"),
    };
    let visible = match time.visible.and_then(|visible| time.percent(visible)) {
        Some(percent) => format!("these runs show a growth of {who} from {percent:.1} % on"),
        None => format!("these runs have too few samples of {who} to show any growth"),
    };
    let enough = match (runs.evidence, runs.runs_for(time, limit)) {
        (Evidence::Sampling, _) => "several runs a side tell their spread".to_owned(),
        (_, Some(count)) => format!("{count} runs a side would show {limit} %"),
        (_, None) => format!("no number of such runs would show {limit} %"),
    };
    Some(format!("unsure: {visible} (limit {limit} %){more}: {enough}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_short() {
        assert_eq!(
            [1.0, 0.25, 0.0312, 0.001, 2.2e-7, 0.0].map(p),
            ["1.00", "0.25", "0.031", "0.001", "2e-7", "<1e-300"]
        );
    }

    #[test]
    fn a_verdict_names_the_first_functions_once() {
        let names = |count: usize| (0..count).map(|at| format!("f{at}")).collect::<Vec<_>>();
        assert_eq!(named("slower", vec!["f".to_owned(), "f".to_owned()]), Some("slower: f".to_owned()));
        assert_eq!(named("slower", names(7)), Some("slower: f0, f1, f2, f3, f4, and more".to_owned()));
        assert_eq!(named("slower", Vec::new()), None);
    }
}
