//! All reports and pictures as one page for browsers. The page needs no other file and no network; its policy forbids
//! both.

mod columns;
mod data;
mod head;
mod sources;
mod threads;

use std::io::{self, Write};

use super::drawing;
use super::{page_head, scripts};
use crate::model::Analysis;
use crate::program::symbols::sources::base;
use crate::reports::{on_demand, stacks, stats, warnings};
use crate::sink::markup::{DataOfScript, escaped};

/// The scripts of the page, in the order in which they run.
const SCRIPTS: [&str; 14] = [
    scripts::TEXT,
    include_str!("page.js"),
    include_str!("trees.js"),
    include_str!("state.js"),
    include_str!("filters.js"),
    include_str!("flames.js"),
    include_str!("flat.js"),
    include_str!("sandwich.js"),
    include_str!("treemap.js"),
    include_str!("graph.js"),
    include_str!("sources.js"),
    include_str!("threads.js"),
    include_str!("print.js"),
    include_str!("start.js"),
];

const STYLE: &str = include_str!("page.css");

const BODY: &str = include_str!("body.html");

/// What the tree of dominators shows.
const DOMINATORS: &[u8] =
    b"A function stands below the function through which all counted calls lead to it. The time of a frame is \
      certain: it could only be reached through this function.";
/// The same, if calls were counted on demand.
const DOMINATORS_WITHOUT_CALLS: &[u8] =
    b"A function stands below the function through which all counted calls lead to it. \
      While calls were not counted, others may have led to it.";

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (script, style) = (script(), format!("{STYLE}{}", drawing::STYLE));
    let path = analysis.images().first().map(|image| image.path.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let title = escaped(base(path));
    page_head::write(&format!("{title}: profile"), &style, &script, out)?;
    let mut parts = BODY.split("<!--PART-->");
    let mut part = |out: &mut dyn Write| out.write_all(parts.next().unwrap_or_default().as_bytes());
    part(out)?;
    out.write_all(title.as_bytes())?;
    part(out)?;
    head::write(analysis, out)?;
    part(out)?;
    page_head::warnings(&warnings::with_said(analysis), out)?;
    page_head::notes(on_demand::note_of_graph(analysis), out)?;
    part(out)?;
    out.write_all(if analysis.lacks_calls() { DOMINATORS_WITHOUT_CALLS } else { DOMINATORS })?;
    part(out)?;
    drawing::write_graph(analysis, "", out)?;
    part(out)?;
    if let Some(sums) = analysis.stacks() {
        writeln!(
            out,
            "<tr><td></td><td>times of called functions: {}</td></tr>",
            escaped(stacks::summary(sums).as_bytes())
        )?;
    }
    for (number, text) in stats::text::footer(analysis) {
        writeln!(out, "<tr><td>{}</td><td>{}</td></tr>", escaped(number.as_bytes()), escaped(text.as_bytes()))?;
    }
    part(out)?;
    out.write_all(b"<script type=\"application/json\" id=\"data\">")?;
    data::write(analysis, &mut DataOfScript(out))?;
    writeln!(out, "</script>\n<script>{script}</script>\n</body>\n</html>")
}

fn script() -> String {
    format!("(function () {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_are_small_and_end_nowhere_else() {
        let script = script();
        assert!(script.len() < 60_000, "{}", script.len());
        assert!(!script.contains("</") && !STYLE.contains('<'));
        assert_eq!(BODY.matches("<!--PART-->").count(), 7);
    }
}
