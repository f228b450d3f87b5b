//! The pictures of an answer become files of the place that it is written in.

use super::Drive;
use crate::{PICTURES, messages};
use selkie_domain::answer_picture::AnswerPicture;
use selkie_llm::Reply;
use selkie_tools::paths::{Finder, Roots, refused};

impl Drive<'_> {
    /// Keeps the pictures of an answer, under names made of their bytes: what is kept again after a death is kept once.
    /// Where one cannot be kept the words say so.
    pub(super) async fn keep_pictures(&mut self, reply: &mut Reply) {
        let pictures = std::mem::take(&mut reply.pictures);
        if pictures.is_empty() {
            return;
        }
        let roots = (self.task.scope)(&self.facts, "").roots;
        let kept = tokio::task::spawn_blocking(move || {
            pictures.iter().map(|picture| keep(&roots, picture)).collect::<Result<Vec<_>, _>>()
        });
        match kept.await.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(names) => self.run.drew(names),
            Err(why) => {
                tracing::warn!(why, "a picture of the model cannot be kept");
                let said = format!("{}\n\n{}", reply.text, messages::PICTURE_NOT_KEPT);
                said.trim_start().clone_into(&mut reply.text);
            }
        }
    }
}

/// Writes one; returns its name.
fn keep(roots: &Roots, picture: &AnswerPicture) -> Result<String, String> {
    let finder = Finder { tool: "a picture of the model", roots, deny: &[] };
    let name = picture.name();
    let path = format!("file_cache_dir/{PICTURES}/{name}");
    let file = finder.writable(&path).map_err(|error| error.to_string())?;
    file.replace(picture.bytes()).map_err(|error| refused(&path, &error).to_string())?;
    Ok(name)
}
