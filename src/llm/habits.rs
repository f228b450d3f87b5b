//! Parts of a request that some servers refuse: what is learnt from their refusals, for every API alike.

use crate::effort::Efforts;
use crate::profile::Profile;
use crate::refusal::{ProviderRefusal, What};
use crate::schema::Form;
use selkie_domain::effort::Effort;

/// What a server takes, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Habits {
    /// The parts that it has not refused, a bit each.
    parts: u16,
    /// What the limit of written tokens is called.
    pub limit: Limit,
    /// The limit's name was changed once; twice would be for ever.
    renamed: bool,
    /// How schemas of tools are written.
    pub schemas: Form,
    /// Which levels of effort it takes.
    pub efforts: Efforts,
    /// It takes tools only from a model that does not think.
    pub unthinking: bool,
    /// It is to drop thoughts of a conversation that has changed since.
    pub drops_bound: bool,
    /// Answers whose thoughts are gone have an empty place for them.
    pub blank_thoughts: bool,
    /// The server has said whether it wants that place.
    thoughts_settled: bool,
    /// Calls whose mark is gone have the one that stands for none.
    pub blank_marks: bool,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// `stream_options`.
    StreamOptions,
    /// `prompt_cache_key`.
    CacheKey,
    /// `include`: thoughts that only the provider can read.
    Include,
    /// `phase`: whether words of an answer stand beside calls or at the end.
    Phase,
    /// The word that no tool may be called. Without it, the words of the request say so.
    ToolChoice,
    /// That the model thinks, apart from how hard.
    Thinking,
    /// The answer as a stream.
    Stream,
    /// Pictures, where the profile says that its model sees.
    Pictures,
}

/// What a server names when it refuses a part, in the order in which parts are given up.
const PARTS: [(Part, &str); 4] = [
    (Part::StreamOptions, "stream_options"),
    (Part::CacheKey, "prompt_cache_key"),
    (Part::Phase, "phase"),
    (Part::ToolChoice, "tool_choice"),
];

/// What a server says when it refuses the thoughts that only it could read; the field's name is also a word.
const NO_INCLUDE: [&str; 4] =
    ["ncrypted content is not supported", "'include", "`include", "\"include"];

/// What a server names when it refuses a keyword of a schema.
const SCHEMA_WORDS: [&str; 9] = [
    "additionalProperties",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "anyOf",
    "oneOf",
    "function_declarations",
    "json_schema",
    "pattern",
    "minLength",
];

/// What the limit of written tokens is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// `max_tokens`, which compatible servers know.
    Old,
    /// `max_completion_tokens`, which OpenAI's newer models demand.
    New,
    /// As the API calls it, and nothing else.
    Fixed,
}

impl Habits {
    /// Begins with what a server of chat completions should take. `native`: it is OpenAI's own.
    pub const fn chat(stream: bool, native: bool) -> Self {
        let limit = if native { Limit::New } else { Limit::Old };
        let parts = Part::StreamOptions.bit() | Part::ToolChoice.bit();
        let key = if native { Part::CacheKey.bit() } else { 0 };
        Self::of(parts | key, stream, limit, Efforts::ALL)
    }

    /// Begins with what a server of responses should take.
    pub const fn responses(stream: bool) -> Self {
        let parts = Part::CacheKey.bit() | Part::Include.bit() | Part::Phase.bit();
        Self::of(parts | Part::ToolChoice.bit(), stream, Limit::Fixed, Efforts::ALL)
    }

    /// Begins with what a server of messages should take.
    pub const fn messages(stream: bool) -> Self {
        let parts = Part::ToolChoice.bit() | Part::Thinking.bit();
        Self::of(parts, stream, Limit::Fixed, Efforts::NO_MINIMAL)
    }

    const fn of(parts: u16, stream: bool, limit: Limit, efforts: Efforts) -> Self {
        let stream = if stream { Part::Stream.bit() } else { 0 };
        Self {
            parts: parts | stream | Part::Pictures.bit(),
            limit,
            renamed: false,
            schemas: Form::Full,
            efforts,
            unthinking: false,
            drops_bound: false,
            blank_thoughts: false,
            thoughts_settled: false,
            blank_marks: false,
        }
    }

    /// Whether a part is sent.
    pub const fn has(self, part: Part) -> bool {
        self.parts & part.bit() != 0
    }

    /// Whether pictures go along.
    pub fn sees(self, profile: &Profile) -> bool {
        profile.card.sees_images && self.has(Part::Pictures)
    }

    /// Begins as servers of this model are known to want it.
    pub fn of_model(self, model: &str) -> Self {
        Self { blank_thoughts: model.to_lowercase().contains("deepseek"), ..self }
    }

    const fn less(self, part: Part) -> Self {
        Self { parts: self.parts & !part.bit(), ..self }
    }

    /// What is sent for a wanted effort, beside tools or without.
    pub fn effort(self, wanted: Option<Effort>, has_tools: bool) -> Option<Effort> {
        let must = self.unthinking && has_tools && self.efforts.takes(Effort::None);
        if must { Some(Effort::None) } else { self.efforts.sent(wanted) }
    }

    /// Returns other habits when `refused` is about one of them. `sent`: the effort that was.
    pub fn without(self, refused: &ProviderRefusal, sent: Option<Effort>) -> Option<Self> {
        // Its words name other parts, too.
        if refused.message.contains("bound to a different conversation") {
            return (!self.drops_bound).then_some(Self { drops_bound: true, ..self });
        }
        if refused.names("reasoning_content") && !self.thoughts_settled {
            let blank_thoughts = !self.blank_thoughts;
            return Some(Self { blank_thoughts, thoughts_settled: true, ..self });
        }
        if refused.names("thought_signature") && !self.blank_marks {
            return Some(Self { blank_marks: true, ..self });
        }
        if refused.names("reasoning_effort") && refused.names("tools") && !self.unthinking {
            return Some(Self { unthinking: true, ..self });
        }
        if self.has(Part::Pictures) && is_about_pictures(refused) {
            return Some(self.less(Part::Pictures));
        }
        let is_include = NO_INCLUDE.iter().any(|words| refused.message.contains(words));
        if is_include && self.has(Part::Include) {
            return Some(self.less(Part::Include));
        }
        let named = PARTS.iter().find(|(part, name)| self.has(*part) && refused.names(name));
        if let Some((part, _)) = named {
            return Some(self.less(*part));
        }
        self.without_thinking(refused, sent).or_else(|| self.without_form(refused))
    }

    fn without_thinking(self, refused: &ProviderRefusal, sent: Option<Effort>) -> Option<Self> {
        let is_level = refused.names("effort") || refused.names("output_config");
        let thinks = sent.is_some_and(|sent| sent != Effort::None) && self.has(Part::Thinking);
        if thinks && refused.names("thinking") && !is_level {
            return Some(self.less(Part::Thinking));
        }
        let efforts = self.efforts.without(sent?, refused)?;
        Some(Self { efforts, ..self })
    }

    fn without_form(self, refused: &ProviderRefusal) -> Option<Self> {
        let name = refused.names("max_completion_tokens") && !is_about_size(refused);
        let other = match self.limit {
            Limit::Old => Some(Limit::New),
            Limit::New => Some(Limit::Old),
            Limit::Fixed => None,
        };
        if let Some(limit) = other.filter(|_| !self.renamed && name) {
            return Some(Self { limit, renamed: true, ..self });
        }
        if self.schemas == Form::Full && SCHEMA_WORDS.iter().any(|word| refused.names(word)) {
            return Some(Self { schemas: Form::Plain, ..self });
        }
        (self.has(Part::Stream) && refused.names("stream")).then(|| self.less(Part::Stream))
    }
}

impl Part {
    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Whether a number is too large, and not its name unknown.
fn is_about_size(refused: &ProviderRefusal) -> bool {
    let message = refused.message.to_lowercase();
    ["too large", "at most", "maximum", "less than", "exceed"].iter().any(|w| message.contains(w))
}

/// Whether pictures are refused, and not one of them.
fn is_about_pictures(refused: &ProviderRefusal) -> bool {
    const REFUSAL: [&str; 7] = [
        "support",
        "unknown variant",
        "not a multimodal",
        "not enabled",
        "at most 0",
        "missing",
        "cannot see",
    ];
    const ONE: [&str; 4] = ["format", "media type", "mime", "decode"];
    let message = refused.message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    matches!(refused.what, What::Status(400 | 404 | 415 | 422 | 500 | 501))
        && has(&["image", "vision", "multimodal"])
        && has(&REFUSAL)
        && !has(&ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::usage::Usage;

    #[test]
    fn no_habit_is_given_up_for_words_that_only_sound_like_it() {
        let refused = |message: &str| {
            let (what, message) = (What::Status(400), message.to_owned());
            ProviderRefusal { what, message, retry_after: None, usage: Usage::default() }
        };
        let habits = Habits::chat(true, true);
        assert_eq!(habits.without(&refused("the upstream is down"), None), None);
        let large = "max_completion_tokens is too large: 32768. This model supports at most 16384";
        assert_eq!(habits.without(&refused(large), None), None);
        assert!(habits.without(&refused("`stream` is not supported"), None).is_some());
        let messages = Habits::messages(true);
        let thoughts = "messages.1: a final `assistant` message must start with a `thinking` block";
        assert_eq!(messages.without(&refused(thoughts), None), None);
    }

    #[test]
    fn a_server_that_sees_nothing_gets_no_pictures() {
        let pictures = |message: &str| {
            let (what, message) = (What::Status(400), message.to_owned());
            let refused =
                ProviderRefusal { what, message, retry_after: None, usage: Usage::default() };
            let fewer = Habits::chat(true, false).without(&refused, None);
            fewer.is_none_or(|fewer| fewer.has(Part::Pictures))
        };
        for message in [
            "image input is not supported - hint: provide the mmproj",
            "unknown variant `image_url`, expected `text`",
            "m is not a multimodal model",
            "At most 0 image(s) may be provided in one prompt.",
            "No endpoints found that support image input",
        ] {
            assert!(!pictures(message), "{message}");
        }
        for message in [
            "Unsupported image format: TIFF",
            "could not decode image",
            "image exceeds 5 MB maximum",
            "upstream error",
        ] {
            assert!(pictures(message), "{message}");
        }
    }
}
