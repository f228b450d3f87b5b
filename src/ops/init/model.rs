//! The step of the model: who serves it, where, the key, and which; tried with one short question.

use secrecy::SecretString;

use super::Answers;
use super::channels::TRIES;
use super::prompt::{PromptClosed, Prompter};
use super::server::{At, Reachability, tidy};
use super::trial::Trial;
use selkie_config::may_go_to;
use selkie_domain::spelling::nearest;
use selkie_llm::Provider;

const PROVIDER: &str = "llm.provider";
const ENDPOINT: &str = "llm.endpoint";
const MODEL: &str = "llm.model";
const KEY: &str = "llm.api_key";
/// So many models of a server's list are shown.
const MAX: usize = 20;

/// Asks which model answers. What is answered already is not asked for.
///
/// # Errors
/// When nobody goes on answering.
pub async fn ask(
    prompter: &mut Prompter,
    trial: Trial<'_>,
    answers: &mut Answers,
) -> Result<(), PromptClosed> {
    prompter.say("");
    prompter.say("Which model answers? On this machine: ollama, lmstudio, llamacpp, vllm. Hosted: openai, anthropic,");
    prompter.say("gemini, mistral, deepseek, groq, openrouter, azure. openai also works with any other server that");
    prompter.say("offers /chat/completions; offline is a built-in stand-in that knows a few phrases and needs no key.");
    let mut earlier = Answers::default();
    for left in (0..TRIES).rev() {
        Step { prompter, trial, answers, earlier: &earlier }.fill().await?;
        let tried = trial.model(answers).await;
        tried.lines().iter().for_each(|line| prompter.say(line));
        if !tried.is_refused() {
            return Ok(());
        }
        if left == 0 {
            break;
        }
        // Asked for unseen, and first: whoever has mistyped it types the next one here.
        if answers.has(KEY)
            && let Some(key) = prompter.secret("API key once more", "Enter: keep it").await?
        {
            answers.hide(KEY, key);
            continue;
        }
        if prompter.agrees("Keep it as it is?", false).await? {
            break;
        }
        earlier = answers.clone();
        [PROVIDER, ENDPOINT, MODEL, KEY].iter().for_each(|key| answers.forget(key));
    }
    prompter
        .say("It is kept as it is. Correct llm in the config later; selkie doctor tries it again.");
    Ok(())
}

/// One round of questions.
struct Step<'a> {
    prompter: &'a mut Prompter,
    trial: Trial<'a>,
    answers: &'a mut Answers,
    /// What was answered in the round before: Enter keeps it.
    earlier: &'a Answers,
}

impl Step<'_> {
    async fn fill(&mut self) -> Result<(), PromptClosed> {
        let provider = self.provider().await?;
        if provider == Provider::Offline {
            return Ok(());
        }
        let mut models = self.endpoint(provider).await?;
        if !self.answers.has(KEY) && !provider.key_variable().is_empty() {
            self.key(provider).await?;
        }
        if self.answers.has(MODEL) {
            return Ok(());
        }
        if models.is_empty()
            && let Reachability::Lists(listed) = self.look(provider).await
        {
            models = listed;
        }
        self.model(provider, &models).await
    }

    async fn provider(&mut self) -> Result<Provider, PromptClosed> {
        if let Some(known) = self.answers.text(PROVIDER).and_then(named) {
            return Ok(known);
        }
        let has_key = |one: &Provider| self.trial.binary.env.contains_key(one.key_variable());
        let default = self.earlier.text(PROVIDER).and_then(named);
        let default = default.or_else(|| Provider::all().find(has_key)).unwrap_or(Provider::Openai);
        loop {
            let line = self.prompter.line("Provider", default.name()).await?;
            let word: String = line.chars().filter(|c| c.is_alphanumeric()).collect();
            let word = word.to_lowercase();
            let mut chosen = named(&word);
            if chosen.is_none()
                && let Some(near) = nearest(&word, Provider::all().map(Provider::name))
                && self.prompter.agrees(&format!("Did you mean {near}?"), true).await?
            {
                chosen = named(near);
            }
            if let Some(provider) = chosen {
                self.answers.set(PROVIDER, provider.name());
                return Ok(provider);
            }
            let all: Vec<_> = Provider::all().map(Provider::name).collect();
            self.prompter.say(&format!("Please answer one of {}.", all.join(", ")));
        }
    }

    /// Asks for the address where there is no usual one or nobody answers there; returns the models that are there.
    async fn endpoint(&mut self, provider: Provider) -> Result<Vec<String>, PromptClosed> {
        if self.answers.has(ENDPOINT) {
            return Ok(Vec::new());
        }
        let before = self.earlier_of(provider, ENDPOINT).map(str::to_owned);
        if !provider.start().is_empty() && before.is_none() {
            match self.look(provider).await {
                Reachability::Nobody(why) => self.prompter.say(&format!("  ✗ {why}")),
                Reachability::Lists(models) => return Ok(models),
                Reachability::Answers | Reachability::Moved(_) => return Ok(Vec::new()),
            }
        } else if has_one_address(provider) && before.is_none() {
            return Ok(Vec::new());
        }
        let mut default = before.unwrap_or_else(|| self.usual_endpoint(provider));
        for left in (0..TRIES).rev() {
            let typed = self.prompter.line("Endpoint", &default).await?;
            let address = tidy(&typed);
            if address != typed.trim_end_matches('/') {
                self.prompter.say(&format!("  That is {address}."));
            }
            self.answers.set(ENDPOINT, address.as_str());
            match self.look(provider).await {
                Reachability::Lists(models) => return Ok(models),
                Reachability::Answers => return Ok(Vec::new()),
                Reachability::Moved(below) => {
                    let question = format!("/v1 is missing there: use {below}?");
                    if self.prompter.agrees(&question, true).await? {
                        self.answers.set(ENDPOINT, below);
                    }
                    return Ok(Vec::new());
                }
                Reachability::Nobody(why) => self.prompter.say(&format!("  ✗ {why}")),
            }
            if left > 0 {
                self.answers.forget(ENDPOINT);
            }
            default = address;
        }
        Ok(Vec::new())
    }

    async fn key(&mut self, provider: Provider) -> Result<(), PromptClosed> {
        let found = self.in_environment(provider);
        let before = (self.earlier.text(PROVIDER) == Some(provider.name()))
            .then(|| self.earlier.secret(KEY).cloned())
            .flatten();
        let empty = match (&before, &found) {
            (Some(_), _) => "Enter: the one you typed".to_owned(),
            (None, Some(_)) => format!("Enter: the one in {}", provider.key_variable()),
            (None, None) => "Enter: none".to_owned(),
        };
        let key = self.prompter.secret("API key", &empty).await?;
        if let Some(key) = key.or(before).or(found) {
            self.answers.hide(KEY, key);
        }
        Ok(())
    }

    async fn model(&mut self, provider: Provider, models: &[String]) -> Result<(), PromptClosed> {
        for (at, name) in models.iter().take(MAX).enumerate() {
            self.prompter.say(&format!("  {:>2}  {name}", at + 1));
        }
        if models.is_empty() && !provider.start().is_empty() {
            self.prompter.say("  It lists no model: load one there first, or type its name.");
        }
        if models.len() > MAX {
            self.prompter.say(&format!("  and {} more: type a name", models.len() - MAX));
        }
        let usual = provider.usual_model();
        let is_there = |name: &str| models.is_empty() || models.iter().any(|one| one == name);
        let default =
            self.earlier_of(provider, MODEL).or(Some(usual)).filter(|name| is_there(name));
        let first = models.first().map(String::as_str);
        let default = default.or(first).unwrap_or_default().to_owned();
        loop {
            let line = self.prompter.line("Model", &default).await?;
            let numbered = line.parse::<usize>().ok().and_then(|at| models.get(at.checked_sub(1)?));
            let mut chosen = numbered.cloned().unwrap_or(line);
            if !is_there(&chosen)
                && let Some(near) = nearest(&chosen, models.iter().map(String::as_str))
                && self.prompter.agrees(&format!("Did you mean {near}?"), true).await?
            {
                near.clone_into(&mut chosen);
            }
            if !chosen.is_empty() {
                self.answers.set(MODEL, chosen);
                return Ok(());
            }
            self.prompter.say("Please name a model.");
        }
    }

    async fn look(&self, provider: Provider) -> Reachability {
        let endpoint = self.answers.text(ENDPOINT).unwrap_or(provider.home());
        self.trial.server(At { provider, endpoint, key: self.answers.secret(KEY) }).await
    }

    fn usual_endpoint(&self, provider: Provider) -> String {
        let base_url = self.trial.binary.env.get(selkie_config::BASE_URL);
        let base_url = base_url.filter(|_| provider == Provider::Openai);
        base_url.map_or_else(|| provider.home().to_owned(), |url| tidy(url))
    }

    /// What was answered before, of the same provider.
    fn earlier_of(&self, provider: Provider, key: &str) -> Option<&str> {
        let is_same = self.earlier.text(PROVIDER) == Some(provider.name());
        self.earlier.text(key).filter(|_| is_same)
    }

    /// The key that other programs use, too: for the server alone that it belongs to.
    fn in_environment(&self, provider: Provider) -> Option<SecretString> {
        let env = &self.trial.binary.env;
        let endpoint = self.answers.text(ENDPOINT).unwrap_or(provider.home());
        let key = env.get(provider.key_variable()).map(|key| key.trim())?;
        let is_own = may_go_to(env, provider, endpoint);
        (is_own && !key.is_empty()).then(|| SecretString::from(key))
    }
}

fn named(name: &str) -> Option<Provider> {
    Provider::all().find(|one| one.name() == name)
}

/// Whether everybody finds it at the same address.
fn has_one_address(provider: Provider) -> bool {
    !matches!(provider, Provider::Openai | Provider::Anthropic | Provider::Azure)
}
