//! `image_generate`: a picture made of words, or of words and another picture.

use std::io::Read as _;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::answer_picture::{PICTURES, keep_picture};
use crate::args::typed;
use crate::basis::Basis;
use crate::paths::Roots;
use crate::scope::Scope;
use crate::speak::leaving;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::answer_picture::{AnswerPicture, PictureWish};
use selkie_domain::tool::{Class, Recovery, ToolSpec};

const NAME: &str = "image_generate";
/// Characters of what a picture is to show.
const MAX_PROMPT: usize = 4_000;
/// Bytes of a picture that is to be changed.
const MAX_PICTURE: u64 = 20 << 20;
/// Longer than its server may take.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(200);

/// The tool.
pub(crate) struct ImageGenerate;

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// At most 4,000 characters.
    prompt: String,
    /// The file to be changed.
    picture: Option<String>,
    /// Like 1024x1024.
    size: Option<String>,
}

#[async_trait]
impl Handler for ImageGenerate {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Make a picture from words, or change one. It is shown behind your last words: do not send it."
                .to_owned(),
            group: "media",
            doing: "making a picture",
            longest: Some(LONGEST),
            // It may be paid already.
            ..spec::<Args>(NAME, Class::Network, Recovery::Unknown)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { prompt, picture, size } = typed(args)?;
        let prompt = prompt.trim().to_owned();
        let count = prompt.chars().count();
        if count == 0 || count > MAX_PROMPT {
            return Err(ToolError::tell(format!(
                "prompt takes 1 to {MAX_PROMPT} characters, not {count}"
            )));
        }
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let picture = given(picture).map(|path| read(&scope.roots, &path)).transpose()?;
        let wish = PictureWish { prompt, size: given(size), picture };
        let made = scope.studio.draw(&scope.visitor(), wish, &scope.spent).await?;
        let name = keep_picture(&scope.roots, &made).map_err(ToolError::Tell)?;
        let path = format!("file_cache_dir/{PICTURES}/{name}");
        if made.bytes().len() > AnswerPicture::MAX_BYTES {
            let note = "too large to be shown as a picture: send it as a file where you can";
            return Ok(Output::ok(format!("{path} ({note})")));
        }
        let text = format!("{path}: it is shown here behind your last words");
        Ok(Output { drawn: vec![name], ..Output::ok(text) })
    }

    fn basis(&self, scope: &Scope, args: &Value) -> Basis {
        let path = args.get("picture").and_then(Value::as_str);
        let found = path.and_then(|path| leaving(NAME, &scope.roots, path).ok());
        Basis { reads: found.into_iter().collect(), ..Basis::default() }
    }
}

/// Reads the picture that is to be changed: it leaves this machine.
fn read(roots: &Roots, path: &str) -> Result<AnswerPicture, ToolError> {
    let file = leaving(NAME, roots, path)?;
    let unread = |error| ToolError::tell(format!("picture: {path} cannot be read: {error}"));
    let mut bytes = Vec::new();
    let file = file.open().map_err(unread)?;
    file.take(MAX_PICTURE + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > MAX_PICTURE {
        return Err(ToolError::tell(format!("picture: {path} is larger than 20 MiB")));
    }
    AnswerPicture::of(bytes)
        .ok_or_else(|| ToolError::tell(format!("picture: {path} is no PNG, JPEG or WebP")))
}
