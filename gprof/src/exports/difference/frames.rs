//! The flame graph of the page.

use std::io::{self, Write};

use crate::model::{Change, ChangedFrame, Difference};
use crate::reports::difference::cells;
use crate::sink::markup::escaped;

/// The height of a row of frames in pixels, with the gap below.
const ROW: usize = 18;

/// From which part of the larger time a change has the next darker color.
pub(super) const DEGREES: [f64; 4] = [0.05, 0.1, 0.25, 0.5];

/// Writes the frames: each as a picture of its own, whose place is a percentage of the width, so that they fit into any
/// window.
pub(super) fn write(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let frames = &difference.flame().frames;
    let total = frames.first().map_or(0.0, ChangedFrame::width);
    let mut depths: Vec<usize> = Vec::with_capacity(frames.len());
    for frame in frames {
        depths.push(frame.parent.map_or(0, |parent| depths[parent] + 1));
    }
    let rows = depths.iter().max().map_or(0, |deepest| deepest + 1);
    writeln!(
        out,
        "<svg id=\"frames\" width=\"100%\" height=\"{}\" role=\"img\" aria-label=\"flame graph\">",
        rows * ROW
    )?;
    // Where the next callee of each frame begins.
    let mut ends: Vec<f64> = Vec::with_capacity(frames.len());
    for (at, frame) in frames.iter().enumerate() {
        let start = frame.parent.map_or(0.0, |parent| ends[parent]);
        if let Some(parent) = frame.parent {
            ends[parent] += frame.width();
        }
        ends.push(start);
        let percent = |width: f64| if total > 0.0 { 100.0 * width / total } else { 0.0 };
        write_frame(difference, frame, [percent(start), percent(frame.width())], depths[at] * ROW, out)?;
    }
    writeln!(out, "</svg>")
}

fn write_frame(
    difference: &Difference<'_, '_>,
    frame: &ChangedFrame,
    [x, width]: [f64; 2],
    y: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = escaped(&difference.frame_name(frame));
    let (unit, Change { old, new, .. }) = (unit(difference), frame.inclusive);
    let (change, error) = (cells::signed(frame.inclusive.absolute()), cells::error(&frame.inclusive));
    let percent = cells::percent(&frame.inclusive);
    let percent = if percent.is_empty() { percent } else { format!(" ({percent} %)") };
    let noise = if frame.inclusive.is_noise() == Some(true) { ", noise" } else { "" };
    let own = cells::signed(frame.own.absolute());
    let parent = frame.parent.map(|parent| format!(" data-parent=\"{parent}\"")).unwrap_or_default();
    writeln!(
        out,
        "<svg class=\"{}\" x=\"{x:.3}%\" y=\"{y}\" width=\"{width:.3}%\" height=\"{}\"{parent} data-base=\"{old}\" data-now=\"{new}\">\
         <title>{name}\n{old:.2} {unit} in the base, {new:.2} now: {change} {error} {unit}{percent}{noise}\nself: {own} {unit}</title>\
         <rect width=\"100%\" height=\"100%\"/><text x=\"3\" y=\"13\">{}{name}</text></svg>",
        class(&frame.inclusive),
        ROW - 1,
        arrow(&frame.inclusive),
    )
}

/// Returns a sign for people who cannot see the color of a change.
fn arrow(change: &Change) -> &'static str {
    match change.part() {
        _ if change.is_noise() == Some(true) => "",
        part if part > 0.0 => "▲ ",
        part if part < 0.0 => "▼ ",
        _ => "",
    }
}

/// Returns the class of a change, which gives the color: `grew1` to `grew5`, `shrank1` to `shrank5`, or `same`.
pub(super) fn class(change: &Change) -> String {
    let part = change.part();
    if part == 0.0 || change.is_noise() == Some(true) {
        return "same".to_owned();
    }
    let degree = 1 + DEGREES.iter().filter(|least| part.abs() > **least).count();
    format!("{}{degree}", if part > 0.0 { "grew" } else { "shrank" })
}

/// Returns the unit of the times, as markup.
pub(super) fn unit(difference: &Difference<'_, '_>) -> String {
    escaped(difference.new_analysis().clock().dimension.as_bytes())
}
