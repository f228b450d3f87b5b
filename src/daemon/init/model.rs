//! The step of the model: who serves it, where, which, and the key; tried with one short question.

use secrecy::SecretString;

use super::Answers;
use super::channels::TRIES;
use super::prompt::{Prompter, Stopped};
use super::trial::Trial;
use crate::llm::Provider;

const PROVIDER: &str = "llm.provider";
const ENDPOINT: &str = "llm.endpoint";
const MODEL: &str = "llm.model";
const KEY: &str = "llm.api_key";

/// Asks which model answers. What is answered already is not asked for.
///
/// # Errors
/// When nobody goes on answering.
pub async fn ask(
    prompter: &mut Prompter,
    trial: Trial<'_>,
    answers: &mut Answers,
) -> Result<(), Stopped> {
    prompter.say("");
    prompter.say("Which model answers? openai works with any server that offers /chat/completions; offline is a");
    prompter.say("built-in stand-in that knows a few phrases and needs no key.");
    for left in (0..TRIES).rev() {
        fill(prompter, trial, answers).await?;
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
        answers.forget_section("llm");
    }
    prompter
        .say("It is kept as it is. Correct llm in the config later; selkie doctor tries it again.");
    Ok(())
}

async fn fill(
    prompter: &mut Prompter,
    trial: Trial<'_>,
    answers: &mut Answers,
) -> Result<(), Stopped> {
    let provider = provider(prompter, trial, answers).await?;
    if provider == Provider::Offline {
        return Ok(());
    }
    for (key, label, default) in
        [(ENDPOINT, "Endpoint", provider.home()), (MODEL, "Model", provider.usual_model())]
    {
        if !answers.has(key) {
            let line = prompter.line(label, default).await?;
            answers.set(key, line);
        }
    }
    if !answers.has(KEY) {
        let found = in_environment(trial, answers, provider);
        let empty = match &found {
            Some(_) => format!("Enter: the one in {}", provider.key_variable()),
            None => "Enter: none".to_owned(),
        };
        let key = prompter.secret("API key", &empty).await?;
        if let Some(key) = key.or(found) {
            answers.hide(KEY, key);
        }
    }
    Ok(())
}

async fn provider(
    prompter: &mut Prompter,
    trial: Trial<'_>,
    answers: &mut Answers,
) -> Result<Provider, Stopped> {
    let all = Provider::ALL.map(Provider::name);
    let read = |name: &str| Provider::ALL.into_iter().find(|one| one.name() == name);
    if let Some(known) = answers.text(PROVIDER).and_then(read) {
        return Ok(known);
    }
    let has_key = |one: &Provider| trial.binary.env.contains_key(one.key_variable());
    let default = Provider::ALL.into_iter().find(has_key).unwrap_or(Provider::Openai);
    loop {
        let prompt = format!("Provider: {}", all.join(", "));
        let line = prompter.line(&prompt, default.name()).await?;
        match read(&line.to_lowercase()) {
            Some(provider) => {
                answers.set(PROVIDER, provider.name());
                return Ok(provider);
            }
            None => prompter.say(&format!("Please answer one of {}.", all.join(", "))),
        }
    }
}

/// The key that other programs use, too: for its own provider's server alone.
fn in_environment(trial: Trial<'_>, answers: &Answers, provider: Provider) -> Option<SecretString> {
    let at_home =
        answers.text(ENDPOINT).is_some_and(|url| url.trim_end_matches('/') == provider.home());
    let key = trial.binary.env.get(provider.key_variable()).map(|key| key.trim())?;
    (at_home && !key.is_empty()).then(|| SecretString::from(key))
}
