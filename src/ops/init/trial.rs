//! Trying answers before they are written: the config that they come to is built, platforms and models are asked.

use std::collections::BTreeSet;

use super::server::{self, At, Reachability};
use crate::doctor::{self, Finding, Level};
use crate::init::Answers;
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice, plan, sources};
use selkie_app::http;
use selkie_config::env::PREFIX;
use selkie_config::problem::{Problem, Problems};
use selkie_config::read;
use selkie_config::show::{self, Line};

/// Keys of the folders.
const FOLDERS: [&str; 2] = ["file_state_dir", "file_cache_dir"];

/// Where answers are tried.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The binary.
    pub binary: &'a Binary,
    /// What the command line says, without a file.
    pub chosen: &'a ConfigChoice,
}

/// What a trial came to.
pub enum TrialResult {
    /// What was answered cannot be taken: keys and why.
    Mistaken(Vec<Problem>),
    /// Somebody was asked, and says this.
    Asked(Vec<Finding>),
}

impl TrialResult {
    /// Whether it cannot be used: nothing that was found is as it should be.
    pub fn is_refused(&self) -> bool {
        match self {
            Self::Mistaken(_) => true,
            Self::Asked(findings) => {
                let errors = findings.iter().filter(|one| one.level == Level::Error).count();
                errors > 0 && errors == findings.len()
            }
        }
    }

    /// Says it, a line each.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Mistaken(problems) => problems.iter().map(mistake).collect(),
            Self::Asked(findings) => findings.iter().flat_map(found).collect(),
        }
    }
}

impl Trial<'_> {
    /// Builds what answers come to.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn plan(&self, answers: &Answers) -> Result<AppConfig, Problems> {
        plan(self.binary, &self.with(answers))
    }

    /// Names the variables that what was tried came from, besides the answers; what is in one is nobody's to read.
    pub fn variables(&self, answers: &Answers) -> BTreeSet<String> {
        let Binary { env, kits, .. } = self.binary;
        let Ok(reading) = read(&sources(self.binary, &self.with(answers)), kits) else {
            return BTreeSet::new();
        };
        // Where folders lie hangs on HOME and the like on every machine.
        let is_own = |line: &Line| line.from.starts_with(PREFIX) || !FOLDERS.contains(&&*line.key);
        let lines = show::lines(&reading).into_iter().filter(is_own);
        lines.map(|line| line.from).filter(|from| env.contains_key(from)).collect()
    }

    fn with(&self, answers: &Answers) -> ConfigChoice {
        let mut chosen = self.chosen.clone();
        chosen.flags.extend(answers.flags());
        chosen
    }

    /// Looks at a model's server.
    pub async fn server(&self, at: At<'_>) -> Reachability {
        match http::tls().map(|tls| http::client(&tls)) {
            Ok(Ok(client)) => server::look(&client, at).await,
            _ => Reachability::Answers,
        }
    }

    /// Asks a channel's platform who the bot is.
    pub async fn channel(&self, answers: &Answers, name: &str) -> TrialResult {
        match self.plan(answers) {
            Ok(plan) => TrialResult::Asked(doctor::of_channel(self.binary, &plan, name).await),
            Err(problems) => TrialResult::Mistaken(problems.0),
        }
    }

    /// Asks the model one short question.
    pub async fn model(&self, answers: &Answers) -> TrialResult {
        match self.plan(answers) {
            Ok(plan) => TrialResult::Asked(doctor::of_models(&plan).await),
            Err(problems) => TrialResult::Mistaken(problems.0),
        }
    }
}

fn mistake(problem: &Problem) -> String {
    format!("  ✗ {} {}", problem.key, problem.message)
}

/// What is so, and what to do where it is not as it should be.
fn found(finding: &Finding) -> Vec<String> {
    let sign = match finding.level {
        Level::Fine => '✓',
        Level::Warning => '!',
        Level::Unknown => '?',
        Level::Error => '✗',
    };
    let advice = Some(&finding.advice).filter(|advice| !advice.is_empty());
    let message = format!("  {sign} {}", finding.message);
    std::iter::once(message).chain(advice.map(|advice| format!("    → {advice}"))).collect()
}
