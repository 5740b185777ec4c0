//! Writes rows of comma-separated values.
//!
//! The rows have the format of RFC 4180. A cell that contains a separator, a quote, or a line end is written in quotes,
//! and each quote inside the cell is written twice. Spreadsheets take some texts for formulas and run them, so names
//! from input files are made inert.

use std::io::{self, Write};

use super::json::Value;
use super::text::text;

/// Cells of a row that stand next to each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    /// The cells with their separators, as they are written.
    written: String,
    count: usize,
}

impl Cells {
    /// Returns no cells.
    pub(crate) fn new() -> Cells {
        Cells::default()
    }

    /// Adds a name or a path of an input file. No spreadsheet takes the cell for a formula.
    #[must_use]
    pub(crate) fn name(self, name: &str) -> Cells {
        self.text(&inert(name))
    }

    /// Adds a text that begins with a word of this program. The text must have no control characters.
    #[must_use]
    pub(crate) fn text(mut self, text: &str) -> Cells {
        self.next();
        match is_plain(text) {
            true => self.written.push_str(text),
            false => self.written.extend(["\"", &text.replace('"', "\"\""), "\""]),
        }
        self
    }

    /// Adds a count.
    #[must_use]
    pub(crate) fn count(self, count: u64) -> Cells {
        self.text(&count.to_string())
    }

    /// Adds a number. A number that is not finite has an empty cell.
    #[must_use]
    pub(crate) fn number(self, number: f64) -> Cells {
        // Adding 0 removes the sign of a negative zero.
        if number.is_finite() { self.text(&(number + 0.0).to_string()) } else { self.blank(1) }
    }

    /// Adds empty cells.
    #[must_use]
    pub(crate) fn blank(mut self, cells: usize) -> Cells {
        (0..cells).for_each(|_| self.next());
        self
    }

    /// Adds a value that JSON has as well. Lists have an empty cell.
    #[must_use]
    pub(crate) fn value(self, value: Value<'_>) -> Cells {
        match value {
            Value::Text(bytes) => self.name(&text(&bytes)),
            Value::Count(count) => self.count(count),
            Value::Flag(flag) => self.text(if flag { "true" } else { "false" }),
            Value::Number(number) => self.number(number),
            Value::Null | Value::Records(_) => self.blank(1),
        }
    }

    /// Begins a cell.
    fn next(&mut self) {
        if self.count > 0 {
            self.written.push(',');
        }
        self.count += 1;
    }
}

/// Writes the names of the columns.
pub(crate) fn write_head(columns: &[&str], out: &mut dyn Write) -> io::Result<()> {
    write_row(&[&columns.iter().fold(Cells::new(), |cells, column| cells.text(column))], out)
}

/// Writes a row of these cells.
pub(crate) fn write_row(row: &[&Cells], out: &mut dyn Write) -> io::Result<()> {
    for (at, cells) in row.iter().filter(|cells| cells.count > 0).enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        out.write_all(cells.written.as_bytes())?;
    }
    out.write_all(b"\n")
}

/// Returns a text that spreadsheets do not take for a formula: an apostrophe stands before a sign with which formulas
/// begin.
fn inert(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() }
}

/// Whether a cell needs no quotes. Cells with a separator, a quote, an apostrophe, a space, or a number sign, which
/// some readers take for a comment, are quoted; no cell has a line end.
fn is_plain(cell: &str) -> bool {
    !cell.contains([',', '"', ' ', '#', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(row: &[&Cells]) -> String {
        let mut out = Vec::new();
        write_row(row, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_are_quoted_where_readers_need_quotes() {
        let cells = Cells::new().text("main").text("f(int, int)").text("say \"x\"").text("#1").text("a b").text("it's");
        assert_eq!(row(&[&cells]), "main,\"f(int, int)\",\"say \"\"x\"\"\",\"#1\",\"a b\",\"it's\"\n");
    }

    #[test]
    fn no_name_is_a_formula() {
        let cells = ["=1+1", "+x", "-x", "@sum", "a=b"].iter().fold(Cells::new(), |cells, name| cells.name(name));
        assert_eq!(row(&[&cells]), "\"'=1+1\",\"'+x\",\"'-x\",\"'@sum\",a=b\n");
    }

    #[test]
    fn blank_cells_keep_the_columns_apart() {
        assert_eq!(row(&[&Cells::new().blank(3), &Cells::new().text("x"), &Cells::new().blank(1)]), ",,,x,\n");
        assert_eq!(row(&[&Cells::new().text("x"), &Cells::new(), &Cells::new().number(f64::NAN).count(7)]), "x,,7\n");
        assert_eq!(row(&[&Cells::new().number(-0.0).number(0.5).number(f64::INFINITY)]), "0,0.5,\n");
    }

    #[test]
    fn values_are_those_of_json() {
        let values = [Value::Null, Value::Flag(true), Value::Text(b"=a\n".as_slice().into()), Value::Count(3)];
        let cells = values.into_iter().fold(Cells::new(), Cells::value);
        assert_eq!(row(&[&cells]), ",true,\"'=a\\n\",3\n");
    }
}
