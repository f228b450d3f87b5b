//! Recordings and pictures that are made of words, by what the config names: as many as one person may have in a day.

use std::sync::Arc;

use async_trait::async_trait;
use selkie_channel_core::{Redactor, aloud};

use crate::work::limits::Limits;
use crate::work::limits::settings::DailyUse;
use selkie_domain::answer_picture::{AnswerPicture, PictureWish};
use selkie_domain::facts::Trust;
use selkie_domain::live::Live;
use selkie_domain::sound::Sound;
use selkie_domain::usage::{Meter, Usage};
use selkie_llm::{ImageMaker, MAX_SAID, ServerError, Speaker, size_fault, voice_fault};
use selkie_tools::ToolError;
use selkie_tools::ports::{Studio as StudioPort, Visitor};

/// What makes recordings and pictures; nothing where the config names nothing.
#[derive(Clone, Default)]
pub struct StudioConfig {
    /// Says words aloud.
    pub speech: Option<SpeechConfig>,
    /// Makes pictures.
    pub images: Option<ImagesConfig>,
}

/// Who says words aloud, and how often.
#[derive(Clone)]
pub struct SpeechConfig {
    /// Who does it.
    pub speaker: Arc<dyn Speaker>,
    /// For one person; 0: no limit.
    pub per_day: u32,
}

/// Who makes pictures, how often, and for how much.
#[derive(Clone)]
pub struct ImagesConfig {
    /// Who does it.
    pub maker: Arc<dyn ImageMaker>,
    /// For one person; 0: no limit.
    pub per_day: u32,
    /// What each costs, in millionths of a US dollar.
    pub micro_usd: u64,
}

/// Makes recordings and pictures.
pub struct Studio {
    limits: Arc<Limits>,
    redactor: Redactor,
    config: Live<StudioConfig>,
}

impl Studio {
    /// Makes them as the config says now.
    pub fn new(limits: Arc<Limits>, redactor: Redactor, config: StudioConfig) -> Self {
        Self { limits, redactor, config: Live::of(config) }
    }

    /// Returns what everybody may use.
    pub fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    /// Goes by another config from now on.
    pub fn put(&self, config: StudioConfig) {
        self.config.put(config);
    }

    /// Says an answer aloud, as far as it goes at once.
    ///
    /// # Errors
    /// In words, for the log.
    pub async fn read_out(&self, by: &Visitor, markdown: &str) -> Result<Sound, ToolError> {
        self.say(by, &self.plain(markdown), None).await
    }

    /// Markdown as words. A secret may stand in it whole, or split by marks that nobody reads out.
    fn plain(&self, markdown: &str) -> String {
        let words = aloud::render(&self.redactor.clean(markdown), MAX_SAID);
        self.redactor.clean(&words).chars().take(MAX_SAID).collect()
    }

    async fn say(
        &self,
        by: &Visitor,
        words: &str,
        voice: Option<&str>,
    ) -> Result<Sound, ToolError> {
        if words.is_empty() {
            return Err(ToolError::tell("there is nothing in it that can be said aloud"));
        }
        let Some(SpeechConfig { speaker, per_day }) = self.config.now().speech.clone() else {
            return Err(ToolError::tell("speech is not set in the config: write it instead"));
        };
        if !self.has_left(by, DailyUse::Said, per_day).await {
            return Err(ToolError::tell(format!(
                "{per_day} recordings are made for one person in a day, and that is reached: write it instead"
            )));
        }
        speaker.speak(words, voice).await.map_err(|error| {
            tracing::warn!(%error, by = speaker.name(), "words could not be said aloud");
            not_made("it could not be said aloud: write it instead", &error)
        })
    }

    /// Counts one, and says whether it is within the day's. Owners have no limit, and 0 is none.
    async fn has_left(&self, by: &Visitor, what: DailyUse, per_day: u32) -> bool {
        if by.trust == Trust::Owner {
            return true;
        }
        let who = match &by.person {
            Some(person) => format!("person {person}"),
            None => format!("conversation {}", by.conversation),
        };
        self.limits.has_left(who, what, per_day.into()).await
    }
}

#[async_trait]
impl StudioPort for Studio {
    async fn speak(
        &self,
        by: &Visitor,
        text: &str,
        voice: Option<&str>,
    ) -> Result<Sound, ToolError> {
        let count = text.chars().count();
        if count > MAX_SAID {
            return Err(ToolError::tell(format!(
                "text has {count} characters, and {MAX_SAID} can be said at once: say it in pieces"
            )));
        }
        if let Some(why) = voice.and_then(voice_fault) {
            return Err(ToolError::tell(format!("voice {why}")));
        }
        self.say(by, &self.plain(text), voice).await
    }

    async fn draw(
        &self,
        by: &Visitor,
        wish: PictureWish,
        spent: &Meter,
    ) -> Result<AnswerPicture, ToolError> {
        let Some(images) = self.config.now().images.clone() else {
            return Err(ToolError::tell("images is not set in the config: no pictures are made"));
        };
        if let Some(why) = wish.size.as_deref().and_then(size_fault) {
            return Err(ToolError::tell(format!("size {why}")));
        }
        let ImagesConfig { maker, per_day, micro_usd } = images;
        if !self.has_left(by, DailyUse::Drawn, per_day).await {
            return Err(ToolError::tell(format!(
                "{per_day} pictures are made for one person in a day, and that is reached"
            )));
        }
        let wish = PictureWish { prompt: self.redactor.clean(&wish.prompt), ..wish };
        let made = maker.make(wish).await.map_err(|error| {
            tracing::warn!(%error, by = maker.name(), "a picture could not be made");
            not_made("no picture was made", &error)
        })?;
        spent.add(Usage { micro_usd, ..Usage::default() });
        Ok(made)
    }
}

/// What the model reads: the server's own words may say what to change.
fn not_made(what: &str, error: &ServerError) -> ToolError {
    let why: String = error.to_string().chars().take(300).collect();
    ToolError::tell(match error {
        ServerError::Away(_) => format!("{what} (try once more later at most: {why})"),
        ServerError::Unusable(_) => format!("{what} ({why})"),
    })
}
