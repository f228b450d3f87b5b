//! How many tokens a model reads: from config, else from its server, from what it refuses, or assumed.

mod answers;
mod questions;

use std::sync::Mutex;
use std::time::Duration;

use selkie_channel_core::locked;
use tokio::time::Instant;

use self::questions::WindowAnswer;
use crate::{ContextWindow, ModelError, WindowSource};

pub(super) use self::questions::Questions;

/// A server that had nothing to tell yet is asked again beside the first request after this.
const AGAIN: Duration = Duration::from_secs(60);

/// The window of one profile.
pub(super) struct Window {
    profile: String,
    /// Nothing where nobody is asked.
    questions: Option<Questions>,
    state: Mutex<State>,
}

struct State {
    known: ContextWindow,
    /// When its server may be asked again.
    again: Option<Instant>,
}

impl Window {
    /// Takes it to be `known`, until the answer to `questions` is there.
    pub fn new(profile: &str, known: ContextWindow, questions: Option<Questions>) -> Self {
        let state = Mutex::new(State { known, again: None });
        Self { profile: profile.to_owned(), questions, state }
    }

    /// Returns what is known now.
    pub fn now(&self) -> ContextWindow {
        locked(&self.state).known
    }

    /// Asks the server, where config is silent.
    pub async fn ask(&self) {
        let Some(questions) = &self.questions else { return };
        locked(&self.state).again = Some(Instant::now() + AGAIN);
        match questions.ask().await {
            WindowAnswer::Known(window) => self.learn(window, false),
            WindowAnswer::Likely(window) => self.learn(window, true),
            WindowAnswer::Nothing => locked(&self.state).again = None,
            WindowAnswer::Later => {}
        }
    }

    /// Asks once more where it is time to.
    pub async fn ask_again(&self) {
        let again = locked(&self.state).again;
        if again.is_some_and(|again| again <= Instant::now()) {
            self.ask().await;
        }
    }

    /// Takes the limit that a refusal names, where it is less than what was assumed and config is silent.
    pub fn heed(&self, error: &ModelError) {
        let ModelError::TooLong { why } = error else { return };
        let Some(tokens) = answers::of_refusal(why) else { return };
        let known = self.now();
        if known.source != WindowSource::Config && tokens < known.tokens {
            self.learn(ContextWindow { tokens, source: WindowSource::Refusal }, false);
        }
    }

    fn learn(&self, window: ContextWindow, may_change: bool) {
        let mut state = locked(&self.state);
        if !may_change {
            state.again = None;
        }
        let was_refused = state.known.source == WindowSource::Refusal;
        if state.known == window || (was_refused && state.known.tokens <= window.tokens) {
            return;
        }
        state.known = window;
        let profile = &self.profile;
        let tokens = window.tokens;
        let source = window.source;
        tracing::info!(profile, tokens, ?source, "the window of the model is known");
    }
}
