//! What a person said aloud, as a program understood it.

use serde::{Deserialize, Serialize};

/// The words of a voice message. They are no typed text: no command, approval, answer, tool's name or free address is read
/// out of them, and so they have no place in an [`selkie_channel_core::Inbound`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpokenWords {
    /// Seconds that it plays, where its platform says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// What was understood.
    pub words: String,
}

impl SpokenWords {
    /// Returns the words behind the mark by which everybody reads that they were spoken: `(voice, 0:14) good morning`.
    pub fn marked(&self) -> String {
        let length = self.seconds.map(|all| format!(", {}:{:02}", all / 60, all % 60));
        format!("(voice{}) {}", length.unwrap_or_default(), self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spoken_words_are_marked_with_their_length() {
        let said = |seconds| SpokenWords { seconds, words: "good morning".to_owned() }.marked();
        assert_eq!(said(Some(14)), "(voice, 0:14) good morning");
        assert_eq!(said(Some(605)), "(voice, 10:05) good morning");
        assert_eq!(said(None), "(voice) good morning");
    }
}
