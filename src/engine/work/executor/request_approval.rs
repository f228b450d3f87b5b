//! A run that waits for somebody's approval: who is asked, where, and the park itself.

use chrono::{DateTime, Utc};
use selkie_channel_core::{Audience, Body, ConversationId, Outbound, PersonId, Question};

use crate::delivery::approval_at_terminal;
use crate::delivery::approvals::{self, About};
use crate::delivery::context::Context;
use crate::delivery::deferred;
use crate::delivery::moments::after;
use crate::delivery::progress::asked_for_approval;
use crate::work::executor::addressee::person;
use crate::work::executor::next_step::ParkOutcome;
use crate::work::executor::{TaskContext, TaskExecutor};

use selkie_agent::{Seeks, prompt};
use selkie_domain::approval::{ApprovalState, Approvers, Request, Verdict, too_long};
use selkie_domain::command_line;
use selkie_domain::facts::Trigger;
use selkie_domain::question::Person;
use selkie_domain::span::Span;
use selkie_domain::task::ParkedOn;
use selkie_store::{Advance, ApprovalRequest, ApprovalRow, Draft, TaskClaim};

impl TaskExecutor {
    /// Parks a task on the approval that its call needs: request, messages and end of the claim in one.
    pub(super) async fn request_approval(
        &self,
        claimed: &TaskClaim,
        seeks: Seeks,
        run: &TaskContext<'_>,
    ) -> ParkOutcome {
        let Seeks { key, request, append, header, usage } = seeks;
        let request = Request { place: place(claimed), ..request };
        let now = self.context.runtime.now();
        let ApprovalWindow { until: expires_at, within } = self.approval_window(claimed, run, now);
        let requester = person(claimed);
        let mutes = self.mute_choices(claimed);
        let about =
            About { key: &key, requester: requester.as_ref(), within: within.in_words(), mutes };
        let asked = self.draft_requests(claimed, &about, &request).await;
        let unasked = request.is_long().then(too_long);
        let line = self.notice_here(claimed, &request);
        // Where nobody is asked the task goes on at once, and is told so.
        let wake_at = Some(if asked.is_empty() { now } else { expires_at });
        let hand_over = run.hand_over && !self.context.runtime.is_draining();
        let on = ParkedOn::Approval { key: key.clone() };
        let seek =
            Some(Box::new(ApprovalRequest { key, request, requester, asked, unasked, expires_at }));
        self.limits.used(claimed, usage);
        let park =
            Advance::Park { append, header, on, ask: None, seek, wake_at, usage, hand_over, now };
        let mut parked = self.commit_park(claimed, park, wake_at).await;
        if let (ParkOutcome::Parked(next_step), Some(line)) = (&mut parked, line)
            && next_step.has_asked
        {
            next_step.is_announced = true;
            self.kept.waits(claimed.claim.task, line);
        }
        parked
    }

    /// Whom owners can mute with a request: nobody where it is their own.
    pub(super) fn mute_choices(&self, claimed: &TaskClaim) -> &'static [Verdict] {
        let is_group = claimed.facts.audience() == Audience::Group;
        match &claimed.facts.speaker {
            Some(person) if self.rights.owners.contains(person) => &[],
            Some(_) if is_group => &[Verdict::Mute, Verdict::MuteGroup],
            Some(_) => &[Verdict::Mute],
            None if is_group => &[Verdict::MuteGroup],
            None => &[],
        }
    }

    /// How long a request stays open: what a time of a schedule asks for until it would be too late for that time, and at
    /// least as long as what somebody has just asked for.
    fn approval_window(
        &self,
        claimed: &TaskClaim,
        run: &TaskContext<'_>,
        now: DateTime<Utc>,
    ) -> ApprovalWindow {
        let settings = &self.settings.now().approvals;
        let within = |within: Span| ApprovalWindow { until: after(now, within), within };
        match (claimed.facts.trigger, run.bounds.asks_until) {
            (Trigger::Asked, _) => within(settings.timeout),
            (_, None) => within(settings.unattended_timeout),
            (_, Some(until)) if until < after(now, settings.timeout) => within(settings.timeout),
            (_, Some(until)) => {
                // A second less than two hours is read as two hours.
                let minutes = (until - now).num_seconds().unsigned_abs().div_ceil(60);
                ApprovalWindow { until, within: Span::seconds(minutes * 60) }
            }
        }
    }

    /// What those are told who have asked, when somebody is asked elsewhere.
    pub(super) fn notice_here(&self, claimed: &TaskClaim, request: &Request) -> Option<String> {
        let TaskClaim { facts, .. } = claimed;
        let owners = &self.rights.owners;
        let is_owner = facts.speaker.as_ref().is_some_and(|person| owners.contains(person));
        let reads_it_here = is_owner && facts.audience() == Audience::Direct;
        let tells = request.of == Approvers::Owners && facts.trigger == Trigger::Asked;
        (tells && !reads_it_here).then(|| asked_for_approval(&request.words))
    }

    /// Shows what came of the approval that a task has sought, where that is not shown yet.
    pub(super) async fn close_approval(&self, claimed: &TaskClaim) {
        if let Some(approval) = &claimed.approval {
            approvals::close(&self.outbox, approval).await;
        }
    }

    /// Shows that approval which was given has come to nothing, or that its call has failed, where it has.
    pub(super) async fn close_unused_approval(&self, claimed: &TaskClaim) {
        let approved = |approval: &ApprovalRow| approval.state == ApprovalState::Approved;
        let Some(before) = claimed.approval.as_deref().filter(|row| approved(row)) else { return };
        let storage = &self.context.storage;
        let now = storage.insist(|ledger| ledger.approval(&before.key)).await.flatten();
        let is_done = |now: &ApprovalRow| now.state == ApprovalState::Consumed && !now.has_failed();
        if let Some(now) = now.filter(|now| !approved(now) && !is_done(now)) {
            approvals::close(&self.outbox, &now).await;
        }
    }

    /// Everybody who is asked, each with the message that asks them, in private.
    pub(super) async fn draft_requests(
        &self,
        claimed: &TaskClaim,
        about: &About<'_>,
        request: &Request,
    ) -> Vec<(Person, Draft)> {
        let mut asked = Vec::new();
        for whom in self.approvers(claimed, about, request) {
            let question = match request.of {
                Approvers::Terminal => {
                    approval_at_terminal::asked(about.key, &about.within, request)
                }
                Approvers::Owners | Approvers::Nobody => approvals::asked(about, request),
            };
            let Approver { person, conversation } = whom;
            let draft = match request.is_long() {
                true => self.draft_with_file(claimed, conversation, request, question).await,
                false => self.outbox.rendered(self.question_to(claimed, conversation, question)),
            };
            asked.extend(draft.map(|draft| (person, draft)));
        }
        asked
    }

    /// Who can give approval, and where they are asked.
    fn approvers(
        &self,
        claimed: &TaskClaim,
        about: &About<'_>,
        request: &Request,
    ) -> Vec<Approver> {
        let owners = &self.rights.owners;
        match request.of {
            Approvers::Nobody => Vec::new(),
            Approvers::Terminal => {
                let person = Person { id: command_line::person(), name: String::new() };
                vec![Approver { person, conversation: claimed.conversation.clone() }]
            }
            Approvers::Owners => {
                let own = about.requester.filter(|person| owners.contains(&person.id));
                let of = |owner: &PersonId| {
                    let conversation = private(&self.context, claimed, owner)?;
                    let person = Person { id: owner.clone(), name: String::new() };
                    Some(Approver { person, conversation })
                };
                // An owner who asks for something is asked about it, and the others are left alone.
                match own.and_then(|person| of(&person.id)) {
                    Some(asked) => vec![asked],
                    None => owners.iter().filter_map(of).collect(),
                }
            }
        }
    }

    /// The request as one message. Who asked here, alone with the bot, has brought a right to answer: the request uses it
    /// up, and its tap or word brings the next one.
    fn question_to(
        &self,
        claimed: &TaskClaim,
        conversation: ConversationId,
        question: Question,
    ) -> Outbound {
        let is_here = conversation == claimed.conversation;
        let window = if is_here { deferred::right(&self.outbox, claimed) } else { None };
        Outbound::new(conversation, Body::Question(question)).within(window)
    }

    /// The request with the whole call as a file. `None` where files cannot be carried so, or this one cannot be
    /// written: half a call is not asked for.
    async fn draft_with_file(
        &self,
        claimed: &TaskClaim,
        conversation: ConversationId,
        request: &Request,
        question: Question,
    ) -> Option<Draft> {
        let files = self.outbox.files();
        let task = claimed.claim.task;
        let name = format!("{}.txt", request.tool);
        let path = match files.put(task, &name, approvals::whole(request).as_bytes()).await {
            Ok(path) => path,
            Err(error) => {
                tracing::warn!(%task, %error, "a request's file cannot be written");
                return None;
            }
        };
        let body =
            Body::QuestionWithFile { path: path.to_string_lossy().into_owned(), name, question };
        let draft = self.outbox.draft_of(&conversation, body);
        if draft.is_none() {
            files.remove(&path);
        }
        draft
    }
}

/// How long a request stays open.
struct ApprovalWindow {
    /// To the second.
    until: DateTime<Utc>,
    /// As it is told.
    within: Span,
}

/// Where something is asked for, as people know it; and which schedule asks, where nobody does.
pub(super) fn place(claimed: &TaskClaim) -> String {
    let kind = claimed.facts.place.name();
    let quoted = |text: &str| {
        let label = prompt::label(text);
        let bare = label.replace(['“', '”', '"'], " ");
        Some(format!("“{}”", bare.trim())).filter(|_| !bare.trim().is_empty())
    };
    let title = claimed.heard.last().and_then(|(_, inbound)| quoted(&inbound.title));
    let place = match title.filter(|_| claimed.facts.audience() == Audience::Group) {
        Some(title) => format!("{kind} {title}"),
        None => kind,
    };
    let later = claimed.words.as_ref().filter(|_| claimed.facts.trigger == Trigger::Scheduled);
    let hook = claimed.words.as_ref().filter(|_| claimed.facts.trigger == Trigger::Webhook);
    let hook = hook.and_then(|words| quoted(&words.letter(Trigger::Webhook).own));
    match later.and_then(|words| quoted(&words.text)) {
        Some(asked) => format!("{place}, for the schedule {asked}"),
        None if hook.is_some() => {
            format!("{place}, for a webhook whose prompt is {}", hook.unwrap_or_default())
        }
        None => match &claimed.facts.parent {
            Some(parent) => format!("{place}, for its agent {}", prompt::label(&parent.name)),
            None => place,
        },
    }
}

/// One of those who can give approval, and where they are asked.
struct Approver {
    person: Person,
    conversation: ConversationId,
}

/// The conversation in which an owner is alone with the bot: by the account of the task where it knows them,
/// else by the first one.
fn private(context: &Context, claimed: &TaskClaim, owner: &PersonId) -> Option<ConversationId> {
    let own = claimed.conversation.account();
    let mut accounts: Vec<_> = context.accounts.all().collect();
    accounts.sort_by_key(|a| (a.channel.account != *own, a.channel.account.clone()));
    accounts.into_iter().find_map(|account| {
        let channel = &account.channel;
        let conversation = channel.address.parse(owner.as_str())?;
        let features = channel.address.features(&conversation);
        (features.audience == Audience::Direct).then_some(conversation)
    })
}
