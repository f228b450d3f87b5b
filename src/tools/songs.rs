//! A made-up timeline for tests.

use selkie_channel_core::{MessageRef, PictureKind, PostPictures, Posting, PostingTool};

/// A made-up timeline, whose posts have ten letters at most.
pub static SONGS: Posting = Posting {
    to: "bird:songs",
    now: PostingTool { name: "bird_post", description: "Sing in public." },
    later: PostingTool { name: "bird_schedule", description: "Sing in public, later." },
    most: 3,
    fault: |text| match text.chars().count() {
        0 => Some("it is empty".to_owned()),
        1..=10 => None,
        more => Some(format!("it has {more} letters and 10 are the most")),
    },
    mention: |text| text.contains('@').then(|| text.to_owned()),
    named: |text| text.parse::<u64>().is_ok().then(|| MessageRef::new(text)),
    pictures: PostPictures {
        most: 2,
        kinds: &[
            PictureKind { name: "PNG", mime: "image/png", max_bytes: 64, alone: false },
            PictureKind { name: "GIF", mime: "image/gif", max_bytes: 99, alone: true },
        ],
    },
    such_as: "17",
    url: |post| format!("bird://{}", post.as_str()),
    of_words: |reason| reason.starts_with("sung before"),
    of_account: |reason| reason.starts_with("another bird's"),
    again: "birds sing the same song once a day",
};
