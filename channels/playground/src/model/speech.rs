//! `/audio/transcriptions` in OpenAI's form: strict about what it is sent, with words for the recordings that it was told of,
//! and every trouble that such a server can give.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::Json;
use axum::body::Body;
use axum::extract::{ConnectInfo, Multipart, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::json;

use super::Model;
use super::ears::{SentRecording, SpeechMode};
use super::openai::{error, unknown_key};
use super::openai_check::Complaint;
use crate::line::Line;

/// The endings of files that it takes, with their types.
const TYPES: [(&str, &str); 6] = [
    ("ogg", "audio/ogg"),
    ("m4a", "audio/mp4"),
    ("mp4", "audio/mp4"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("webm", "audio/webm"),
];
/// The most bytes of a recording.
const MAX_BYTES: usize = 25 * 1024 * 1024;

/// `POST /audio/transcriptions`.
pub(crate) async fn transcriptions(
    State(model): State<Model>,
    ConnectInfo(line): ConnectInfo<Line>,
    headers: HeaderMap,
    form: Multipart,
) -> Response {
    if let Some(refused) = unknown_key(&model, &headers) {
        return refused;
    }
    let sent = match read(form).await {
        Ok(sent) => sent,
        Err(why) => return error(400, &Complaint::new(why)),
    };
    let speech = model.speech();
    speech.keep(sent.clone());
    let page = || ([(CONTENT_TYPE, "text/html")], "<html>Bad gateway</html>");
    match speech.does_when_it_speaks().await {
        SpeechMode::Away => {
            line.cut();
            StatusCode::BAD_GATEWAY.into_response()
        }
        SpeechMode::BusyOnce => {
            speech.set(SpeechMode::Good);
            (StatusCode::SERVICE_UNAVAILABLE, page()).into_response()
        }
        SpeechMode::Busy => (StatusCode::SERVICE_UNAVAILABLE, page()).into_response(),
        SpeechMode::Refuses => error(400, &Complaint::new("The audio file could not be decoded.")),
        SpeechMode::WavAlone if !sent.bytes.starts_with(b"RIFF") => {
            error(400, &Complaint::new("failed to read WAV file"))
        }
        SpeechMode::Page => page().into_response(),
        SpeechMode::Huge => {
            let piece = Bytes::from(vec![b'1'; 1 << 20]);
            let pieces = (0..10).map(move |_| Ok::<_, Infallible>(piece.clone()));
            Body::from_stream(futures_util::stream::iter(pieces)).into_response()
        }
        _ => {
            let words = speech.words_of(&sent.bytes);
            Json(json!({ "text": words, "usage": { "type": "duration", "seconds": 1 } }))
                .into_response()
        }
    }
}

/// Reads a form as OpenAI does: it says what is wrong with it.
async fn read(mut form: Multipart) -> Result<SentRecording, String> {
    let broken = |error: &dyn std::fmt::Display| format!("The form cannot be read: {error}");
    let mut file = None;
    let mut fields: HashMap<String, String> = HashMap::new();
    while let Some(field) = form.next_field().await.map_err(|e| broken(&e))? {
        let name = field.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "file" if file.is_none() => {
                let called = field.file_name().unwrap_or_default().to_owned();
                let kind = field.content_type().unwrap_or_default().to_owned();
                let ending = called.rsplit_once('.').map_or("", |(_, ending)| ending);
                if !TYPES.contains(&(ending, kind.as_str())) {
                    return Err(format!("Unrecognized file format: {called:?} as {kind:?}."));
                }
                file = Some((called, field.bytes().await.map_err(|e| broken(&e))?));
            }
            "model" | "language" | "response_format" | "prompt" | "temperature" => {
                let value = field.text().await.map_err(|e| broken(&e))?;
                if fields.insert(name.clone(), value).is_some() {
                    return Err(format!("{name} stands there twice."));
                }
            }
            other => return Err(format!("Unrecognized request argument supplied: {other}")),
        }
    }
    let (name, bytes) = file.ok_or("you must provide a file")?;
    if bytes.is_empty() || bytes.len() > MAX_BYTES {
        return Err("The file is empty, or larger than 25 MB.".to_owned());
    }
    if fields.get("response_format").is_some_and(|format| format != "json") {
        return Err("response_format here is json alone.".to_owned());
    }
    let language = fields.remove("language");
    if language.as_ref().is_some_and(|language| language.len() != 2) {
        return Err("Invalid language: it must be in ISO-639-1 format.".to_owned());
    }
    let model = fields.remove("model").filter(|model| !model.is_empty());
    let model = model.ok_or("you must provide a model parameter")?;
    Ok(SentRecording { name, bytes, model, language })
}

#[cfg(test)]
mod tests {
    use reqwest::multipart::{Form, Part};

    use crate::playground::{Options, Playground};
    use crate::testing::client;

    #[tokio::test]
    async fn malformed_requests_are_refused() {
        let playground = Playground::start(Options::default()).await.unwrap();
        let url = format!("{}/audio/transcriptions", playground.model_endpoint());
        let asked = async |form: Form| {
            let answer = client().post(&url).multipart(form).send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        let file = |name: &str, kind: &str, bytes: &'static [u8]| {
            Part::bytes(bytes).file_name(name.to_owned()).mime_str(kind).unwrap()
        };
        let ogg = || file("a.ogg", "audio/ogg", b"OggS");
        let form = |part| Form::new().part("file", part).text("model", "m");
        for (form, why) in [
            (Form::new().text("model", "m"), "must provide a file"),
            (Form::new().part("file", ogg()), "must provide a model"),
            (form(file("a", "audio/ogg", b"x")), "Unrecognized file format"),
            (form(file("a.ogg", "video/mp4", b"x")), "Unrecognized file format"),
            (form(file("a.ogg", "audio/ogg", b"")), "empty"),
            (form(ogg()).text("response_format", "srt"), "json alone"),
            (form(ogg()).text("language", "English"), "ISO-639-1"),
            (form(ogg()).text("model", "n"), "twice"),
            (form(ogg()).text("voice", "x"), "Unrecognized request argument"),
        ] {
            let (status, text) = asked(form).await;
            assert!(status == 400 && text.contains(why), "{why}: {status} {text}");
        }
        let speech = playground.model().speech();
        assert_eq!(speech.sent(), []);
        speech.says(&b"OggS"[..], "good morning");
        let (status, text) = asked(form(ogg()).text("language", "en")).await;
        assert!(status == 200 && text.contains(r#""text":"good morning""#), "{text}");
        assert_eq!(speech.sent()[0].language.as_deref(), Some("en"));
    }
}
