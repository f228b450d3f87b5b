//! What stands in an answer at a place where a form of calls begins.

use serde_json::Value;

use crate::dialect;
use selkie_domain::transcript::Call;

/// Longer text holds no calls, bytes.
pub(crate) const MAX_LENGTH: usize = 32 * 1024;

/// A piece of an answer that is no words alone.
pub(super) struct Block {
    /// Its calls; nothing: they cannot be read.
    pub calls: Option<Vec<Call>>,
    /// Words for people in it.
    pub words: String,
    /// Where it ends, bytes from its beginning.
    pub end: usize,
}

impl Block {
    /// One that cannot be read, up to the end of the text.
    pub fn broken(rest: &str) -> Self {
        Self { calls: None, words: String::new(), end: rest.len() }
    }
}

/// A call of these arguments: an object, or the text of one.
pub(super) fn call(name: &str, arguments: Value) -> Option<Call> {
    let arguments = match arguments {
        Value::String(text) => dialect::arguments(&text),
        Value::Null => dialect::arguments(""),
        other => dialect::shallow(other),
    };
    let is_one = is_name(name) && arguments.is_object();
    is_one.then(|| Call { id: String::new(), name: name.to_owned(), arguments })
}

/// Whether a tool may be called so.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    !name.is_empty() && name.len() <= 200 && name.chars().all(plain)
}
