//! `/audio/speech` and `/images` in OpenAI's form: strict about what they are sent, and with every trouble that such servers
//! can give.

use std::convert::Infallible;

use axum::Json;
use axum::body::Body;
use axum::extract::{Multipart, State};
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use selkie_channel_core::json;
use serde_json::{Value, json};

use super::Model;
use super::maker::{Maker, MakerMode, SaidWords, WantedPicture};
use super::openai::{error, unknown_key};
use super::openai_check::Complaint;

/// The most characters that are said at once.
const MAX_INPUT: usize = 4_096;

/// `POST /audio/speech`.
pub(crate) async fn speech(
    State(model): State<Model>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if let Some(refused) = unknown_key(&model, &headers) {
        return refused;
    }
    let fields = ["model", "input", "voice", "response_format", "speed", "instructions"];
    let read = read(&body, &fields).and_then(|body| {
        let input = text(&body, "input")?;
        if input.chars().count() > MAX_INPUT {
            return Err("string_above_max_length: input takes 4096 characters".to_owned());
        }
        match body["response_format"].as_str() {
            None | Some("mp3" | "opus" | "aac" | "flac" | "wav" | "pcm") => {}
            _ => return Err("Invalid response_format".to_owned()),
        }
        text(&body, "model")?;
        Ok(SaidWords { text: input, voice: text(&body, "voice")? })
    });
    let said = match read {
        Ok(said) => said,
        Err(why) => return error(400, &Complaint::new(why)),
    };
    model.maker().keep_said(said.clone());
    match trouble(&model).await {
        Err(trouble) => trouble,
        Ok(MakerMode::Other) => {
            ([(CONTENT_TYPE, "audio/wav")], b"RIFF\x04\0\0\0WAVE".to_vec()).into_response()
        }
        Ok(_) => ([(CONTENT_TYPE, "audio/opus")], Maker::recording(&said.text)).into_response(),
    }
}

/// `POST /images/generations`.
pub(crate) async fn generations(
    State(model): State<Model>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if let Some(refused) = unknown_key(&model, &headers) {
        return refused;
    }
    let fields = ["model", "prompt", "size", "n", "quality", "background", "output_format"];
    let read = read(&body, &fields).and_then(|body| {
        text(&body, "model")?;
        if body["n"] != 1 {
            return Err("n takes 1 here".to_owned());
        }
        let size = body["size"].as_str().map(str::to_owned);
        Ok(WantedPicture { prompt: text(&body, "prompt")?, size, picture: None })
    });
    match read {
        Ok(wanted) => made(&model, &headers, wanted).await,
        Err(why) => error(400, &Complaint::new(why)),
    }
}

/// `POST /images/edits`.
pub(crate) async fn edits(
    State(model): State<Model>,
    headers: HeaderMap,
    form: Multipart,
) -> Response {
    if let Some(refused) = unknown_key(&model, &headers) {
        return refused;
    }
    match read_form(form).await {
        Ok(wanted) => made(&model, &headers, wanted).await,
        Err(why) => error(400, &Complaint::new(why)),
    }
}

/// `GET /pictures/{prompt in base64}`: where a picture lies that is not in the answer. Who keeps it knows no key, and must
/// not be told one.
pub(crate) async fn picture(axum::extract::Path(name): axum::extract::Path<String>) -> Response {
    match STANDARD.decode(name.replace('-', "/")).ok().and_then(|n| String::from_utf8(n).ok()) {
        Some(prompt) => Maker::picture(&prompt).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn made(model: &Model, headers: &HeaderMap, wanted: WantedPicture) -> Response {
    let prompt = wanted.prompt.clone();
    model.maker().keep_wanted(wanted);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    match trouble(model).await {
        Err(trouble) => trouble,
        Ok(MakerMode::Other) => {
            let name = STANDARD.encode(&prompt).replace('/', "-");
            let url = format!("http://{host}/model/v1/pictures/{name}");
            Json(json!({ "created": 1, "data": [{ "url": url }] })).into_response()
        }
        Ok(_) => {
            let base64 = STANDARD.encode(Maker::picture(&prompt));
            Json(json!({ "created": 1, "data": [{ "b64_json": base64 }] })).into_response()
        }
    }
}

/// Waits, and gives the trouble that the server is to give.
async fn trouble(model: &Model) -> Result<MakerMode, Response> {
    let maker = model.maker();
    let page = || ([(CONTENT_TYPE, "text/html")], "<html>Bad gateway</html>");
    Err(match maker.does_when_it_answers().await {
        MakerMode::BusyOnce => {
            maker.set(MakerMode::Good);
            (StatusCode::SERVICE_UNAVAILABLE, page()).into_response()
        }
        MakerMode::Refuses => error(400, &Complaint::new("Your request was rejected.".to_owned())),
        MakerMode::Page => page().into_response(),
        MakerMode::Empty => StatusCode::OK.into_response(),
        MakerMode::Huge => {
            let piece = Bytes::from(vec![b'1'; 1 << 20]);
            let pieces = (0..30).map(move |_| Ok::<_, Infallible>(piece.clone()));
            Body::from_stream(futures_util::stream::iter(pieces)).into_response()
        }
        good => return Ok(good),
    })
}

fn read(body: &str, fields: &[&str]) -> Result<Value, String> {
    let body =
        json::read::<Value>(body).map_err(|error| format!("The body is no JSON: {error}"))?;
    let sent = body.as_object().ok_or("The body is no object.")?;
    match sent.keys().find(|key| !fields.contains(&key.as_str())) {
        Some(other) => Err(format!("Unrecognized request argument supplied: {other}")),
        None => Ok(body),
    }
}

fn text(body: &Value, name: &str) -> Result<String, String> {
    let text = body[name].as_str().filter(|text| !text.trim().is_empty());
    text.map(str::to_owned).ok_or_else(|| format!("you must provide {name}"))
}

async fn read_form(mut form: Multipart) -> Result<WantedPicture, String> {
    let broken = |error: &dyn std::fmt::Display| format!("The form cannot be read: {error}");
    let mut wanted = WantedPicture { prompt: String::new(), size: None, picture: None };
    let mut has_model = false;
    while let Some(field) = form.next_field().await.map_err(|e| broken(&e))? {
        let name = field.name().unwrap_or_default().to_owned();
        if matches!(name.as_str(), "image" | "image[]") {
            let is_file = field.file_name().is_some_and(|name| name.contains('.'));
            let kind = field.content_type().unwrap_or_default().to_owned();
            if !is_file || !["image/png", "image/jpeg", "image/webp"].contains(&kind.as_str()) {
                return Err(format!("Invalid file 'image': unsupported mimetype ({kind})."));
            }
            wanted.picture = Some(field.bytes().await.map_err(|e| broken(&e))?);
            continue;
        }
        let value = field.text().await.map_err(|e| broken(&e))?;
        match name.as_str() {
            "model" => has_model = !value.is_empty(),
            "prompt" => wanted.prompt = value,
            "size" => wanted.size = Some(value),
            "n" if value == "1" => {}
            other => return Err(format!("Unrecognized request argument supplied: {other}")),
        }
    }
    if !has_model || wanted.prompt.is_empty() || wanted.picture.is_none() {
        return Err("you must provide model, prompt and image".to_owned());
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use reqwest::multipart::{Form, Part};
    use serde_json::json;

    use crate::playground::{Options, Playground};
    use crate::testing::client;

    #[tokio::test]
    async fn malformed_requests_are_refused() {
        let playground = Playground::start(Options::default()).await.unwrap();
        let at = |end: &str| format!("{}/{end}", playground.model_endpoint());
        let asked = async |request: reqwest::RequestBuilder| {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        let long = "a".repeat(4_097);
        for (end, body, why) in [
            ("audio/speech", json!({ "model": "m", "voice": "v" }), "provide input"),
            ("audio/speech", json!({ "model": "m", "input": "a" }), "provide voice"),
            ("audio/speech", json!({ "model": "m", "voice": "v", "input": long }), "above_max"),
            ("audio/speech", json!({ "prompt": "a" }), "Unrecognized"),
            ("images/generations", json!({ "model": "m", "n": 1 }), "provide prompt"),
            ("images/generations", json!({ "model": "m", "prompt": "a" }), "n takes 1"),
            ("images/generations", json!({ "response_format": "url" }), "Unrecognized"),
        ] {
            let (status, text) = asked(client().post(at(end)).json(&body)).await;
            assert!(status == 400 && text.contains(why), "{end} {why}: {status} {text}");
        }
        let file =
            |kind: &str| Part::bytes(b"x".as_slice()).file_name("a.png").mime_str(kind).unwrap();
        let form = |kind: &str| Form::new().part("image", file(kind)).text("model", "m");
        for (form, why) in [
            (Form::new().text("model", "m").text("prompt", "a"), "provide model, prompt and image"),
            (form("text/html").text("prompt", "a"), "unsupported mimetype"),
            (form("image/png").text("response_format", "url"), "Unrecognized"),
        ] {
            let (status, text) = asked(client().post(at("images/edits")).multipart(form)).await;
            assert!(status == 400 && text.contains(why), "{why}: {status} {text}");
        }
        let maker = playground.model().maker();
        assert_eq!((maker.said(), maker.wanted()), (vec![], vec![]));
    }
}
