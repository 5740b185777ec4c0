//! The commands of a terminal: to change what the screen shows, and to take the screen and give it back.

use std::fmt::Write;

use anstyle::Style;

use super::grid::Grid;

/// Shows a screen of its own and keeps the screen of the shell.
pub(super) const ENTER: &str = "\x1b[?1049h";

/// Shows the screen of the shell with its cursor.
pub(super) const LEAVE: &str = "\x1b[?1049l\x1b[?25h";

pub(super) const ERASE: &str = "\x1b[2J";

const SHOW_CURSOR: &str = "\x1b[?25h";
const HIDE_CURSOR: &str = "\x1b[?25l";

/// Returns the commands that make a terminal that shows `before` show `after`, which has the same size. Only cells that differ
/// are written.
pub(super) fn changes(before: &Grid, after: &Grid) -> String {
    let mut out = String::new();
    let mut style = Style::new();
    // Where the terminal writes next, if this is known.
    let mut next = None;
    for (y, (old, new)) in before.rows().iter().zip(after.rows()).enumerate() {
        let changed = old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new && new.width > 0);
        for (x, (_, cell)) in changed {
            if next != Some((y, x)) {
                out.push_str(&go_to(y, x));
            }
            if cell.style != style {
                push(&mut out, format_args!("{style:#}{}", cell.style));
                style = cell.style;
            }
            if cell.width > 1 {
                // Some terminals leave in the second cell what was there.
                push(&mut out, format_args!("{:1$}{2}", "", cell.width, go_to(y, x)));
            }
            out.push_str(cell.text());
            // Terminals do not agree on the widths of all characters.
            next = cell.text().is_ascii().then_some((y, x + 1));
        }
    }
    push(&mut out, format_args!("{style:#}"));
    match after.cursor {
        Some((y, x)) => push(&mut out, format_args!("{}{SHOW_CURSOR}", go_to(y, x))),
        None => out.push_str(HIDE_CURSOR),
    }
    out
}

fn go_to(y: usize, x: usize) -> String {
    format!("\x1b[{};{}H", y + 1, x + 1)
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A string takes every text.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;

    use super::*;

    const RED: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));

    fn grid(lines: &[(&str, Style)]) -> Grid {
        let mut grid = Grid::new(8, lines.len());
        for (row, (text, style)) in lines.iter().enumerate() {
            grid.write(row, text, *style);
        }
        grid
    }

    fn plain(text: &str) -> Grid {
        grid(&[(text, Style::new())])
    }

    #[test]
    fn only_cells_that_differ_are_written() {
        assert_eq!(changes(&plain("12 ab"), &plain("12 ab")), "\x1b[?25l");
        assert_eq!(changes(&plain("12 ab"), &plain("13 cd")), "\x1b[1;2H3\x1b[1;4Hcd\x1b[?25l");
        assert_eq!(changes(&plain("12 ab"), &plain("12")), "\x1b[1;4H  \x1b[?25l");
        let [before, after] = ["x", "y"].map(|text| grid(&[("full row", Style::new()), (text, Style::new())]));
        assert_eq!(changes(&before, &after), "\x1b[2;1Hy\x1b[?25l");
        let blank = Grid::new(8, 2);
        assert_eq!(changes(&blank, &before), "\x1b[1;1Hfull\x1b[1;6Hrow\x1b[2;1Hx\x1b[?25l");
    }

    #[test]
    fn styles_are_set_where_they_change() {
        let before = Grid::new(8, 3);
        let after = grid(&[("ab", RED), ("c", RED), ("d", Style::new().bold())]);
        let expected = "\x1b[1;1H\x1b[31mab\x1b[2;1Hc\x1b[3;1H\x1b[0m\x1b[1md\x1b[0m\x1b[?25l";
        assert_eq!(changes(&before, &after), expected);
        assert_eq!(changes(&after, &before), "\x1b[1;1H  \x1b[2;1H \x1b[3;1H \x1b[?25l");
        assert_eq!(changes(&plain("a"), &grid(&[("a", RED)])), "\x1b[1;1H\x1b[31ma\x1b[0m\x1b[?25l");
        let reversed = changes(&plain("a"), &grid(&[("a", Style::new().invert())]));
        assert_eq!(reversed, "\x1b[1;1H\x1b[7ma       \x1b[0m\x1b[?25l");
    }

    #[test]
    fn wide_characters_replace_two_cells() {
        assert_eq!(changes(&plain("abc"), &plain("日c")), "\x1b[1;1H  \x1b[1;1H日\x1b[?25l");
        assert_eq!(changes(&plain("日c"), &plain("abc")), "\x1b[1;1Hab\x1b[?25l");
        assert_eq!(changes(&plain("日b"), &plain("a日")), "\x1b[1;1Ha  \x1b[1;2H日\x1b[?25l");
        // The place behind a character that is not ASCII is not sure.
        assert_eq!(changes(&plain(""), &plain("éb")), "\x1b[1;1Hé\x1b[1;2Hb\x1b[?25l");
    }

    #[test]
    fn the_cursor_is_where_the_user_types() {
        let mut after = plain("a_");
        after.cursor = Some((0, 1));
        assert_eq!(changes(&plain("a"), &after), "\x1b[1;2H_\x1b[1;2H\x1b[?25h");
    }
}
