//! Approval sought in the middle of a call: asked like any other, while the call keeps its worker and its process.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use selkie_channel_core::locked;
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use crate::delivery::approvals::{self, About};
use crate::delivery::moments::after;
use crate::work::executor::addressee::person;
use crate::work::executor::request_approval::place;
use crate::work::executor::{TaskContext, TaskExecutor};
use selkie_domain::approval::{ApprovalState, IN_CALL, Request, too_long};
use selkie_store::{ApprovalRequest, ApprovalRow, InCallEnd, TaskClaim};
use selkie_tools::ports::{Asker, Permission};

/// Requests of a task's calls that wait until another one is answered.
const MAX_WAITING: usize = 16;
/// How often a request is looked at that nothing was heard of: it may have been taken back, or refused by its platform.
const LOOK: Duration = Duration::from_secs(3);

/// What a call asks.
struct InCallRequest {
    request: Request,
    answer: oneshot::Sender<Permission>,
}

/// Hands on what the calls of one task ask.
struct TaskAsker(mpsc::Sender<Box<InCallRequest>>);

/// What the calls of one task ask, one after the other.
pub(super) struct InCallRequests {
    asking: mpsc::Sender<Box<InCallRequest>>,
    waiting: mpsc::Receiver<Box<InCallRequest>>,
    /// The key of what is asked now.
    open: Mutex<Option<String>>,
}

impl InCallRequests {
    /// Nothing is asked yet.
    pub(super) fn none() -> Self {
        let (asking, waiting) = mpsc::channel(MAX_WAITING);
        Self { asking, waiting, open: Mutex::default() }
    }

    /// Returns what calls ask by.
    pub(super) fn asker(&self) -> Arc<dyn Asker> {
        Arc::new(TaskAsker(self.asking.clone()))
    }
}

#[async_trait]
impl Asker for TaskAsker {
    async fn ask(&self, request: Request) -> Permission {
        let (answer, permission) = oneshot::channel();
        let over = || Permission::Denied("the task is ending".to_owned());
        match self.0.send(Box::new(InCallRequest { request, answer })).await {
            Ok(()) => permission.await.unwrap_or_else(|_| over()),
            Err(_) => over(),
        }
    }
}

impl TaskExecutor {
    /// Asks what the calls of a task want to know. Never returns: dropped with the work it stands beside.
    pub(super) async fn ask_for_calls(
        &self,
        claimed: &TaskClaim,
        requests: &mut InCallRequests,
        run: &TaskContext<'_>,
    ) -> Infallible {
        loop {
            let Some(asked) = requests.waiting.recv().await else {
                return std::future::pending().await;
            };
            let InCallRequest { request, mut answer } = *asked;
            let key = self.key(claimed, &request);
            *locked(&requests.open) = Some(key.clone());
            let permission = tokio::select! {
                permission = self.ask_in_call(claimed, &key, request, run) => Some(permission),
                () = answer.closed() => None,
            };
            match permission {
                Some(permission) => drop(answer.send(permission)),
                None => self.take_back(&key).await,
            }
            locked(&requests.open).take();
        }
    }

    /// Takes back what was open when the work ended.
    pub(super) async fn take_back_open(&self, requests: InCallRequests) {
        if let Some(key) = requests.open.into_inner().ok().flatten() {
            self.take_back(&key).await;
        }
    }

    async fn take_back(&self, key: &str) {
        if let Some(row) = self.end_in_call(key, InCallEnd::CallEnded).await {
            approvals::close(&self.outbox, &row).await;
        }
    }

    /// Stores the request with what asks for it, and waits until somebody has decided.
    async fn ask_in_call(
        &self,
        claimed: &TaskClaim,
        key: &str,
        request: Request,
        run: &TaskContext<'_>,
    ) -> Permission {
        let request = Request { place: place(claimed), ..request };
        let requester = person(claimed);
        let mutes = self.mute_choices(claimed);
        let about = About { key, requester: requester.as_ref(), within: IN_CALL.in_words(), mutes };
        let asked = self.draft_requests(claimed, &about, &request).await;
        let line = self.notice_here(claimed, &request);
        let expires_at = after(self.context.runtime.now(), IN_CALL);
        let unasked = request.is_long().then(too_long);
        let sought =
            ApprovalRequest { key: key.to_owned(), request, requester, asked, unasked, expires_at };
        let storage = &self.context.storage;
        let seek = storage.insist(|ledger| ledger.seek_in_call(&claimed.claim, sought.clone()));
        let Some(Some(queued)) = seek.await else {
            return Permission::Denied("the task is ending".to_owned());
        };
        let is_asked = !queued.is_empty();
        queued.into_iter().for_each(|queued| self.outbox.send(queued));
        if let Some(line) = line.filter(|_| is_asked) {
            run.progress.waits(line);
        }
        let permission = tokio::select! {
            row = self.decided(key) => self.permission(row).await,
            () = self.context.runtime.until(expires_at) => self.late(key).await,
        };
        run.progress.goes_on(permission == Permission::Granted);
        permission
    }

    /// Waits until a request is not open any more.
    async fn decided(&self, key: &str) -> Option<ApprovalRow> {
        loop {
            let news = self.outbox.decided.notified();
            let row = self.context.storage.insist(|ledger| ledger.approval(key)).await.flatten();
            if row.as_ref().is_none_or(|row| row.state != ApprovalState::Open) {
                return row;
            }
            tokio::select! {
                () = news => {}
                () = sleep(LOOK) => {}
            }
        }
    }

    /// What a decision means for the call; one that allows it is used up.
    async fn permission(&self, row: Option<ApprovalRow>) -> Permission {
        let Some(row) = row else { return Permission::Denied("it was forgotten".to_owned()) };
        let row = match row.state {
            ApprovalState::Approved => self.end_in_call(&row.key, InCallEnd::Used).await,
            _ => Some(row),
        };
        match row {
            Some(row) => told(row),
            None => Permission::Denied("the daemon is stopping".to_owned()),
        }
    }

    /// Nobody has decided in time, unless somebody did in this very moment.
    async fn late(&self, key: &str) -> Permission {
        match self.end_in_call(key, InCallEnd::Late).await {
            Some(row) if row.state == ApprovalState::Expired => {
                approvals::close(&self.outbox, &row).await;
                told(row)
            }
            row => self.permission(row).await,
        }
    }

    async fn end_in_call(&self, key: &str, end: InCallEnd) -> Option<ApprovalRow> {
        self.context.storage.insist(|ledger| ledger.end_in_call(key, end)).await.flatten()
    }

    /// Names a request. The process that asks does not outlive the daemon, so nobody has to find the same name again.
    fn key(&self, claimed: &TaskClaim, request: &Request) -> String {
        let nonce = self.context.runtime.nonce();
        let of = format!("{} {} {nonce} {}", claimed.claim.task, request.call, request.hash);
        let digest = Sha256::digest(of);
        digest.iter().take(10).fold(String::new(), |key, byte| key + &format!("{byte:02x}"))
    }
}

/// What a request that is settled came to.
fn told(row: ApprovalRow) -> Permission {
    let why = row.why.unwrap_or_default();
    match row.state {
        ApprovalState::Consumed => Permission::Granted,
        ApprovalState::Denied => Permission::Denied(format!("{} denied it", row.by)),
        ApprovalState::Expired => {
            Permission::Denied(format!("nobody has answered within {}", IN_CALL.in_words()))
        }
        ApprovalState::NotAsked => Permission::Nobody(why),
        ApprovalState::Withdrawn => Permission::Denied(why),
        ApprovalState::Open | ApprovalState::Approved | ApprovalState::Lapsed => {
            Permission::Denied("it was not used in time".to_owned())
        }
    }
}
