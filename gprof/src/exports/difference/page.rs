//! The difference as a page for browsers: a flame graph in two colors, and the table of functions. The page needs no
//! other file and no network; its policy forbids both. Without scripts, it shows everything but does not zoom, search,
//! and sort.

use std::io::{self, Write};

use super::super::{page_head, scripts};
use super::frames;
use crate::model::{Difference, DifferenceRow, Judgement};
use crate::program::symbols::sources::base as last_part;
use crate::reports::difference::{cells, runs, verdict};
use crate::reports::number::{Fixed, General};
use crate::reports::{on_demand, warnings};
use crate::sink::markup::escaped;

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");
const BODY: &str = include_str!("page.html");

/// The titles of the columns. Columns that a narrow window has no room for are wide.
const TITLES: [(&str, bool); 27] = [
    ("name", false),
    ("mark", false),
    ("self base", false),
    ("self now", false),
    ("change", false),
    ("±", true),
    ("%", false),
    ("95 %: from", true),
    ("to", true),
    ("p", true),
    ("corrected p", false),
    ("visible", false),
    ("inclusive base", true),
    ("inclusive now", true),
    ("change", true),
    ("%", true),
    ("corrected p", true),
    ("visible", true),
    ("calls base", true),
    ("calls now", true),
    ("change", true),
    ("%", true),
    ("each call base", true),
    ("each call now", true),
    ("95 %: from", true),
    ("to", true),
    ("corrected p", true),
];

/// The number of columns at the beginning that are texts.
const TEXTS: usize = 2;

pub(crate) fn render(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let path = difference.new_analysis().images().first().map(|image| image.path.as_os_str().as_encoded_bytes());
    let title = escaped(last_part(path.unwrap_or_default()));
    let script = script();
    page_head::write(&format!("{title}: difference"), STYLE, &script, out)?;
    let mut parts = BODY.split("<!--PART-->");
    let mut part = |out: &mut dyn Write| out.write_all(parts.next().unwrap_or_default().as_bytes());
    part(out)?;
    out.write_all(title.as_bytes())?;
    part(out)?;
    summary(difference, out)?;
    part(out)?;
    page_head::warnings(&warnings::of_difference(difference), out)?;
    let notes = on_demand::notes_of_difference(difference).chain(verdict::method(difference));
    let notes = notes.chain(verdict::shows(difference)).chain(verdict::lines(difference));
    page_head::notes(notes, out)?;
    part(out)?;
    write!(out, "{} ", source(difference))?;
    write!(out, "Changes of less than {:.2} standard errors are noise.", difference.flame().noise_errors)?;
    part(out)?;
    frames::write(difference, out)?;
    part(out)?;
    table(difference, out)?;
    part(out)?;
    writeln!(out, "<script>{script}</script>\n</body>\n</html>")
}

fn script() -> String {
    [scripts::TEXT, scripts::FRAMES, SCRIPT].concat()
}

fn summary(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let (unit, total) = (frames::unit(difference), &difference.total);
    let [old, new] = [total.old, total.new].map(Fixed);
    let (change, percent) = (cells::signed(total.absolute()), cells::percent(total));
    let percent = if percent.is_empty() { percent } else { format!(" ({percent} %)") };
    let [of_base, of_new] = [difference.base_analysis(), difference.new_analysis()].map(cells::described);
    let [of_base, of_new] = [of_base, of_new].map(|side| escaped(side.as_bytes()));
    write!(
        out,
        "Base: {of_base}: {old:.2} {unit}. Now: {of_new}: {new:.2} {unit}. Change: <b>{change} {unit}{percent}</b>"
    )?;
    let judged = Some(&difference.runs.total);
    let [low, high] = [number(judged, |total| Some(total.interval.0)), number(judged, |total| Some(total.interval.1))];
    let (p, visible) = (p(judged, |total| total.corrected), number(judged, |total| total.visible));
    write!(out, " (95 %: from {low} to {high} {unit}")?;
    if !p.is_empty() {
        write!(out, "; corrected p {p}; visible from {visible} {unit} on")?;
    }
    write!(out, ").")?;
    if let Some(factor) = difference.factor {
        write!(
            out,
            " Times and calls of the base are multiplied by {}, so that both totals are the same.",
            General(factor)
        )?;
    }
    write!(out, " Changes of functions are noise below {:.2} standard errors.", difference.noise_errors)
}

fn source(difference: &Difference<'_, '_>) -> &'static str {
    match difference.is_measured {
        true => "Frames are measured from the stacks of the samples.",
        false => "Frames are estimated from the call counts of each side.",
    }
}

fn table(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<table id=\"rows\"><thead><tr>")?;
    for (at, (title, is_wide)) in TITLES.iter().enumerate() {
        let is_text = at < TEXTS;
        write!(out, "<th scope=\"col\" class=\"{}\">{title}</th>", classes(is_text, *is_wide))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for row in &difference.rows {
        // Several runs tell more than the samples of their sums.
        let is_chance = runs::are_several(difference) && !row.runs.own.is_certain;
        let class = if is_chance { "same".to_owned() } else { frames::class(&row.own) };
        write!(out, "<tr class=\"{class}\">")?;
        for ((at, text), (_, is_wide)) in texts(difference, row).iter().enumerate().zip(TITLES) {
            let is_text = at < TEXTS;
            write!(out, "<td class=\"{}\">{text}</td>", classes(is_text, is_wide))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table>")?;
    if difference.left_out > 0 {
        writeln!(out, "<p>Functions left out by --top or --min-percent: {}.</p>", difference.left_out)?;
    }
    Ok(())
}

fn classes(is_text: bool, is_wide: bool) -> &'static str {
    match (is_text, is_wide) {
        (true, _) => "text",
        (false, true) => "wide",
        (false, false) => "",
    }
}

fn texts(difference: &Difference<'_, '_>, row: &DifferenceRow) -> [String; TITLES.len()] {
    let DifferenceRow { own, inclusive, calls, .. } = row;
    let fixed = |number: f64| format!("{:.2}", Fixed(number));
    let [calls_old, calls_new, calls_change, calls_percent] = cells::calls(calls);
    let mark = if runs::are_several(difference) { runs::mark(row) } else { cells::mark(row) };
    let judged = Some(&row.runs.own);
    let (of_all, of_each) = (row.runs.inclusive.as_ref(), row.runs.for_each_call.as_ref());
    [
        escaped(&difference.row_name(row)),
        mark.to_owned(),
        fixed(own.old),
        fixed(own.new),
        cells::signed(own.absolute()),
        cells::error(own),
        cells::percent(own),
        number(judged, |own| Some(own.interval.0)),
        number(judged, |own| Some(own.interval.1)),
        p(judged, |own| Some(own.p)),
        p(judged, |own| own.corrected),
        number(judged, |own| own.visible),
        fixed(inclusive.old),
        fixed(inclusive.new),
        format!("{}{}", cells::signed(inclusive.absolute()), cells::noise_sign(inclusive)),
        cells::percent(inclusive),
        p(of_all, |inclusive| inclusive.corrected),
        number(of_all, |inclusive| inclusive.visible),
        calls_old,
        calls_new,
        calls_change,
        calls_percent,
        number(of_each, |each| Some(each.base)),
        number(of_each, |each| Some(each.new)),
        number(of_each, |each| Some(each.interval.0)),
        number(of_each, |each| Some(each.interval.1)),
        p(of_each, |each| each.corrected),
    ]
}

/// Returns a number of a judgement with six digits.
fn number(time: Option<&Judgement>, of: impl Fn(&Judgement) -> Option<f64>) -> String {
    time.and_then(of).map(|number| General(number).to_string()).unwrap_or_default()
}

/// Returns a p-value of a judgement.
fn p(time: Option<&Judgement>, of: impl Fn(&Judgement) -> Option<f64>) -> String {
    time.and_then(of).map(|p| escaped(verdict::p(p).as_bytes())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fit_and_the_script_ends_nowhere_else() {
        assert_eq!(BODY.matches("<!--PART-->").count(), 6);
        assert!(!script().contains("</") && !STYLE.contains('<') && script().len() < 60_000);
        for degree in 1..=frames::DEGREES.len() + 1 {
            assert!([format!(".grew{degree} "), format!(".shrank{degree} ")].iter().all(|class| STYLE.contains(class)));
        }
    }
}
