//! What a task did since it was last taken up, step by step, without a word of anybody: for the log and for traces.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::usage::Usage;

/// So many steps are kept; no task of a sound config takes more.
const MAX: usize = 500;

/// What a task did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// When it was taken up first; `None` where its agent was never asked.
    pub since: Option<DateTime<Utc>>,
    /// Its steps, by when they ended.
    pub steps: Vec<Step>,
}

/// A call of a model or of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Of what.
    pub kind: Kind,
    /// When it began.
    pub at: DateTime<Utc>,
    /// How long it took.
    pub took: Duration,
    /// It did not fail.
    pub is_well: bool,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A model.
    Model {
        /// `profile/model`; what was asked for, where nothing answered.
        by: String,
        /// What it used.
        usage: Usage,
    },
    /// A tool of this name.
    Tool(String),
}

impl Course {
    /// Notes a step.
    pub fn note(&mut self, step: Step) {
        if self.steps.len() < MAX {
            self.steps.push(step);
        }
    }

    /// Sums up the calls of models.
    pub fn models(&self) -> Sum {
        Sum::of(self.steps.iter().filter(|step| matches!(step.kind, Kind::Model { .. })))
    }

    /// Sums up the calls of tools.
    pub fn tools(&self) -> Sum {
        Sum::of(self.steps.iter().filter(|step| matches!(step.kind, Kind::Tool(_))))
    }

    /// Names the tools that were called, each once.
    pub fn tool_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for step in &self.steps {
            if let Kind::Tool(name) = &step.kind
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }
}

/// How many calls there were, and how long they took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many.
    pub calls: usize,
    /// How long.
    pub took: Duration,
}

impl Sum {
    fn of<'a>(steps: impl Iterator<Item = &'a Step>) -> Self {
        steps.fold(Self::default(), |sum, step| Self {
            calls: sum.calls + 1,
            took: sum.took + step.took,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_summed_up_by_what_was_called() {
        let mut course = Course::default();
        let step = |kind| Step {
            kind,
            at: DateTime::UNIX_EPOCH,
            took: Duration::from_millis(5),
            is_well: true,
        };
        let model = || Kind::Model { by: "main/m".to_owned(), usage: Usage::default() };
        for kind in [
            model(),
            Kind::Tool("a".to_owned()),
            Kind::Tool("b".to_owned()),
            Kind::Tool("a".to_owned()),
            model(),
        ] {
            course.note(step(kind));
        }
        assert_eq!((course.models().calls, course.tools().calls), (2, 3));
        assert_eq!(course.tools().took, Duration::from_millis(15));
        assert_eq!(course.tool_names(), ["a", "b"]);
        for _ in 0..2 * MAX {
            course.note(step(model()));
        }
        assert_eq!(course.steps.len(), MAX);
    }
}
