//! Presses of buttons and answers in words: what a stored row does to its question, carried out once.

use std::sync::Arc;

use selkie_channel_core::{Audience, Body, Inbound, Outbound, PersonId, What};
use tokio::sync::Mutex;

use crate::delivery::account::Account;
use crate::delivery::context::Context;
use crate::delivery::deferred;
use crate::delivery::outbox::Outbox;
use crate::delivery::questions;
use crate::delivery::rendered::rendered;
use crate::intake::decide::Decisions;
use crate::intake::let_in;
use crate::intake::policy::{self, Rules};
use crate::intake::reminders::{Reminders, TapOutcome};
use crate::intake::{messages, under};
use crate::work::limits::Limits;
use crate::work::worker::Workers;
use selkie_domain::crash::CrashPoint;
use selkie_domain::ids::InboxId;
use selkie_domain::question::{QuestionResult, QuestionState};
use selkie_domain::reminder::ReminderId;
use selkie_store::{Arrival, Disposition, QuestionRow, ReminderRow, TapDone, TapEffect};

/// Carries out rows of taps and answers.
pub struct ButtonPresses {
    context: Context,
    outbox: Arc<Outbox>,
    workers: Arc<Workers>,
    limits: Arc<Limits>,
    rules: Arc<Rules>,
    /// Carries out decisions about approvals.
    pub decisions: Decisions,
    reminders: Arc<Reminders>,
    /// One at a time: two quick taps on one question are judged one after the other.
    turn: Mutex<()>,
}

/// What a tap comes to.
#[derive(Debug, PartialEq, Eq)]
enum Judgement {
    /// Nothing; the person reads why.
    Tell(String),
    /// These are picked now.
    Pick(Vec<String>),
    /// The question is answered.
    Answer(QuestionResult),
}

impl ButtonPresses {
    pub(crate) fn new(
        context: &Context,
        outbox: &Arc<Outbox>,
        workers: &Arc<Workers>,
        limits: &Arc<Limits>,
        rules: &Arc<Rules>,
        reminders: &Arc<Reminders>,
    ) -> Self {
        Self {
            reminders: Arc::clone(reminders),
            context: context.clone(),
            outbox: Arc::clone(outbox),
            workers: Arc::clone(workers),
            limits: Arc::clone(limits),
            rules: Arc::clone(rules),
            decisions: Decisions {
                context: context.clone(),
                outbox: Arc::clone(outbox),
                workers: Arc::clone(workers),
                rights: Arc::clone(&rules.rights),
            },
            turn: Mutex::default(),
        }
    }

    /// Carries out one row.
    pub async fn one(&self, row: InboxId, inbound: &Inbound) {
        let Some(account) = self.context.accounts.of(&inbound.conversation) else { return };
        let What::Tap { question, choice, handle } = &inbound.what else {
            return self.words(row, inbound, &account).await;
        };
        if let Some(reached) = self.limits.stops_command(inbound).await {
            let done = self.carry_out(row, TapEffect::Nothing).await;
            if let (Some(_), Some(line)) = (done, self.limits.tap_told(&reached)) {
                self.answer_tap(&account, inbound, handle, line).await;
            }
            return;
        }
        if let Some(text) = self.tap(row, inbound, question, choice).await {
            self.answer_tap(&account, inbound, handle, &text).await;
        }
    }

    /// Presence: worthless after seconds, so whatever comes of it there is nothing to do.
    async fn answer_tap(&self, account: &Account, inbound: &Inbound, handle: &str, text: &str) {
        let body = Body::TapAnswer { handle: handle.to_owned(), text: text.to_owned() };
        let outbound = Outbound::new(inbound.conversation.clone(), body);
        for part in rendered(&account.channel, &outbound, &self.context.runtime.redactor) {
            drop(account.channel.sender.deliver(&part).await);
        }
    }

    /// Judges a tap and carries it out; returns what the person reads, `None` when that was done before.
    async fn tap(
        &self,
        row: InboxId,
        inbound: &Inbound,
        key: &str,
        choice: &str,
    ) -> Option<String> {
        let _turn = self.turn.lock().await;
        let outbox = &self.outbox;
        let held =
            self.context.storage.insist(|_| deferred::tap(outbox, row, inbound, key)).await?;
        if held.is_some() {
            return held;
        }
        if let Some(code) = let_in::code(key) {
            return self.let_in(row, inbound, &code, choice).await;
        }
        if let Some(id) = ReminderId::parse(key)
            && let Some(found) = self.context.storage.insist(|ledger| ledger.reminder(id)).await?
        {
            return self.reminder(row, inbound, &found, choice).await;
        }
        let found = self
            .context
            .storage
            .insist(|ledger| ledger.question(inbound.conversation.account(), key))
            .await?;
        if found.is_none()
            && let Some(approval) =
                self.context.storage.insist(|ledger| ledger.approval(key)).await?
        {
            return self.decisions.tap(row, inbound, approval, choice).await;
        }
        if let Some(question) = &found
            && !under::fits(&self.context, inbound, question.outbound).await?
        {
            self.carry_out(row, TapEffect::Nothing).await?;
            return Some(unknown());
        }
        // The tapped message is where the buttons are.
        let found = found.map(|question| QuestionRow {
            message: inbound.message.clone().or(question.message.clone()),
            ..question
        });
        let (effect, text) = match (judge(found.as_ref(), &inbound.speaker.id, choice), found) {
            (Judgement::Tell(why), _) => (TapEffect::Nothing, why),
            (_, None) => (TapEffect::Nothing, unknown()),
            (Judgement::Pick(to), Some(question)) => {
                let revision = questions::with_picked(outbox, &question, &to);
                let QuestionRow { key, picked: from, .. } = question;
                (TapEffect::Pick { key, from, to, revision }, String::new())
            }
            (Judgement::Answer(given), Some(question)) => {
                let line = questions::outcome(&question.ask, Some(&given));
                let revision =
                    questions::with_outcome(outbox, &question, &line, name(inbound).as_deref());
                // The message itself shows it, where it can be changed; and a right to answer that the
                // tap brought belongs to the answer.
                let shown = revision.is_some() || inbound.reply_window.is_some();
                let text = if shown { String::new() } else { line };
                let key = question.key;
                (TapEffect::Answer { key, given, revision, otherwise: None }, text)
            }
        };
        let idle = matches!(effect, TapEffect::Nothing);
        let done = self.carry_out(row, effect).await?;
        Some(if idle || done.done { text } else { "Please tap once more.".to_owned() })
    }

    /// A tap on the question whether somebody is let in: an owner's, in private.
    async fn let_in(
        &self,
        row: InboxId,
        inbound: &Inbound,
        code: &str,
        choice: &str,
    ) -> Option<String> {
        let is_owner = self.rules.rights.owners.contains(&inbound.speaker.id);
        let text = match is_owner && inbound.audience == Audience::Direct {
            true => {
                let Self { context, outbox, .. } = self;
                let settle = |_: &_| let_in::tap(context, outbox, inbound, code, choice);
                context.storage.insist(settle).await?
            }
            false => unknown(),
        };
        self.carry_out(row, TapEffect::Nothing).await?;
        Some(text)
    }

    /// A tap on a reminder.
    async fn reminder(
        &self,
        row: InboxId,
        inbound: &Inbound,
        found: &ReminderRow,
        choice: &str,
    ) -> Option<String> {
        let account = self.context.accounts.of(&inbound.conversation)?;
        let refused = match found.said {
            Some(said) if !under::fits(&self.context, inbound, said).await? => Some(unknown()),
            _ if self.rules.of(&account, |policy| policy.principal(inbound)).is_none() => {
                Some(messages::later::NOT_ON_THE_LIST.to_owned())
            }
            _ => None,
        };
        if refused.is_some() {
            self.carry_out(row, TapEffect::Nothing).await?;
            return refused;
        }
        let tap = |_: &_| self.reminders.tap(row, inbound, found.clone(), choice);
        match self.context.storage.insist(tap).await? {
            TapOutcome::Done(text) => Some(text),
            TapOutcome::Idle(text) => {
                self.carry_out(row, TapEffect::Nothing).await?;
                Some(text)
            }
            TapOutcome::Repeated => None,
        }
    }

    /// A message that was taken for an answer when it was stored.
    async fn words(&self, row: InboxId, inbound: &Inbound, account: &Account) {
        let _turn = self.turn.lock().await;
        let outbox = &self.outbox;
        let Some(found) = self.context.storage.insist(|ledger| ledger.question_of(row)).await
        else {
            return;
        };
        if found.is_none() && self.decisions.words(row, inbound).await {
            return;
        }
        let disposition = self.rules.of(account, |p| policy::dispose(inbound, p));
        let only_decides = matches!(disposition, Disposition::Command);
        let otherwise = Some(Box::new(Arrival::new(inbound.clone(), disposition)));
        // What somebody else has written answers nothing.
        let own = found.as_ref().filter(|_| !inbound.forwarded);
        let given = own.and_then(|question| question.ask.read(&inbound.text));
        let (Some(question), Some(given)) = (found, given) else {
            if only_decides {
                return self.decisions.nothing_waits(row, inbound).await;
            }
            // No such question: the message is what it would have been without it.
            let (key, given, revision) = (String::new(), QuestionResult::Expired, None);
            self.carry_out(row, TapEffect::Answer { key, given, revision, otherwise }).await;
            return;
        };
        let line = questions::outcome(&question.ask, Some(&given));
        let by = name(inbound);
        let revision = questions::with_outcome(outbox, &question, &line, by.as_deref());
        let key = question.key.clone();
        let effect = TapEffect::Answer { key, given, revision, otherwise };
        let done = self.carry_out(row, effect).await;
        if done.is_some_and(|done| done.done) && question.message.is_none() {
            questions::close(outbox, question, &line, by.as_deref()).await;
        }
    }

    /// Answers a question with what was typed at the command line; `false` when it is not open any more.
    pub async fn typed(&self, question: &QuestionRow, given: &QuestionResult) -> bool {
        let _turn = self.turn.lock().await;
        self.context.runtime.crash.hit(CrashPoint::BeforeAnswer);
        let done = self
            .context
            .storage
            .insist(|ledger| ledger.answer_typed(question, given.clone()))
            .await;
        self.context.runtime.crash.hit(CrashPoint::AfterAnswer);
        let Some(TapDone { done, ready, .. }) = done else { return false };
        self.workers.ready(ready.into_iter().collect(), None);
        done
    }

    async fn carry_out(&self, row: InboxId, effect: TapEffect) -> Option<TapDone> {
        let outbox = &self.outbox;
        self.context.runtime.crash.hit(CrashPoint::BeforeAnswer);
        let mut done =
            self.context.storage.insist(|ledger| ledger.answer(row, effect.clone())).await??;
        self.context.runtime.crash.hit(CrashPoint::AfterAnswer);
        if let Some(queued) = done.queued.take() {
            outbox.send(queued);
        }
        if let Some(lane) = done.ready.take() {
            self.workers.ready(vec![lane], None);
        }
        Some(done)
    }
}

/// Judges a tap. Pure.
fn judge(found: Option<&QuestionRow>, by: &PersonId, choice: &str) -> Judgement {
    let Some(question) = found else { return Judgement::Tell(unknown()) };
    if question.state != QuestionState::Open {
        return Judgement::Tell(closed(question));
    }
    if question.person.id != *by {
        let name = question.person.name.trim();
        // An id is no name that anybody knows.
        let whom = if name.is_empty() { "somebody else" } else { name };
        return Judgement::Tell(format!("This question is for {whom}."));
    }
    let picked =
        |ids: &[String]| Judgement::Answer(QuestionResult::Chosen { choices: ids.to_vec() });
    if question.ask.many && choice == questions::DONE {
        return match question.picked.is_empty() {
            true => Judgement::Tell("Choose at least one first.".to_owned()),
            false => picked(&question.picked),
        };
    }
    if !question.ask.choices.iter().any(|c| c.id == choice) {
        return Judgement::Tell(unknown());
    }
    match question.ask.many {
        false => picked(&[choice.to_owned()]),
        true => Judgement::Pick(toggled(question, choice)),
    }
}

/// Picks a choice or lets it go; in the question's order.
fn toggled(question: &QuestionRow, choice: &str) -> Vec<String> {
    let ids = question.ask.choices.iter().map(|c| &c.id);
    ids.filter(|id| question.picked.contains(id) != (*id == choice)).cloned().collect()
}

fn unknown() -> String {
    under::NOT_HERE.to_owned()
}

fn closed(question: &QuestionRow) -> String {
    match (question.state, &question.given) {
        (QuestionState::Expired, _) => "This question has expired.".to_owned(),
        (QuestionState::Answered, Some(given)) => {
            format!("Already answered: {}", question.ask.says(given))
        }
        _ => "This question was withdrawn.".to_owned(),
    }
}

/// Who answered, where several speak and the name is known.
fn name(inbound: &Inbound) -> Option<String> {
    let name = inbound.speaker.name.trim();
    (inbound.audience == Audience::Group && !name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use selkie_channel_core::Choice;

    use super::*;
    use crate::flow::testing;
    use selkie_domain::ids::{OutboundId, TaskId};
    use selkie_domain::question::{Ask, Person};
    use selkie_domain::span::Span;

    fn question(many: bool) -> QuestionRow {
        let choice = |(id, label): (&str, &str)| Choice {
            id: id.to_owned(),
            label: label.to_owned(),
            description: String::new(),
        };
        QuestionRow {
            key: "q1".to_owned(),
            conversation: testing::message("tg:1", "").conversation,
            task: TaskId(1),
            person: Person { id: PersonId::new("tg:1"), name: "Ada".to_owned() },
            ask: Ask {
                v: Ask::VERSION,
                markdown: "Tea or coffee?".to_owned(),
                choices: [("1", "Tea"), ("2", "Coffee")].map(choice).to_vec(),
                many,
                free_text: false,
                placeholder: String::new(),
                within: Span::seconds(60),
            },
            state: QuestionState::Open,
            picked: Vec::new(),
            given: None,
            outbound: OutboundId(1),
            message: None,
            expires_at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn every_tap_is_judged() {
        let (one, many) = (question(false), question(true));
        let picked = QuestionRow { picked: vec!["2".to_owned()], ..question(true) };
        let given = Some(QuestionResult::Chosen { choices: vec!["1".to_owned()] });
        let answered = QuestionRow { state: QuestionState::Answered, given, ..question(false) };
        let expired = QuestionRow { state: QuestionState::Expired, ..question(false) };
        let stopped = QuestionRow { state: QuestionState::Withdrawn, ..question(false) };
        let tap = |question: &QuestionRow, by: &str, choice: &str| {
            format!("{:?}", judge(Some(question), &PersonId::new(by), choice))
        };
        let said = [
            tap(&one, "tg:1", "1"),
            tap(&one, "tg:2", "1"),
            tap(&one, "tg:1", "9"),
            tap(&answered, "tg:1", "2"),
            tap(&expired, "tg:1", "2"),
            tap(&stopped, "tg:1", "2"),
            tap(&many, "tg:1", "2"),
            tap(&many, "tg:1", "done"),
            tap(&picked, "tg:1", "1"),
            tap(&picked, "tg:1", "2"),
            tap(&picked, "tg:1", "done"),
            format!("{:?}", judge(None, &PersonId::new("tg:1"), "1")),
        ];
        insta::assert_snapshot!(said.join("\n"), @r#"
        Answer(Chosen { choices: ["1"] })
        Tell("This question is for Ada.")
        Tell("This button no longer works.")
        Tell("Already answered: Tea")
        Tell("This question has expired.")
        Tell("This question was withdrawn.")
        Pick(["2"])
        Tell("Choose at least one first.")
        Pick(["1", "2"])
        Pick([])
        Answer(Chosen { choices: ["2"] })
        Tell("This button no longer works.")
        "#);
    }
}
