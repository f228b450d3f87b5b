//! Secrets inside of URLs: who asks (`user:password@`) and what a query gives.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// What stands in a secret's place.
const SET: &str = "[set]";
/// Parts of a query's names whose values are no business of a log.
const TELLING: [&str; 9] =
    ["key", "token", "secret", "pass", "pwd", "sig", "auth", "credential", "code"];
/// Shorter ones would be found in every text.
const SHORTEST: usize = 6;
/// A user without a password that is shorter is a name, as it may stand in any text.
const SHORTEST_TOKEN: usize = 20;
/// URLs whose user is a name and never a token.
const DATABASES: [&str; 2] = ["postgres", "postgresql"];

/// Takes secrets out of every URL in a value.
pub(super) fn without_secrets(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text_without_secrets(&text)),
        Value::Array(all) => all.into_iter().map(without_secrets).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (key, without_secrets(value))).collect()
        }
        other => other,
    }
}

/// Lists the secrets in the URLs of a value, for the redactor.
pub(super) fn secrets(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => secrets_of(text),
        Value::Array(all) => all.iter().flat_map(secrets).collect(),
        Value::Object(map) => map.values().flat_map(secrets).collect(),
        _ => Vec::new(),
    }
}

/// A URL in its pieces; what is put together again is the text.
struct Pieces<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    place: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl Pieces<'_> {
    /// Whether the user's name may be shown: it is one, and nobody can read the text in another way, in which what
    /// follows a stray `/`, `?`, `#` or `@` of a password would be the place.
    fn names_user(&self) -> bool {
        let rest = [Some(self.place), self.query, self.fragment];
        let is_plain = |piece: &str| !piece.contains('@');
        DATABASES.contains(&self.scheme)
            && self.user.is_some_and(is_plain)
            && rest.into_iter().flatten().all(is_plain)
    }
}

fn pieces(text: &str) -> Option<Pieces<'_>> {
    let (scheme, rest) = text.split_once("://")?;
    let (rest, fragment) = cut(rest, '#');
    let (rest, query) = cut(rest, '?');
    let host = rest.find('/').unwrap_or(rest.len());
    // The last one: a password may hold an @ of its own.
    let (user, place) = match rest[..host].rfind('@') {
        Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
        None => (None, rest),
    };
    Some(Pieces { scheme, user, place, query, fragment })
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// A database as other programs write it, `host=db password=…`: refused here, and no less secret.
fn password_of_words(text: &str) -> Option<&str> {
    let at = text.to_ascii_lowercase().find("password")? + "password".len();
    let value = text[at..].trim_start().strip_prefix('=')?.trim_start();
    let end = match value.strip_prefix('\'') {
        Some(quoted) => quoted.find('\'').map_or(value.len(), |end| end + 1),
        None => value.find(char::is_whitespace).unwrap_or(value.len()),
    };
    Some(value[..end].trim_matches('\''))
}

fn text_without_secrets(text: &str) -> String {
    let Some(pieces) = pieces(text) else {
        return if password_of_words(text).is_some() { SET } else { text }.to_owned();
    };
    let names_user = pieces.names_user();
    let Pieces { scheme, user, place, query, fragment } = pieces;
    if DATABASES.contains(&scheme) && !names_user && text.contains('@') {
        return format!("{scheme}://{SET}");
    }
    let user = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
        Some((name, "")) if names_user => format!("{name}@"),
        Some((name, _)) if names_user => format!("{name}:{SET}@"),
        Some(_) => format!("{SET}@"),
        None => String::new(),
    };
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={SET}"),
        // Alone it may be a name or a key.
        None => SET.to_owned(),
    };
    let query = query.map(|query| query.split('&').map(hidden).collect::<Vec<_>>().join("&"));
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let fragment = fragment.map(|_| format!("#{SET}")).unwrap_or_default();
    format!("{scheme}://{user}{place}{query}{fragment}")
}

fn secrets_of(text: &str) -> Vec<String> {
    let Some(Pieces { scheme, user, query, .. }) = pieces(text) else {
        let found = password_of_words(text).filter(|secret| !secret.is_empty());
        return found.map(str::to_owned).into_iter().collect();
    };
    let own = user.and_then(|user| match user.split_once(':') {
        Some((_, password)) => Some(password),
        // Alone it may be a token.
        None => {
            Some(user).filter(|token| !DATABASES.contains(&scheme) && token.len() >= SHORTEST_TOKEN)
        }
    });
    let telling = |name: &str| {
        let name = name.to_lowercase();
        TELLING.iter().any(|part| name.contains(part))
    };
    let pairs = query.into_iter().flat_map(|query| query.split('&'));
    let given = pairs.filter_map(|pair| pair.split_once('='));
    let given = given.filter(|(name, _)| telling(name)).map(|(_, value)| value);
    let long = own.into_iter().chain(given).filter(|s| s.len() >= SHORTEST);
    long.flat_map(as_written_and_meant).collect()
}

/// A secret as the URL writes it, and as it is.
fn as_written_and_meant(text: &str) -> Vec<String> {
    let meant = percent_decode_str(text).decode_utf8_lossy().into_owned();
    let written = Some(text.to_owned()).filter(|written| *written != meant);
    written.into_iter().chain([meant]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_url_keeps_to_itself_is_not_shown() {
        for (text, shown) in [
            ("https://api.example.org/v1", "https://api.example.org/v1"),
            ("https://u:p@ss@api.example.org/v1", "https://[set]@api.example.org/v1"),
            ("http://tok@[::1]:80", "http://[set]@[::1]:80"),
            ("https://h/p?key=abc&v=2&bare#frag", "https://h/p?key=[set]&v=[set]&[set]#[set]"),
            ("https://h/a@b", "https://h/a@b"),
            ("no url: a@b?c=d", "no url: a@b?c=d"),
            ("host=db password=Sesam user=ann", "[set]"),
            ("host=db PASSWORD = 'Sesam open'", "[set]"),
            ("postgres://selkie@db:5433/life", "postgres://selkie@db:5433/life"),
            (
                "postgres://ann:pw@db/life?sslmode=require",
                "postgres://ann:[set]@db/life?sslmode=[set]",
            ),
            ("postgres://ann:a/b@db/life", "postgres://[set]"),
            ("postgres://ann:a?b@db/life", "postgres://[set]"),
            ("postgres://ann:a#b@db/life", "postgres://[set]"),
            ("postgres://ann:a@b@db/life", "postgres://[set]"),
        ] {
            assert_eq!(text_without_secrets(text), shown);
        }
        let nested = json!({ "a": ["https://u:p@h"], "b": 1 });
        assert_eq!(without_secrets(nested), json!({ "a": ["https://[set]@h"], "b": 1 }));
    }

    #[test]
    fn a_password_among_words_is_listed() {
        let words = json!(["host=db password='Sesam open' user=ann", "host=db password=Sesam"]);
        assert_eq!(secrets(&words), ["Sesam open", "Sesam"]);
    }

    #[test]
    fn what_a_log_could_repeat_is_listed() {
        let value =
            json!(["https://u:password@h?api_key=abcdefg&api-version=2026-01-01&sig=short"]);
        assert_eq!(secrets(&value), ["password", "abcdefg"]);
        let users = json!([
            "postgres://selkie@db/life",
            "https://selkie@h",
            "https://ghp_0123456789abcdefghij@h",
            "postgres://ann:Sesam%21%2F@db/life"
        ]);
        let wanted = ["ghp_0123456789abcdefghij", "Sesam%21%2F", "Sesam!/"];
        assert_eq!(secrets(&users), wanted, "a name may stand in any text");
    }
}
