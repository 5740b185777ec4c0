//! The difference as Markdown, for comments on changes: the verdict first, then what the runs show, and a table.

use std::io::{self, Write};

use crate::exports::markdown::{write_left_out, write_warnings};
use crate::model::Difference;
use crate::program::symbols::sources::base as last_part;
use crate::reports::difference::verdict::{self, Verdict};
use crate::reports::difference::{cells, runs};
use crate::reports::number::Fixed;
use crate::reports::{on_demand, warnings};
use crate::sink::markdown::{Table, code, escaped};

/// The columns of the table: their titles, and their places among the columns of the text.
const COLUMNS: [(&str, usize); 9] = [
    ("base", 0),
    ("now", 1),
    ("%", 3),
    ("±", 4),
    ("p", 5),
    ("visible %", 6),
    ("calls base", 12),
    ("calls now", 13),
    ("%", 14),
];

/// The place of the mark among the columns of the text.
const MARK: usize = 15;

pub(crate) fn render(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let new = difference.new_analysis();
    let path = new.images().first().map(|image| image.path.as_os_str().as_encoded_bytes());
    let name = Some(last_part(path.unwrap_or_default())).filter(|name| !name.is_empty());
    let name = name.map(|name| format!(": {}", code(name))).unwrap_or_default();
    writeln!(out, "### Difference{name}\n")?;
    write_warnings(&warnings::of_difference(difference), out)?;
    let lines = verdict::lines(difference);
    writeln!(out, "**{}**\n", escaped(verdict_of(difference, lines.is_empty()).as_bytes()))?;
    lines.iter().try_for_each(|line| writeln!(out, "- {}", code(line.as_bytes())))?;
    if !lines.is_empty() {
        writeln!(out)?;
    }
    let unit = String::from_utf8_lossy(new.clock().dimension.as_bytes()).into_owned();
    let [old, now] = [difference.total.old, difference.total.new].map(Fixed);
    let total = verdict::sized(&difference.runs.total);
    let total = format!("Total: {old:.2} {unit} in the base, {now:.2} now: {total}.");
    let shows = verdict::shows(difference).unwrap_or_else(|| "These runs show no growth of the total.".to_owned());
    writeln!(out, "{}\n\n{}\n", escaped(total.as_bytes()), escaped(shows.as_bytes()))?;
    let [of_base, of_new] = [difference.base_analysis(), new].map(cells::described);
    writeln!(out, "Base: {}. Now: {}.\n", code(of_base.as_bytes()), code(of_new.as_bytes()))?;
    let notes = on_demand::notes_of_difference(difference).chain(verdict::method(difference));
    writeln!(out, "{}\n", escaped(notes.collect::<Vec<_>>().join(" ").as_bytes()))?;
    let mut table = Table::new(&["function", "mark"], &COLUMNS.map(|(title, _)| title));
    for row in &difference.rows {
        let texts = runs::cells(row);
        let texts =
            std::iter::once(MARK).chain(COLUMNS.map(|(_, place)| place)).map(|place| escaped(texts[place].as_bytes()));
        table.row(std::iter::once(code(&difference.row_name(row))).chain(texts));
    }
    out.write_all(table.lines().as_bytes())?;
    write_left_out(difference.left_out, "row", out)?;
    writeln!(out)
}

/// The verdict in one sentence: on the limits, if there are any, and otherwise on all functions.
fn verdict_of(difference: &Difference<'_, '_>, is_same: bool) -> String {
    let gates = difference.new_analysis().options.comparison.as_ref().map_or(&[][..], |comparison| &comparison.gates);
    match verdict::judge(difference, gates) {
        Verdict { failure: Some(failure), .. } => format!("Beyond the limits: {failure}"),
        Verdict { unsure: Some(unsure), .. } => unsure,
        _ if !gates.is_empty() => "No change beyond the limits".to_owned(),
        _ if is_same => "No change that chance does not explain".to_owned(),
        _ => "Changed for certain:".to_owned(),
    }
}
