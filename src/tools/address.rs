//! An address as it is written, and the host that it goes to where that is another than one reads.

use reqwest::Url;

/// Returns an address with the host it leads to, where that does not stand in it in plain letters; any other
/// text as it is.
pub fn address(written: &str) -> String {
    match leads_elsewhere(written) {
        Some(host) => format!("{written} (goes to {host})"),
        None => written.to_owned(),
    }
}

/// Returns the host of an address, where a reader could take another for it: behind a user name, of letters
/// that are not ASCII, a number written in a strange way.
pub fn leads_elsewhere(written: &str) -> Option<String> {
    let url = Url::parse(written.trim()).ok()?;
    let host = url.host_str()?;
    let rest = written.trim().get(url.scheme().len()..).unwrap_or_default();
    let rest = rest.strip_prefix("://").unwrap_or_default();
    let plain = rest.get(..host.len()).is_some_and(|start| start.eq_ignore_ascii_case(host))
        && rest[host.len()..].chars().next().is_none_or(|c| matches!(c, ':' | '/' | '?' | '#'))
        && url.username().is_empty()
        && url.password().is_none()
        && !host.split('.').any(|part| part.starts_with("xn--"));
    (!plain).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_where_it_goes() {
        let said: Vec<String> = [
            "https://a.example/x?y#z",
            "HTTP://A.example:81",
            "https://bank.example@evil.example/",
            "https://bank.example:x@evil.example",
            "https://bаnk.example/",
            "https://xn--bnk-5cd.example/",
            "http://0x7f.1/",
            "https://a.ex\nample/",
            "https:\\\\evil.example",
            "a note: https://a.example",
            "mailto:a@b.example",
            "notes.txt",
        ]
        .map(address)
        .to_vec();
        insta::assert_snapshot!(said.join("\n"), @r"
        https://a.example/x?y#z
        HTTP://A.example:81
        https://bank.example@evil.example/ (goes to evil.example)
        https://bank.example:x@evil.example (goes to evil.example)
        https://bаnk.example/ (goes to xn--bnk-6cd.example)
        https://xn--bnk-5cd.example/ (goes to xn--bnk-5cd.example)
        http://0x7f.1/ (goes to 127.0.0.1)
        https://a.ex
        ample/ (goes to a.example)
        https:\\evil.example (goes to evil.example)
        a note: https://a.example
        mailto:a@b.example
        notes.txt
        ");
    }
}
