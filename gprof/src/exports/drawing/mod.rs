//! The call graph as a picture: SVG that needs no other file and no script.

use std::io::{self, Write};

use super::colors;
use super::layered::{Arrow, Layout, Point, layout};
use crate::model::{Analysis, CallEstimate, DrawnCall, DrawnFunction, DrawnGraph};
use crate::program::symbols::sources::base;
use crate::reports::{estimates, on_demand, warnings};
use crate::sink::limits::{DRAWN_CALLS, DRAWN_FUNCTIONS, LETTERS_OF_BOX, keep};
use crate::sink::markup::{escaped, fitting};

/// The style of the drawing, also for a page that contains it.
pub(super) const STYLE: &str = include_str!("drawing.css");

/// The paper of a file that is shown alone.
const PAPER: &str = "svg { background: #fff; }
@media (prefers-color-scheme: dark) { svg { background: #16181d; } }
";

const MARGIN: f64 = 12.0;
const LETTER: f64 = 7.3;
const LINE: f64 = 15.0;

/// Writes the drawing as a file.
pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    write_graph(analysis, &format!("{PAPER}{STYLE}"), out)
}

/// Writes the drawing as an element, with this style inside.
pub(super) fn write_graph(analysis: &Analysis<'_>, style: &str, out: &mut dyn Write) -> io::Result<()> {
    let graph = readable(analysis.drawn_graph());
    let texts: Vec<[String; 3]> = graph.functions.iter().map(|function| texts(analysis, function)).collect();
    let sizes: Vec<Point> = texts.iter().map(size).collect();
    let arrows: Vec<Arrow> = graph.calls.iter().map(|call| Arrow { from: call.caller, to: call.callee }).collect();
    let layout = layout(&sizes, &arrows);
    let note = note(analysis, &graph);
    let width = layout.size[0].max(note.chars().count() as f64 * LETTER) + 2.0 * MARGIN;
    let height = layout.size[1] + 2.0 * MARGIN + 24.0;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\">"
    )?;
    if !style.is_empty() {
        writeln!(out, "<style>{style}</style>")?;
    }
    writeln!(out, "<text class=\"note\" x=\"{MARGIN}\" y=\"18\">{}</text>", escaped(note.as_bytes()))?;
    writeln!(out, "<g transform=\"translate({MARGIN} {})\">", MARGIN + 24.0)?;
    for (call, route) in graph.calls.iter().zip(&layout.arrows) {
        write_arrow(analysis, &graph, call, route, out)?;
    }
    for (at, function) in graph.functions.iter().enumerate() {
        write_box(analysis, function, &texts[at], sizes[at], &layout, at, out)?;
    }
    writeln!(out, "</g>\n</svg>")
}

/// Leaves out the functions and calls with the least time if there are too many.
fn readable(mut graph: DrawnGraph) -> DrawnGraph {
    keep(&mut graph.functions, DRAWN_FUNCTIONS, &mut graph.functions_left_out);
    let (functions, all) = (graph.functions.len(), graph.calls.len());
    graph.calls.retain(|call| call.caller < functions && call.callee < functions);
    graph.calls.sort_by(|one, other| {
        let time = |call: &DrawnCall| call.inclusive.unwrap_or_default();
        time(other).total_cmp(&time(one))
    });
    graph.calls_left_out += all - graph.calls.len();
    keep(&mut graph.calls, DRAWN_CALLS, &mut graph.calls_left_out);
    graph
}

fn note(analysis: &Analysis<'_>, graph: &DrawnGraph) -> String {
    let times = match analysis.stacks() {
        Some(_) => "times measured from stacks",
        None if on_demand::lacks_times(analysis) => "times of called functions not known",
        None => "times of called functions estimated from call counts",
    };
    let (functions, calls) = (graph.functions_left_out, graph.calls_left_out);
    let note = match (functions, calls) {
        (0, 0) => times.to_owned(),
        _ => format!("{times}; left out: {functions} functions, {calls} arrows"),
    };
    let on_demand = on_demand::note(analysis);
    warnings::brief(analysis).into_iter().chain([note]).chain(on_demand).collect::<Vec<_>>().join("; ")
}

/// The lines of a box.
fn texts(analysis: &Analysis<'_>, function: &DrawnFunction) -> [String; 3] {
    let name = String::from_utf8_lossy(&analysis.name_with_location(function.id)).into_owned();
    let DrawnFunction { inclusive, own, .. } = function;
    [
        fitting(&name, LETTERS_OF_BOX),
        format!("{inclusive:.1} % (self {own:.1} %)"),
        calls(function.calls, function.estimate),
    ]
}

fn calls(calls: u64, estimate: Option<CallEstimate>) -> String {
    if let Some(estimate) = estimate {
        return estimates::with_unit(&estimate, " calls");
    }
    match calls {
        // Stacks show calls that no counter saw.
        0 => "calls not counted".to_owned(),
        1 => "1 call".to_owned(),
        _ => format!("{calls} calls"),
    }
}

fn size(texts: &[String; 3]) -> Point {
    let letters = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    [letters as f64 * LETTER + 16.0, 3.0 * LINE + 8.0]
}

fn write_box(
    analysis: &Analysis<'_>,
    function: &DrawnFunction,
    texts: &[String; 3],
    size: Point,
    layout: &Layout,
    at: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [x, y] = layout.boxes[at];
    let color = colors::of_share(function.inclusive / 100.0);
    let (fill, text) = (colors::hex(color), colors::hex(colors::text_on(color)));
    let (left, top) = (x - size[0] / 2.0, y - size[1] / 2.0);
    writeln!(
        out,
        "<g class=\"box\" data-function=\"{}\" fill=\"{text}\" text-anchor=\"middle\"><title>{}</title>\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\" fill=\"{fill}\"/>",
        function.id.index(),
        escaped(&title(analysis, function)),
        size[0],
        size[1],
    )?;
    for (line, text) in texts.iter().enumerate() {
        let (class, y) = (if line == 0 { " class=\"name\"" } else { "" }, top + LINE * (line as f64 + 1.0));
        writeln!(out, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text.as_bytes()))?;
    }
    writeln!(out, "</g>")
}

/// The whole name of a function, with its image and its cycle.
fn title(analysis: &Analysis<'_>, function: &DrawnFunction) -> Vec<u8> {
    let image = analysis.images().get(analysis.function(function.id).image);
    let path = image.map(|image| image.path.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let cycle = function.cycle.map(|at| format!("\nmember of cycle {}", at + 1)).unwrap_or_default();
    [&analysis.name_with_location(function.id), &b"\n"[..], base(path), cycle.as_bytes()].concat()
}

fn write_arrow(
    analysis: &Analysis<'_>,
    graph: &DrawnGraph,
    call: &DrawnCall,
    route: &[Point],
    out: &mut dyn Write,
) -> io::Result<()> {
    let [Some(first), Some(last)] = [route.first(), route.last()] else { return Ok(()) };
    let share = call.inclusive.unwrap_or_default() / 100.0;
    let width = 0.8 + 5.0 * share.clamp(0.0, 1.0);
    let color = colors::hex(colors::of_share(0.25 + 0.75 * share));
    let dash = if call.inclusive.is_none() { " stroke-dasharray=\"4 3\"" } else { "" };
    let name = |index: usize| analysis.name_with_location(graph.functions[index].id);
    let title = [&name(call.caller), " → ".as_bytes(), &name(call.callee)].concat();
    let percent = call.inclusive.map(|inclusive| format!("{inclusive:.1} %"));
    let times = calls(call.calls, call.estimate);
    let head = 4.0 + width;
    // The tip of the arrow points to the box, up or down.
    let up = if first[1] > last[1] { 1.0 } else { -1.0 };
    let ([x, y], base) = (*last, last[1] + up * 1.6 * head);
    writeln!(
        out,
        "<g class=\"arrow\"><title>{}\n{}{times}</title><path d=\"{}\" stroke=\"{color}\" stroke-width=\"{width:.1}\"{dash}/>\
         <path class=\"tip\" d=\"M{x:.1} {y:.1}L{:.1} {base:.1}L{:.1} {base:.1}Z\" fill=\"{color}\"/>",
        escaped(&title),
        percent.as_ref().map(|percent| format!("{percent}, ")).unwrap_or_default(),
        path(route, up * head),
        x - head / 2.0,
        x + head / 2.0,
    )?;
    write_label(route, percent.as_deref().unwrap_or(&times), out)?;
    writeln!(out, "</g>")
}

/// Writes the text of an arrow near its end, where it is away from other arrows of the same caller.
fn write_label(route: &[Point], text: &str, out: &mut dyn Write) -> io::Result<()> {
    let Some([start, end]) = route.last_chunk::<2>() else { return Ok(()) };
    let at = |axis: usize, part: f64| start[axis] + (end[axis] - start[axis]) * part;
    write!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", at(0, 0.86), at(1, 0.64) + 3.0, escaped(text.as_bytes()))
}

/// Returns a path through the points that is vertical at each. The last point moves back, because the tip ends there.
fn path(route: &[Point], back: f64) -> String {
    let mut path = String::new();
    for (index, pair) in route.windows(2).enumerate() {
        let ([x, y], [next, mut below]) = (pair[0], pair[1]);
        if index + 2 == route.len() {
            below += back;
        }
        let middle = f64::midpoint(y, below);
        if index == 0 {
            path.push_str(&format!("M{x:.1} {y:.1}"));
        }
        path.push_str(&format!("C{x:.1} {middle:.1} {next:.1} {middle:.1} {next:.1} {below:.1}"));
    }
    path
}
