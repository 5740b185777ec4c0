//! The head of the page: what was run, what the numbers say in words, and what the marks of the page mean.

use std::io::{self, Write};

use crate::model::{Analysis, ArcTimes, FunctionTimes};
use crate::program::symbols::functions::FunctionId;
use crate::reports::number::{Fixed, General, counted};
use crate::sink::limits::{LETTERS_OF_SUMMARY, NAMED_IN_SUMMARY};
use crate::sink::markup::{escaped, fitting};

/// A call is cheap if it takes less than this part of the whole time.
const CHEAP: f64 = 1e-3;

/// The marks of the page: the mark, and what the mark means.
const MARKS: [(&str, &str); 9] = [
    ("±", "the standard error of a time: by chance, a sample more or less hits a function"),
    (
        "(?)",
        "a tail call may have removed a frame, so the time is uncertain; the longest and the least time stand beside the mark",
    ),
    ("~", "calls that were estimated from short windows, with the error in percent behind ±"),
    ("not seen", "calls that were to be estimated, and none was seen"),
    ("–, not counted", "no call was counted: the function may have been called"),
    ("in cycle", "the time of a call inside a cycle, which the cycle has as a whole"),
    ("hatched frame", "an estimate from call counts, or in measured flame graphs a frame that is uncertain"),
    ("[inlined]", "a function whose code the compiler copied into its caller"),
    ("(cut)", "frames that are too short to be drawn"),
];

/// Writes the head.
pub(super) fn write(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"<details id=\"about\" open>\n<summary>")?;
    out.write_all(escaped(overview(analysis).as_bytes()).as_bytes())?;
    out.write_all(b"</summary>\n<ul class=\"words\">\n")?;
    for sentence in words(analysis) {
        writeln!(out, "<li>{}</li>", escaped(sentence.as_bytes()))?;
    }
    out.write_all(b"</ul>\n<table class=\"facts\"><tbody>\n")?;
    for (name, value) in facts(analysis) {
        writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", escaped(value.as_bytes()))?;
    }
    out.write_all(b"</tbody></table>\n<dl class=\"marks\">\n")?;
    for (mark, meaning) in MARKS {
        writeln!(out, "<dt>{}</dt><dd>{}</dd>", escaped(mark.as_bytes()), escaped(meaning.as_bytes()))?;
    }
    out.write_all(b"</dl>\n</details>\n")
}

/// The most important numbers in one line.
fn overview(analysis: &Analysis<'_>) -> String {
    let clock = analysis.clock();
    let samples = analysis.stats().samples;
    let mut parts = Vec::new();
    if clock.rate > 0.0 {
        let unit = String::from_utf8_lossy(clock.dimension.as_bytes());
        parts.push(format!("{:.2} {unit}", Fixed(clock.time(samples) + 0.0)));
    }
    parts.push(counted(samples.max(0.0).round() as u64, "sample"));
    parts.push(match analysis.stacks() {
        Some(sums) => format!("{:.1} % with whole stacks", Fixed(sums.percent(sums.whole))),
        None => "times of called functions are estimates".to_owned(),
    });
    parts.join(", ")
}

/// What is known of the runs: names and values.
fn facts(analysis: &Analysis<'_>) -> Vec<(&'static str, String)> {
    let clock = analysis.clock();
    let mut facts = Vec::new();
    let mut fact = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    let path = analysis.images().first().map(|image| image.path.display().to_string());
    let of_program = |path: &String| analysis.side_files().iter().find(|side| side.program == *path);
    let side = path.as_ref().and_then(of_program).or(analysis.side_files().first());
    let property = |name: &str| {
        let found = side?.properties.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone())
    };
    let seconds = |name: &str| property(name)?.parse::<f64>().ok().map(|time| format!("{:.2} s", Fixed(time / 1e9)));
    fact("program", path);
    fact("command line", property("command"));
    fact("began", property("start").and_then(|start| start.parse().ok()).map(date));
    fact("host", property("host"));
    fact("duration", seconds("elapsed"));
    fact("CPU time", seconds("cpu"));
    fact("rate", (clock.rate > 0.0).then(|| format!("{} samples a second", General(clock.rate))));
    fact("sampled clock", property("clock"));
    let files = analysis.files().iter().filter(|file| !file.is_shared_object).count();
    fact("profiles", Some(files.to_string()).filter(|_| files > 1));
    fact("calls", Some(analysis.stats().calls).filter(|calls| *calls > 0).map(|calls| calls.to_string()));
    let identity = side.and_then(|side| {
        let object = side.objects.iter().find(|object| object.path == side.program).or(side.objects.first())?;
        object.identity.clone().filter(|identity| identity.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    fact("build ID", identity);
    facts
}

/// A moment in nanoseconds since 1970, as a date and a time of day.
fn date(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March have their leap day at the end; 400 of them have 146,097 days.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC", 400 * era + year)
}

/// What the numbers say, in sentences.
fn words(analysis: &Analysis<'_>) -> Vec<String> {
    let functions: Vec<FunctionTimes> = analysis.function_times().collect();
    let mut words = Vec::new();
    let all = analysis.flat_samples();
    let mut top = |what: &str, time: fn(&FunctionTimes) -> f64| {
        let mut sorted: Vec<&FunctionTimes> = functions.iter().filter(|function| time(function) > 0.0).collect();
        sorted.sort_by(|one, other| time(other).total_cmp(&time(one)));
        let named = sorted.iter().take(NAMED_IN_SUMMARY).map(|of| share(analysis, of.id, time(of), all));
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            words.push(format!("{what}: {}.", named.join(", ")));
        }
    };
    top("Most self time", |function| function.own);
    top("Most time with called functions", |function| function.inclusive);
    words.extend(dear_caller(analysis, all));
    words
}

fn share(analysis: &Analysis<'_>, id: FunctionId, samples: f64, all: f64) -> String {
    format!("{} {}", name(analysis, id), percent(samples, all))
}

fn name(analysis: &Analysis<'_>, id: FunctionId) -> String {
    fitting(&String::from_utf8_lossy(&analysis.name(id)), LETTERS_OF_SUMMARY)
}

/// The caller that makes a function with cheap calls dear: of all calls that take little time each, those of one caller
/// with the longest time together.
fn dear_caller(analysis: &Analysis<'_>, all: f64) -> Option<String> {
    let time = |arc: &ArcTimes| arc.times.map_or(0.0, |(_, inclusive)| inclusive);
    let is_cheap = |arc: &ArcTimes| arc.calls > 0 && time(arc) > 0.0 && time(arc) / (arc.calls as f64) < CHEAP * all;
    let arcs = analysis.arc_times().filter(|arc| arc.caller != arc.callee && is_cheap(arc));
    let dearest = arcs.reduce(|one, other| if time(&other) > time(&one) { other } else { one })?;
    let (caller, callee) = (dearest.caller?, dearest.callee?);
    let calls = counted(dearest.calls, "call");
    let cheap = name(analysis, callee);
    Some(format!(
        "A call of {cheap} is cheap, but {calls} by {} take {}.",
        name(analysis, caller),
        percent(time(&dearest), all)
    ))
}

fn percent(samples: f64, all: f64) -> String {
    format!("{:.1} %", Fixed(if all > 0.0 { 100.0 * samples / all } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_868_799, "2000-02-29 23:59:59 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(date(seconds * 1_000_000_000), text);
        }
        assert_eq!(date(u64::MAX), "2554-07-21 23:34:33 UTC");
    }
}
