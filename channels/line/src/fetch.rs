//! Where what people sent comes from: LINE's content host, which prepares films and sound first.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Response, StatusCode};
use selkie_channel_core::http::{Fault, Source, Trouble, good};
use selkie_channel_core::{Attachment, Pauses, Sink};
use tokio::time::sleep;

use crate::api::Api;
use crate::hear::{self, Content};

/// How long LINE's preparation is waited for, asking in between.
const ASK_AGAIN: Duration = Duration::from_secs(1);
const ASKED: usize = 60;

/// Streams an attachment into `sink`, at most `most` bytes of it.
///
/// # Errors
/// In words for a person.
pub async fn fetch(api: &Api, file: &Attachment, most: u64, sink: Sink<'_>) -> Result<u64, String> {
    if let Some(size) = file.size.filter(|size| *size > most) {
        return Err(format!(
            "the file is too big ({size} bytes): at most {most} bytes are fetched"
        ));
    }
    let Some(content) = hear::content(&file.handle) else {
        return Err("this attachment was not made by LINE".to_owned());
    };
    if content.elsewhere {
        return Err("it is on a server that is not LINE's and is not fetched from there".to_owned());
    }
    let file = LineFile { api, content };
    api.client().fetch(&file, Pauses::USUAL, most, sink).await
}

/// What came with a message.
struct LineFile<'a> {
    api: &'a Api,
    content: Content,
}

#[async_trait]
impl Source for LineFile<'_> {
    async fn open(&self) -> Result<Response, Trouble> {
        let id = &self.content.id;
        if self.content.prepared {
            prepared(self.api, id).await.map_err(Trouble::Final)?;
        }
        let path = format!("message/{id}/content");
        let mut response = self.api.download(&path).await.map_err(Trouble::passing)?;
        if response.status() == StatusCode::ACCEPTED {
            prepared(self.api, id).await.map_err(Trouble::Final)?;
            response = self.api.download(&path).await.map_err(Trouble::passing)?;
        }
        match response.status() {
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                let why = "LINE no longer has the file, or it was taken back";
                Err(Trouble::Final(why.to_owned()))
            }
            // It is still being prepared, and no bytes come with that.
            StatusCode::ACCEPTED => {
                Err(Trouble::passing("LINE is still preparing the file".into()))
            }
            _ => good(response),
        }
    }
}

/// Waits until LINE has prepared a film or sound.
async fn prepared(api: &Api, id: &str) -> Result<(), String> {
    for _ in 0..ASKED {
        let answer = api.get_data(&format!("message/{id}/content/transcoding")).await;
        let state = match &answer {
            Ok(answer) => answer["status"].as_str().unwrap_or_default(),
            // An unknown state is no reason not to try the content itself.
            Err(Fault::Refused(_)) => return Ok(()),
            Err(_) => "",
        };
        match state {
            "succeeded" => return Ok(()),
            "failed" => return Err("LINE could not prepare the file; send it again".to_owned()),
            _ => sleep(ASK_AGAIN).await,
        }
    }
    Err("LINE is still preparing the file; send it again later".to_owned())
}
