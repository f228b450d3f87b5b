//! Whether a call may be made: freely, with the approval that somebody gave, after somebody was asked, or not.

use super::Drive;
use super::standing::Approval;
use crate::{DropReason, messages};
use selkie_domain::approval::{
    ApprovalState, Approvers, Exposure, MAX_ATTACHED, Request, too_long,
};
use selkie_domain::tool::{Class, Recovery};
use selkie_domain::transcript::{Answer, Call};
use selkie_store::ApprovalRow;
use selkie_tools::ToolError;
use selkie_tools::refusals::refusal;
use selkie_tools::resolve::{LookedAt, ResolvedCall, resolve};
use selkie_tools::scope::Scope;

impl Drive<'_> {
    /// Whether a call asks for approval: such a call stands alone.
    pub(super) async fn asks(&self, call: &Call) -> bool {
        if self.is_plainly_free(call) || self.run.is_refused(&call.name) {
            return false;
        }
        let scope = self.scope_of(call);
        let resolved = resolve(&self.registry, call, &scope).await;
        resolved.is_ok_and(|resolved| resolved.exposure.asks())
    }

    /// Says what stands before a call. `alone`: no other call waits for the same answer.
    pub(super) async fn approval(
        &mut self,
        call: &Call,
        alone: bool,
    ) -> Result<Approval, DropReason> {
        let held = self.run.approval_key(call).map(str::to_owned);
        if self.run.is_refused(&call.name) {
            self.forgone(held.as_deref(), messages::REFUSED_TO_TASK.to_owned()).await?;
            return Ok(refused(call, messages::refused_before(&call.name)));
        }
        if held.is_none() && self.is_plainly_free(call) {
            return Ok(Approval::Free);
        }
        let scope = self.scope_of(call);
        let resolved = match resolve(&self.registry, call, &scope).await {
            Ok(resolved) => resolved,
            // What cannot be made needs nobody's approval, and whoever gave it may know why it came to nothing.
            Err(ToolError::Tell(why)) if held.is_some() => {
                self.forgone(held.as_deref(), why.clone()).await?;
                return Ok(refused(call, why));
            }
            Err(_) => return Ok(Approval::Free),
        };
        match (held, &resolved.exposure) {
            (Some(key), Exposure::Free | Exposure::Ask { .. }) => {
                self.use_approval(call, &key, resolved, scope).await
            }
            (None, Exposure::Ask { .. }) if !alone => {
                Ok(refused(call, messages::ask_alone(&call.name)))
            }
            (None, Exposure::Ask { .. }) => match resolved.refusal(&scope) {
                Some(why) => Ok(refused(call, why)),
                None => self.asking(call, resolved, scope).await,
            },
            (Some(key), Exposure::Hidden(reasons)) => {
                self.forgone(Some(&key), reasons.join("; ")).await?;
                Ok(refused(call, refusal(&call.name, reasons)))
            }
            (None, Exposure::Hidden(_) | Exposure::Free) => Ok(Approval::Free),
        }
    }

    /// What somebody has allowed is not made: their request is to say so, and why.
    async fn forgone(&mut self, key: Option<&str>, why: String) -> Result<(), DropReason> {
        let row = self.task.claimed.approval.as_ref();
        let row = row.filter(|row| row.state == ApprovalState::Approved);
        match row.filter(|row| Some(row.key.as_str()) == key).map(|row| row.key.clone()) {
            Some(key) => self.forgo(&key, self.agent.redactor.clean(&why)).await,
            None => Ok(()),
        }
    }

    async fn asking(
        &self,
        call: &Call,
        resolved: ResolvedCall,
        scope: Scope,
    ) -> Result<Approval, DropReason> {
        let redactor = self.agent.redactor.clone();
        let made = tokio::task::spawn_blocking(move || resolved.request(&scope, &redactor)).await;
        Ok(match made {
            Ok(Ok(request)) if !can_be_shown(&request) => {
                refused(call, messages::not_shown(&call.name, &too_long()))
            }
            Ok(Ok(request)) => Approval::Seek(Box::new(request)),
            Ok(Err(why)) => refused(call, messages::not_shown(&call.name, &why.to_string())),
            Err(_) => refused(call, messages::not_shown(&call.name, "a bug in selkie")),
        })
    }

    /// Uses up the approval for a call: what was shown must be what is done. A call that goes on with the answer to its
    /// question has used it up, and still has to be that call.
    async fn use_approval(
        &mut self,
        call: &Call,
        key: &str,
        resolved: ResolvedCall,
        scope: Scope,
    ) -> Result<Approval, DropReason> {
        let row = self.task.claimed.approval.clone().filter(|row| row.key == key);
        let Some(row) = row else {
            return Ok(refused(
                call,
                messages::not_shown(&call.name, "the request was not stored"),
            ));
        };
        let ApprovalRow { state, request, .. } = &*row;
        let goes_on = self.run.goes_on(call) && *state == ApprovalState::Consumed;
        if *state != ApprovalState::Approved && !goes_on {
            self.run.refuses(&call.name, *state);
            return Ok(refused(call, messages::not_approved(&row)));
        }
        let now = tokio::task::spawn_blocking(move || resolved.look_again(&scope)).await;
        let now = now.ok().and_then(Result::ok).filter(|now| now.hash == request.hash);
        let Some(LookedAt { hash, approved }) = now else {
            self.forgone(Some(key), messages::CHANGED_AS_TOLD.to_owned()).await?;
            return Ok(refused(call, messages::changed_since(&call.name)));
        };
        self.run.starts(std::iter::once(call));
        if goes_on {
            self.commit(true).await?;
            return Ok(Approval::Given(approved));
        }
        if self.consume(key, &hash).await? {
            return Ok(Approval::Given(approved));
        }
        self.run.starts_not(call);
        Ok(refused(call, messages::lapsed(&call.name)))
    }

    /// Whether nothing about a call could ask: it looks, or speaks here, and no rule speaks of it.
    fn is_plainly_free(&self, call: &Call) -> bool {
        let Some(spec) = self.spec(&call.name) else { return true };
        let harmless = match spec.class {
            Class::Read | Class::Reply | Class::Agent => true,
            // A note may be an owner's, or stand where another conversation reads it.
            Class::Note
            | Class::Write
            | Class::Exec
            | Class::Network
            | Class::Message
            | Class::Public => false,
        };
        harmless && self.registry.exposure(&call.name) == Some(Exposure::Free)
    }

    /// Whether an open call of a run that died was allowed and not begun: it is begun now.
    pub(super) fn waits_for_its_start(&self, call: &Call) -> bool {
        let waits = self.run.approval_key(call).is_some() && !self.run.has_started(call);
        (waits || self.run.has_not_asked(call)) && self.recovery(&call.name) == Recovery::Unknown
    }
}

/// What is too long for a message may go along as a file, where there is a chat that carries it.
fn can_be_shown(request: &Request) -> bool {
    let attached =
        request.of == Approvers::Owners && request.preview.chars().count() <= MAX_ATTACHED;
    !request.is_long() || attached
}

fn refused(call: &Call, why: String) -> Approval {
    Approval::Refused(Answer::error(&call.id, why))
}
