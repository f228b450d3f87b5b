//! A runner that asks when it is told to, and how a question looks in the small channel.

use std::time::Duration;

use selkie_channel_core::{Choice, Question};

use crate::work::runner::Job;
use selkie_agent::{DriveEnd, DriveOutcome, PendingQuestion};
use selkie_domain::question::Ask;
use selkie_domain::span::Span;
use selkie_domain::taint::Taint;
use selkie_domain::transcript::Item;
use selkie_domain::usage::Usage;
use selkie_store::End;

/// A question with its buttons, in one line.
pub(crate) fn buttons(question: &Question) -> String {
    let labels: Vec<&str> = question.choices.iter().map(|c| c.label.as_str()).collect();
    let hint = question.hint().map(|hint| format!("\n\n{hint}")).unwrap_or_default();
    format!("{}{hint} {labels:?}", question.markdown)
}

/// `ask <number>`: asks for tea or coffee for so many milliseconds, and says what was answered. `ask many`
/// lets choose several, `ask free` takes other words.
pub(crate) fn asked(job: &Job<'_>) -> Option<DriveEnd> {
    let own = job.claimed.words.as_ref().map(|words| &words.text);
    let text = own.or(job.claimed.heard.first().map(|(_, inbound)| &inbound.text))?;
    let how = text.strip_prefix("ask ")?;
    let (header, usage) = ("{}".to_owned(), Usage::default());
    if let Some(settled) = &job.claimed.settled {
        let question = &settled.question;
        let answer = question.ask.says(question.given.as_ref()?);
        let append = vec![Item::said(answer.clone(), Taint::Clean)];
        let ending = DriveOutcome {
            append,
            header,
            end: End::Done,
            text: answer,
            usage,
            ..DriveOutcome::default()
        };
        return Some(DriveEnd::Ended(Box::new(ending)));
    }
    let choice = |id: &str, label: &str| Choice {
        id: id.to_owned(),
        label: label.to_owned(),
        description: String::new(),
    };
    let ask = Ask {
        v: Ask::VERSION,
        markdown: "Tea or coffee?".to_owned(),
        choices: vec![choice("1", "Tea"), choice("2", "Coffee")],
        many: how == "many",
        free_text: how == "free",
        placeholder: String::new(),
        within: Span(Duration::from_millis(how.parse().unwrap_or(3_600_000))),
    };
    let key = format!("q{}", job.claimed.claim.task);
    let append = vec![Item::Noted { text: "asking".to_owned() }];
    Some(DriveEnd::Asks(Box::new(PendingQuestion { key, ask, append, header, usage })))
}
