//! The parameters of one call: query, form, JSON and multipart bodies read into one map.

use std::borrow::Cow;
use std::collections::HashMap;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header::CONTENT_TYPE;
use bytes::Bytes;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::form::pairs;

/// The largest request taken: an upload of 50 MB and its form.
const MAX_BODY: usize = 51 * 1024 * 1024;

/// A file that came with a call.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    /// The name the caller gave.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) bytes: Bytes,
}

/// The parameters of one call.
#[derive(Debug, Default)]
pub(crate) struct Params {
    values: Map<String, Value>,
    files: HashMap<String, Upload>,
}

impl Params {
    /// Reads the query and the body.
    pub(crate) async fn read(request: Request) -> Result<Self, Refusal> {
        let mut params = Self::default();
        if let Some(query) = request.uri().query() {
            params.take_form(query);
        }
        let kind = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase();
        if kind.starts_with("multipart/form-data") {
            params.take_multipart(request).await?;
            return Ok(params);
        }
        let body = to_bytes(request.into_body(), MAX_BODY)
            .await
            .map_err(|_| Refusal::new(413, "Request Entity Too Large"))?;
        if kind.starts_with("application/json") {
            params.take_json(&body)?;
        } else if kind.starts_with("application/x-www-form-urlencoded") {
            params.take_form(&String::from_utf8_lossy(&body));
        }
        Ok(params)
    }

    fn take_json(&mut self, body: &[u8]) -> Result<(), Refusal> {
        if body.is_empty() {
            return Ok(());
        }
        let map: Map<String, Value> =
            serde_json::from_slice(body).map_err(|_| Refusal::bad("can't parse JSON object"))?;
        self.values.extend(map);
        Ok(())
    }

    fn take_form(&mut self, text: &str) {
        let pairs = pairs(text).into_iter();
        self.values.extend(pairs.map(|(name, value)| (name, Value::String(value))));
    }

    async fn take_multipart(&mut self, request: Request) -> Result<(), Refusal> {
        let broken = |_| Refusal::bad("can't parse multipart form");
        let form = Multipart::from_request(request, &()).await;
        let mut form = form.map_err(|_| Refusal::bad("can't parse multipart form"))?;
        while let Some(field) = form.next_field().await.map_err(broken)? {
            let name = field.name().unwrap_or_default().to_owned();
            let file_name = field.file_name().map(str::to_owned);
            let bytes = field.bytes().await.map_err(broken)?;
            match file_name {
                Some(file_name) => {
                    self.files.insert(name, Upload { name: file_name, bytes });
                }
                None => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    self.values.insert(name, Value::String(text));
                }
            }
        }
        Ok(())
    }

    /// A parameter as text; numbers and flags are spelled out. Null counts as missing.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        match self.values.get(name)? {
            Value::Null => None,
            Value::String(text) => Some(Cow::Borrowed(text)),
            other => Some(Cow::Owned(other.to_string())),
        }
    }

    /// A parameter as a whole number, written as number or text.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        match self.values.get(name)? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A flag; missing is false.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.text(name).as_deref(), Some("true" | "True" | "1" | "yes"))
    }

    /// A structured parameter, inline or as JSON text; `None` when it is missing, null or empty.
    ///
    /// # Errors
    /// The text is no JSON.
    pub(crate) fn json(&self, name: &str) -> Result<Option<Value>, Refusal> {
        match self.values.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => serde_json::from_str(text)
                .map(Some)
                .map_err(|_| Refusal::bad(format!("can't parse {name} JSON object"))),
            Some(other) => Ok(Some(other.clone())),
        }
    }

    /// A part of the form that carries a file.
    pub(crate) fn file(&self, name: &str) -> Option<&Upload> {
        self.files.get(name)
    }

    /// What the call log keeps: the values, and each file as its name and size.
    pub(crate) fn record(&self) -> Value {
        let mut record = self.values.clone();
        for (part, file) in &self.files {
            let size = file.bytes.len();
            record.insert(part.clone(), Value::String(format!("<{} {size} bytes>", file.name)));
        }
        Value::Object(record)
    }

    #[cfg(test)]
    pub(crate) fn of(value: Value) -> Self {
        let Value::Object(values) = value else { panic!("an object") };
        Self { values, files: HashMap::new() }
    }
}
