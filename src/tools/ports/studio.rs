//! Recordings and pictures that are made of words.

use async_trait::async_trait;

use super::Visitor;
use crate::ToolError;
use selkie_domain::answer_picture::{AnswerPicture, PictureWish};
use selkie_domain::sound::Sound;
use selkie_domain::usage::Meter;

/// Makes recordings and pictures by what the config names, as many as one person may have in a day.
#[async_trait]
pub trait Studio: Send + Sync {
    /// Says words aloud, in this voice or the usual one.
    ///
    /// # Errors
    /// In words: nothing in it can be said, the day's are used up, what makes them does not answer.
    async fn speak(
        &self,
        by: &Visitor,
        text: &str,
        voice: Option<&str>,
    ) -> Result<Sound, ToolError>;

    /// Makes a picture; what it costs is counted in `spent`.
    ///
    /// # Errors
    /// In words: no such size, the day's are used up, what makes them does not answer.
    async fn draw(
        &self,
        by: &Visitor,
        wish: PictureWish,
        spent: &Meter,
    ) -> Result<AnswerPicture, ToolError>;
}
