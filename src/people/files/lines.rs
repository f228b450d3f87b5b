//! A change of single lines of a file: found by what they say, put at the end of the part under their heading. Made twice it
//! is made once.

use serde::{Deserialize, Serialize};

use super::done::{ChangedText, FileResult};
use crate::text::Text;

/// A line that is put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLine {
    /// The heading under which it is put, as it stands in the file (`## Notes`); one that is not there is made at the end.
    pub heading: String,
    /// The line; a line break in it is a space.
    pub line: String,
}

/// Takes lines out and puts others in.
pub(super) fn change(source: &str, take: &[String], put: &[NewLine]) -> ChangedText {
    let mut text = Text::read(source);
    let taken = take.iter().filter(|line| take_one(&mut text, line)).count();
    let put = put.iter().filter(|new| put_one(&mut text, new)).count();
    let done = FileResult { lines_put: put, lines_taken: taken, ..FileResult::default() };
    ChangedText { text: text.to_string(), done }
}

fn find(text: &Text, line: &str) -> Option<usize> {
    let line = line.trim_end();
    text.lines().position(|there| there.trim_end() == line)
}

fn take_one(text: &mut Text, line: &str) -> bool {
    let found = find(text, line).filter(|_| !line.trim().is_empty());
    found.into_iter().for_each(|at| text.remove(at));
    found.is_some()
}

fn put_one(text: &mut Text, new: &NewLine) -> bool {
    let plain = |line: &str| line.split(['\r', '\n']).collect::<Vec<_>>().join(" ");
    let heading = plain(&new.heading);
    let line = plain(&new.line);
    if line.trim().is_empty() || find(text, &line).is_some() {
        return false;
    }
    let Some(begins) = find(text, &heading) else {
        if !text.is_blank() && !text.line(text.len() - 1).trim().is_empty() {
            text.insert(text.len(), "");
        }
        for line in [heading.as_str(), "", &line] {
            text.insert(text.len(), line);
        }
        return true;
    };
    let is_heading = |at: &usize| text.line(*at).starts_with('#');
    let ends = (begins + 1..text.len()).find(is_heading).unwrap_or(text.len());
    // Behind the last line with something in it: what separates the next part stays where it is.
    let last = (begins + 1..ends).rev().find(|at| !text.line(*at).trim().is_empty());
    match last {
        Some(last) => text.insert(last + 1, line),
        None => {
            text.insert(begins + 1, "");
            text.insert(begins + 2, line);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn new(heading: &str, line: &str) -> NewLine {
        NewLine { heading: heading.to_owned(), line: line.to_owned() }
    }

    fn put(source: &str, heading: &str, line: &str) -> String {
        change(source, &[], &[new(heading, line)]).text
    }

    #[test]
    fn a_line_comes_last_under_its_heading() {
        let text = put("", "## Notes", "- tea");
        assert_eq!(text, "## Notes\n\n- tea\n");
        let text = put(&text, "## People", "- Bo");
        assert_eq!(text, "## Notes\n\n- tea\n\n## People\n\n- Bo\n");
        let text = put(&text, "## Notes", "- cake");
        assert_eq!(text, "## Notes\n\n- tea\n- cake\n\n## People\n\n- Bo\n");
        assert_eq!(put("by hand", "## Notes", "- a"), "by hand\n\n## Notes\n\n- a\n");
        assert_eq!(put("## Notes\r\nx\r\n", "## Notes", "- a\nb"), "## Notes\r\nx\r\n- a b\r\n");
        assert_eq!(put("## Notes\n# B\n", "## Notes", "- a"), "## Notes\n\n- a\n# B\n");
    }

    #[test]
    fn what_stands_there_is_not_put_again_and_a_line_is_taken_once() {
        let source = "## Notes\n\n- tea  \n- tea\n";
        assert_eq!(put(source, "## Notes", "- tea"), source);
        let taken = change(source, &["- tea".to_owned(), "- none".to_owned(), String::new()], &[]);
        assert_eq!((taken.text.as_str(), taken.done.lines_taken), ("## Notes\n\n- tea\n", 1));
    }

    proptest! {
        #[test]
        fn made_twice_it_is_made_once_and_everything_else_stays(
            source in "(\u{feff}|)([-#a-c ]{0,6}(\n|\r\n)){0,8}[-#a-c ]{0,6}",
            heading in "## [a-c]{1,3}",
            line in "- [a-c]{1,4}",
        ) {
            let once = change(&source, &[], &[new(&heading, &line)]);
            let twice = change(&once.text, &[], &[new(&heading, &line)]);
            prop_assert_eq!(&twice.text, &once.text);
            prop_assert_eq!(twice.done.lines_put, 0);
            let others = |text: &str| {
                let lines = text.trim_start_matches('\u{feff}').lines().map(|line| line.trim_end().to_owned());
                let added = |text: &String| text.is_empty() || *text == heading.trim_end() || *text == line;
                lines.filter(|text| !added(text)).collect::<Vec<_>>()
            };
            prop_assert_eq!(others(&once.text), others(&source));
        }
    }
}
