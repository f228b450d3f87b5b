//! The config as it is written: block by block, with what each is for.

use std::collections::BTreeMap;

use selkie_channel_core::ChannelKit;
use serde_json::{Map, Value, json};

use super::Answers;
use selkie_config::source::{put, split};

const HEAD: &str = "\
# selkie's config, written by selkie init. selkie config example prints every key with its default.
# After a change: selkie config check && selkie reload. Secrets are in files of their own.
";

/// Writes answers as YAML; `files` tells where the secret of a key stands, as the config names it.
pub fn render(answers: &Answers, files: &BTreeMap<String, String>, kits: &[ChannelKit]) -> String {
    let mut all = Value::Object(answers.settings().clone());
    for (key, file) in files {
        put(&mut all, &split(&format!("{key}_file")), file.as_str().into());
    }
    let Value::Object(mut all) = all else { return HEAD.to_owned() };
    let mut text = HEAD.to_owned();
    owners(all.remove("owners"), kits, &mut text);
    for kit in kits {
        if let Some(Value::Object(section)) = all.remove(kit.name) {
            channel(kit, section, &mut text);
        }
    }
    for (name, value) in all {
        text.push('\n');
        if name == "llm" {
            text.push_str("# Which model answers.\n");
        }
        block(&name, &value, 0, &mut text);
    }
    text
}

fn owners(owners: Option<Value>, kits: &[ChannelKit], text: &mut String) {
    text.push_str(
        "\n# Who owns the bot: owners are always answered, get its notices and approve what needs \
        approval.\n",
    );
    match owners {
        Some(owners) => text.push_str(&format!(
            "owners: {owners}\n\
             # When somebody else writes to the bot, owners are asked in private whether to let them in. With ask the\n\
             # stranger gets a code for an owner instead; with off nobody is told.\n\
             # pairing: button\n"
        )),
        None => {
            let such_as = kits.first().map_or("", |kit| kit.people.such_as);
            text.push_str("# Nobody yet. selkie pair prints a code to send to the bot; or write an id here:\n");
            text.push_str(&format!("# owners: [{such_as:?}]\n"));
        }
    }
}

fn channel(kit: &ChannelKit, mut section: Map<String, Value>, text: &mut String) {
    let title = kit.setup.map_or(kit.name, |setup| setup.title);
    text.push_str(&format!(
        "\n# {title}. Whom the bot answers besides its owners: an empty list means nobody, [\"*\"] everyone.\n"
    ));
    let lists = [kit.allow_keys.places, kit.allow_keys.people];
    for list in lists.into_iter().filter(|list| !list.is_empty()) {
        section.entry(list).or_insert_with(|| json!([]));
    }
    block(kit.name, &Value::Object(section), 0, text);
}

fn block(name: &str, value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let name = scalar(name);
    match value {
        Value::Object(map) if !map.is_empty() => {
            text.push_str(&format!("{indent}{name}:\n"));
            map.iter().for_each(|(key, value)| block(key, value, depth + 1, text));
        }
        Value::String(string) => text.push_str(&format!("{indent}{name}: {}\n", scalar(string))),
        // JSON is YAML.
        other => text.push_str(&format!("{indent}{name}: {other}\n")),
    }
}

/// Writes a text bare where that means the same.
fn scalar(text: &str) -> String {
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    match begins && !word && !text.ends_with(':') && text.chars().all(plain) {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_it_was_answered() {
        let mut answers = Answers::default();
        answers.set("llm.provider", "openai");
        answers.set("llm.endpoint", "https://api.openai.com/v1");
        answers.set("llm.model", "no");
        answers.set("llm.routes.small", "a: \"b\" # c");
        answers.set("console.listen", "127.0.0.1:7780");
        answers.own("p:1");
        let files = BTreeMap::from([("llm.api_key".to_owned(), "secrets/llm.api_key".to_owned())]);
        insta::assert_snapshot!(render(&answers, &files, &[]), @r#"
        # selkie's config, written by selkie init. selkie config example prints every key with its default.
        # After a change: selkie config check && selkie reload. Secrets are in files of their own.

        # Who owns the bot: owners are always answered, get its notices and approve what needs approval.
        owners: ["p:1"]
        # When somebody else writes to the bot, owners are asked in private whether to let them in. With ask the
        # stranger gets a code for an owner instead; with off nobody is told.
        # pairing: button

        # Which model answers.
        llm:
          provider: openai
          endpoint: https://api.openai.com/v1
          model: "no"
          routes:
            small: "a: \"b\" # c"
          api_key_file: secrets/llm.api_key

        console:
          listen: "127.0.0.1:7780"
        "#);
    }
}
