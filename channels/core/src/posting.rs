//! What a channel lets be posted in public, from whatever conversation it is asked for: data, like all it can do.

use crate::MessageRef;

/// A public conversation of a channel, and what has to be known before anything is posted there.
#[derive(Clone, Copy)]
pub struct Posting {
    /// The key of the conversation.
    pub to: &'static str,
    /// The tool that posts now.
    pub now: PostingTool,
    /// The tool that posts later, or again and again.
    pub later: PostingTool,
    /// Posts of a thread at most.
    pub most: usize,
    /// Says why the platform would never take a text as one post; `None` when it would.
    pub fault: fn(&str) -> Option<String>,
    /// Returns the first name of somebody that a text speaks to.
    pub mention: fn(&str) -> Option<String>,
    /// Reads what names a post: its id, or its address.
    pub named: fn(&str) -> Option<MessageRef>,
    /// Which pictures a post takes.
    pub pictures: PostPictures,
    /// What names a post, for errors.
    pub such_as: &'static str,
    /// Returns the address of a post.
    pub url: fn(&MessageRef) -> String,
    /// Whether a refusal, in the channel's words, is of what a post says: it would be refused again and again.
    pub of_words: fn(&str) -> bool,
    /// Whether a refusal, in the channel's words, is because the post was meant for another account.
    pub of_account: fn(&str) -> bool,
    /// What whoever posts the same words again and again has to know.
    pub again: &'static str,
}

/// Which pictures a post takes.
#[derive(Clone, Copy, Debug)]
pub struct PostPictures {
    /// So many at most.
    pub most: usize,
    /// Of these kinds.
    pub kinds: &'static [PictureKind],
}

/// A kind of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureKind {
    /// What people call it: `PNG`.
    pub name: &'static str,
    /// What HTTP calls it: `image/png`.
    pub mime: &'static str,
    /// Bytes at most.
    pub max_bytes: u64,
    /// It stands alone in its post.
    pub alone: bool,
}

/// What a channel calls a tool that posts.
#[derive(Clone, Copy, Debug)]
pub struct PostingTool {
    /// Its name.
    pub name: &'static str,
    /// For the model.
    pub description: &'static str,
}

/// Posting by one account.
#[derive(Clone, Copy)]
pub struct Postable {
    /// What there is to know of it.
    pub data: &'static Posting,
    /// Posts in a calendar month (UTC) at most.
    pub a_month: u32,
}
