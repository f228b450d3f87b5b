//! Keeps secrets out of what is said once it is shown: marks of Markdown take one apart in what was written, and whoever
//! renders that puts it together again.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::redact::{MARKS, Redactor};
use crate::secret_patterns::MARK;
use crate::styled::{self, Dialect, StyledText, Tables, Tag};
use crate::{Body, Outbound, Post, Question, plain};

/// Every link is shown as its words, whatever a platform makes of it: words on both sides of one touch.
const TOUCHING: Dialect = Dialect {
    behind_quote: 2,
    tables: Tables::Aligned,
    opens: |_| true,
    stand_in: |link| Some(link.url.to_string()),
    explains: |_, _| false,
};

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
        let clean = self.clean(markdown);
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

    /// Returns words that are shown as they are in one place and as Markdown in another.
    fn clean_label(&self, label: &str) -> String {
        let clean = self.clean(label);
        if self.clean_markdown(&clean) == clean { clean } else { MARK.to_owned() }
    }

    /// Writes out what is seen, without secrets; where its links lead stands below.
    fn without_styles(&self, seen: &StyledText) -> String {
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
            Body::File { name, caption: words, .. } | Body::Voice { name, caption: words, .. } => {
                *name = self.clean(name);
                *words = caption(words);
            }
            Body::Photo { caption: words, .. } => *words = caption(words),
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

fn links(seen: &StyledText) -> impl Iterator<Item = &str> {
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
            c => styled::push_literal(&mut out, c),
        }
        begins = c == '\n' || (begins && matches!(c, ' ' | '\t'));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::invisible_chars::shows_nothing;
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
        let shown: String = all.chars().filter(|c| !shows_nothing(*c)).collect();
        shown.replace("%53", "S").replace("%77", "w").replace("%2D", "-")
    }

    #[test]
    fn a_secret_that_marks_take_apart_is_not_shown() {
        let token = format!("ghp_a1B2c3**D4e5F6**{}", "g7H8i9J0".repeat(4));
        for text in [
            "**Sw0rd**f1sh-Pass",
            "Sw0rdf1sh\\-Pass",
            "[Sw0rd](https://x.example)f1sh-Pass",
            "![Sw0rd](<https://x.example> \"a (b\")f1sh-Pass",
            "Sw0rdf1sh&#45;Pass",
            "&#83;w0rdf1sh-Pass",
            "Sw0rd\u{200b}f1sh-\u{2060}Pass",
            "Sw0rd\u{1}f1sh-\u{7f}Pass",
            "Sw0\u{b}rd\u{c}f1sh\u{85}-Pa\u{9b}ss",
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

    /// Keys by their look alone, each put together here.
    fn keys() -> Vec<String> {
        let mixed = "a1B2c3D4e5F6g7H8i9J0";
        vec![
            format!("sk-{mixed}{mixed}"),
            format!("xoxb-1234567890-{mixed}"),
            format!("AKIA{}", "IOSFODNN7EXAMPLE"),
            format!("ghp_{mixed}{mixed}"),
            format!("110201543:AA{mixed}{mixed}"),
            format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.{mixed}{mixed}"),
        ]
    }

    /// Ways to write a key that are read as the key.
    fn written(key: &str) -> Vec<String> {
        let in_place = |cut: usize, with: &dyn Fn(&str) -> String| {
            let (before, rest) = key.split_at(cut);
            format!("{before}{}{}", with(&rest[..1]), &rest[1..])
        };
        let mut all = Vec::new();
        for cut in [1, 2, 4, 6, 10, key.len() - 8, key.len() - 1] {
            let marks = ["\u{200b}", "\u{ad}", "\u{1}", "\u{1b}", "\u{85}"];
            all.extend(marks.map(|mark| in_place(cut, &|c| format!("{mark}{c}"))));
            // A backslash before a letter is seen.
            if key.as_bytes()[cut].is_ascii_punctuation() {
                all.push(in_place(cut, &|c| format!("\\{c}")));
            }
            // Where emphasis can begin.
            if key.as_bytes()[cut].is_ascii_alphanumeric() {
                all.push(in_place(cut, &|c| format!("**{c}**")));
            }
        }
        all.extend(["_", "__", "**_", "-_"].map(|mark| {
            let after: String = mark.chars().rev().collect();
            format!("{mark}{key}{after}")
        }));
        all
    }

    #[test]
    fn a_key_that_only_its_look_tells_is_hidden_whole() {
        for key in keys() {
            for text in written(&key) {
                let clean =
                    Redactor::default().clean_markdown(&format!("It is {text}\nindeed, **yes**."));
                let shown = seen(&clean);
                for piece in [&key[..key.len().min(12)], &key[key.len() - 7..]] {
                    assert!(!shown.contains(piece), "{text}: {clean}");
                }
                assert!(shown.contains("[redacted]"), "{text}: {clean}");
                assert!(shown.contains("indeed"), "{text}: {clean}");
            }
        }
    }

    /// As an answer grows: whatever comes next, no more than a few characters of a key are shown.
    #[test]
    fn no_beginning_of_a_key_is_shown_while_it_is_written() {
        for key in keys() {
            for text in written(&key) {
                let text = format!("It is {text} indeed.");
                for end in text.char_indices().map(|(at, _)| at).step_by(5) {
                    let so_far = &text[..end];
                    let settled = &so_far[..Redactor::default().settled(so_far)];
                    let shown = seen(&Redactor::default().clean_markdown(settled));
                    assert!(!shown.contains(&key[..12]), "{so_far}: {shown}");
                }
            }
        }
    }

    #[test]
    fn an_encoded_secret_is_hidden() {
        for text in [
            "U3cwcmRmMXNoLVBhc3M=",
            "dXNlcjpTdzByZGYxc2gtUGFzcw==",
            "eDpTdzByZGYxc2gtUGFzczpoaQ",
            "5377307264663173682d50617373",
            "5377307264663173682D50617373",
            "%53%77%30%72%64%66%31%73%68%2D%50%61%73%73",
            "`U3cwcmRm`**MXNoLVBhc3M**",
        ] {
            let clean = redactor().clean_markdown(&format!("It is {text} indeed."));
            assert!(clean.contains("redacted"), "{text}: {clean}");
            for piece in ["cwcmRm", "yZGYxc2g", "UGFz", "Bhc3", "307264", "%53"] {
                assert!(!clean.contains(piece), "{text}: {clean}");
            }
            assert!(clean.contains("indeed"), "{text}: {clean}");
        }
    }

    #[test]
    fn harmless_answers_stay_to_the_byte() {
        let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk".repeat(4);
        let wrapped = format!(
            "{}\n",
            "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz"
        )
        .repeat(3);
        let texts = [
            "It costs €1,299.00 (−15 %), or $1,104.15 with the code **SPRING24**.",
            "The sum is `3b5d5c3712955042212316173ccf37be`, and `sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`.",
            "Commit **640abaf9d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5a6** fixes it.",
            "id: 01a20436-30df-70a5-a6af-66991d950265, or `{01a20436-30df-70a5-a6af-66991d950265}`",
            &format!("![p](data:image/png;base64,{picture})"),
            &wrapped,
            "[the page](https://a.example/x?q=1&r=%20b%2Fc#d_e) and <https://b.example/%E4%BD%A0>",
            "See https://github.com/tokio-rs/tokio/blob/master/tokio/src/runtime/scheduler/multi_thread/worker.rs#L42.",
            "你好，世界！这是一个测试：价格是１２３４５６７８９０１２３元。",
            "日本語の文章です。ｆｕｌｌｗｉｄｔｈも、ＡＢＣ－１２３４５も。",
            "한국어 문장입니다. 전화: 02-1234-5678.",
            "Съешь ещё этих мягких французских булок, да выпей чаю: протестуете?",
            "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Τηλέφωνο: 2101234567.",
            "Write to ada.lovelace+tea@mail.example.org or **grace@navy.example**.",
            "Call +49 (0) 30 123456-789, or 555‑0123‑4567‑89.",
            "It's 10:30–12:45, 2026‑11‑24T02:20:40Z.",
            "`risk-averse`, **task**-oriented, `ask-me-anything`; *sk*-learn-pipelines-for-people-of-2024",
            "disk-0123456789abcdef0123456789abcdef and **desk**-0123456789abcdef",
            "| a | b |\n|---|---|\n| `x_1` | **y**_2_ |",
            "```rust\nlet a: Vec<u8> = b[10000]::c(\"d\\n\");\n```",
            "- [ ] buy `milk` & *bread*\n- [x] ~~tea~~",
            "1. **First:** read [RFC 7519](https://www.rfc-editor.org/rfc/rfc7519) on `eyJ…`.",
            "AKIA is the prefix, `AKIA…` of 20 characters; xoxb-… is Slack's, ghp_… GitHub's.",
            "👨\u{200d}👩\u{200d}👧 and 🏳️\u{200d}🌈, naïve café, soft\u{ad}hyphen\u{ad}ation",
            "$$\\int_0^{\\infty} e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}$$",
            "𝐁𝐨𝐥𝐝 𝑖𝑡𝑎𝑙𝑖𝑐 𝚖𝚘𝚗𝚘𝚜𝚙𝚊𝚌𝚎𝚍𝚠𝚘𝚛𝚍𝚜 ⓒⓘⓡⓒⓛⓔⓓ",
            "x²+y²=z², H₂O, 10⁻⁹ m, ½ cup, №5, ™",
            "ISBN 978-3-16-148410-0, IBAN DE89 3704 0044 0532 0130 00, card ending in 4242",
            "MAC 00:1b:44:11:3a:b7, IPv6 2001:0db8:85a3:0000:0000:8a2e:0370:7334, 192.168.0.1:65535",
            "12345:67890 is the ratio; std::collections::HashMap::<String,Vec<u8>>::with_capacity(10000)",
            "`SELECT * FROM a WHERE b='c\\_d' AND e&1;`",
            "export PATH=\"$HOME/.cargo/bin:$PATH\"; cargo test --workspace --all-targets",
            "{\"id\":\"chatcmpl-9f8e7d6c5b4a\",\"object\":\"chat.completion\",\"created\":1712345678}",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEa1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9 ada@tea",
            "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0\n-----END CERTIFICATE-----",
            "postgres://user:password@host/db, postgres://USER:PASS@localhost:5432/example",
            "npm_config_registry=https://registry.npmjs.org npm_lifecycle_event=test",
            "hf_transformers_for_people, eyJhbGciOiJIUzI1NiJ9 alone, AIza alone, glpat- alone",
            "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogoch has 58 letters.",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!",
        ];
        assert_eq!(texts.len(), 40);
        for text in texts {
            assert_eq!(redactor().clean_markdown(text), text);
            assert_eq!(redactor().clean(text), text);
            // What ends in a blank waits for nothing but a link or a block.
            let whole = format!("{text} \n\nso ");
            assert_eq!(redactor().settled(&whole), whole.len(), "{text}");
        }
    }

    #[test]
    fn what_loses_its_styles_says_what_it_said() {
        let text = "1. password=[sel](https://x.example/a_b)kie\n2. tea `c`\n\n```\n  d\n```";
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
            Body::Photo { path: path.clone(), caption: caption.clone() },
            Body::Voice { path: path.clone(), name: name.clone(), caption },
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
            assert!(!said.contains("f1") && said.contains("redacted"), "{said}");
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
