//! What a tool says that a call would do: every argument of it, each where nothing poses as it.

use selkie_channel_core::Redactor;
use serde_json::Value;

use crate::address::address;
use selkie_guard::visible::one_line;

/// What a tool says that a call would do. Arguments that it does not show are listed below its first line,
/// whatever they are: see [`Preview::of`].
#[derive(Debug)]
pub struct Preview {
    head: String,
    notes: Vec<(String, String)>,
    body: Option<String>,
    shows: &'static [&'static str],
}

impl Preview {
    /// Begins with a line that says what would be done, and names the arguments which the whole preview shows
    /// as they are. Nothing that one of them holds can begin another line.
    pub fn of(head: impl Into<String>, shows: &'static [&'static str]) -> Self {
        Self { head: head.into(), notes: Vec::new(), body: None, shows }
    }

    /// Adds something that has a name, on a line of its own.
    #[must_use]
    pub fn noting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.notes.push((name.into(), value.into()));
        self
    }

    /// Adds the text that is written, sent or run. It comes last: whatever stands in it poses as nothing else.
    #[must_use]
    pub fn with(self, body: impl Into<String>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    /// Writes it, with every argument in it and no secret.
    pub fn written(&self, args: &Value, redactor: &Redactor) -> String {
        // Cleaned before anything in it is written by its number: what is changed would not be recognised.
        let line = |text: &str| one_line(&redactor.clean(text));
        let mut said = line(&self.head);
        let notes =
            self.notes.iter().map(|(name, value)| format!("\n· {}: {}", line(name), line(value)));
        let rest = listed(args, self.shows, redactor);
        let more: String = notes.chain(rest).collect();
        let Some(body) = &self.body else { return said + &more };
        let opens = if more.is_empty() { ":" } else { "\nas follows:" };
        said.push_str(&more);
        said.push_str(opens);
        if !body.is_empty() {
            said.push('\n');
            said.push_str(&redactor.clean(body));
        }
        said
    }
}

/// Every argument that is not shown otherwise, on a line of its own.
fn listed(args: &Value, shows: &[&str], redactor: &Redactor) -> Vec<String> {
    let rest = args.as_object().into_iter().flatten();
    let rest = rest.filter(|(name, value)| !value.is_null() && !shows.contains(&name.as_str()));
    rest.map(|(name, value)| {
        let value = match value {
            Value::String(text) => address(text),
            other => other.to_string(),
        };
        format!("\n· {}: {}", one_line(name), one_line(&redactor.clean(&value)))
    })
    .collect()
}
