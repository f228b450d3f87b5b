//! What is wrong with `secrets`, and with the servers that use what stands there.

use reqwest::Url;
use reqwest::header::HeaderName;
use secrecy::{ExposeSecret as _, SecretString};
use selkie_channel_core::ChannelKit;

use crate::named::{id, is_name};
use crate::place_settings::chat_of;
use crate::problem::Wrong;
use crate::settings::Settings;
use crate::source::path;
use selkie_tools::auth::{AllowSettings, Bind, MAX_PROFILES, Prefix, ProfileSettings, Verb};

/// Headers that say where a request goes and where it ends, and those that calls set.
const TAKEN: &str = "accept accept-language connection content-length content-type expect host if-modified-since if-none-match \
    range te trailer transfer-encoding upgrade user-agent";

/// Lists what is wrong.
pub fn problems(settings: &Settings, kits: &[ChannelKit]) -> Vec<Wrong> {
    let all = &settings.secrets.auth_profiles;
    let mut wrong = Vec::new();
    if all.len() > MAX_PROFILES {
        let message = format!("takes {MAX_PROFILES} profiles at most, not {}", all.len());
        wrong.push((path(&["secrets", "auth_profiles"]), message));
    }
    for (name, profile) in all {
        let below = |keys| [path(&["secrets", "auth_profiles", name]), keys].concat();
        let faults = faults(name, profile, kits).into_iter();
        wrong.extend(faults.map(|(keys, message)| (below(keys), message)));
    }
    for (name, server) in &settings.mcp.servers {
        let Some(named) = &server.auth else { continue };
        let fault = server_fault(named, all.get(named), server.url.as_deref());
        wrong.extend(fault.map(|message| (path(&["mcp", "servers", name, "auth"]), message)));
    }
    wrong
}

fn faults(name: &str, profile: &ProfileSettings, kits: &[ChannelKit]) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let mut add = |keys: &[&str], message: Option<String>| {
        wrong.extend(message.map(|message| (path(keys), message)));
    };
    let odd =
        "is no name for a profile: it takes 1 to 32 of a-z, 0-9, - and _, and begins with a letter";
    add(&[], (!is_name(name, 32, "-_")).then(|| odd.to_owned()));
    add(&[], credential_fault(profile).map(str::to_owned));
    add(&["bind"], bind_fault(&profile.bind));
    let nothing = "takes at least one prefix: without one the credential is for nothing";
    add(&["allow"], profile.allow.is_empty().then(|| nothing.to_owned()));
    for (at, allow) in profile.allow.iter().enumerate() {
        let at = at.to_string();
        add(&["allow", &at, "prefix"], Prefix::parse(&allow.prefix).err());
        let none = "takes at least one of GET, POST, PUT, PATCH and DELETE";
        add(&["allow", &at, "methods"], allow.methods.is_empty().then(|| none.to_owned()));
    }
    for (at, place) in profile.places.iter().enumerate() {
        let fault = id(chat_of(place, kits), kits, "a conversation", |kit| kit.places);
        add(&["places", &at.to_string()], fault);
    }
    wrong
}

fn credential_fault(profile: &ProfileSettings) -> Option<&'static str> {
    let is_pair = |text: &SecretString| text.expose_secret().contains(':');
    match (&profile.credential, profile.credential_command.first()) {
        (Some(text), None) if profile.bind == Bind::Basic && !is_pair(text) => {
            Some("credential takes user:password, because bind is basic")
        }
        (None, None) => Some("takes credential, credential_file or credential_command"),
        (Some(_), Some(_)) => Some("takes credential or credential_command, not both"),
        (None, Some(program)) if program.trim().is_empty() => {
            Some("credential_command begins with a program, not \"\"")
        }
        _ => None,
    }
}

fn bind_fault(bind: &Bind) -> Option<String> {
    let Bind::Header(name) = bind else { return None };
    let lower = name.to_ascii_lowercase();
    let is_taken = TAKEN.split(' ').any(|taken| taken == lower) || lower.starts_with("proxy-");
    let is_sound = HeaderName::try_from(name).is_ok() && !is_taken;
    (!is_sound).then(|| {
        format!("takes the name of a header that nothing else sets (X-Api-Key), not {name:?}")
    })
}

/// A server is sent POST above all; GET and DELETE are part of the protocol.
fn server_fault(
    named: &str,
    profile: Option<&ProfileSettings>,
    url: Option<&str>,
) -> Option<String> {
    let Some(profile) = profile else {
        return Some(format!("takes a name of secrets.auth_profiles, not {named:?}"));
    };
    // What is no address is told beside it.
    let url = Url::parse(url?).ok()?;
    let covers = |allow: &AllowSettings| {
        allow.methods.contains(&Verb::Post)
            && Prefix::parse(&allow.prefix).is_ok_and(|prefix| prefix.covers(&url))
    };
    (!profile.allow.iter().any(covers)).then(|| {
        format!("names {named}, which is not for POST {url}: add that to secrets.auth_profiles.{named}.allow")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_says_what_is_taken() {
        let allow = serde_json::json!([{ "prefix": "https://x.example/v1/" }]);
        let settings = serde_json::json!({
            "secrets": { "auth_profiles": {
                "Jira": { "credential": "x", "allow": allow },
                "a": { "allow": allow },
                "b": { "credential": "x", "credential_command": ["op"], "allow": [] },
                "c": { "credential": "x", "bind": { "header": "Host" }, "allow": [
                    { "prefix": "http://x.example", "methods": [] },
                ] },
                "d": { "credential_command": [""], "bind": { "header": "a b" }, "allow": allow },
                "e": { "credential": "x", "bind": "basic", "allow": allow },
                "ok": { "credential": "x:y", "bind": "basic", "allow": [
                    { "prefix": "http://127.0.0.1:80", "methods": ["POST"], "redirects": true },
                ] },
            } },
            "mcp": { "servers": {
                "a": { "url": "https://x.example/v1/mcp", "auth": "nobody" },
                "b": { "url": "https://x.example/v1/mcp", "auth": "a" },
                "c": { "url": "http://127.0.0.1/mcp", "auth": "ok" },
            } },
        });
        let settings: Settings = serde_json::from_value(settings).unwrap();
        let said = problems(&settings, &[]);
        let said = said.iter().map(|(path, message)| format!("{}: {message}", path.join(".")));
        insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
        secrets.auth_profiles.Jira: is no name for a profile: it takes 1 to 32 of a-z, 0-9, - and _, and begins with a letter
        secrets.auth_profiles.a: takes credential, credential_file or credential_command
        secrets.auth_profiles.b: takes credential or credential_command, not both
        secrets.auth_profiles.b.allow: takes at least one prefix: without one the credential is for nothing
        secrets.auth_profiles.c.bind: takes the name of a header that nothing else sets (X-Api-Key), not "Host"
        secrets.auth_profiles.c.allow.0.prefix: takes https://, not "http://x.example": everybody on the way to x.example could read the credential (http:// only to this machine)
        secrets.auth_profiles.c.allow.0.methods: takes at least one of GET, POST, PUT, PATCH and DELETE
        secrets.auth_profiles.d: credential_command begins with a program, not ""
        secrets.auth_profiles.d.bind: takes the name of a header that nothing else sets (X-Api-Key), not "a b"
        secrets.auth_profiles.e: credential takes user:password, because bind is basic
        mcp.servers.a.auth: takes a name of secrets.auth_profiles, not "nobody"
        mcp.servers.b.auth: names a, which is not for POST https://x.example/v1/mcp: add that to secrets.auth_profiles.a.allow
        "#);
    }
}
