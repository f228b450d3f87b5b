//! Reads the pictures of a request from the cache: the newest few, because each costs the model as much as
//! pages of text.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use selkie_domain::transcript::{Picture, Turn};

/// So many pictures go along with one request …
const MAX: usize = 6;
/// … and so many bytes of them: base64 makes them a third longer, and providers take some 30 MB at once.
const MAX_BYTES: usize = 16 * 1000 * 1000;

/// Loads the newest pictures of the turns, by their path. One whose file is gone is left out.
pub async fn load(turns: &[Turn]) -> HashMap<String, Arc<str>> {
    let mut loaded = HashMap::new();
    let mut room = MAX_BYTES;
    for Picture { path, .. } in newest(turns) {
        match tokio::fs::read(path).await {
            Ok(bytes) if bytes.len() <= room => {
                room -= bytes.len();
                loaded.insert(path.clone(), STANDARD.encode(bytes).into());
            }
            // The older ones are not worth more than this one.
            Ok(_) => break,
            Err(error) => tracing::debug!(%error, "a picture of the history is gone"),
        }
    }
    loaded
}

fn newest(turns: &[Turn]) -> Vec<&Picture> {
    let mut newest: Vec<&Picture> = Vec::new();
    for picture in turns.iter().rev().flat_map(pictures) {
        if newest.len() == MAX {
            break;
        }
        if !newest.contains(&picture) {
            newest.push(picture);
        }
    }
    newest
}

/// The pictures of a turn, last first.
fn pictures(turn: &Turn) -> Vec<&Picture> {
    match turn {
        Turn::Shown { pictures, .. } => pictures.iter().rev().collect(),
        Turn::Calls { calls, .. } => {
            calls.iter().rev().flat_map(|(_, answer)| answer.pictures.iter().rev()).collect()
        }
        Turn::User(_) | Turn::Assistant(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use selkie_domain::transcript::{Answer, Call};

    #[tokio::test]
    async fn the_newest_few_that_are_still_there_go_along() {
        let folder = tempfile::tempdir().unwrap();
        let at = |n: usize| folder.path().join(format!("{n}.png")).to_string_lossy().into_owned();
        let turn = |n: usize| {
            let call = Call { id: "c".into(), name: "read_file".into(), arguments: json!({}) };
            let picture = Picture { path: at(n), mime: "image/png".into() };
            let answer = Answer { pictures: vec![picture], ..Answer::words("c", "seen") };
            Turn::Calls { text: String::new(), calls: vec![(call, answer)], own: None }
        };
        let mut turns: Vec<Turn> = (0..9).chain([8]).map(turn).collect();
        // A person's picture counts like a tool's.
        let pictures = vec![Picture { path: at(7), mime: "image/png".into() }];
        turns[7] = Turn::Shown { text: "look".into(), pictures };
        (0..8).for_each(|n| std::fs::write(at(n), [n as u8]).unwrap());
        let loaded = load(&turns).await;
        let mut paths: Vec<_> = loaded.keys().cloned().collect();
        paths.sort();
        assert_eq!(paths, (3..8).map(at).collect::<Vec<_>>(), "8 is gone, 0 to 2 are too old");
        assert_eq!(&*loaded[&at(3)], "Aw==");
    }

    #[tokio::test]
    async fn no_request_grows_beyond_what_providers_take() {
        let folder = tempfile::tempdir().unwrap();
        let at = |n: usize| folder.path().join(format!("{n}.png")).to_string_lossy().into_owned();
        (0..5).for_each(|n| std::fs::write(at(n), vec![0; 5_000_000]).unwrap());
        let shown = |n| Turn::Shown {
            text: "look".into(),
            pictures: vec![Picture { path: at(n), mime: "image/png".into() }],
        };
        let loaded = load(&(0..5).map(shown).collect::<Vec<_>>()).await;
        let mut paths: Vec<_> = loaded.keys().cloned().collect();
        paths.sort();
        assert_eq!(paths, (2..5).map(at).collect::<Vec<_>>());
    }
}
