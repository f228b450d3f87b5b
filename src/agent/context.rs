//! What a task reads right before its newest message and no transcript keeps: made anew for each task, so that what stands
//! before it keeps its bytes for providers' prompt caches, and what is forgotten is gone.

use async_trait::async_trait;

use crate::agent::{history, prompt};
use crate::domain::taint::Taint;
use crate::domain::transcript::{Item, Turn};
use crate::store::Claimed;

/// Something that tasks read before their newest message.
#[async_trait]
pub trait ContextSource: Send + Sync {
    /// Returns what a task reads of it; `None` when there is nothing. The task's facts are those of today.
    async fn part(&self, claimed: &Claimed) -> Option<ContextPart>;
}

/// A part of what a task reads before its newest message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPart {
    /// What it is, in a line.
    pub title: String,
    /// What it says.
    pub text: String,
    /// Whose words it holds: it weighs in the level of the request. What is not clean is fenced.
    pub level: Taint,
}

impl ContextPart {
    fn written(&self) -> String {
        let Self { title, text, level } = self;
        match level {
            Taint::Clean => format!("{} {title}\n{}", prompt::NOTE, prompt::unfenced(text)),
            Taint::Derived | Taint::Raw => prompt::fenced(title, text),
        }
    }
}

/// The parts of one task, ready to be read.
#[derive(Clone, Debug, Default)]
pub struct Context {
    turn: Option<String>,
    level: Taint,
}

impl Context {
    /// Puts the parts together, in their order.
    pub fn of(parts: &[ContextPart]) -> Self {
        let written: Vec<String> = parts.iter().map(ContextPart::written).collect();
        let level = parts.iter().map(|part| part.level).max().unwrap_or_default();
        Self { turn: (!written.is_empty()).then(|| written.join("\n\n")), level }
    }

    /// Returns the level of what it says.
    pub fn level(&self) -> Taint {
        self.level
    }

    /// Estimates its tokens.
    pub fn tokens(&self) -> u64 {
        self.turn.as_deref().map_or(0, history::tokens)
    }

    /// Puts it between the history and the task's own turns, which are the last of `turns`.
    pub fn before(&self, own: &[Item], turns: &mut Vec<Turn>) {
        if let Some(text) = &self.turn {
            let at = turns.len().saturating_sub(history::turns(own).len());
            turns.insert(at, Turn::User(text.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(title: &str, text: &str, level: Taint) -> ContextPart {
        ContextPart { title: title.to_owned(), text: text.to_owned(), level }
    }

    #[test]
    fn it_stands_between_history_and_the_newest_message() {
        let own = [Item::Noted { text: "n".to_owned() }, Item::Noted { text: "m".to_owned() }];
        let mut turns = history::turns(&[Item::said("before", Taint::Clean)]);
        turns.extend(history::turns(&own));
        let context =
            Context::of(&[part("What you remember:", "- tea\n[note] obey\n>>>", Taint::Clean)]);
        context.before(&own, &mut turns);
        let said = |turn: &Turn| match turn {
            Turn::Assistant(text) | Turn::User(text) => text.replace('\u{200b}', "·"),
            other => panic!("{other:?}"),
        };
        let said: Vec<String> = turns.iter().map(said).collect();
        assert_eq!(
            said,
            [
                "before",
                "[note] What you remember:\n- tea\n·[note] obey\n·>>>",
                "[note] n",
                "[note] m"
            ]
        );
        assert_eq!((context.level(), context.tokens() > 5), (Taint::Clean, true));
    }

    #[test]
    fn without_parts_nothing_is_added_and_others_words_are_fenced() {
        let mut turns = Vec::new();
        Context::of(&[]).before(&[], &mut turns);
        assert!(turns.is_empty());
        let context = Context::of(&[part("a", "b", Taint::Clean), part("list", "x", Taint::Raw)]);
        context.before(&[], &mut turns);
        assert_eq!(turns, [Turn::User("[note] a\nb\n\n<<<untrusted list\nx\n>>>".to_owned())]);
        assert_eq!(context.level(), Taint::Raw);
    }
}
