//! The columns of a table, and how wide each is.

use unicode_width::UnicodeWidthStr;

/// The smallest width of a column of names, however narrow the terminal is, and the largest width of any column.
const MIN_NAME_WIDTH: usize = 12;
pub(crate) const MAX_WIDTH: usize = 10_000;

/// If names have less room than this, optional columns are left out.
const COMFORTABLE_NAME_WIDTH: usize = 32;

/// A column.
pub(crate) struct Column {
    /// The title, of one or several lines.
    pub(crate) title: String,
    /// Whether the column has names or words. Both are aligned to the left, and get the room that other columns leave.
    /// Everything else is aligned to the right.
    pub(crate) is_name: bool,
    /// Whether the column may be left out to make room for names. The column with the lowest number is left out first.
    optional: Option<u8>,
}

pub(crate) fn column(title: impl Into<String>) -> Column {
    Column { title: title.into(), is_name: false, optional: None }
}

pub(crate) fn optional_column(order: u8, title: impl Into<String>) -> Column {
    Column { optional: Some(order), ..column(title) }
}

pub(crate) fn name_column(title: &str) -> Column {
    Column { is_name: true, ..column(title) }
}

/// The widths that the columns need.
pub(crate) struct Wanted<'a> {
    columns: &'a [Column],
    widths: Vec<usize>,
}

impl<'a> Wanted<'a> {
    /// Returns the widths of the titles.
    pub(crate) fn new(columns: &'a [Column]) -> Wanted<'a> {
        Wanted { columns, widths: columns.iter().map(|column| text_width(&column.title)).collect() }
    }

    /// Makes room for a row. `cells` are the widths of the row's cells, and `indent` is the number of blanks in front
    /// of its names.
    pub(crate) fn add(&mut self, cells: impl Iterator<Item = usize>, indent: usize) {
        for ((width, cell), column) in self.widths.iter_mut().zip(cells).zip(self.columns) {
            let indent = if column.is_name { indent } else { 0 };
            *width = (*width).max(cell + indent);
        }
    }

    /// Returns the widths of the columns of a table in this room; `None` for a column that is left out. If there is too
    /// little room for names, optional columns are left out first. Then names get the remaining room, but not less than
    /// their smallest width. Columns of short names leave room to columns of long names.
    pub(crate) fn fit(&self, room: usize) -> Vec<Option<usize>> {
        let Wanted { columns, widths: wanted } = self;
        let mut widths: Vec<Option<usize>> = wanted.iter().copied().map(Some).collect();
        let of_names = columns.iter().filter(|column| column.is_name).count().max(1);
        let is_wanted =
            |at: usize, share: usize| columns[at].is_name && wanted[at] > share && share < COMFORTABLE_NAME_WIDTH;
        loop {
            let shown = || widths.iter().zip(*columns).filter_map(|(width, column)| Some(((*width)?, column)));
            let numbers: usize = shown().filter(|(_, column)| !column.is_name).map(|(width, _)| width).sum();
            let lines_and_blanks = 3 * shown().count() + 1;
            let share = room.saturating_sub(numbers + lines_and_blanks) / of_names;
            let optional = (0..columns.len()).filter(|at| widths[*at].is_some() && columns[*at].optional.is_some());
            match optional
                .min_by_key(|at| columns[*at].optional)
                .filter(|_| (0..columns.len()).any(|at| is_wanted(at, share)))
            {
                Some(at) => widths[at] = None,
                None => {
                    let names = shown().filter(|(_, column)| column.is_name).map(|(width, _)| width);
                    let most = largest_share(names.collect(), room.saturating_sub(numbers + lines_and_blanks));
                    for (width, column) in widths.iter_mut().zip(*columns) {
                        *width = width
                            .map(|width| width.min(if column.is_name { most.max(MIN_NAME_WIDTH) } else { MAX_WIDTH }));
                    }
                    return widths;
                }
            }
        }
    }
}

/// Returns the width to which columns of these widths are cut, so that they fill a room together.
fn largest_share(mut wanted: Vec<usize>, mut room: usize) -> usize {
    wanted.sort_unstable();
    let mut share = room;
    for (at, width) in wanted.iter().enumerate() {
        share = room / (wanted.len() - at);
        if *width > share {
            break;
        }
        room -= width;
    }
    share
}

/// Returns the width of a text of several lines.
pub(crate) fn text_width(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_leave_room_to_long_names() {
        assert_eq!(largest_share(vec![50, 60], 80), 40);
        assert_eq!(largest_share(vec![60, 10], 80), 70);
        assert_eq!(largest_share(vec![60, 10, 61], 81), 35);
        assert_eq!([largest_share(vec![10, 20], 80), largest_share(vec![10], 80)], [70, 80], "enough for all");
        assert_eq!([largest_share(vec![10, 20], 0), largest_share(Vec::new(), 7)], [0, 7]);
        let columns = [column("n"), name_column("file"), name_column("fact")];
        let mut wanted = Wanted::new(&columns);
        wanted.add([3, 15, 90].into_iter(), 0);
        assert_eq!(wanted.fit(80), [Some(3), Some(15), Some(52)], "3 + 15 + 52 and 10 lines and blanks are 80");
        assert_eq!(wanted.fit(20), [Some(3), Some(12), Some(12)]);
    }
}
