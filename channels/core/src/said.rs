//! Keeps secrets out of what is said once it is shown: marks of Markdown, addresses and characters that nobody sees take
//! one apart in what was written, and whoever renders that puts it together again.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::looks::MARK;
use crate::redact::{Redactor, replaced};
use crate::styled::{self, Dialect, Styled, Tables, Tag};
use crate::{Body, Outbound, Post, Question, plain};

/// Every link is shown as its words, whatever a platform makes of it: words on both sides of one touch.
const TOUCHING: Dialect = Dialect {
    behind_quote: 2,
    tables: Tables::Aligned,
    opens: |_| true,
    stand_in: |link| Some(link.url.to_string()),
    explains: |_, _| false,
};
/// Without any of these a text is shown as it was written.
const MARKS: [char; 12] = ['*', '_', '~', '`', '\\', '[', ']', '<', '>', '&', '|', '%'];

impl Redactor {
    /// Returns what is said without the secrets that would be seen once it is rendered, wherever words stand in it.
    pub fn said<'o>(&self, outbound: &'o Outbound) -> Cow<'o, Outbound> {
        let body = self.body(&outbound.body);
        if body == outbound.body {
            return Cow::Borrowed(outbound);
        }
        Cow::Owned(Outbound { body, ..outbound.clone() })
    }

    /// Returns Markdown that shows no secret. What shows one that cannot be taken out of it alone loses its styles.
    pub fn clean_markdown(&self, markdown: &str) -> String {
        let clean = self.clean_between_marks(markdown);
        if !clean.contains(MARKS) {
            return clean;
        }
        let seen = styled::read(&clean, &TOUCHING);
        // Where nothing is opened, addresses stand among the words.
        let is_clean = self.is_clean(seen.text())
            && links(&seen).all(|url| self.is_clean(url))
            && (!clean.contains([']', '<']) || self.is_clean(&plain::render(&clean)));
        if is_clean { clean } else { self.without_styles(&seen) }
    }

    /// Returns Markdown without the secrets that its source tells.
    pub fn clean_between_marks(&self, markdown: &str) -> String {
        let clean = self.clean(markdown);
        if clean.is_ascii() && !clean.contains(MARKS) {
            return clean;
        }
        let spans = self.found_between_marks(&clean);
        if spans.is_empty() { clean } else { replaced(&clean, &spans) }
    }

    /// Returns words that are shown as they are in one place and as Markdown in another.
    fn clean_label(&self, label: &str) -> String {
        let clean = self.clean(label);
        if self.clean_markdown(&clean) == clean { clean } else { MARK.to_owned() }
    }

    fn is_clean(&self, text: &str) -> bool {
        self.found(text).is_empty()
    }

    /// Writes out what is seen, without secrets; where its links lead stands below.
    fn without_styles(&self, seen: &Styled) -> String {
        let mut text = self.clean(seen.text());
        let mut told = BTreeSet::new();
        for url in links(seen).filter(|url| !seen.text().contains(url) && self.is_clean(url)) {
            if told.insert(url) {
                text.push_str(if told.len() == 1 { "\n\n" } else { "\n" });
                text.push_str(url);
            }
        }
        escaped(&text)
    }

    fn body(&self, body: &Body) -> Body {
        let markdown = |text: &str| self.clean_markdown(text);
        let caption = |text: &Option<String>| text.as_deref().map(markdown);
        let mut body = body.clone();
        match &mut body {
            Body::Text { markdown: text } | Body::Status { markdown: text } => {
                *text = markdown(text);
            }
            Body::Post(Post { texts, .. }) => {
                texts.iter_mut().for_each(|text| *text = self.clean(text));
            }
            Body::File { name, caption: words, .. } => {
                *name = self.clean(name);
                *words = caption(words);
            }
            Body::Photo { caption: words, .. } => *words = caption(words),
            Body::Voice { name, .. } => *name = self.clean(name),
            Body::Question(question) | Body::Held(question) => self.question(question),
            Body::QuestionWithFile { name, question, .. } => {
                *name = self.clean(name);
                self.question(question);
            }
            Body::Revision { markdown: text, question, .. } => {
                *text = markdown(text);
                question.iter_mut().for_each(|question| self.question(question));
            }
            Body::TapAnswer { text, .. } => *text = self.clean_label(text),
            Body::Reaction { .. } | Body::Withdrawal { .. } | Body::Typing => {}
        }
        body
    }

    fn question(&self, question: &mut Question) {
        question.markdown = self.clean_markdown(&question.markdown);
        question.placeholder = self.clean_label(&question.placeholder);
        for choice in &mut question.choices {
            choice.label = self.clean_label(&choice.label);
            choice.description = self.clean_label(&choice.description);
        }
    }
}

fn links(seen: &Styled) -> impl Iterator<Item = &str> {
    let tags = seen.stretches(0..seen.text().len()).flat_map(|(_, tags)| tags);
    tags.filter_map(|tag| match tag {
        Tag::Link(url) => Some(&**url),
        _ => None,
    })
}

/// Writes text as Markdown that shows it as it stands, indented lines too.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut begins = true;
    for c in text.chars() {
        match c {
            ' ' | '\t' if begins => out.push('\u{a0}'),
            c if c.is_ascii_punctuation() => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        begins = c == '\n' || (begins && matches!(c, ' ' | '\t'));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{AccountId, Choice, ConversationId, MessageRef};

    const SECRET: &str = "Sw0rdf1sh-Pass";

    fn redactor() -> Redactor {
        let redactor = Redactor::default();
        redactor.learn(SECRET);
        redactor.learn("selkie");
        redactor
    }

    /// What somebody sees, with the addresses of links, escapes in them read as a server reads them.
    fn seen(markdown: &str) -> String {
        let styled = styled::read(markdown, &TOUCHING);
        let urls: Vec<&str> = links(&styled).collect();
        let all = format!("{}\n{}\n{}", styled.text(), urls.join("\n"), plain::render(markdown));
        let shown: String = all.chars().filter(|c| !crate::has_no_width(*c)).collect();
        shown.replace("%53", "S").replace("%77", "w").replace("%2D", "-")
    }

    #[test]
    fn a_secret_that_marks_take_apart_is_not_shown() {
        let token = format!("ghp_a1B2c3**D4e5F6**{}", "g7H8i9J0".repeat(4));
        for text in [
            "**Sw0rd**f1sh-Pass",
            "Sw0rd``f1sh-Pass",
            "Sw0rd\\f1sh\\-Pass",
            "[Sw0rd](https://x.example)f1sh-Pass",
            "[Sw0rd][r]f1sh-Pass\n\n[r]: https://x.example",
            "![Sw0rd](<https://x.example> \"a (b\")f1sh-Pass",
            "Sw0rdf1sh&#45;Pass",
            "Sw0rdf1sh&hyphen;Pass",
            "&#83;w0rdf1sh-Pass",
            "Sw0rd\u{200b}f1sh-\u{2060}Pass",
            "https://x.example/?q=%53%77%30rdf1sh%2DPass",
            "[x](https://x.example/?q=%53w0rdf1sh-Pass)",
            "[x](https://x.example/?q=Sw0rdf1sh\\-Pass)",
            "<https://x.example/%53w0rdf1sh-Pass>",
            "password=**sel**kie",
            "`Sw0rd`*f1sh*~~-Pass~~",
            &token,
        ] {
            let clean = redactor().clean_markdown(&format!("It is {text} indeed, **yes**."));
            let shown = seen(&clean);
            for secret in [SECRET, "0rdf1sh", "password=selkie", "g7H8"] {
                assert!(!shown.contains(secret), "{text}: {clean}");
            }
            assert!(shown.contains("[redacted]"), "{text}: {clean}");
            assert!(shown.contains("indeed"), "{text}: {clean}");
        }
    }

    #[test]
    fn what_holds_no_secret_stays_as_it_is() {
        for text in [
            "",
            "A plain word.",
            "# Tea\n\n**bold** `code` [a](https://x.example/%20b) | R&amp;D &copy; 100 %",
            "```rust\nlet a = b[0](c);\n```",
            "Sw0rd f1sh **Pass**, the selkie",
            "👨\u{200d}👩\u{200d}👧 and é\u{ad}é",
        ] {
            assert_eq!(redactor().clean_markdown(text), text);
        }
    }

    #[test]
    fn what_loses_its_styles_says_what_it_said() {
        let text = "1. password=*sel*kie\n2. [tea](https://x.example/a_b) `c`\n\n```\n  d\n```";
        let clean = redactor().clean_markdown(text);
        assert_eq!(
            plain::render(&clean),
            "1. password=[redacted]\n2. tea c\n\n\u{a0}\u{a0}d\n\nhttps://x.example/a_b"
        );
    }

    #[test]
    fn words_are_clean_wherever_they_stand() {
        let half = "Sw0rd**f1**sh-Pass".to_owned();
        let unseen = "Sw0rd\u{200b}f1sh-Pass".to_owned();
        let choice =
            Choice { id: "a".to_owned(), label: half.clone(), description: unseen.clone() };
        let question = Question {
            key: "k".to_owned(),
            markdown: half.clone(),
            choices: vec![choice],
            free_text: true,
            placeholder: unseen.clone(),
        };
        let (message, path) = (MessageRef::new("7"), "/x/y".to_owned());
        let (name, caption) = (unseen.clone(), Some(half.clone()));
        let post = Post { texts: vec![unseen.clone()], ..Post::default() };
        let bodies = [
            Body::Text { markdown: half.clone() },
            Body::Status { markdown: half.clone() },
            Body::Post(post),
            Body::File { path: path.clone(), name: name.clone(), caption: caption.clone() },
            Body::Photo { path: path.clone(), caption },
            Body::Voice { path: path.clone(), name: name.clone() },
            Body::Question(question.clone()),
            Body::Held(question.clone()),
            Body::QuestionWithFile { path, name, question: question.clone() },
            Body::Revision { message, markdown: half.clone(), question: Some(question) },
            Body::TapAnswer { handle: "h".to_owned(), text: half },
        ];
        for body in bodies {
            let conversation = ConversationId::new(AccountId::new("tg:1"), "7");
            let said = Outbound::new(conversation, body);
            let said = format!("{:?}", redactor().said(&said).body);
            assert!(!said.contains("f1") && said.contains("[redacted]"), "{said}");
        }
    }

    proptest! {
        /// Whatever marks stand in it, a secret that is seen is gone, and nothing else changes that holds none.
        #[test]
        fn no_marks_bring_a_secret_through(
            cuts in prop::collection::vec(
                (0usize..14, "\\*\\*|`|``|\\\\|_|~~|&#x200b;|\\[|\\]\\(x\\)|<b>|\u{200b}|\u{ad}|\\]\\[r\\]"), 0..6),
            around in "[a-z *_\n>#-]{0,12}",
        ) {
            let mut text = SECRET.to_owned();
            let mut cuts = cuts;
            cuts.sort();
            cuts.iter().rev().for_each(|(at, mark)| text.insert_str(*at, mark));
            let text = format!("{around}{text}{around}");
            let clean = redactor().clean_markdown(&text);
            let shown = seen(&clean);
            prop_assert!(!shown.contains(SECRET), "{:?} {:?}", text, clean);
        }

        #[test]
        fn any_text_is_read(text in "(\\PC|\n|[*_`>#|&;%-]|\\[|\\]|\\(){0,120}") {
            prop_assert_eq!(Redactor::default().clean_markdown(&text), text);
        }
    }
}
