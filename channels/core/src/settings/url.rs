//! Where a platform is.

use std::ops::Deref;

/// The address of a server, http or https, to which paths are added: no slash at its end, no question behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(reqwest::Url);

impl Url {
    /// Reads an address; `such_as` is one that is taken.
    ///
    /// # Errors
    /// The value, and what is taken.
    pub fn read(text: &str, such_as: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not accepted; it takes a URL such as {such_as}");
        let url = reqwest::Url::parse(text.trim().trim_end_matches('/')).map_err(|_| wrong())?;
        let is_one = matches!(url.scheme(), "http" | "https") && url.has_host();
        if !is_one || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong());
        }
        Ok(Self(url))
    }

    /// Returns the address of a path below this one.
    pub fn below<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> reqwest::Url {
        let mut url = self.0.clone();
        // Every http address has segments.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }
}

impl Deref for Url {
    type Target = reqwest::Url;

    fn deref(&self) -> &reqwest::Url {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_keeps_its_path_and_takes_more() {
        let base = Url::read(" http://127.0.0.1:1/a/ ", "x").unwrap();
        assert_eq!(base.as_str(), "http://127.0.0.1:1/a");
        assert_eq!(base.below(["b", "c d"]).as_str(), "http://127.0.0.1:1/a/b/c%20d");
        let root = Url::read("https://x.example", "x").unwrap();
        assert_eq!(root.below(["b"]).as_str(), "https://x.example/b");
    }

    #[test]
    fn what_no_path_can_be_added_to_is_no_base() {
        for wrong in ["ftp://x", "x.example", "https://x/?a=b", "https://x/#a", "", "mailto:a@b.c"]
        {
            let says = format!("{wrong:?} is not accepted; it takes a URL such as https://y");
            assert_eq!(Url::read(wrong, "https://y"), Err(says));
        }
    }
}
