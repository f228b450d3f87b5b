//! The command line as a channel: one conversation for each workspace, heard by whoever asks there.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use selkie_channel_core::locked;
use selkie_channel_core::{
    Address, AllowKeys, AllowList, Audience, Body, Channel, ConversationId, Delivery, Features,
    Lookup, MessageRef, Outbound, Pace, Part, Receipt, Sender,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use selkie_domain::command_line::{NAME, account};

/// The terminal.
#[derive(Default)]
pub struct Terminal {
    listeners: Mutex<HashMap<ConversationId, Vec<Listener>>>,
}

/// Somebody who asked, and what: several may sit in one folder.
struct Listener {
    asked: MessageRef,
    sender: mpsc::UnboundedSender<TerminalMessage>,
}

/// What somebody at the terminal hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalMessage {
    /// As it is printed.
    pub text: String,
    /// The question it asks: a line of theirs answers it.
    pub question: Option<String>,
}

impl Terminal {
    /// Returns it as a channel.
    pub fn channel(self: &Arc<Self>) -> Channel {
        Channel {
            name: NAME,
            account: account(),
            receiver: None,
            sender: Arc::clone(self) as _,
            address: Arc::clone(self) as _,
            allow: AllowList::default(),
            allow_keys: AllowKeys::default(),
            carrier: None,
            posting: None,
            pace: Pace::LIFTED,
            max_fetch_bytes: 0,
        }
    }

    /// Listens to what a conversation says to what was `asked`.
    pub fn listen(
        &self,
        to: &ConversationId,
        asked: MessageRef,
    ) -> mpsc::UnboundedReceiver<TerminalMessage> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut listeners = locked(&self.listeners);
        listeners.entry(to.clone()).or_default().push(Listener { asked, sender });
        receiver
    }

    /// Whether somebody still sits there who asked this.
    pub fn hears(&self, to: &ConversationId, asked: &MessageRef) -> bool {
        let listeners = locked(&self.listeners);
        let mut all = listeners.get(to).into_iter().flatten();
        all.any(|listener| listener.asked == *asked && !listener.sender.is_closed())
    }

    /// Hands text to who asked for it, or to all when it answers nothing; `false` when nobody heard it.
    fn hand(&self, to: &ConversationId, asked: Option<&str>, said: &TerminalMessage) -> bool {
        let mut listeners = locked(&self.listeners);
        let Some(all) = listeners.get_mut(to) else { return false };
        all.retain(|listener| !listener.sender.is_closed());
        let meant = all.iter().filter(|l| asked.is_none_or(|asked| l.asked.as_str() == asked));
        let heard = meant.filter(|l| l.sender.send(said.clone()).is_ok()).count() > 0;
        if all.is_empty() {
            listeners.remove(to);
        }
        heard
    }
}

#[async_trait]
impl Sender for Terminal {
    fn render(&self, outbound: &Outbound) -> Vec<Part> {
        let text = match &outbound.body {
            Body::Text { markdown } => markdown.trim().to_owned(),
            Body::File { path, name, caption } => {
                shown("file", &format!("{name}: {path}"), caption)
            }
            Body::Photo { path, caption } => shown("photo", path, caption),
            Body::Voice { path, name, caption } => {
                shown("voice", &format!("{name}: {path}"), caption)
            }
            Body::Reaction { emoji, .. } => emoji.clone(),
            Body::Question(question) => question.in_words(),
            Body::Held(_)
            | Body::Post(_)
            | Body::QuestionWithFile { .. }
            | Body::Status { .. }
            | Body::Revision { .. }
            | Body::Withdrawal { .. }
            | Body::TapAnswer { .. }
            | Body::Typing => String::new(),
        };
        if text.is_empty() {
            return Vec::new();
        }
        let shown: String = text.chars().take(200).collect();
        let conversation = outbound.conversation.clone();
        let question = match &outbound.body {
            Body::Question(question) => Some(&question.key),
            _ => None,
        };
        let call = json!({ "text": text, "asked": outbound.quote, "question": question });
        vec![Part {
            v: Part::VERSION,
            conversation,
            call,
            fallback: None,
            shown,
            repeatable: false,
            asks: false,
            follows: false,
        }]
    }

    async fn deliver(&self, part: &Part) -> Delivery {
        let text = part.call.get("text").and_then(Value::as_str).unwrap_or(&part.shown);
        let asked = part.call.get("asked").and_then(Value::as_str);
        let question = part.call.get("question").and_then(Value::as_str).map(str::to_owned);
        let message = question.as_deref().map(MessageRef::new);
        let said = TerminalMessage { text: text.to_owned(), question };
        if self.hand(&part.conversation, asked, &said) {
            return Delivery::Sent(Receipt { message, note: None, ..Receipt::default() });
        }
        Delivery::Refused {
            reason: "nobody sits at this terminal any more".to_owned(),
            closed: false,
        }
    }

    async fn lookup(&self, _part: &Part) -> Lookup {
        // What a dead process showed, it showed to nobody who is here now.
        Lookup::NotSent
    }

    fn marked(&self, part: &Part) -> Part {
        part.clone()
    }
}

fn shown(kind: &str, what: &str, caption: &Option<String>) -> String {
    match caption {
        Some(caption) => format!("[{kind} {what}]\n{caption}"),
        None => format!("[{kind} {what}]"),
    }
}

impl Address for Terminal {
    fn parse(&self, text: &str) -> Option<ConversationId> {
        let path = text.strip_prefix("cli:")?;
        Path::new(path).is_absolute().then(|| ConversationId::new(account(), text))
    }

    fn features(&self, _conversation: &ConversationId) -> Features {
        Features {
            channel: NAME.to_owned(),
            kind: "terminal".to_owned(),
            audience: Audience::Direct,
            speaking: Vec::new(),
            style: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_domain::command_line::{conversation, workspace};

    #[test]
    fn a_conversation_names_its_workspace() {
        let id = conversation(Path::new("/home/me/project"));
        assert_eq!(id.full(), "cli:local|cli:/home/me/project");
        assert_eq!(workspace(&id), Some("/home/me/project".into()));
        assert_eq!(Terminal::default().parse("cli:/home/me/project"), Some(id));
        assert_eq!(Terminal::default().parse("tg:1"), None);
    }

    #[tokio::test]
    async fn only_who_listens_hears() {
        let terminal = Terminal::default();
        let id = conversation(Path::new("/w"));
        let answer = Outbound::text(id.clone(), " hello ").quoting(Some(MessageRef::new("1")));
        let part = terminal.render(&answer).remove(0);
        assert!(matches!(terminal.deliver(&part).await, Delivery::Refused { .. }));
        let mut other = terminal.listen(&id, MessageRef::new("2"));
        assert!(matches!(terminal.deliver(&part).await, Delivery::Refused { .. }));
        let mut heard = terminal.listen(&id, MessageRef::new("1"));
        assert!(matches!(terminal.deliver(&part).await, Delivery::Sent(_)));
        assert!(other.try_recv().is_err(), "it is no answer to the other's question");
        let said = TerminalMessage { text: "hello".to_owned(), question: None };
        assert_eq!(heard.recv().await, Some(said));
        drop(heard);
        assert!(matches!(terminal.deliver(&part).await, Delivery::Refused { .. }));
    }
}
