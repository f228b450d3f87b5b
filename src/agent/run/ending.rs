//! How a run ends: what is stored of it and what is said.

use super::{Run, Unstored};
use crate::agent::{Ending, messages, plan};
use crate::domain::course::Course;
use crate::store::End;

impl Run {
    pub(super) fn ending(&mut self) -> Ending {
        let (end, text) = self.ended.clone().unwrap_or((End::Stopped, String::new()));
        let Unstored { append, header, usage, seen, wrote } = self.take_unstored();
        let text = match plan::standing(&self.items) {
            Some(_) => plan::without_marks(&text),
            None => text,
        };
        // What was refused without it, too, was not refused for its sake.
        let set_aside = self.header.set_aside && self.header.went_on;
        let mut text = match set_aside {
            true => format!("{}\n\n{text}", messages::set_aside()),
            false => text,
        };
        if end != End::Done {
            let covers = messages::covers(&self.taken_in());
            if text.is_empty() && !covers.is_empty() {
                text.push_str(messages::stopped());
            }
            text.push_str(&covers);
        }
        let absorbed = std::mem::take(&mut self.absorbed);
        Ending {
            append,
            header,
            end,
            text,
            usage,
            set_aside,
            seen,
            facts: None,
            cut: None,
            absorbed,
            wrote,
            course: Course::default(),
        }
    }
}
