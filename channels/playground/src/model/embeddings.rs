//! `/embeddings` in OpenAI's dialect: deterministic vectors, and every trouble that a server of embeddings can give.

use std::convert::Infallible;

use axum::Json;
use axum::body::Body;
use axum::extract::{ConnectInfo, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};

use super::meaning::meaning;
use super::openai::{error, unknown_key};
use super::openai_check::Complaint;
use super::stream::tokens;
use super::{Dialect, EmbeddingMode, Model, ModelRequest};
use crate::line::Line;

/// The most texts of one request, as OpenAI has it.
const MAX_TEXTS: usize = 2_048;
/// The most tokens of one text.
const MAX_TOKENS: usize = 8_192;
/// What a request may hold.
const KNOWN: [&str; 5] = ["model", "input", "encoding_format", "dimensions", "user"];

/// `POST /embeddings`.
pub(crate) async fn embeddings(
    State(model): State<Model>,
    ConnectInfo(line): ConnectInfo<Line>,
    headers: HeaderMap,
    raw: Bytes,
) -> Response {
    if let Some(refused) = unknown_key(&model, &headers) {
        return refused;
    }
    let body: Value = serde_json::from_slice(&raw).unwrap_or_default();
    let checked = check(&body);
    let refused = checked.as_ref().err().map(|complaint| complaint.message.clone());
    let dialect = Dialect::Embeddings;
    model.record_embedding(ModelRequest { dialect, body: body.clone(), refused, cut: 0 });
    let texts = match checked {
        Ok(texts) => texts,
        Err(complaint) => return error(400, &complaint),
    };
    let does = model.embedding_when_it_speaks().await;
    if does == EmbeddingMode::Choosy && texts.iter().any(|text| text.contains("unspeakable")) {
        return error(400, &Complaint::new("Invalid 'input': the text cannot be embedded."));
    }
    let name = body["model"].as_str().unwrap_or_default();
    troubled(does, &line).unwrap_or_else(|| answered(does, name, &texts))
}

/// What takes the place of an answer.
fn troubled(does: EmbeddingMode, line: &Line) -> Option<Response> {
    match does {
        EmbeddingMode::Away => {
            line.cut();
            Some(StatusCode::BAD_GATEWAY.into_response())
        }
        EmbeddingMode::Busy => {
            let mut response = error(429, &Complaint::new("Rate limit reached for embeddings."));
            response.headers_mut().insert(RETRY_AFTER, 1.into());
            Some(response)
        }
        EmbeddingMode::Garbled => Some("<html>not today</html>".into_response()),
        EmbeddingMode::Huge => {
            let piece = Bytes::from(vec![b'1'; 1 << 20]);
            let pieces = (0..200).map(move |_| Ok::<_, Infallible>(piece.clone()));
            let body = Body::from_stream(futures_util::stream::iter(pieces));
            Some(([(CONTENT_TYPE, "application/json")], body).into_response())
        }
        _ => None,
    }
}

fn answered(does: EmbeddingMode, model: &str, texts: &[&str]) -> Response {
    let mut rows: Vec<Value> =
        texts.iter().enumerate().map(|(at, text)| row(does, at, text)).collect();
    match does {
        EmbeddingMode::TooFew => _ = rows.pop(),
        EmbeddingMode::TooMany => rows.push(row(does, texts.len(), "one more")),
        _ => {}
    }
    let asked: usize = texts.iter().map(|text| tokens(text)).sum();
    let answer = json!({
        "object": "list", "model": model, "data": rows,
        "usage": { "prompt_tokens": asked, "total_tokens": asked },
    });
    if does == EmbeddingMode::NoNumber {
        // No JSON library writes this.
        let text = answer.to_string().replacen("\"embedding\":[", "\"embedding\":[NaN,", 1);
        return ([(CONTENT_TYPE, "application/json")], text).into_response();
    }
    Json(answer).into_response()
}

fn row(does: EmbeddingMode, at: usize, text: &str) -> Value {
    let mut numbers = meaning(text);
    match does {
        EmbeddingMode::OtherSize => numbers.truncate(numbers.len() / 2),
        EmbeddingMode::Ragged if at % 2 == 1 => _ = numbers.pop(),
        EmbeddingMode::Empty => numbers.clear(),
        _ => {}
    }
    match does {
        EmbeddingMode::NoIndex => json!({ "object": "embedding", "embedding": numbers }),
        _ => json!({ "object": "embedding", "index": at, "embedding": numbers }),
    }
}

/// Checks a request's body; returns its texts.
fn check(body: &Value) -> Result<Vec<&str>, Complaint> {
    let fields = body
        .as_object()
        .ok_or_else(|| Complaint::new("We could not parse the JSON body of your request."))?;
    if let Some(strange) = fields.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        let message = format!("Unrecognized request argument supplied: {strange}");
        return Err(Complaint::new(message));
    }
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err(Complaint::new("you must provide a model parameter"));
    }
    if body.get("encoding_format").is_some_and(|format| format != "float") {
        return Err(Complaint::new("'encoding_format' here is 'float' alone."));
    }
    if body.get("dimensions").is_some_and(|many| !many.is_u64()) {
        return Err(Complaint::new("Invalid type for 'dimensions': expected an integer."));
    }
    let texts: Vec<Option<&str>> = match &body["input"] {
        Value::String(text) => vec![Some(text)],
        Value::Array(all) => all.iter().map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let texts: Option<Vec<&str>> = texts.into_iter().collect();
    let texts =
        texts.filter(|texts| !texts.is_empty() && texts.iter().all(|text| !text.is_empty()));
    let texts = texts.ok_or_else(|| {
        Complaint::new(
            "Invalid 'input': expected a string or a list of strings, none of them empty.",
        )
    })?;
    if texts.len() > MAX_TEXTS {
        let many = texts.len();
        return Err(Complaint::new(format!(
            "Invalid 'input': array too long. Expected an array with maximum length {MAX_TEXTS}, but got an array with length {many} instead."
        )));
    }
    match texts.iter().map(|text| tokens(text)).max() {
        Some(most) if most > MAX_TOKENS => Err(Complaint::new(format!(
            "This model's maximum context length is {MAX_TOKENS} tokens, however you requested {most} tokens."
        ))),
        _ => Ok(texts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::{Options, Playground};
    use crate::testing::client;

    async fn asked(playground: &Playground, body: &Value) -> (u16, String) {
        let url = format!("{}/embeddings", playground.model_endpoint());
        let answer = client().post(url).bearer_auth("k").json(body).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    async fn playground() -> Playground {
        let options = Options { model_key: Some("k".to_owned()), ..Options::default() };
        Playground::start(options).await.unwrap()
    }

    #[tokio::test]
    async fn malformed_requests_are_refused() {
        let playground = playground().await;
        let many = vec!["a"; MAX_TEXTS + 1];
        let long = "ab ".repeat(MAX_TOKENS * 4);
        for (body, why) in [
            (json!([]), "could not parse"),
            (json!({"input": "a"}), "must provide a model"),
            (json!({"model": "m"}), "Invalid 'input'"),
            (json!({"model": "m", "input": ""}), "Invalid 'input'"),
            (json!({"model": "m", "input": []}), "Invalid 'input'"),
            (json!({"model": "m", "input": ["a", ""]}), "Invalid 'input'"),
            (json!({"model": "m", "input": ["a", 7]}), "Invalid 'input'"),
            (json!({"model": "m", "input": many}), "maximum length 2048"),
            (json!({"model": "m", "input": long}), "maximum context length"),
            (json!({"model": "m", "input": "a", "dimensions": "9"}), "'dimensions'"),
            (
                json!({"model": "m", "input": "a", "temperature": 1}),
                "Unrecognized request argument",
            ),
        ] {
            let (status, text) = asked(&playground, &body).await;
            assert!(status == 400 && text.contains(why), "{why}: {status} {text}");
        }
        let url = format!("{}/embeddings", playground.model_endpoint());
        let body = json!({"model": "m", "input": "a"});
        let keyless = client().post(url).json(&body).send().await.unwrap();
        assert_eq!(keyless.status().as_u16(), 401);
        let model = playground.model();
        assert_eq!(model.embedded().len(), 11, "what was asked is kept");
        assert!(model.requests().is_empty(), "apart from what the models were asked");
    }

    #[tokio::test]
    async fn every_text_gets_a_vector_of_its_own() {
        let playground = playground().await;
        let body = json!({"model": "m", "input": ["I like tea", "a boat"]});
        let (status, text) = asked(&playground, &body).await;
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, answer["data"].as_array().unwrap().len()), (200, 2));
        assert_eq!(answer["data"][1]["index"], 1);
        assert_eq!((status, text), asked(&playground, &body).await, "the same each time");
        playground.model().set_embedding(EmbeddingMode::Busy);
        assert_eq!(asked(&playground, &body).await.0, 429);
        playground.model().set_embedding(EmbeddingMode::NoNumber);
        assert!(asked(&playground, &body).await.1.contains("[NaN,"));
    }
}
