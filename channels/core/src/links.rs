//! Whether a link's words name another place than the one it leads to.

use reqwest::Url;

/// Whether the words look like an address of another host than `url` has: then people are shown both.
pub fn poses(words: &str, url: &str) -> bool {
    let real = Url::parse(url).ok();
    let real = real.as_ref().and_then(Url::host_str).map(bare);
    let is_other = |word: &str| host(word).is_some_and(|shown| Some(bare(&shown)) != real);
    words.split_whitespace().any(is_other)
}

/// The host of a word that looks like an address.
fn host(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let address = match word.split_once("://") {
        Some(_) => Url::parse(word).ok()?,
        None if word.get(..4).is_some_and(|w| w.eq_ignore_ascii_case("www.")) => {
            Url::parse(&format!("https://{word}")).ok()?
        }
        None => return None,
    };
    address.host_str().map(str::to_owned)
}

fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_another_host_poses() {
        let evil = "https://evil.example/x";
        for words in
            ["https://bank.example", "see HTTPS://BANK.example/login now", "www.bank.example"]
        {
            assert!(poses(words, evil), "{words}");
        }
        for words in ["the bank", "README.md", "https://evil.example", "www.evil.example/y", ""] {
            assert!(!poses(words, evil), "{words}");
        }
        assert!(poses("https://bank.example", "mailto:a@evil.example"));
    }
}
