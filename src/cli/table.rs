//! A table that fits a terminal: its last column is broken below itself, or goes below its row where beside the others
//! there is no room for it.

use super::wrap::{cells, cut, wrapped};
use selkie_guard::visible::{harmless, one_line};

/// Blanks between two columns.
const GAP: usize = 2;
/// A last column that is longer wants so much room beside the others.
const LEAST: usize = 30;
/// How far a last column below its row is indented.
const BENEATH: usize = 4;

/// What becomes of a last column that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// It goes on in the next line.
    Wraps,
    /// It is cut: another command shows all of it.
    IsCut,
}

/// Where the last column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Beside the others, in so many cells.
    Beside(usize),
    /// In lines of its own.
    Beneath,
}

/// Lays rows out in so many cells. A cell of the table is one thing, whoever wrote what stands in it, and steers no screen.
pub fn laid_out(rows: &[Vec<String>], last: Last, width: usize) -> String {
    let clean = |row: &Vec<String>| row.iter().map(|cell| harmless(&one_line(cell))).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(clean).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let Some(lead) = columns.checked_sub(1) else { return String::new() };
    let widest = |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|cell| cells(cell)).max();
    let mut widths: Vec<usize> = (0..lead).map(|c| widest(c).unwrap_or(0)).collect();
    let ends = widest(lead).unwrap_or(0);
    let place = match width.checked_sub(taken(&widths)) {
        Some(room) if room >= ends.min(LEAST) => Place::Beside(room),
        _ => Place::Beneath,
    };
    if place == Place::Beneath {
        narrow(&mut widths, width);
    }
    let row = |row: &Vec<String>| line(row, &widths, last, place, width);
    rows.iter().map(row).collect()
}

/// What columns take, each with the gap behind it. One that is empty in every row is none.
fn taken(widths: &[usize]) -> usize {
    widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum()
}

/// Makes the widest columns narrower until all of them fit.
fn narrow(widths: &mut [usize], room: usize) {
    for width in widths.iter_mut() {
        *width = (*width).min(room);
    }
    while taken(widths) > room + GAP {
        match widths.iter_mut().max() {
            Some(widest) if *widest > GAP => *widest -= 1,
            _ => return,
        }
    }
}

/// One row, of as many lines as it needs.
fn line(row: &[String], widths: &[usize], last: Last, place: Place, width: usize) -> String {
    let room = match place {
        Place::Beside(room) => room,
        Place::Beneath => width.saturating_sub(BENEATH),
    };
    let end = row.get(widths.len()).map_or("", String::as_str);
    let cut_end = (last == Last::IsCut).then(|| cut(end, room));
    let ends = wrapped(cut_end.as_deref().unwrap_or(end), room);
    let columns = row.iter().zip(widths).filter(|(_, width)| **width > 0);
    let columns: Vec<(Vec<&str>, usize)> =
        columns.map(|(cell, width)| (wrapped(cell, *width), *width)).collect();
    let height = columns.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0);
    let mut out = String::new();
    let beside = if place == Place::Beneath { 0 } else { ends.len() };
    for n in 0..height.max(beside) {
        let mut line: String =
            columns.iter().map(|(lines, width)| padded(lines, n, *width)).collect();
        line.push_str(ends.get(n).filter(|_| n < beside).unwrap_or(&""));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for end in ends.iter().skip(beside).filter(|end| !end.is_empty()) {
        out.push_str(&format!("{:BENEATH$}{end}\n", ""));
    }
    out
}

/// One line of a column, with the gap behind it.
fn padded(lines: &[&str], n: usize, width: usize) -> String {
    let cell = lines.get(n).copied().unwrap_or_default();
    format!("{cell}{}", " ".repeat(width.saturating_sub(cells(cell)) + GAP))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(rows: &[&[&str]], last: Last, width: usize) -> String {
        let owned = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
        laid_out(&rows.iter().map(owned).collect::<Vec<_>>(), last, width)
    }

    #[test]
    fn columns_stand_under_each_other_and_nothing_trails() {
        assert_eq!(table(&[&["a", "é"], &["long", ""]], Last::Wraps, 80), "a     é\nlong\n");
        assert_eq!(table(&[&["a\nb\u{202e}", "c"]], Last::Wraps, 80), "a⟨U+000A⟩b⟨U+202E⟩  c\n");
        assert_eq!(table(&[&["日本", "c"], &["abc", "d"]], Last::Wraps, 80), "日本  c\nabc   d\n");
        assert_eq!(
            table(&[&["", "a"], &["", "b"]], Last::Wraps, 80),
            "a\nb\n",
            "an empty column is none"
        );
    }

    #[test]
    fn the_last_column_is_broken_below_itself() {
        let rows: [&[&str]; 2] =
            [&["disk", "there is room for a year of messages and more"], &["model", "fine"]];
        insta::assert_snapshot!(table(&rows, Last::Wraps, 40), @"
        disk   there is room for a year of
               messages and more
        model  fine
        ");
        insta::assert_snapshot!(table(&rows, Last::IsCut, 40), @"
        disk   there is room for a year of mess…
        model  fine
        ");
    }

    #[test]
    fn where_there_is_no_room_beside_the_others_it_goes_below_its_row() {
        let rows: [&[&str]; 2] = [
            &[
                "7",
                "Grace (tg:2)",
                "Tea room (tg:-100200300)",
                "what is on my list for today, please?",
            ],
            &["8", "Ada Lovelace (tg:4711)", "in private", "hi"],
        ];
        insta::assert_snapshot!(table(&rows, Last::Wraps, 40), @"
        7  Grace (tg:2)        Tea room
                               (tg:-100200300)
            what is on my list for today,
            please?
        8  Ada Lovelace        in private
           (tg:4711)
            hi
        ");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            rows in prop::collection::vec(prop::collection::vec("[a-c 日é\u{202e}👩\u{200d}]{0,40}", 1..6), 0..5),
            width in 40_usize..100,
            is_cut in any::<bool>(),
        ) {
            let last = if is_cut { Last::IsCut } else { Last::Wraps };
            let text = laid_out(&rows, last, width);
            prop_assert!(text.lines().all(|line| cells(line) <= width), "{text}");
        }
    }
}
