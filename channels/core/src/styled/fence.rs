//! What stands behind the fence of a block of code.

use std::rc::Rc;

/// The fence of a block of code.
pub(super) struct Fence {
    /// What stands behind it.
    pub(super) info: String,
    /// Where its code begins.
    pub(super) at: usize,
}

/// Whether what stands behind a fence is one word, or a word and attributes such as `title="a.rs"`.
pub(super) fn is_language(info: &str) -> bool {
    let is_attribute = |word: &str| word.contains('=') || word.starts_with(['{', ',', '.', '#']);
    info.split_whitespace().skip(1).all(is_attribute)
}

/// Returns the language, where a platform may be told it.
pub(super) fn language(info: &str) -> Option<Rc<str>> {
    let word = info.split([' ', ',', '{']).next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "+#_.-".contains(c);
    (!word.is_empty() && word.len() <= 32 && word.chars().all(plain)).then(|| Rc::from(word))
}
