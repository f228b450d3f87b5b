//! The look at each model that a route asks, by one short question, and at the servers of embeddings, of speech and of
//! pictures.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout};

use super::finding::Finding;
use super::look::Look;
use selkie_app::build::AppConfig;
use selkie_domain::count::grouped;
use selkie_domain::tool::{Class, Recovery, ToolBlock, ToolSpec};
use selkie_domain::transcript::Turn;
use selkie_domain::usage::{Usage, dollars};
use selkie_llm::{
    AskError, Card, ContextWindow, CutPrompt, Embeddings, ImageMaker, Model, Provider, Reason,
    Recording, Request, ServerError, Speaker, Transcriber, WindowSource,
};

const WHAT: &str = "model";
/// Shorter than a look may take, so that the provider's own words are told.
const LIMIT: Duration = Duration::from_secs(8);
/// What a server says of itself is asked for no longer.
const ASIDE: Duration = Duration::from_secs(2);
/// The least that every provider takes.
const MAX_OUTPUT: u32 = 16;
/// More tokens than servers read whose window nobody has raised.
const LONG: u64 = 7_000;

/// One for each profile that a route asks, and one for the embeddings.
pub fn looks(plan: &AppConfig) -> Vec<Look> {
    let prices = selkie_llm::price_list(&plan.settings.llm).profiles;
    let one = |name: String| {
        let Some(model) = plan.profiles.get(&name).map(Arc::clone) else { return stand_in(plan) };
        // A profile that nobody wrote is the stand-in, too.
        if matches!(plan.settings.llm.provider_of(&name), None | Some(Provider::Offline)) {
            return stand_in(plan);
        }
        let is_priced = prices.get(&name).is_some_and(Option::is_some);
        Look::new(
            WHAT,
            name.clone(),
            async move { vec![ask(&*model, is_priced).await.of(name)].into() },
        )
    };
    let mut looks: Vec<Look> = plan.settings.llm.routed().into_iter().map(one).collect();
    looks.extend(plan.servers.embeddings.clone().map(|server| {
        Look::new("embeddings", "", async move { vec![embed(&*server).await].into() })
    }));
    looks.extend(plan.transcriber().map(|transcriber| {
        Look::new("transcription", "", async move { vec![listen(&*transcriber).await].into() })
    }));
    looks.extend(plan.speaker().map(|speaker| {
        Look::new("speech", "", async move { vec![speak(&*speaker).await].into() })
    }));
    looks.extend(
        plan.servers
            .images
            .clone()
            .map(|maker| Look::new("images", "", async move { vec![draw(&*maker).await].into() })),
    );
    looks
}

/// Nobody is asked.
fn stand_in(plan: &AppConfig) -> Look {
    let wanted = plan.settings.llm.is_configured();
    let finding = match wanted {
        true => Finding::fine(WHAT, "the built-in stand-in answers, as chosen"),
        false => Finding::warning(
            WHAT,
            "no model is configured: a built-in stand-in answers, which knows a few phrases",
            "set llm.provider, llm.model and llm.api_key_file",
        ),
    };
    Look::new(WHAT, "", async move { vec![finding].into() })
}

/// Asks as the daemon does, with a tool: some models take none where they take words. Where nobody
/// knows a price, as of most servers of one's own, a long question shows whether the server cuts prompts.
async fn ask(model: &dyn Model, is_priced: bool) -> Finding {
    let began = Instant::now();
    let name = model.card().name;
    let mut usage = match model.ask(&question(Vec::new(), LIMIT), &|_| {}).await {
        Ok(reply) => reply.usage,
        Err(failed) => return refused(&name, &failed, is_priced),
    };
    // Who has answered has loaded the model, and knows its window. An answer that does not come in time leaves it unknown.
    _ = timeout(ASIDE, model.ask_window()).await;
    let Card { context, .. } = model.card();
    let left = LIMIT.saturating_sub(began.elapsed());
    if !is_priced && context >= 2 * LONG {
        let words = usize::try_from(LONG).unwrap_or_default();
        let before = vec![Turn::User("word ".repeat(words)), Turn::Assistant("ready".to_owned())];
        // Who reads it too slowly has cut nothing that could be seen here.
        let asked = model.ask(&question(before, left), &|_| {}).await;
        usage.add(asked.map_or_else(|failed| failed.usage, |reply| reply.usage));
    }
    let learnt = model.learnt();
    match learnt.cut {
        Some(cut) => cuts(&name, context, cut),
        None => answers(&name, learnt.led_to, &cost(usage, is_priced), learnt.window),
    }
}

fn question(mut turns: Vec<Turn>, limit: Duration) -> Request {
    turns.push(Turn::User("Say: ready".to_owned()));
    let nothing = json!({ "type": "object", "properties": {} });
    let tool = ToolSpec {
        description: "Does nothing.".to_owned(),
        ..ToolSpec::new("nothing", Class::Note, Recovery::CallAgain, nothing)
    };
    Request {
        tools: Arc::new(ToolBlock::new(vec![Arc::new(tool)])),
        may_call: false,
        max_output: MAX_OUTPUT,
        deadline: limit,
        cache_key: "doctor".to_owned(),
        // No long waits: somebody sits before the screen.
        has_next: true,
        turns,
        ..Request::of_words("Answer with one word.", String::new())
    }
}

/// A server that reads less than config says loses the beginning of what it is told.
fn cuts(name: &str, context: u64, cut: CutPrompt) -> Finding {
    let CutPrompt { sent, read } = cut;
    let [context, sent, read] = [context, sent, read].map(grouped);
    Finding::error(
        WHAT,
        format!(
            "{name} cut the prompt: it read {read} of at least {sent} tokens, and its context is taken to be {context}"
        ),
        CutPrompt::ADVICE,
    )
}

/// A server that answers only where it was not asked first costs a refused request at every start.
fn answers(name: &str, led_to: Option<&str>, cost: &str, window: ContextWindow) -> Finding {
    let window = window_words(window);
    let Some(path) = led_to else {
        return Finding::fine(WHAT, format!("{name} answers ({cost}); {window}"));
    };
    let api = if path == "/responses" { "responses" } else { "chat" };
    let message = format!("{name} answers at {path} alone ({cost})");
    Finding::fine(
        WHAT,
        format!(
            "{message}: api: {api} in its profile saves a refused request at every start; {window}"
        ),
    )
}

/// Says how many tokens a model reads, and how that is known.
fn window_words(window: ContextWindow) -> String {
    let tokens = grouped(window.tokens);
    match window.source {
        WindowSource::Config => format!("its window: {tokens} tokens, by the config"),
        WindowSource::Provider => format!("its window: {tokens} tokens, as usual for its provider"),
        WindowSource::Server(path) => {
            format!("its window: {tokens} tokens, as its server says at {path}")
        }
        WindowSource::OllamaDefault => {
            format!("its window: {tokens} tokens, Ollama's least, until the model is loaded")
        }
        WindowSource::Refusal => {
            format!("its window: {tokens} tokens, as its server said when it refused more")
        }
        WindowSource::Unknown => format!(
            "its window is unknown and taken to be {tokens} tokens: set llm.context to what its server has"
        ),
    }
}

fn cost(usage: Usage, is_priced: bool) -> String {
    let price = match is_priced {
        true => format!("this check cost {}", dollars(usage.micro_usd)),
        false => "no price known".to_owned(),
    };
    format!("{} tokens, {price}", grouped(usage.tokens()))
}

fn refused(name: &str, failed: &AskError, is_priced: bool) -> Finding {
    let AskError { error, usage } = failed;
    let message = format!("{name} does not answer: {error}");
    let advice = match error.reason() {
        // It did answer: so short an answer may hold no word.
        Reason::NoRoom | Reason::Withheld | Reason::Empty if usage.tokens() > 0 => {
            return Finding::fine(
                WHAT,
                format!("{name} accepts the key ({})", cost(*usage, is_priced)),
            );
        }
        Reason::Busy => {
            let advice = "wait, or name another profile behind it in the route";
            return Finding::warning(WHAT, message, advice);
        }
        Reason::Key => {
            "make a new key at the provider; the config takes it in the profile's api_key_file or api_key"
        }
        Reason::Money => "add credit or a payment method at the provider",
        Reason::NoModel => "correct the profile's model and endpoint",
        Reason::Unreachable => {
            "check this machine's network, its proxy, and the profile's endpoint"
        }
        Reason::NoRoom | Reason::Withheld | Reason::Empty => {
            "check that the profile's endpoint is a language model: it sends empty answers"
        }
        Reason::Down | Reason::Silent | Reason::Garbled => {
            "run selkie doctor again; if that does not help, see the provider's status page and the profile's endpoint"
        }
        Reason::Refused | Reason::TooLong | Reason::TooMuch => {
            "check the profile's model and endpoint: another kind of server may answer"
        }
    };
    Finding::error(WHAT, message, advice)
}

async fn embed(server: &dyn Embeddings) -> Finding {
    const WHAT: &str = "embeddings";
    let model = server.model();
    match server.embed(&["selkie".to_owned()], LIMIT).await {
        Ok(_) => Finding::fine(WHAT, format!("{model} answers")),
        // Words are searched without it.
        Err(error) => Finding::warning(
            WHAT,
            format!("{model} does not answer: {}", error.why),
            "check memory.embeddings (endpoint, model, api_key_file); until then, memory is searched by keyword only",
        ),
    }
}

/// Lets it listen to a second of silence.
async fn listen(transcriber: &dyn Transcriber) -> Finding {
    const WHAT: &str = "transcription";
    let name = transcriber.name();
    let advice = "check transcription (endpoint, model, api_key_file, or command); until then, people are told that I \
                  could not understand their voice messages";
    let silence = Recording::silence();
    let asked = transcriber.transcribe(&silence);
    let looked = ServerLook { what: WHAT, name, advice };
    looked.of(async { asked.await.map(|_| String::new()) }).await
}

/// Lets it say a word.
async fn speak(speaker: &dyn Speaker) -> Finding {
    let advice = "check speech (endpoint, model, voice, api_key_file, or command); until then, nothing is said aloud";
    let looked = ServerLook { what: "speech", name: speaker.name(), advice };
    let asked = async {
        speaker.speak("ready", None).await.map(|sound| match sound.is_voice_note {
            true => ", with voice notes".to_owned(),
            false => format!(", with .{} files: no voice notes", sound.ending),
        })
    };
    looked.of(asked).await
}

/// Makes no picture: that costs money.
async fn draw(maker: &dyn ImageMaker) -> Finding {
    let advice = "check images (endpoint, model, api_key_file); until then, no pictures are made";
    let looked = ServerLook { what: "images", name: maker.name(), advice };
    let asked = async { maker.examine().await.map(|()| "; no picture was made".to_owned()) };
    looked.of(asked).await
}

/// A look at a server or a program that is asked for one thing.
struct ServerLook<'a> {
    what: &'static str,
    name: &'a str,
    advice: &'static str,
}

impl ServerLook<'_> {
    async fn of(self, asked: impl Future<Output = Result<String, ServerError>>) -> Finding {
        let Self { what, name, advice } = self;
        match timeout(LIMIT, asked).await {
            Ok(Ok(how)) => Finding::fine(what, format!("{name} answers{how}")),
            Ok(Err(error)) => {
                Finding::warning(what, format!("{name} does not answer: {error}"), advice)
            }
            Err(_) => {
                let message = format!("{name} did not answer within {} s", LIMIT.as_secs());
                Finding::warning(what, message, advice)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;
    use selkie_llm::ModelError;

    #[test]
    fn a_refused_key_is_an_error_and_an_answer_without_words_is_none() {
        let unusable =
            |reason| ModelError::Unusable { why: "the key is refused".to_owned(), reason };
        let busy = ModelError::Transient {
            why: "429".to_owned(),
            reason: Reason::Busy,
            retry_after: None,
        };
        let no_room = ModelError::NoRoom { most: 16, may_raise: false };
        let window = |source| ContextWindow { tokens: 4_096, source };
        let level = |error: ModelError| refused("m", &error.into(), false).level;
        assert_eq!(level(unusable(Reason::Key)), Level::Error);
        assert_eq!(level(busy), Level::Warning);
        let usage = Usage { calls: 1, input: 20, output: 2, micro_usd: 7, ..Usage::default() };
        let failed = AskError { error: no_room.clone(), usage };
        assert_eq!(refused("m", &failed, false).level, Level::Fine);
        assert_eq!(level(no_room), Level::Error, "nothing was read or written: that is no model");
        assert_eq!(
            answers(
                "m via main",
                Some("/chat/completions"),
                "9 tokens",
                window(WindowSource::Config)
            )
            .message,
            "m via main answers at /chat/completions alone (9 tokens): api: chat in its profile saves a refused request at every start; its window: 4,096 tokens, by the config"
        );
        assert_eq!(
            answers("m via main", None, "9 tokens", window(WindowSource::Server("/props"))).message,
            "m via main answers (9 tokens); its window: 4,096 tokens, as its server says at /props"
        );
        let unknown = window_words(window(WindowSource::Unknown));
        assert!(unknown.ends_with("set llm.context to what its server has"), "{unknown}");
        assert_eq!(cost(usage, true), "22 tokens, this check cost less than $0.0001");
        assert_eq!(cost(usage, false), "22 tokens, no price known");
    }
}
