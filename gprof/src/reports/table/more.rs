//! The last line of a table that does not show all rows.

use std::io::{self, Write};

use super::super::number::counted;
use crate::question::options::{Limit, Options};

/// Writes how many rows there are beyond the limit, and the options that show all rows. Writes nothing if there are
/// none.
pub(crate) fn render(count: usize, what: &str, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let more = counted(count as u64, &format!("more {what}"));
    writeln!(out, "{more}: {} shows all", without_limits(options.limit))
}

/// Returns the options that take back the limits that the user set, or the limit of tables.
fn without_limits(limit: Limit) -> &'static str {
    match limit {
        Limit { min_percent: None, .. } => "--top=all",
        Limit { top: None, .. } => "--min-percent=0",
        Limit { .. } => "--top=all --min-percent=0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_that_limit_are_taken_back() {
        let line = |count, options: Options| {
            let mut out = Vec::new();
            render(count, "row", &options, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let options = || Options::new("prog", ["gmon.out"]);
        assert_eq!(line(0, options()), "");
        assert_eq!(line(1, options()), "1 more row: --top=all shows all\n");
        assert_eq!(line(2, options().top(5)), "2 more rows: --top=all shows all\n");
        assert_eq!(line(2, options().min_percent(5.0)), "2 more rows: --min-percent=0 shows all\n");
        assert_eq!(line(2, options().top(5).min_percent(5.0)), "2 more rows: --top=all --min-percent=0 shows all\n");
    }
}
