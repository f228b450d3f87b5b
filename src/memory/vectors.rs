//! What remembered lines mean, asked of a server of embeddings beside everything else: where it gives trouble, words are
//! searched alone.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use super::backoff::Backoff;
use super::pieces::meant;
use selkie_domain::clock::SharedClock;
use selkie_domain::vector::UnitVector;
use selkie_llm::{Embeddings, NotEmbedded};
use selkie_store::{
    BarePiece, Ledger, NearPiece, PieceVector, SoughtPieces, SoughtVector, StoreError,
};

/// So many lines go in one request.
const BATCH: usize = 32;
/// How long somebody who searches waits for what the question means.
const HURRY: Duration = Duration::from_secs(2);
/// The most bytes of a question that are sent.
const MAX_LENGTH: usize = 2_000;
/// So many texts in a row may be refused before the server is taken to refuse all of them.
const REFUSED: usize = 3;

/// What lines mean.
pub struct Vectors {
    server: Arc<dyn Embeddings>,
    ledger: Arc<dyn Ledger>,
    clock: SharedClock,
    /// Rung when there may be lines without a vector.
    bell: Notify,
    lines: Backoff,
    questions: Backoff,
}

/// Why no more lines are taken in now.
enum StopReason {
    Store(StoreError),
    Server(NotEmbedded),
}

impl Vectors {
    /// Asks this server; `ledger` keeps what it says.
    pub fn new(server: Arc<dyn Embeddings>, ledger: Arc<dyn Ledger>, clock: SharedClock) -> Self {
        Self {
            server,
            ledger,
            clock,
            bell: Notify::new(),
            lines: Backoff::default(),
            questions: Backoff::default(),
        }
    }

    /// Tells that there may be lines without a vector.
    pub fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits until there may be some.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }

    /// What keeps lines from being found by what they mean; nothing where all is well.
    pub fn trouble(&self) -> Option<String> {
        self.lines.why().or_else(|| self.questions.why())
    }

    /// Asks for the vectors of all lines that have none; returns when to go on where that does not go well.
    pub async fn take_in(&self) -> Option<DateTime<Utc>> {
        if !self.lines.is_over(self.clock.now()) {
            return self.lines.until();
        }
        match self.all().await {
            Ok(kept) => {
                if self.lines.went_well() {
                    tracing::info!("the embeddings server answers again");
                }
                if kept > 0 {
                    tracing::debug!(lines = kept, "memory can be searched by meaning");
                }
                return None;
            }
            Err(StopReason::Server(failed)) => self.tell(&self.lines, &failed),
            Err(StopReason::Store(error)) => {
                let why = format!("the store does not answer: {error}");
                let failed = NotEmbedded { why, retry_after: None, refuses_text: false };
                self.tell(&self.lines, &failed);
            }
        }
        self.lines.until()
    }

    /// Finds what is near to a question; nothing while the server gives trouble.
    pub(super) async fn near(
        &self,
        subjects: Vec<String>,
        question: &str,
        most: usize,
    ) -> Vec<NearPiece> {
        if !self.questions.is_over(self.clock.now()) {
            return Vec::new();
        }
        match self.found(subjects, question, most).await {
            Ok(found) => {
                self.questions.went_well();
                found
            }
            Err(StopReason::Server(failed)) => {
                self.tell(&self.questions, &failed);
                Vec::new()
            }
            Err(StopReason::Store(error)) => {
                tracing::warn!(%error, "memory is searched by keyword only");
                Vec::new()
            }
        }
    }

    async fn found(
        &self,
        subjects: Vec<String>,
        question: &str,
        most: usize,
    ) -> Result<Vec<NearPiece>, StopReason> {
        let model = self.server.model();
        // Nothing has to go out where there is nothing to compare it with.
        let Some(width) = self.ledger.vector_width(model).await? else { return Ok(Vec::new()) };
        let question = &question[..question.floor_char_boundary(MAX_LENGTH)];
        let mut vectors = self.server.embed(&[question.to_owned()], HURRY).await?;
        let Some(vector) = vectors.pop() else { return Ok(Vec::new()) };
        self.fits(&vector, Some(width))?;
        let sought = SoughtVector { subjects, model: model.to_owned(), vector, most };
        Ok(self.ledger.near_memory(sought).await?)
    }

    /// Goes through the lines without a vector, the newest first; returns how many have one now.
    async fn all(&self) -> Result<usize, StopReason> {
        let model = self.server.model();
        let mut width = self.ledger.vector_width(model).await?;
        let mut before = i64::MAX;
        let mut kept = 0;
        loop {
            let sought = SoughtPieces { model: model.to_owned(), before, most: BATCH };
            let pieces = self.ledger.pieces_without_vector(sought).await?;
            let Some(last) = pieces.last() else { return Ok(kept) };
            before = last.id;
            let vectors = self.of_pieces(&pieces).await?;
            for one in &vectors {
                width = Some(self.fits(&one.vector, width)?);
            }
            kept += self.ledger.keep_vectors(model, vectors).await?;
        }
    }

    /// Asks for all of a batch; where the server refuses it, for one after the other: one text may be at fault.
    async fn of_pieces(&self, pieces: &[BarePiece]) -> Result<Vec<PieceVector>, StopReason> {
        let texts: Vec<String> = pieces.iter().map(|p| meant(&p.section, &p.text)).collect();
        let refused = match self.server.embed(&texts, self.server.patience()).await {
            Ok(vectors) => {
                return Ok(pieces.iter().zip(vectors).map(|(p, v)| kept(p, v)).collect());
            }
            Err(failed) if failed.refuses_text => failed,
            Err(failed) => return Err(failed.into()),
        };
        let mut all = Vec::new();
        let mut in_a_row = 0;
        for (piece, text) in pieces.iter().zip(texts) {
            match self.server.embed(&[text], self.server.patience()).await {
                Ok(vectors) => {
                    in_a_row = 0;
                    all.extend(vectors.into_iter().map(|vector| kept(piece, vector)));
                }
                Err(failed) if failed.refuses_text => {
                    in_a_row += 1;
                    if all.is_empty() && in_a_row >= REFUSED.min(pieces.len()) {
                        return Err(refused.into());
                    }
                    tracing::warn!(
                        path = piece.path,
                        why = failed.why,
                        "a line can be found by keyword only"
                    );
                }
                Err(failed) => return Err(failed.into()),
            }
        }
        Ok(all)
    }

    /// Refuses a vector of another width than those that are kept; returns the width.
    fn fits(&self, vector: &UnitVector, width: Option<usize>) -> Result<usize, StopReason> {
        let model = self.server.model();
        let now = vector.width();
        match width.filter(|width| *width != now) {
            None => Ok(now),
            Some(before) => {
                let why = format!(
                    "its vectors of {model} have {now} numbers, and had {before} before: where it is another model, \
                     write another name in memory.embeddings.model"
                );
                Err(NotEmbedded { why, retry_after: None, refuses_text: false }.into())
            }
        }
    }

    fn tell(&self, backoff: &Backoff, failed: &NotEmbedded) {
        if backoff.failed(self.clock.now(), failed) {
            tracing::warn!(
                why = failed.why,
                "the embeddings server fails: memory is searched by keyword only, and the server is asked again later"
            );
        }
    }
}

impl From<StoreError> for StopReason {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<NotEmbedded> for StopReason {
    fn from(failed: NotEmbedded) -> Self {
        Self::Server(failed)
    }
}

fn kept(piece: &BarePiece, vector: UnitVector) -> PieceVector {
    PieceVector { path: piece.path.clone(), digest: piece.digest.clone(), vector }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use async_trait::async_trait;
    use chrono::TimeDelta;
    use selkie_channel_core::locked;

    use super::*;
    use crate::tests::{Home, ann, now};

    /// Answers by a script, then every text with the same vector.
    #[derive(Default)]
    struct Scripted {
        script: Mutex<VecDeque<Result<usize, NotEmbedded>>>,
        asked: Mutex<Vec<Vec<String>>>,
    }

    impl Scripted {
        fn next(&self, answers: Vec<Result<usize, NotEmbedded>>) {
            locked(&self.script).extend(answers);
        }

        fn asked(&self) -> Vec<usize> {
            std::mem::take(&mut *locked(&self.asked)).iter().map(Vec::len).collect()
        }
    }

    #[async_trait]
    impl Embeddings for Scripted {
        fn model(&self) -> &str {
            "m"
        }

        async fn embed(
            &self,
            texts: &[String],
            _: Duration,
        ) -> Result<Vec<UnitVector>, NotEmbedded> {
            locked(&self.asked).push(texts.to_vec());
            let width = locked(&self.script).pop_front().unwrap_or(Ok(2))?;
            Ok(texts.iter().map(|_| UnitVector::of(vec![1.0; width]).unwrap()).collect())
        }

        fn patience(&self) -> Duration {
            Duration::from_secs(1)
        }
    }

    fn away() -> NotEmbedded {
        NotEmbedded { why: "away".to_owned(), retry_after: None, refuses_text: false }
    }

    fn refused() -> NotEmbedded {
        NotEmbedded { refuses_text: true, why: "no".to_owned(), ..away() }
    }

    fn home() -> (Home, Arc<Scripted>) {
        let server = Arc::new(Scripted::default());
        (Home::with(Some(Arc::clone(&server) as _)), server)
    }

    fn later(home: &Home, seconds: i64) {
        home.clock.advance(TimeDelta::seconds(seconds));
    }

    #[tokio::test]
    async fn trouble_is_waited_out_and_words_go_on() {
        let (home, server) = home();
        home.write(&ann(), "I like tea").await;
        let vectors = home.book.vectors().unwrap();
        server.next(vec![Err(away())]);
        assert_eq!(vectors.take_in().await, Some(now() + TimeDelta::seconds(30)));
        assert_eq!(vectors.trouble().as_deref(), Some("away"));
        assert_eq!(vectors.take_in().await, Some(now() + TimeDelta::seconds(30)));
        assert_eq!(server.asked(), [1], "it is left alone until then");
        assert!(home.search(&ann(), "tea").await.text.contains("I like tea"));
        assert_eq!(server.asked(), [0; 0], "there is nothing to compare a question with");
        later(&home, 31);
        assert_eq!(vectors.take_in().await, None);
        assert_eq!((vectors.trouble(), server.asked()), (None, vec![1]));
        assert!(home.search(&ann(), "anything").await.text.contains("I like tea"));
    }

    #[tokio::test]
    async fn a_question_that_is_not_embedded_waits_apart_from_the_lines() {
        let (home, server) = home();
        home.write(&ann(), "I like tea").await;
        let vectors = home.book.vectors().unwrap();
        vectors.take_in().await;
        server.next(vec![Ok(3)]);
        assert!(!home.search(&ann(), "anything").await.text.contains("tea"));
        assert!(vectors.trouble().unwrap().contains("have 3 numbers, and had 2 before"));
        home.search(&ann(), "anything").await;
        home.write(&ann(), "I like cake").await;
        assert_eq!(vectors.take_in().await, None, "lines are taken in");
        assert_eq!(server.asked(), [1, 1, 1], "no second question is sent");
        later(&home, 31);
        assert!(home.search(&ann(), "anything").await.text.contains("cake"));
        assert_eq!(vectors.trouble(), None);
    }

    #[tokio::test]
    async fn a_line_that_is_refused_is_passed_over_and_a_server_that_refuses_all_is_trouble() {
        let (home, server) = home();
        for line in ["one", "two", "three", "four"] {
            home.write(&ann(), line).await;
        }
        let vectors = home.book.vectors().unwrap();
        server.next(vec![Err(refused()), Ok(2), Err(refused())]);
        assert_eq!(vectors.take_in().await, None);
        assert_eq!(server.asked(), [4, 1, 1, 1, 1]);
        server.next((0..9).map(|_| Err(refused())).collect());
        home.write(&ann(), "five").await;
        assert!(vectors.take_in().await.is_some());
        assert_eq!(server.asked(), [2, 1, 1], "both are refused");
    }

    #[tokio::test]
    async fn lines_go_in_batches() {
        let (home, server) = home();
        let lines: String = (0..70).map(|n| format!("- line {n}\n")).collect();
        home.put("memory/tg.1/MEMORY.md", &lines);
        home.book.follow().await;
        assert_eq!(home.book.vectors().unwrap().take_in().await, None);
        assert_eq!(server.asked(), [32, 32, 6]);
        assert_eq!(home.book.vectors().unwrap().take_in().await, None);
        assert_eq!(server.asked(), [0; 0], "all of them have one");
    }
}
