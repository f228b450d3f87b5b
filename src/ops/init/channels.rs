//! The step of each channel: what it needs is asked for, and its platform tells whether that is taken.

use selkie_channel_core::{ChannelKit, Setup};

use super::Answers;
use super::prompt::{PromptClosed, Prompter};
use super::trial::{Trial, TrialResult};

/// So often one channel is tried.
pub const TRIES: u32 = 3;

/// A channel that can be set up.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The channel.
    pub kit: &'a ChannelKit,
    /// What it needs.
    pub setup: &'a Setup,
}

impl Step<'_> {
    /// Asks, unless it is to be left out. What is answered already is not asked for.
    ///
    /// # Errors
    /// When nobody goes on answering.
    pub async fn ask(
        &self,
        prompter: &mut Prompter,
        trial: Trial<'_>,
        answers: &mut Answers,
    ) -> Result<(), PromptClosed> {
        let Self { kit, setup } = self;
        let is_given = answers.has_section(kit.name);
        let has_others = trial.binary.kits.iter().any(|other| answers.has_section(other.name));
        prompter.say("");
        let question = format!("Set up {}?", setup.title);
        if !is_given && !prompter.agrees(&question, !has_others).await? {
            return Ok(());
        }
        setup.before.iter().for_each(|line| prompter.say(&format!("  {line}")));
        for left in (0..TRIES).rev() {
            self.fill(prompter, answers).await?;
            if !self.is_whole(answers) {
                answers.forget_section(kit.name);
                prompter.say(&format!("{} is left out.", setup.title));
                return Ok(());
            }
            let tried = trial.channel(answers, kit.name).await;
            tried.lines().iter().for_each(|line| prompter.say(line));
            if !tried.is_refused() {
                setup.after.iter().for_each(|line| prompter.say(&format!("  {line}")));
                return Ok(());
            }
            self.take_back(&tried, answers);
            if left > 0 {
                prompter.say("Enter it again.");
            }
        }
        answers.forget_section(kit.name);
        prompter.say(&format!(
            "{} is left out after {TRIES} tries. To set it up later, run selkie init --force.",
            setup.title
        ));
        Ok(())
    }

    async fn fill(
        &self,
        prompter: &mut Prompter,
        answers: &mut Answers,
    ) -> Result<(), PromptClosed> {
        for field in self.setup.fields {
            let key = self.key(field.key);
            if answers.has(&key) {
                continue;
            }
            if self.kit.secrets.contains(&field.key) {
                let empty = format!("Enter: leave {} out", self.setup.title);
                match prompter.secret(field.label, &empty).await? {
                    Some(secret) => answers.hide(&key, secret),
                    None => return Ok(()),
                }
            } else {
                let line = prompter.line(field.label, field.default).await?;
                answers.set(&key, line);
            }
        }
        Ok(())
    }

    fn is_whole(&self, answers: &Answers) -> bool {
        self.setup.fields.iter().all(|field| answers.has(&self.key(field.key)))
    }

    /// Takes back what was wrong: the keys that are named, else all secrets.
    fn take_back(&self, tried: &TrialResult, answers: &mut Answers) {
        let all = self.setup.fields.iter().map(|field| self.key(field.key));
        let named: Vec<String> = match tried {
            TrialResult::Mistaken(problems) => {
                all.clone().filter(|key| problems.iter().any(|p| p.key == *key)).collect()
            }
            TrialResult::Asked(_) => Vec::new(),
        };
        let secrets = || {
            let is_secret =
                |key: &String| self.kit.secrets.iter().any(|secret| *key == self.key(secret));
            all.clone().filter(is_secret).collect()
        };
        let wrong: Vec<String> = if named.is_empty() { secrets() } else { named };
        wrong.iter().for_each(|key| answers.forget(key));
    }

    fn key(&self, field: &str) -> String {
        format!("{}.{field}", self.kit.name)
    }
}
