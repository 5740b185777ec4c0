//! The difference as a page for browsers: a flame graph in two colors, and the table of functions. The page needs no
//! other file and no network; its policy forbids both. Without scripts, it shows everything but does not zoom, search,
//! and sort.

use std::io::{self, Write};

use super::super::{page_head, scripts};
use super::frames;
use crate::model::{Difference, DifferenceRow};
use crate::program::symbols::sources::base as last_part;
use crate::reports::difference::{cells, verdict};
use crate::reports::number::{Fixed, General};
use crate::reports::{on_demand, warnings};
use crate::sink::markup::escaped;

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");
const BODY: &str = include_str!("page.html");

/// The titles of the columns. Columns that a narrow window has no room for are wide.
const TITLES: [(&str, bool); 15] = [
    ("name", false),
    ("mark", false),
    ("self base", false),
    ("self now", false),
    ("change", false),
    ("±", true),
    ("%", false),
    ("inclusive base", true),
    ("inclusive now", true),
    ("change", true),
    ("%", true),
    ("calls base", true),
    ("calls now", true),
    ("change", true),
    ("%", true),
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
        "Base: {of_base}: {old:.2} {unit}. Now: {of_new}: {new:.2} {unit}. Change: <b>{change} {unit}{percent}</b>."
    )?;
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
        write!(out, "<tr class=\"{}\">", frames::class(&row.own))?;
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
    [
        escaped(&difference.row_name(row)),
        cells::mark(row).to_owned(),
        fixed(own.old),
        fixed(own.new),
        cells::signed(own.absolute()),
        cells::error(own),
        cells::percent(own),
        fixed(inclusive.old),
        fixed(inclusive.new),
        format!("{}{}", cells::signed(inclusive.absolute()), cells::noise_sign(inclusive)),
        cells::percent(inclusive),
        calls_old,
        calls_new,
        calls_change,
        calls_percent,
    ]
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
