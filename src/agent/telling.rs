//! Tells those who read along what the model writes, without secrets.

use std::sync::{Arc, Mutex};

use selkie_channel_core::{Piecewise, Redactor, locked};

use selkie_domain::event::{Event, Events};
use selkie_domain::ids::TaskId;
use selkie_domain::written::TextProgress;
use selkie_tools::ports::Progress;

/// What is told of one answer.
pub(super) struct AnswerNotice<'a> {
    events: &'a Events,
    redactor: &'a Redactor,
    progress: Arc<dyn Progress>,
    task: TaskId,
    /// What is told and held back, once there is somebody to tell.
    text: Mutex<Option<Piecewise>>,
}

impl<'a> AnswerNotice<'a> {
    /// Begins to tell of a task's next answer.
    pub(super) fn new(
        events: &'a Events,
        redactor: &'a Redactor,
        progress: Arc<dyn Progress>,
        task: TaskId,
    ) -> Self {
        Self { events, redactor, progress, task, text: Mutex::default() }
    }

    /// Tells what comes.
    pub(super) fn hear(&self, written: TextProgress<'_>) {
        self.progress.wrote(written);
        match written {
            TextProgress::Begun => {
                if locked(&self.text).take().is_some() {
                    self.events.emit(|| Event::Again { task: self.task });
                }
            }
            TextProgress::More(piece) if self.events.are_heard() => {
                let mut text = locked(&self.text);
                self.tell(text.get_or_insert_with(|| self.redactor.piecewise()).push(piece));
            }
            TextProgress::More(_) => {}
        }
    }

    /// Tells what was held back: the answer has ended.
    pub(super) fn end(&self) {
        if let Some(text) = locked(&self.text).take() {
            self.tell(text.finish());
        }
    }

    fn tell(&self, text: String) {
        if !text.is_empty() {
            self.events.emit(|| Event::Wrote { task: self.task, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_tools::ports::Silent;

    #[test]
    fn no_secret_is_told_across_a_border_and_what_failed_is_void() {
        let (events, redactor) = (Events::default(), Redactor::default());
        redactor.learn("Sw0rdf1sh-Pass");
        let mut heard = events.listen();
        let telling = AnswerNotice::new(&events, &redactor, Arc::new(Silent), TaskId(7));
        let pieces = ["It", " was Sw0rd"].map(TextProgress::More);
        let again = ["It is Sw0rd", "f1sh-Pass"].map(TextProgress::More);
        let begun = || std::iter::once(TextProgress::Begun);
        begun().chain(pieces).chain(begun()).chain(again).for_each(|piece| telling.hear(piece));
        telling.end();
        let told: String = std::iter::from_fn(|| heard.try_recv().ok())
            .map(|happening| match happening {
                Event::Wrote { text, .. } => text,
                other => format!("<{other:?}>"),
            })
            .collect();
        assert_eq!(told, "It was <Again { task: TaskId(7) }>It is [redacted]");
    }
}
