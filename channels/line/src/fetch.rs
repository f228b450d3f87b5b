//! Fetches what people sent: from LINE's content host, which prepares films and sound first.

use std::time::Duration;

use reqwest::{Response, StatusCode};
use selkie_channel_core::http::Fault;
use selkie_channel_core::{Attachment, Sink};
use tokio::time::sleep;

use crate::api::Api;
use crate::hear;

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
    if content.prepared {
        prepared(api, &content.id).await?;
    }
    let path = format!("message/{}/content", content.id);
    let mut response = api.download(&path).await?;
    if response.status() == StatusCode::ACCEPTED {
        prepared(api, &content.id).await?;
        response = api.download(&path).await?;
    }
    pour(api, response, most, sink).await
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

async fn pour(api: &Api, response: Response, most: u64, sink: Sink<'_>) -> Result<u64, String> {
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND | StatusCode::GONE => {
            return Err("LINE no longer has the file, or it was taken back".to_owned());
        }
        status => return Err(format!("the file server answered HTTP {}", status.as_u16())),
    }
    api.client().pour(response, most, sink).await
}
