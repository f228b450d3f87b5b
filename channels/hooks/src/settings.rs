//! The `webhooks` section: where webhooks arrive, and what is made of each. Everything wrong is told at once.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use selkie_channel_core::server::read_listen_address;
use serde::Deserialize;

use crate::form::Form;
use crate::template::Template;

/// The shortest secret, in characters: a shorter one can be guessed.
const MIN_SECRET: usize = 16;

/// Where webhooks arrive, and what is made of them.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Address and port that webhooks arrive at, e.g. `127.0.0.1:8787`; null: off. selkie speaks no TLS there: a reverse
    /// proxy that does stands in front.
    pub listen: Option<String>,
    /// A reverse proxy with TLS stands in front of `listen`, though other machines can reach it, as in a container.
    pub behind_proxy: bool,
    /// What may call, by its name.
    pub hooks: BTreeMap<String, Hook>,
}

/// One hook: who may call it, and what is made of a call.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hook {
    /// The path of its address; `/hooks/NAME` without one.
    pub path: Option<String>,
    /// What only the service and selkie know. A secret; `secret_file` is better.
    #[schemars(with = "Option<String>")]
    pub secret: Option<SecretString>,
    /// How the service signs: github, stripe, slack or plain (the secret itself as a bearer token, or a signature by it).
    pub hmac: Form,
    /// The events that are taken, as the service names them; all of them without any.
    pub events: Vec<String>,
    /// What a model is to do with what the service sends.
    pub prompt: Option<String>,
    /// Fixed words with fields of what the service sends: `Deployed: {version}`. No model is asked.
    pub words: Option<String>,
    /// The conversation it speaks in; the first owner's private chat without one.
    pub to: Option<String>,
    /// The tools that a prompt may use besides those that answer, by their names.
    pub tools: Vec<String>,
}

/// What is wrong with one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The keys that lead there, within the section.
    pub path: Vec<String>,
    /// What is wrong, and what is taken.
    pub message: String,
}

/// What is made of a call.
#[derive(Clone, Debug)]
pub enum Action {
    /// A model reads it and does this.
    Prompt(String),
    /// It is told so.
    Words(Template),
}

/// A hook that is right.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its name.
    pub name: String,
    /// The path of its address.
    pub path: String,
    /// How its service signs.
    pub form: Form,
    /// With which secret.
    pub secret: SecretString,
    /// The events that are taken.
    pub events: Vec<String>,
    /// What is made of a call.
    pub action: Action,
    /// Where, as it was written.
    pub to: Option<String>,
    /// The tools that a prompt may use besides those that answer.
    pub tools: Vec<String>,
}

impl Settings {
    /// Returns where webhooks arrive; `None` when that is off.
    ///
    /// # Errors
    /// What `listen` takes.
    pub fn address(&self) -> Result<Option<SocketAddr>, String> {
        let Some(listen) = self.listen.as_deref() else { return Ok(None) };
        let address = read_listen_address(listen.trim()).ok_or_else(|| {
            format!("takes an address with a port (127.0.0.1:8787), not {listen:?}")
        })?;
        match address.ip().is_loopback() || self.behind_proxy {
            true => Ok(Some(address)),
            false => Err(format!(
                "is {address}, which other machines can reach, and selkie speaks no TLS there: listen on 127.0.0.1 behind a \
                 reverse proxy with TLS, or, where such a proxy is in front of this address already, set \
                 webhooks.behind_proxy: true"
            )),
        }
    }

    /// Returns the hooks that are right.
    pub fn endpoints(&self) -> Vec<Arc<Endpoint>> {
        self.hooks.iter().filter_map(|(name, hook)| hook.endpoint(name)).map(Arc::new).collect()
    }

    /// Lists what is wrong, without what other sections know: conversations and tools.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> =
            self.address().err().map(|why| Fault::of("listen", why)).into_iter().collect();
        if self.listen.is_none() && !self.hooks.is_empty() {
            let message = "is missing: the hooks need an address, such as 127.0.0.1:8787";
            faults.push(Fault::of("listen", message));
        }
        let mut paths = BTreeMap::new();
        for (name, hook) in &self.hooks {
            let mut wrong = hook.faults(name);
            let path = hook.path(name);
            if let Some(other) = paths.insert(path.clone(), name) {
                let message =
                    format!("is {path:?}, the path of the hook {other}: each needs its own");
                wrong.push(Fault::of("path", message));
            }
            faults.extend(wrong.into_iter().map(|Fault { path, message }| Fault {
                path: ["hooks".to_owned(), name.clone()].into_iter().chain(path).collect(),
                message,
            }));
        }
        faults
    }
}

impl Fault {
    /// Says it of a key; of the whole where that is empty.
    fn of(key: &str, message: impl Into<String>) -> Self {
        let path = if key.is_empty() { Vec::new() } else { vec![key.to_owned()] };
        Self { path, message: message.into() }
    }
}

impl Hook {
    fn path(&self, name: &str) -> String {
        self.path.clone().unwrap_or_else(|| format!("/hooks/{name}"))
    }

    fn endpoint(&self, name: &str) -> Option<Endpoint> {
        if !self.faults(name).is_empty() {
            return None;
        }
        Some(Endpoint {
            name: name.to_owned(),
            path: self.path(name),
            form: self.hmac,
            secret: self.secret.clone()?,
            events: self.events.clone(),
            action: self.action().ok()?,
            to: self.to.clone(),
            tools: self.tools.clone(),
        })
    }

    fn faults(&self, name: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        if !is_name(name) {
            let takes = "is no name for a hook: it takes 1 to 40 of a-z, 0-9, - and _";
            faults.push(Fault::of("", takes));
        }
        if let Some(path) = self.path.as_ref().filter(|path| !is_path(path)) {
            let takes = "takes a path such as /hooks/deploy, of letters, digits, / - _ and .";
            faults.push(Fault::of("path", format!("{takes}, not {path:?}")));
        }
        faults.extend(self.secret_fault().map(|why| Fault::of("secret", why)));
        let is_event =
            |event: &String| !event.is_empty() && event.bytes().all(|byte| byte.is_ascii_graphic());
        if let Some(event) = self.events.iter().find(|event| !is_event(event)) {
            let takes = "takes names of events (push, pull_request.opened)";
            faults.push(Fault::of("events", format!("{takes}, not {event:?}")));
        }
        faults.extend(self.action().err());
        faults
    }

    fn secret_fault(&self) -> Option<String> {
        let Some(secret) = &self.secret else {
            let from = match self.hmac {
                Form::Github => "the secret of the webhook in the repository's settings",
                Form::Stripe => "the endpoint's signing secret (whsec_…)",
                Form::Slack => "the app's signing secret",
                Form::Plain => "what the service sends as a bearer token, or signs with",
            };
            return Some(format!(
                "is missing, and without one anybody could call: write into it {from}, or name a file in secret_file \
                 (`openssl rand -hex 32` makes one)"
            ));
        };
        let text = secret.expose_secret();
        let is_good = text.chars().count() >= MIN_SECRET && text.trim() == text;
        (!is_good).then(|| {
            format!(
                "takes {MIN_SECRET} characters or more, without blanks around them: `openssl rand -hex 32` makes one"
            )
        })
    }

    fn action(&self) -> Result<Action, Fault> {
        match (&self.prompt, &self.words) {
            (Some(prompt), None) if prompt.trim().is_empty() => {
                Err(Fault::of("prompt", "takes words that say what to do, and is empty"))
            }
            (Some(prompt), None) => Ok(Action::Prompt(prompt.clone())),
            (None, Some(_)) if !self.tools.is_empty() => {
                Err(Fault::of("tools", "belong to a prompt: fixed words ask no model"))
            }
            (None, Some(words)) => {
                Template::read(words).map(Action::Words).map_err(|why| Fault::of("words", why))
            }
            _ => Err(Fault::of(
                "",
                "takes one of prompt and words, which says what is made of a call",
            )),
        }
    }
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    (1..=40).contains(&name.len()) && name.chars().all(is_plain)
}

fn is_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    path.len() >= 2 && path.starts_with('/') && path.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn settings(written: Value) -> Settings {
        serde_json::from_value(written).unwrap()
    }

    fn told(written: Value) -> String {
        let faults = settings(written).faults().into_iter();
        faults.map(|fault| format!("{}: {}\n", fault.path.join("."), fault.message)).collect()
    }

    const SECRET: &str = "0123456789abcdef";

    #[test]
    fn a_good_hook_is_read_with_its_usual_path() {
        let good = settings(json!({ "listen": "localhost:0", "hooks": {
            "github": { "secret": SECRET, "hmac": "github", "events": ["push"], "prompt": "look" },
            "deploy": { "secret": SECRET, "path": "/d", "words": "v {v}", "to": "tg:1" },
        }}));
        assert_eq!(good.faults(), []);
        assert_eq!(good.address(), Ok("127.0.0.1:0".parse().ok()));
        let all = good.endpoints();
        let paths: Vec<_> = all.iter().map(|it| (&*it.path, it.form)).collect();
        assert_eq!(paths, [("/d", Form::Plain), ("/hooks/github", Form::Github)]);
        assert!(!format!("{good:?}{all:?}").contains(SECRET));
        assert_eq!(Settings::default().address(), Ok(None));
    }

    #[test]
    fn everything_wrong_is_told_at_once_and_no_secret() {
        let told = told(json!({ "listen": "8787", "hooks": {
            "a": { "prompt": "x" },
            "b": { "secret": "hunter2", "path": "b?", "prompt": "x", "words": "y" },
            "c": { "secret": SECRET, "hmac": "github", "path": "/x", "events": ["a b"], "prompt": " " },
            "d": { "secret": SECRET, "path": "/x", "words": "{", "tools": [] },
            "e": { "secret": SECRET, "words": "x", "tools": ["bash"] },
            "My Hook": { "secret": SECRET, "prompt": "x" },
            "s": { "hmac": "slack", "words": "x" },
        }}));
        assert!(!told.contains("hunter2") && !told.contains(SECRET), "{told}");
        insta::assert_snapshot!(told, @r#"
        listen: takes an address with a port (127.0.0.1:8787), not "8787"
        hooks.My Hook: is no name for a hook: it takes 1 to 40 of a-z, 0-9, - and _
        hooks.a.secret: is missing, and without one anybody could call: write into it what the service sends as a bearer token, or signs with, or name a file in secret_file (`openssl rand -hex 32` makes one)
        hooks.b.path: takes a path such as /hooks/deploy, of letters, digits, / - _ and ., not "b?"
        hooks.b.secret: takes 16 characters or more, without blanks around them: `openssl rand -hex 32` makes one
        hooks.b: takes one of prompt and words, which says what is made of a call
        hooks.c.events: takes names of events (push, pull_request.opened), not "a b"
        hooks.c.prompt: takes words that say what to do, and is empty
        hooks.d.words: has a brace without its other half: write {{ or }} for a brace itself
        hooks.d.path: is "/x", the path of the hook c: each needs its own
        hooks.e.tools: belong to a prompt: fixed words ask no model
        hooks.s.secret: is missing, and without one anybody could call: write into it the app's signing secret, or name a file in secret_file (`openssl rand -hex 32` makes one)
        "#);
    }

    #[test]
    fn what_others_could_reach_needs_a_word_about_tls() {
        let at = |listen: &str, behind_proxy: bool| {
            settings(json!({ "listen": listen, "behind_proxy": behind_proxy })).address()
        };
        assert!(at("127.0.0.1:8787", false).is_ok() && at("[::1]:8787", false).is_ok());
        for open in ["0.0.0.0:8787", "192.168.1.4:8787", "203.0.113.7:8787", "[::]:8787"] {
            let why = at(open, false).unwrap_err();
            assert!(why.contains("reverse proxy") && why.contains("behind_proxy: true"), "{why}");
            assert!(at(open, true).is_ok());
        }
    }

    #[test]
    fn hooks_need_an_address() {
        let told = told(json!({ "hooks": { "a": { "secret": SECRET, "prompt": "x" } } }));
        assert!(told.starts_with("listen: is missing"), "{told}");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        for wrong in [json!({ "lisen": 1 }), json!({ "hooks": { "a": { "sekret": "x" } } })] {
            assert!(serde_json::from_value::<Settings>(wrong).is_err());
        }
    }
}
