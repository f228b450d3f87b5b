//! `secrets`: credentials that tools use and no model sees.

use std::collections::BTreeMap;

use reqwest::Method;
use schemars::{JsonSchema, Schema};
use secrecy::SecretString;
use serde::Deserialize;

use crate::foreign::Who;

/// The section `secrets`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Secrets")]
pub struct Settings {
    /// Credentials, each under the name by which a model asks for it.
    pub auth_profiles: BTreeMap<String, ProfileSettings>,
    /// Whether a conversation uses one only while a reviewed skill is in force there that names it (`auth_profiles`).
    pub require_skill_profiles: bool,
}

/// `secrets.auth_profiles.<id>`: a credential, who uses it, and for which requests.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "AuthProfile")]
pub struct ProfileSettings {
    /// The credential.
    #[schemars(with = "Option<String>")]
    pub credential: Option<SecretString>,
    /// In its place: a program with its arguments that prints it, run when it is first needed.
    pub credential_command: Vec<String>,
    /// Who uses it: `owners`, or `allowed` people, too.
    pub who: Who,
    /// The places where it is there, groups among them, by their ids. Default: wherever `url_fetch` is.
    pub places: Vec<String>,
    /// The requests that it is for, and no others.
    pub allow: Vec<AllowSettings>,
    /// How it is sent: `bearer`, `basic` (it is `user:password`), `raw` (it is the whole value of Authorization), or
    /// `header:` with the name of one.
    pub bind: Bind,
}

/// Requests that a credential is for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AuthAllow")]
pub struct AllowSettings {
    /// How their addresses begin: `https://api.example.com/v1/`.
    pub prefix: String,
    /// Their methods.
    #[serde(default = "reading")]
    pub methods: Vec<Verb>,
    /// Whether redirects are followed to what `allow` names, too.
    #[serde(default)]
    pub redirects: bool,
}

/// How a credential is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Bind {
    /// `Authorization: Bearer <credential>`.
    #[default]
    Bearer,
    /// `Authorization: Basic …`: it is `user:password`.
    Basic,
    /// `Authorization: <credential>`.
    Raw,
    /// A header of this name.
    Header(String),
}

/// A method of HTTP that tools send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline, transform = bare)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    /// Returns it as it is sent.
    pub fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
            Self::Put => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

/// A model knows what a method is.
fn bare(schema: &mut Schema) {
    schema.remove("description");
}

fn reading() -> Vec<Verb> {
    vec![Verb::Get]
}
