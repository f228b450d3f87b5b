//! The pictures of an answer become files of the place that it is written in.

use super::Drive;
use crate::messages;
use selkie_llm::Reply;
use selkie_tools::keep_picture;

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
            pictures
                .iter()
                .map(|picture| keep_picture(&roots, picture))
                .collect::<Result<Vec<_>, _>>()
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
