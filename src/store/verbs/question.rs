//! Questions to people: the verbs of [`Questions`].

use async_trait::async_trait;
use selkie_channel_core::AccountId;

use super::answers::{self, Effect};
use super::asking::{self, Answer};
use super::questions::{self, RawQuestion};
use super::rows::json;
use super::{lanes, locks};
use crate::error::Result;
use crate::question::{QuestionRow, Questions, TapDone, TapEffect};
use crate::sql::{Plan, SqlLedger};
use selkie_domain::ids::InboxId;
use selkie_domain::question::QuestionResult;

#[async_trait]
impl Questions for SqlLedger {
    async fn question(&self, account: &AccountId, key: &str) -> Result<Option<QuestionRow>> {
        let account = account.clone();
        let key = key.to_owned();
        let found = self.write(Plan::RELAXED.after(account.as_str()), move |tx| {
            questions::by_key(tx, account.as_str(), &key)
        });
        found.await?.map(RawQuestion::read).transpose()
    }

    async fn question_of(&self, row: InboxId) -> Result<Option<QuestionRow>> {
        let found = self.write(Plan::RELAXED, move |tx| questions::of_row(tx, row.0));
        found.await?.map(RawQuestion::read).transpose()
    }

    async fn answer(&self, row: InboxId, effect: TapEffect) -> Result<Option<TapDone>> {
        let effect = Effect::new(effect)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(effect.bytes()).after(&row.0);
        self.write(plan, move |tx| answers::carry_out(tx, row.0, &effect, now)).await
    }

    async fn answer_typed(&self, question: &QuestionRow, given: QuestionResult) -> Result<TapDone> {
        let QuestionRow { conversation, key, .. } = question.clone();
        let given = json(&given)?;
        let now = self.now();
        let plan = Plan::DURABLE.bytes(given.len()).after(&key);
        self.write(plan, move |tx| {
            locks::named(tx, [&conversation])?;
            let account = conversation.account().as_str();
            let answer = Answer { account, key: &key, given: &given, inbox: None };
            let Some(lane) = asking::settle(tx, answer, now)? else {
                return Ok(TapDone::default());
            };
            Ok(TapDone { done: true, queued: None, ready: lanes::ready_name(tx, lane, now)? })
        })
        .await
    }
}
