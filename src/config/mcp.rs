//! What is wrong with `mcp.servers`.

use selkie_channel_core::ChannelKit;

use crate::commands::class_fault;
use crate::named::{id, is_name};
use crate::place_settings::chat_of;
use crate::problem::Wrong;
use crate::source::path;
use selkie_domain::span::Span;
use selkie_mcp::{OFF, Settings};
use selkie_tools::shell::is_variable;

const SECOND: Span = Span::seconds(1);
const HOUR: Span = Span::seconds(3600);

/// Lists what is wrong.
pub fn problems(settings: &Settings, kits: &[ChannelKit]) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (name, server) in &settings.servers {
        let mut add = |keys: &[&str], message: Option<String>| {
            let keys: Vec<&str> =
                ["mcp", "servers", name.as_str()].iter().chain(keys).copied().collect();
            wrong.extend(message.map(|message| (path(&keys), message)));
        };
        let odd =
            "is no name for a server: it takes 1 to 32 of a-z, 0-9 and -, and begins with a letter";
        // It stands before `__` and a tool's name: with an underscore in it, two servers' tools could be called the same.
        add(&[], (!is_name(name, 32, "-")).then(|| odd.to_owned()));
        add(&[], server.fault().map(str::to_owned));
        let late = !(SECOND..=HOUR).contains(&server.timeout);
        add(&["timeout"], late.then(|| format!("takes 1s to 1h, not {}", server.timeout)));
        add(&["class"], class_fault(&server.class, &[OFF]));
        for (tool, word) in &server.tools {
            add(&["tools", tool], class_fault(word, &[OFF]));
        }
        for (index, place) in server.places.iter().enumerate() {
            let fault = id(chat_of(place, kits), kits, "a conversation", |kit| kit.places);
            add(&["places", &index.to_string()], fault);
        }
        for variable in server.env.keys().filter(|name| !is_variable(name)) {
            let message = format!("takes the names of variables (GITHUB_TOKEN), not {variable:?}");
            add(&["env"], Some(message));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_says_what_is_taken() {
        let settings = serde_json::json!({ "servers": {
            "my_clock": { "command": "x" },
            "a": {},
            "b": { "command": "x", "url": "https://x.example" },
            "c": { "url": "ftp://x.example", "class": "reply", "tools": { "t": "x", "u": "off" } },
            "d": { "command": "x", "timeout": "0s", "env": { "A B": "x" } },
            "e": { "command": "x", "oauth": {} },
            "f": { "url": "https://x.example", "oauth": { "client_id": "x", "client_secret": "y" } },
            "g": { "url": "https://x.example", "oauth": { "client_metadata_url": "http://x.example" } },
            "ok": { "url": "https://x.example", "class": "off", "tools": { "t": "read" }, "who": "allowed" },
        } });
        let settings: Settings = serde_json::from_value(settings).unwrap();
        let said = problems(&settings, &[]);
        let said = said.iter().map(|(path, message)| format!("{}: {message}", path.join(".")));
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
        mcp.servers.a: takes command or url
        mcp.servers.b: takes command or url, not both
        mcp.servers.c: url takes http://… or https://…
        mcp.servers.c.class: takes read, write, exec, network, message, public or off, not "reply"
        mcp.servers.c.tools.t: takes read, write, exec, network, message, public or off, not "x"
        mcp.servers.d.timeout: takes 1s to 1h, not 0s
        mcp.servers.d.env: takes the names of variables (GITHUB_TOKEN), not "A B"
        mcp.servers.e: oauth goes with url
        mcp.servers.f: oauth.client_secret goes with issuer: the secret is for no other authorization server
        mcp.servers.g: oauth.client_metadata_url takes https://…
        mcp.servers.my_clock: is no name for a server: it takes 1 to 32 of a-z, 0-9 and -, and begins with a letter
        "#);
    }
}
