//! Decisions about calls: taps, words and the machine's own owner, each carried out once.

use std::sync::Arc;

use selkie_channel_core::{Audience, ConversationId, Inbound, What};

use crate::delivery::approvals;
use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::guesses::{self, Guess};
use crate::intake::{messages, under};
use crate::work::rights::Rights;
use crate::work::worker::Workers;
use selkie_domain::approval::{ApprovalState, Approvers, Verdict};
use selkie_domain::command_line;
use selkie_domain::crash::CrashPoint;
use selkie_domain::ids::InboxId;
use selkie_store::{ApprovalRow, AskedPerson, CommandEffect, Decision, DecisionResult};

/// What who answers half a request reads.
const NOT_WHOLE: &str =
    "Not all of this request could be shown here, so it cannot be decided here.";

/// Carries out decisions.
pub struct Decisions {
    pub context: Context,
    pub outbox: Arc<Outbox>,
    pub workers: Arc<Workers>,
    pub rights: Arc<Rights>,
}

impl Decisions {
    /// Carries out a tap on a request; returns what the person reads, `None` when that was done before.
    pub async fn tap(
        &self,
        row: InboxId,
        inbound: &Inbound,
        approval: ApprovalRow,
        choice: &str,
    ) -> Option<String> {
        match Verdict::parse(choice) {
            Some(verdict) => self.by_person(row, inbound, approval, verdict).await,
            None => {
                self.nothing(row).await?;
                Some(under::NOT_HERE.to_owned())
            }
        }
    }

    /// Carries out words that were taken for a decision when they were stored; `false` when they are none.
    pub async fn words(&self, row: InboxId, inbound: &Inbound) -> bool {
        let storage = &self.context.storage;
        let coded = Verdict::with_code(&inbound.text).is_some();
        if coded && guesses::are_too_many(&self.context, inbound).await {
            self.nothing_waits(row, inbound).await;
            return true;
        }
        let Some(found) = storage.insist(|ledger| ledger.approval_meant(inbound)).await else {
            return true;
        };
        let verdict = Verdict::with_code(&inbound.text).map(|(verdict, _)| verdict);
        let verdict = verdict.or_else(|| Verdict::of_reply(&inbound.text));
        let (Some(approval), Some(verdict)) = (found, verdict) else { return false };
        let key = approval.key.clone();
        let text = self.by_person(row, inbound, approval, verdict).await;
        let text = text.filter(|text| !text.is_empty());
        if let Some(draft) = text.and_then(|text| self.outbox.draft_to(inbound, &text)) {
            self.outbox.say_once(&format!("approval:{key}:row:{row}"), draft).await;
        }
        true
    }

    /// Decides at the machine itself: whoever may use its socket owns it.
    pub async fn at_machine(&self, approval: ApprovalRow, verdict: Verdict) -> String {
        let name = "the command line".to_owned();
        let decision =
            Decision { row: None, key: Some(approval.key.clone()), verdict, by: None, name };
        self.carry_out(decision, approval, None).await.unwrap_or_default()
    }

    /// Decides in the words of who sits at the terminal that was asked; `false` when nobody was asked there.
    pub async fn at_terminal(&self, approval: ApprovalRow, verdict: Verdict) -> bool {
        let (account, person) = (command_line::account(), command_line::person());
        if approval.request.of != Approvers::Terminal {
            return false;
        }
        let (key, name) = (Some(approval.key.clone()), "whoever sits at the terminal".to_owned());
        let by = Some((account, person));
        let decision = Decision { row: None, key, verdict, by, name };
        self.carry_out(decision, approval, None).await.is_some()
    }

    async fn by_person(
        &self,
        row: InboxId,
        inbound: &Inbound,
        approval: ApprovalRow,
        verdict: Verdict,
    ) -> Option<String> {
        if !self.may_decide(inbound, &approval) {
            self.nothing(row).await?;
            return Some("This request is for somebody else.".to_owned());
        }
        for said in theirs(inbound, &approval).map(|one| one.outbound).collect::<Vec<_>>() {
            if !under::fits(&self.context, inbound, said).await? {
                self.nothing(row).await?;
                return Some(under::NOT_HERE.to_owned());
            }
        }
        if approval.state == ApprovalState::Open && !theirs(inbound, &approval).any(|one| one.whole)
        {
            self.nothing(row).await?;
            return Some(NOT_WHOLE.to_owned());
        }
        let name = match inbound.speaker.name.trim() {
            "" => inbound.speaker.id.to_string(),
            name => name.to_owned(),
        };
        let by = Some((inbound.conversation.account().clone(), inbound.speaker.id.clone()));
        let decision =
            Decision { row: Some(row), key: Some(approval.key.clone()), verdict, by, name };
        self.carry_out(decision, approval, Some(inbound)).await
    }

    /// Whether somebody was asked, answers in private, and is still one who can decide.
    fn may_decide(&self, inbound: &Inbound, approval: &ApprovalRow) -> bool {
        let person = &inbound.speaker.id;
        let asked = approval
            .asked
            .iter()
            .any(|one| one.person.id == *person && is_account(&one.conversation, inbound));
        let still = match approval.request.of {
            Approvers::Owners => self.rights.owners.contains(person),
            // A terminal is answered there.
            Approvers::Terminal | Approvers::Nobody => false,
        };
        let own = !inbound.forwarded && inbound.aside.is_nothing();
        asked && still && own && inbound.audience == Audience::Direct
    }

    /// Answers words that would decide, and decide nothing: nothing waits under that code.
    pub async fn nothing_waits(&self, row: InboxId, inbound: &Inbound) {
        let storage = &self.context.storage;
        let text = self.nothing_told(inbound).await;
        let draft = text.and_then(|text| self.outbox.draft_to(inbound, &text));
        let effect = CommandEffect::Say(draft.clone());
        match storage.insist(|ledger| ledger.command(row, effect.clone())).await {
            Some(Some(done)) => done.queued.into_iter().for_each(|queued| self.outbox.send(queued)),
            // It was taken for a decision when it was stored.
            _ if self.nothing(row).await.is_some() => {
                if let Some(draft) = draft {
                    self.outbox.say_once(&format!("approval:none:row:{row}"), draft).await;
                }
            }
            _ => {}
        }
    }

    /// What the sender of a word without a request reads; nothing, after too many wrong codes.
    async fn nothing_told(&self, inbound: &Inbound) -> Option<String> {
        if inbound.text.split_whitespace().nth(1).is_some() {
            match guesses::wrong(&self.context, inbound).await {
                Guess::Answered => {}
                Guess::LastWord => return Some(messages::TOO_MANY_CODES.to_owned()),
                Guess::Silent => return None,
            }
        }
        let storage = &self.context.storage;
        let open = storage.insist(|ledger| ledger.approvals(None)).await.unwrap_or_default();
        let open = open.into_iter().filter(|approval| self.may_decide(inbound, approval));
        Some(messages::no_such_request(&inbound.text, &open.collect::<Vec<_>>()))
    }

    async fn nothing(&self, row: InboxId) -> Option<DecisionResult> {
        let (verdict, name) = (Verdict::Deny, String::new());
        let decision = Decision { row: Some(row), key: None, verdict, by: None, name };
        let storage = &self.context.storage;
        storage.insist(|ledger| ledger.decide(decision.clone())).await?
    }

    /// Says what came of it, in a line; `None` when its row was carried out before.
    async fn carry_out(
        &self,
        decision: Decision,
        approval: ApprovalRow,
        by: Option<&Inbound>,
    ) -> Option<String> {
        let storage = &self.context.storage;
        self.context.runtime.crash.hit(CrashPoint::BeforeAnswer);
        let mut decided = storage.insist(|ledger| ledger.decide(decision.clone())).await??;
        self.context.runtime.crash.hit(CrashPoint::AfterAnswer);
        self.outbox.decided.notify_waiters();
        if decision.verdict == Verdict::Unmute {
            return Some(messages::unmuted(decided.done));
        }
        if let Some(lane) = decided.ready.take() {
            self.workers.ready(vec![lane], None);
        }
        let now = storage.insist(|ledger| ledger.approval(&approval.key)).await.flatten();
        let mut now = now.unwrap_or(approval);
        if let Some(inbound) = by {
            stands_where_it_was_tapped(&mut now, inbound);
        }
        if decided.done {
            approvals::close(&self.outbox, &now).await;
            // A right to answer that was brought where the task speaks belongs to what it says next.
            let goes_on =
                |by: &Inbound| by.reply_window.is_some() && by.conversation == now.conversation;
            let is_told_soon = by.is_some_and(goes_on);
            return Some(if is_told_soon { String::new() } else { approvals::outcome(&now) });
        }
        Some(match now.state {
            // Its time is over, and its task has not woken yet.
            ApprovalState::Open => "This request has expired.".to_owned(),
            _ => format!("Already decided: {}", approvals::outcome(&now)),
        })
    }
}

fn theirs<'a>(
    inbound: &'a Inbound,
    approval: &'a ApprovalRow,
) -> impl Iterator<Item = &'a AskedPerson> {
    let person = &inbound.speaker.id;
    let asked = approval.asked.iter();
    asked.filter(move |one| one.person.id == *person && is_account(&one.conversation, inbound))
}

/// A platform may know a private conversation by another id than the person's: the message is where it was
/// tapped.
fn stands_where_it_was_tapped(approval: &mut ApprovalRow, inbound: &Inbound) {
    for one in &mut approval.asked {
        if one.person.id == inbound.speaker.id && is_account(&one.conversation, inbound) {
            one.conversation = inbound.conversation.clone();
            if matches!(inbound.what, What::Tap { .. }) {
                one.message = inbound.message.clone().or(one.message.take());
            }
        }
    }
}

fn is_account(conversation: &ConversationId, inbound: &Inbound) -> bool {
    conversation.account() == inbound.conversation.account()
}
