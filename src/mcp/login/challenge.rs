//! What a server says of how to sign in: the header `WWW-Authenticate`.

/// What it says of the scheme `Bearer`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Where the resource's metadata lies.
    pub(crate) metadata: Option<String>,
    /// What a token must cover.
    pub(crate) scopes: Vec<String>,
    /// What was wrong with the token.
    pub(crate) error: String,
}

impl Challenge {
    /// Reads the header. What stands twice counts once, the first time; other schemes' words are passed over.
    pub(crate) fn read(header: &str) -> Self {
        let mut challenge = Self::default();
        let mut is_bearer = false;
        for item in items(header) {
            let mut param = item.as_str();
            if let Some((scheme, rest)) = item.split_once(' ')
                && !scheme.contains('=')
                && !rest.trim_start().starts_with('=')
            {
                is_bearer = scheme.eq_ignore_ascii_case("bearer");
                param = rest;
            }
            match param.split_once('=').filter(|_| is_bearer) {
                Some((key, value)) => challenge.take(key.trim(), value.trim()),
                None if !param.contains('=') => is_bearer = param.eq_ignore_ascii_case("bearer"),
                None => {}
            }
        }
        challenge
    }

    fn take(&mut self, key: &str, value: &str) {
        match key.to_ascii_lowercase().as_str() {
            "resource_metadata" if self.metadata.is_none() => {
                self.metadata = Some(value.to_owned())
            }
            "scope" if self.scopes.is_empty() => self.scopes = scopes_in(value),
            "error" if self.error.is_empty() => self.error = value.to_owned(),
            _ => {}
        }
    }

    /// Returns the scopes that a token lacks, where that is what was wrong. They are shown in a command line: where a shell
    /// would read more in them, there are none.
    pub(crate) fn lacks(&self) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@+, ".contains(c);
        let scopes = self.scopes.join(" ");
        let lacks = self.error == "insufficient_scope" && !scopes.is_empty();
        Some(scopes).filter(|scopes| lacks && scopes.chars().all(is_plain))
    }
}

/// Scopes of one text that are taken, and characters of one.
const MAX_SCOPES: usize = 100;
const MAX_SCOPE: usize = 200;

/// Reads scopes that stand one behind the other; what is none by RFC 6749 is left out.
pub(crate) fn scopes_in(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
    let fits = |scope: &&str| scope.len() <= MAX_SCOPE && scope.chars().all(is_part);
    text.split_ascii_whitespace().filter(fits).take(MAX_SCOPES).map(str::to_owned).collect()
}

/// Splits a header at the commas that stand in no quotes, and takes quotes and escapes away. What is quoted without end is
/// left out.
fn items(header: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut is_quoted = false;
    let mut chars = header.chars();
    while let Some(c) = chars.next() {
        match c {
            ',' if !is_quoted => items.push(std::mem::take(&mut item)),
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => item.extend(chars.next()),
            c => item.push(c),
        }
    }
    items.extend((!is_quoted).then_some(item));
    let trimmed = items.iter().map(|item| item.trim().to_owned());
    trimmed.filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(metadata: Option<&str>, scopes: &str, error: &str) -> Challenge {
        let metadata = metadata.map(str::to_owned);
        Challenge { metadata, scopes: scopes_in(scopes), error: error.to_owned() }
    }

    #[test]
    fn the_scheme_bearer_is_found_among_others() {
        let url = "https://a.example/.well-known/oauth-protected-resource";
        for (header, read) in [
            ("", challenge(None, "", "")),
            ("Bearer", challenge(None, "", "")),
            (
                "bearer resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\"",
                challenge(Some(url), "", ""),
            ),
            (
                "Basic realm=\"a, scope=x\", Bearer scope=\"a b\" , error = insufficient_scope",
                challenge(None, "a b", "insufficient_scope"),
            ),
            ("Bearer scope=\"a\", scope=\"b\", Basic scope=\"c\"", challenge(None, "a", "")),
            ("Negotiate, Bearer realm=\"x \\\" y\", scope=one", challenge(None, "one", "")),
            ("Digest scope=\"no\"", challenge(None, "", "")),
            ("Bearer scope=\"open\\", challenge(None, "", "")),
        ] {
            assert_eq!(Challenge::read(header), read, "{header}");
        }
    }

    #[test]
    fn what_a_token_lacks_is_told_where_a_command_can_name_it() {
        let lacks = |scope: &str| {
            Challenge::read(&format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""))
                .lacks()
        };
        let scopes = "files:write https://a.example/b";
        assert_eq!(lacks(scopes).unwrap(), scopes);
        for odd in ["", "files:write $(id)", "a;b", "'x'", "`x`"] {
            assert_eq!(lacks(odd), None, "{odd}");
        }
        assert_eq!(Challenge::read("Bearer scope=\"a\"").lacks(), None);
        assert_eq!(scopes_in("a ü b\u{1b} c{d} \"e\""), ["a", "c{d}"]);
    }
}
