//! Blocks as the mrkdwn that says the same. Foreign data: how deep, how many and how long is bounded.

use selkie_channel_core::field;
use serde_json::Value;

use crate::mrkdwn::escape;

/// Deeper elements are not read.
const DEEPEST: usize = 8;
/// Elements that are read.
const MAX: usize = 2000;
/// Bytes that are read.
const MAX_LENGTH: usize = 16 * 1024;

/// Reads blocks.
pub fn read(blocks: &[Value]) -> String {
    let mut reader = Reader { out: String::new(), left: MAX };
    for block in blocks {
        reader.element(block, 0);
        reader.line();
    }
    reader.out.trim().to_owned()
}

struct Reader {
    out: String,
    left: usize,
}

impl Reader {
    fn element(&mut self, element: &Value, depth: usize) {
        if depth > DEEPEST || self.left == 0 || self.out.len() > MAX_LENGTH {
            return;
        }
        self.left -= 1;
        let text = |key| field::text(element, key).unwrap_or_default();
        match text("type") {
            "text" | "plain_text" => self.styled(element, &escape(text("text"))),
            "rich_text_quote" => {
                let begun = self.begun();
                self.inside(element, depth);
                let quoted = self.out.split_off(begun);
                quoted.trim_end().split('\n').for_each(|line| self.say(&format!("&gt; {line}\n")));
            }
            "rich_text_preformatted" => {
                self.begun();
                self.say("```");
                self.inside(element, depth);
                self.say("```\n");
            }
            "mrkdwn" | "markdown" => self.say(text("text")),
            "link" if text("text").is_empty() => self.say(&format!("<{}>", escape(text("url")))),
            "link" => self.say(&format!("<{}|{}>", escape(text("url")), escape(text("text")))),
            "user" => self.say(&format!("<@{}>", text("user_id"))),
            "usergroup" => self.say(&format!("<!subteam^{}>", text("usergroup_id"))),
            "channel" => self.say(&format!("<#{}>", text("channel_id"))),
            "broadcast" => self.say(&format!("<!{}>", text("range"))),
            "emoji" => self.say(&format!(":{}:", text("name"))),
            "date" => self.say(&escape(text("fallback"))),
            "color" => self.say(&escape(text("value"))),
            "image" | "video" => self.picture(element, depth),
            _ => self.inside(element, depth),
        }
    }

    /// Lists, sections, quotes, tables and whatever Slack adds: what stands in them, line by line.
    fn inside(&mut self, element: &Value, depth: usize) {
        let kind = field::text(element, "type").unwrap_or_default();
        for key in ["title", "text", "label"] {
            if let Some(inner) = field::object(element, key) {
                self.element(inner, depth + 1);
                self.line();
            }
        }
        for key in ["fields", "elements"] {
            for inner in field::list(element, key) {
                // Buttons and menus ask something of people.
                if field::text(inner, "action_id").is_some() {
                    continue;
                }
                if kind == "rich_text_list" {
                    self.line();
                    self.say("• ");
                }
                self.element(inner, depth + 1);
                if key == "fields" || kind == "rich_text" || kind == "context" {
                    self.line();
                }
            }
        }
        for row in field::list(element, "rows") {
            for cell in row.as_array().into_iter().flatten() {
                self.element(cell, depth + 1);
                self.say(" ");
            }
            self.line();
        }
    }

    /// Begins a line; returns where.
    fn begun(&mut self) -> usize {
        self.line();
        self.out.len()
    }

    /// Code and what is struck out are not said as the rest is.
    fn styled(&mut self, element: &Value, text: &str) {
        let style = field::object(element, "style");
        let is = |name| style.is_some_and(|style| field::is_true(style, name));
        match (is("strike"), is("code")) {
            (true, _) => self.say(&format!("~{text}~")),
            (_, true) => self.say(&format!("`{text}`")),
            _ => self.say(text),
        }
    }

    fn picture(&mut self, element: &Value, depth: usize) {
        if let Some(title) = field::object(element, "title") {
            self.element(title, depth + 1);
            self.say(" ");
        }
        let shown = field::text(element, "alt_text").unwrap_or_default();
        self.say(&escape(shown));
    }

    fn say(&mut self, text: &str) {
        let room = MAX_LENGTH.saturating_sub(self.out.len());
        self.out.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_read_as_people_see_them() {
        let blocks = json!([
            { "type": "header", "text": { "type": "plain_text", "text": "Tea & cake" } },
            { "type": "rich_text", "elements": [
                { "type": "rich_text_section", "elements": [
                    { "type": "text", "text": "ask " }, { "type": "user", "user_id": "U2" },
                    { "type": "text", "text": " in " }, { "type": "channel", "channel_id": "C1" },
                    { "type": "emoji", "name": "tea" },
                    { "type": "link", "url": "https://x.org", "text": "list" },
                ] },
                { "type": "rich_text_list", "elements": [
                    { "type": "rich_text_section", "elements": [{ "type": "text", "text": "one" }] },
                    { "type": "rich_text_section", "elements": [{ "type": "text", "text": "two" }] },
                ] },
            ] },
            { "type": "section", "text": { "type": "mrkdwn", "text": "*bold*" },
              "fields": [{ "type": "mrkdwn", "text": "a" }, { "type": "mrkdwn", "text": "b" }] },
            { "type": "actions", "elements": [{ "type": "button", "action_id": "x",
                "text": { "type": "plain_text", "text": "Press" } }] },
        ]);
        assert_eq!(
            read(blocks.as_array().unwrap()),
            "Tea &amp; cake\nask <@U2> in <#C1>:tea:<https://x.org|list>\n• one\n• two\n*bold*\na\nb"
        );
    }

    #[test]
    fn what_is_quoted_struck_out_or_code_is_marked_as_in_text() {
        let said = |kind: &str, style: Value| {
            let text = json!({ "type": "text", "text": "/reset\nnow", "style": style });
            let blocks = json!([{ "type": "rich_text", "elements": [{ "type": kind, "elements": [text] }] }]);
            read(blocks.as_array().unwrap())
        };
        assert_eq!(said("rich_text_section", json!({ "bold": true })), "/reset\nnow");
        assert_eq!(said("rich_text_quote", Value::Null), "&gt; /reset\n&gt; now");
        assert_eq!(said("rich_text_preformatted", Value::Null), "```/reset\nnow```");
        assert_eq!(said("rich_text_section", json!({ "strike": true })), "~/reset\nnow~");
        assert_eq!(said("rich_text_section", json!({ "code": true })), "`/reset\nnow`");
    }

    #[test]
    fn hostile_blocks_have_an_end() {
        let mut deep = json!({ "type": "text", "text": "bottom" });
        for _ in 0..100 {
            deep = json!({ "type": "rich_text", "elements": [deep] });
        }
        assert_eq!(read(&[deep]), "");
        let many = vec![json!({ "type": "text", "text": "x".repeat(100) }); 100_000];
        assert!(read(&many).len() <= MAX_LENGTH + 1);
    }

    proptest! {
        #[test]
        fn any_block_can_be_read(kind in "[a-z_]{0,12}", text in "\\PC{0,40}", number: i64) {
            read(&[json!({ "type": kind, "text": text, "elements": [number, { "type": text }] })]);
        }
    }
}
