//! Which addresses a credential is for: scheme, host, port, and whole segments of a path.

use std::net::IpAddr;

use percent_encoding::percent_decode;
use reqwest::Url;
use unicode_normalization::UnicodeNormalization as _;

/// How often an escape may be escaped again before a path counts as unclear.
const ROUNDS: usize = 4;

/// The beginning of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    url: Url,
    /// The path without the slash at its end.
    path: String,
}

impl Prefix {
    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it, behind its key.
    pub fn parse(written: &str) -> Result<Self, String> {
        let takes =
            |why: &str| format!("takes an address such as https://…/v1/, not {written:?}: {why}");
        let url = Url::parse(written.trim()).map_err(|error| takes(&error.to_string()))?;
        let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"));
        let host = host.ok_or_else(|| takes("it begins with https:// and a host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not hold a name and password: they stand in credential".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(takes("it ends with the path"));
        }
        if written.contains('*') {
            return Err(takes("it knows no wildcards, and covers all that begins with it"));
        }
        if written.contains("/..") || !is_clear(url.path()) {
            return Err(takes("its path goes up"));
        }
        if url.scheme() == "http" && !is_loopback(host) {
            return Err(format!(
                "takes https://, not {written:?}: everybody on the way to {host} could read the credential (http:// only to \
                 this machine)"
            ));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        Ok(Self { url, path })
    }

    /// Whether it is the beginning of an address. One whose path a server may read otherwise than it is written begins
    /// with nothing.
    pub fn covers(&self, url: &Url) -> bool {
        let is_bare = url.username().is_empty() && url.password().is_none();
        let rest = url.path().strip_prefix(self.path.as_str());
        is_bare
            && url.scheme() == self.url.scheme()
            && url.host_str() == self.url.host_str()
            && url.port_or_known_default() == self.url.port_or_known_default()
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && is_clear(url.path())
    }
}

impl std::fmt::Display for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.url.as_str())
    }
}

/// Whether no reader of a path goes up in it, however often it reads escapes (`%2e%2e%2f`), and whatever it takes for the
/// end of a segment.
fn is_clear(path: &str) -> bool {
    let mut path = path.as_bytes().to_vec();
    for _ in 0..ROUNDS {
        // What is no text, or an escape of another kind (`%u002e`), some server reads as a dot.
        let Ok(text) = std::str::from_utf8(&path) else { return false };
        let text: String = text.nfkc().collect();
        let is_odd = text.contains(|c: char| c.is_control()) || text.contains("%u");
        if is_odd || text.split(['/', '\\']).any(goes_up) {
            return false;
        }
        let read: Vec<u8> = percent_decode(&path).collect();
        if read == path {
            return true;
        }
        path = read;
    }
    false
}

/// Whether a segment is one or two dots, or may be read as such: up to a sign at which some servers end it.
fn goes_up(segment: &str) -> bool {
    let name = segment.split([';', '?', '#']).next().unwrap_or_default();
    matches!(name.trim(), "." | "..")
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    host == "localhost" || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covers(prefix: &str, url: &str) -> bool {
        let prefix = Prefix::parse(prefix).unwrap();
        Url::parse(url).is_ok_and(|url| prefix.covers(&url))
    }

    #[test]
    fn whole_segments_below_it_are_covered() {
        for prefix in ["https://api.example.com/v1/", "https://API.example.com:443/v1"] {
            for url in [
                "https://api.example.com/v1",
                "https://api.example.com/v1/",
                "https://api.example.com/v1/a/b?q=/../x#y",
                "https://API.EXAMPLE.COM:443/v1/a",
                "https://api.example.com/v0/../v1/a",
                "https://api.example.com/v1/group%2Fname",
                "https://api.example.com/v1/a..b/...",
            ] {
                assert!(covers(prefix, url), "{prefix} {url}");
            }
        }
        assert!(covers("http://127.0.0.1:8080", "http://127.0.0.1:8080/any"));
    }

    #[test]
    fn nothing_else_is() {
        for url in [
            "https://api.example.com/",
            "https://api.example.com/v10",
            "https://api.example.com/V1/a",
            "https://api.example.com/v1%2fa",
            "https://api.example.com/%76%31/a",
            "http://api.example.com/v1/a",
            "https://api.example.com:8443/v1/a",
            "https://api.example.com./v1/a",
            "https://api.example.com.evil.example/v1/a",
            "https://evil.example/https://api.example.com/v1/",
            "https://xapi.example.com/v1/a",
            "https://api.example.com@evil.example/v1/a",
            "https://ada@api.example.com/v1/a",
            "https://:x@api.example.com/v1/a",
            "https://api.example.com/v1/../admin",
            "https://api.example.com/v1/%2e%2e/admin",
            "https://api.example.com/v1/.%2E/admin",
            "https://api.example.com/v1\\..\\admin",
            "https://api.example.com/v1/..%2fadmin",
            "https://api.example.com/v1/..%5cadmin",
            "https://api.example.com/v1/%252e%252e/admin",
            "https://api.example.com/v1/%25252525252e%25252525252e/admin",
            "https://api.example.com/v1/..;/admin",
            "https://api.example.com/v1/..;x=1/admin",
            "https://api.example.com/v1/a%00",
            "https://api.example.com/v1/..%20/admin",
            "https://api.example.com/v1/..%23/admin",
            "https://api.example.com/v1/..%3f/admin",
            "https://api.example.com/v1/%u002e%u002e/admin",
            "https://api.example.com/v1/%c0%ae%c0%ae/admin",
            "https://api.example.com/v1/\u{ff0e}\u{ff0e}/admin",
            "https://api.example.com/v1/a%0d%0aHost:x",
        ] {
            assert!(!covers("https://api.example.com/v1/", url), "{url}");
        }
    }

    #[test]
    fn a_prefix_that_is_none_says_what_is_taken() {
        let said = [
            "api.example.com/v1",
            "ftp://x.example",
            "http://x.example/v1",
            "https://ada:secret@x.example",
            "https://x.example/?q",
            "https://x.example/v1/../",
            "https://x.example/v1/%252e%252e/",
            "https://*.example/v1/*",
        ];
        let said = said.map(|written| Prefix::parse(written).unwrap_err());
        insta::assert_snapshot!(said.join("\n"), @r#"
        takes an address such as https://…/v1/, not "api.example.com/v1": relative URL without a base
        takes an address such as https://…/v1/, not "ftp://x.example": it begins with https:// and a host
        takes https://, not "http://x.example/v1": everybody on the way to x.example could read the credential (http:// only to this machine)
        must not hold a name and password: they stand in credential
        takes an address such as https://…/v1/, not "https://x.example/?q": it ends with the path
        takes an address such as https://…/v1/, not "https://x.example/v1/../": its path goes up
        takes an address such as https://…/v1/, not "https://x.example/v1/%252e%252e/": its path goes up
        takes an address such as https://…/v1/, not "https://*.example/v1/*": it knows no wildcards, and covers all that begins with it
        "#);
        for here in ["http://127.0.0.9/", "http://localhost:1/", "http://[::1]/"] {
            assert!(Prefix::parse(here).is_ok(), "{here}");
        }
        for other in
            ["http://localhost.evil.example/", "http://127.0.0.1.evil.example/", "http://[::2]/"]
        {
            assert!(Prefix::parse(other).is_err(), "{other}");
        }
    }

    proptest! {
        /// However a path is written: what is covered stays below it for a server that reads escapes as often as it likes.
        #[test]
        fn no_reader_leaves_it(rest in "(/|\\\\|\\.|%2e|%2E|%2f|%5c|%252e|%25|;|a|v1){0,12}", rounds in 0_usize..6) {
            let Ok(url) = Url::parse(&format!("https://x.example/v1{rest}")) else { return Ok(()) };
            let prefix = Prefix::parse("https://x.example/v1").unwrap();
            if !prefix.covers(&url) {
                return Ok(());
            }
            let mut path = url.path().to_owned();
            for _ in 0..rounds {
                path = percent_decode(path.as_bytes()).decode_utf8_lossy().into_owned();
            }
            let read = Url::parse("https://x.example").unwrap().join(&path.replace("//", "/")).unwrap();
            prop_assert!(read.path().starts_with("/v1"), "{url} {read}");
        }

        #[test]
        fn what_is_covered_has_its_host(url in "https?://[a-z.@:/\\\\%0-9]{0,40}") {
            if covers("https://a.b/", &url) {
                let url = Url::parse(&url).unwrap();
                prop_assert_eq!(url.host_str(), Some("a.b"));
            }
        }
    }
}
