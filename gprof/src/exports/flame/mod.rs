//! A flame graph as a picture: SVG that needs no other file. A script in the file zooms and searches; without scripts,
//! the picture shows everything.

use std::io::{self, Write};

use super::colors::{self, Color};
use super::scripts;
use crate::model::{Analysis, Certainty, Flame, FlameFrame, FlameOrigin, FlameSubject};
use crate::program::symbols::sources::base;
use crate::reports::number::Fixed;
use crate::reports::{on_demand, warnings};
use crate::sink::markup::{escaped, fitting};

const SCRIPT: &str = include_str!("flame.js");
const STYLE: &str = include_str!("flame.css");

/// The size of the picture before the script fits it into a window, in pixels.
const WIDTH: f64 = 1200.0;
const HEAD: f64 = 72.0;
const FOOT: f64 = 12.0;
const MARGIN: f64 = 8.0;
const ROW: f64 = 18.0;

/// The width of a character.
const LETTER: f64 = 7.3;

/// The colors of the program, of its shared objects, and of what is not a function, each in three shades.
const FAMILIES: [[Color; 3]; 4] = [
    [[253, 205, 134], [253, 186, 101], [247, 212, 160]],
    [[158, 202, 225], [133, 186, 219], [183, 214, 234]],
    [[188, 189, 220], [173, 174, 209], [205, 205, 230]],
    [[217, 217, 217], [205, 205, 205], [228, 228, 228]],
];

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let flame = analysis.flame();
    let depths = depths(flame);
    let rows = depths.iter().max().map_or(0, |deepest| deepest + 1);
    let height = HEAD + rows as f64 * ROW + FOOT;
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         data-rows=\"{rows}\" data-unit=\"{}\" data-rate=\"{}\">",
        escaped(&[analysis.clock().abbrev]),
        analysis.clock().rate,
    )?;
    writeln!(out, "<style>{STYLE}{}</style>", fills())?;
    hatches(out)?;
    head(analysis, flame, out)?;
    writeln!(out, "<g id=\"frames\">")?;
    let starts = starts(flame);
    for (at, frame) in flame.frames.iter().enumerate() {
        let y = HEAD + (rows - 1 - depths[at]) as f64 * ROW;
        write_frame(analysis, flame, frame, [starts[at], y], out)?;
    }
    writeln!(out, "</g>\n<script><![CDATA[\n{}]]></script>\n</svg>", [scripts::TEXT, scripts::FRAMES, SCRIPT].concat())
}

/// The number of frames below each frame.
fn depths(flame: &Flame) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(flame.frames.len());
    for frame in &flame.frames {
        depths.push(frame.parent.map_or(0, |parent| depths[parent] + 1));
    }
    depths
}

/// The samples to the left of each frame. The callees of a frame stand one after the other.
fn starts(flame: &Flame) -> Vec<f64> {
    let mut next = vec![0.0; flame.frames.len()];
    let mut starts = Vec::with_capacity(flame.frames.len());
    for (at, frame) in flame.frames.iter().enumerate() {
        let start = frame.parent.map_or(0.0, |parent| next[parent]);
        if let Some(parent) = frame.parent {
            next[parent] += frame.inclusive;
        }
        next[at] = start;
        starts.push(start);
    }
    starts
}

fn fills() -> String {
    let number = |family: usize, shade: usize| 3 * family + shade;
    let fill = |(family, shade, color): (usize, usize, &Color)| {
        let number = number(family, shade);
        format!(".c{number} rect{{fill:{}}}.h{number} rect{{fill:url(#h{number})}}", colors::hex(*color))
    };
    shades().map(fill).collect()
}

fn shades() -> impl Iterator<Item = (usize, usize, &'static Color)> {
    let of_family = |(family, shades): (usize, &'static [Color; 3])| {
        shades.iter().enumerate().map(move |(shade, color)| (family, shade, color))
    };
    FAMILIES.iter().enumerate().flat_map(of_family)
}

/// Writes the patterns of frames whose time is not certain.
fn hatches(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<defs>")?;
    for (family, shade, color) in shades() {
        writeln!(
            out,
            "<pattern id=\"h{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
             <rect width=\"6\" height=\"6\" fill=\"{}\"/><rect width=\"2.5\" height=\"6\" fill=\"#fff\" fill-opacity=\".75\"/></pattern>",
            3 * family + shade,
            colors::hex(*color),
        )?;
    }
    writeln!(out, "</defs>")
}

fn head(analysis: &Analysis<'_>, flame: &Flame, out: &mut dyn Write) -> io::Result<()> {
    let path = analysis.images().first().map(|image| image.path.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let title = warnings::titled(String::from_utf8_lossy(base(path)).into_owned(), analysis);
    let (title, legend) = (escaped(title.as_bytes()), legend(analysis, flame));
    writeln!(
        out,
        "<rect id=\"paper\" width=\"100%\" height=\"100%\"/>\n\
         <text id=\"title\" x=\"{MARGIN}\" y=\"22\">{title}</text>\n\
         <text id=\"legend\" x=\"{MARGIN}\" y=\"42\">{}</text>\n\
         <text id=\"detail\" x=\"{MARGIN}\" y=\"62\"></text>",
        escaped(legend.as_bytes())
    )
}

/// Says from what the widths of the frames come.
fn legend(analysis: &Analysis<'_>, flame: &Flame) -> String {
    let unit = String::from_utf8_lossy(analysis.clock().dimension.as_bytes());
    let total = match analysis.clock().rate {
        0.0 => "no samples".to_owned(),
        _ => format!("{:.2} {unit}", Fixed(analysis.clock().time(flame.total()))),
    };
    match flame.origin {
        FlameOrigin::Measured => {
            let doubtful = flame.frames.iter().any(|frame| frame.certainty == Certainty::Doubtful);
            let note = if doubtful { "; hatched: a tail call may have removed a frame" } else { "" };
            format!("{total}, measured from stacks{note}")
        }
        FlameOrigin::Estimated if on_demand::lacks_times(analysis) => {
            format!("{total}, self times only. {}", on_demand::note(analysis).unwrap_or_default())
        }
        FlameOrigin::Estimated if analysis.lacks_calls() => {
            format!("{total}, estimated from call counts. {}", on_demand::note(analysis).unwrap_or_default())
        }
        FlameOrigin::Estimated => {
            format!("{total}, estimated from call counts; solid: only one path of calls leads to the frame")
        }
        FlameOrigin::Dominators => {
            format!("{total}; a function stands on the function through which all calls lead to it")
        }
    }
}

fn write_frame(
    analysis: &Analysis<'_>,
    flame: &Flame,
    frame: &FlameFrame,
    [start, y]: [f64; 2],
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = analysis.flame_name(flame, frame.subject);
    let scale = if flame.total() > 0.0 { (WIDTH - 2.0 * MARGIN) / flame.total() } else { 0.0 };
    let (x, width) = (MARGIN + start * scale, frame.inclusive * scale);
    let letter = if frame.certainty == Certainty::Certain { 'c' } else { 'h' };
    let number = shade(analysis, frame.subject, &name);
    writeln!(
        out,
        "<g class=\"{letter}{number}\" data-s=\"{start}\" data-t=\"{}\"><title>{}\n{}</title>\
         <rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
        frame.inclusive,
        escaped(&name),
        escaped(detail(analysis, flame, frame).as_bytes()),
        ROW - 1.0,
        x + 3.0,
        y + 13.0,
        escaped(fitting(&String::from_utf8_lossy(&name), ((width - 4.0) / LETTER).max(0.0) as usize).as_bytes()),
    )
}

/// Returns the number of a frame's color. Names have different shades, so that neighbors differ.
fn shade(analysis: &Analysis<'_>, subject: FlameSubject, name: &[u8]) -> usize {
    let family = match subject {
        FlameSubject::Function(id) => 1.min(analysis.function(id).image),
        FlameSubject::Inlined(_) | FlameSubject::Cycle(_) => 2,
        _ => 3,
    };
    let sum = name.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    3 * family + sum % 3
}

/// Returns the times of a frame.
fn detail(analysis: &Analysis<'_>, flame: &Flame, frame: &FlameFrame) -> String {
    let clock = analysis.clock();
    let unit = String::from_utf8_lossy(clock.dimension.as_bytes());
    let time = |samples: f64| if clock.rate > 0.0 { clock.time(samples) } else { 0.0 };
    let percent = if flame.total() > 0.0 { 100.0 * frame.inclusive / flame.total() } else { 0.0 };
    let error = if frame.error > 0.0 { format!(" ±{:.3}", time(frame.error)) } else { String::new() };
    let mut text = format!("{:.3}{error} {unit} ({percent:.2} %), self {:.3}", time(frame.inclusive), time(frame.own));
    match (frame.certainty, frame.bounds) {
        (_, Some((lower, upper))) => {
            let [lower, estimate, upper] = [lower, frame.inclusive, upper].map(time);
            text.push_str(&format!("\n[lower bound, estimate, upper bound]: [{lower:.3}, {estimate:.3}, {upper:.3}]"));
        }
        (Certainty::Estimated, None) => text.push_str("\nestimated"),
        (Certainty::Doubtful, None) => text.push_str("\na tail call may have removed another frame here"),
        (Certainty::Certain, None) => {}
    }
    text
}
