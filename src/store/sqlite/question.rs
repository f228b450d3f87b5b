//! Questions to people: the verbs of [`Questions`].

use async_trait::async_trait;
use rusqlite::Connection;
use selkie_channel_core::AccountId;

use super::writer::Class;
use super::{Sqlite, questions};
use crate::domain::ids::InboxId;
use crate::store::{QuestionRow, Questions, Result, TapDone, TapEffect};

#[async_trait]
impl Questions for Sqlite {
    async fn question(&self, account: &AccountId, key: &str) -> Result<Option<QuestionRow>> {
        let (account, key) = (account.clone(), key.to_owned());
        let verb = move |conn: &Connection| questions::by_key(conn, account.as_str(), &key);
        let raw = self.writer.run(Class::Relaxed, 0, verb).await?;
        raw.map(questions::RawQuestion::read).transpose()
    }

    async fn question_of(&self, row: InboxId) -> Result<Option<QuestionRow>> {
        let verb = move |conn: &Connection| questions::of_row(conn, row.0);
        let raw = self.writer.run(Class::Relaxed, 0, verb).await?;
        raw.map(questions::RawQuestion::read).transpose()
    }

    async fn answer(&self, row: InboxId, effect: TapEffect) -> Result<Option<TapDone>> {
        let (effect, now) = (questions::Effect::new(effect)?, self.clock.now());
        let bytes = effect.bytes();
        let verb = move |conn: &Connection| questions::carry_out(conn, row.0, effect, now);
        self.writer.run(Class::Durable, bytes, verb).await
    }
}
