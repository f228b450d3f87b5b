//! Pictures made of words, asked of a server that speaks OpenAI's `/images`.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use bytes::Bytes;
use reqwest::Url;
use reqwest::multipart::{Form, Part};
use selkie_channel_core::{Problem, Redactor};
use serde::{Deserialize, Serialize};

use crate::build::HttpFactory;
use crate::model_server::{ModelAtServer, ServerError, within};
use crate::pictures::BASE64;
use crate::settings::{ImageSettings, beside, changing};
use crate::wire::Wire;
use selkie_domain::answer_picture::{AnswerPicture, PictureWish};
use selkie_domain::clock::SharedClock;

/// The most bytes of one: twenty mebibytes.
const MAX_BYTES: usize = 20 << 20;
/// The same in base64, and what stands around it.
const MAX_ANSWER: usize = MAX_BYTES / 3 * 4 + (1 << 20);
/// More than any list of models has.
const MAX_LIST: usize = 4 << 20;

/// Makes pictures.
#[async_trait]
pub trait ImageMaker: Send + Sync {
    /// Returns the model's name.
    fn name(&self) -> &str;

    /// Makes one.
    ///
    /// # Errors
    /// See [`ServerError`].
    async fn make(&self, wish: PictureWish) -> Result<AnswerPicture, ServerError>;

    /// Looks whether the server answers, and takes the key, without having it make anything.
    ///
    /// # Errors
    /// See [`ServerError`].
    async fn examine(&self) -> Result<(), ServerError>;
}

/// Builds what the settings say; nothing while it is off.
///
/// # Errors
/// Everything that is wrong with the settings; keys are inside the section.
pub fn images(
    settings: &ImageSettings,
    http: &HttpFactory,
    redactor: &Redactor,
    clock: &SharedClock,
) -> Result<Option<Arc<dyn ImageMaker>>, Vec<Problem>> {
    let Some(at) = ModelAtServer::build(settings, http, redactor, clock)? else { return Ok(None) };
    let size = settings.size.clone();
    Ok(Some(Arc::new(Server { at, size })))
}

/// A server.
struct Server {
    at: ModelAtServer,
    size: Option<String>,
}

/// What is asked for a new one.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<&'a str>,
    n: u8,
}

/// What it answers; what else stands there is passed over.
#[derive(Deserialize)]
struct Answer {
    data: Vec<AnswerItem>,
}

#[derive(Deserialize)]
struct AnswerItem {
    b64_json: Option<String>,
    url: Option<String>,
}

#[async_trait]
impl ImageMaker for Server {
    fn name(&self) -> &str {
        &self.at.model
    }

    async fn make(&self, wish: PictureWish) -> Result<AnswerPicture, ServerError> {
        let size = wish.size.as_deref().or(self.size.as_deref());
        let answer = match &wish.picture {
            None => {
                let body = Body { model: &self.at.model, prompt: &wish.prompt, size, n: 1 };
                within(self.at.wire.silence, self.at.wire.post_for_bytes(&body, MAX_ANSWER)).await?
            }
            Some(picture) => {
                let form = self.form(&wish.prompt, size, picture).map_err(|error| {
                    ServerError::Unusable(format!("the picture cannot be sent: {error}"))
                })?;
                let wire = Wire { url: changing(&self.at.wire.url), ..self.at.wire.clone() };
                within(self.at.wire.silence, wire.post_form(form, MAX_ANSWER)).await?
            }
        };
        let bytes = self.bytes(&answer).await?;
        let none = "it answers with something that is no PNG, JPEG or WebP picture";
        AnswerPicture::of(bytes).ok_or_else(|| ServerError::Unusable(none.to_owned()))
    }

    async fn examine(&self) -> Result<(), ServerError> {
        let list = beside(&self.at.wire.url, "/models");
        match within(self.at.wire.silence, self.at.wire.get(list, MAX_LIST)).await {
            // Not every server lists its models; one that says so is there.
            Err(ServerError::Unusable(why)) if why.starts_with("it answers 404") => Ok(()),
            looked => looked.map(|_| ()),
        }
    }
}

impl Server {
    fn form(
        &self,
        prompt: &str,
        size: Option<&str>,
        picture: &AnswerPicture,
    ) -> reqwest::Result<Form> {
        let name = picture.name();
        let bytes = picture.bytes().clone();
        let length = bytes.len() as u64;
        let file = Part::stream_with_length(bytes, length).file_name(name);
        let form = Form::new()
            .part("image", file.mime_str(picture.mime())?)
            .text("model", self.at.model.clone())
            .text("prompt", prompt.to_owned())
            .text("n", "1");
        Ok(match size {
            Some(size) => form.text("size", size.to_owned()),
            None => form,
        })
    }

    /// Reads the answer's first picture, which stands in it or at an address.
    async fn bytes(&self, answer: &[u8]) -> Result<Bytes, ServerError> {
        let unusable = |why: String| ServerError::Unusable(self.at.wire.redactor.clean(&why));
        let read = serde_json::from_slice::<Answer>(answer);
        let read = read.map_err(|error| {
            unusable(format!("the answer is not {{\"data\": [{{\"b64_json\": …}}]}}: {error}"))
        })?;
        let none = || unusable("the answer holds no picture".to_owned());
        let AnswerItem { b64_json, url } = read.data.into_iter().next().ok_or_else(none)?;
        if let Some(base64) = b64_json {
            let bytes = BASE64.decode(base64);
            return bytes
                .map(Bytes::from)
                .map_err(|_| unusable("the picture in the answer is no base64".to_owned()));
        }
        let url = url.as_deref().map(Url::parse).and_then(Result::ok).ok_or_else(none)?;
        // Another host may be any: one of our own network, too.
        if url.origin() != self.at.wire.url.origin() {
            let why = "the picture lies on another host, and is not fetched: have the server answer with b64_json";
            return Err(unusable(why.to_owned()));
        }
        within(self.at.wire.silence, self.at.wire.get(url, MAX_BYTES)).await.map(Bytes::from)
    }
}
