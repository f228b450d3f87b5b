//! A call of a hook becomes a task: once, where the config says, with the rights of nobody in particular.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use selkie_channel_core::{PersonId, UnpromptedCost};
use selkie_hooks::{Content, Deliveries, Delivery, Endpoint, Receipt, Refusal};

use crate::delivery::context::Context;
use crate::delivery::outbox::Outbox;
use crate::intake::messages::webhooks as messages;
use crate::intake::receive::{Intake, PlacedTask};
use crate::work::messages::public_place;
use crate::work::timetable::BookTimetable;
use selkie_domain::cause::Cause;
use selkie_domain::facts::{Facts, Trigger, Trust, Where};
use selkie_domain::taint::Taint;
use selkie_domain::words::{Enclosure, Letter, Words};
use selkie_store::{Location, NewTask, StoreError, TaskRequest};

/// So many calls of one hook may wait in a conversation: a flood fills neither its lane nor the disk.
const MAX_WAITING: u32 = 20;
/// How long the same words of one hook are the same call.
const SAME: TimeDelta = TimeDelta::days(1);

/// Takes calls of hooks.
#[derive(Clone)]
pub struct WebhookIntake {
    pub(crate) context: Context,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) timetable: Arc<BookTimetable>,
}

#[async_trait]
impl Deliveries for WebhookIntake {
    async fn deliver(&self, delivery: Delivery) -> Result<Receipt, Refusal> {
        let own = self.clone();
        let taken = async move { own.take(delivery).await };
        self.context.runtime.to_the_end(taken).await
    }

    fn count(&self, hook: &str, outcome: &str) {
        self.context.runtime.metrics.webhook(hook, outcome);
    }
}

/// Where a hook speaks, and whose it is.
struct Spot {
    location: Location,
    place: Where,
    owner: PersonId,
}

impl WebhookIntake {
    async fn take(&self, delivery: Delivery) -> Result<Receipt, Refusal> {
        let hook = Arc::clone(&delivery.hook);
        if self.context.runtime.is_draining() {
            return Err(Refusal::Unavailable);
        }
        let broken = |error: StoreError| {
            self.context.storage.trouble(&error);
            tracing::warn!(hook = hook.name, %error, "a webhook is not stored: its service may send it again");
            Refusal::Unavailable
        };
        let spot = match self.spot(&hook).await {
            Ok(spot) => spot,
            Err(why) => {
                self.tell_nowhere(&hook, &why).await;
                return Err(Refusal::Unavailable);
            }
        };
        if let Some(task) = self.known_since_yesterday(&delivery).await.map_err(broken)? {
            return Ok(Receipt { task, is_new: false });
        }
        let request = request(delivery, spot, self.context.runtime.now());
        let placed = self.intake.request(request).await.map_err(broken)?;
        let PlacedTask { task, is_new, is_full, stored } = placed;
        if is_full {
            tracing::warn!(hook = hook.name, "a webhook is refused: too many calls of it wait");
            return Err(Refusal::Full);
        }
        self.intake.begin(stored);
        tracing::info!(hook = hook.name, %task, is_new, "a webhook was called");
        Ok(Receipt { task: task.0, is_new })
    }

    async fn spot(&self, hook: &Endpoint) -> Result<Spot, String> {
        let owner = self.timetable.owners.first().cloned();
        let owner = owner.ok_or_else(|| messages::NO_OWNER.to_owned())?;
        let location = self.timetable.target(hook.to.as_deref()).await?;
        let conversation = &location.conversation;
        let account = self.context.accounts.of(conversation);
        let account = account.ok_or_else(|| messages::channel_off(conversation.account()))?;
        if let Some(tool) = account.posts_by() {
            return Err(public_place(conversation, tool));
        }
        if let UnpromptedCost::Never(why) | UnpromptedCost::Spent(why) =
            account.unasked(conversation).await
        {
            return Err(why);
        }
        let place = Where::Channel(account.channel.address.features(conversation));
        Ok(Spot { location, place, owner })
    }

    /// Returns the task of the same words, when they came less than a day ago and it was another day.
    async fn known_since_yesterday(&self, delivery: &Delivery) -> Result<Option<i64>, StoreError> {
        let Some(delivered) = delivery.day_before.clone() else { return Ok(None) };
        let before = Cause::Webhook { hook: delivery.hook.name.clone(), delivery: delivered };
        let since = self.context.runtime.now() - SAME;
        let chains = self.context.storage.ledger.trace(&before.key(None)).await?;
        let known = chains.into_iter().filter_map(|chain| Some(chain.task?.row));
        Ok(known.filter(|row| row.created_at > since).map(|row| row.id.0).next())
    }

    /// Tells the owner, once a day, that a hook cannot speak where it should.
    async fn tell_nowhere(&self, hook: &Endpoint, why: &str) {
        tracing::warn!(hook = hook.name, why, "a webhook is refused");
        let day = self.context.runtime.now().format("%Y-%m-%d");
        let key = format!("webhook:{}:nowhere:{day}", hook.name);
        self.outbox.tell_owner(&key, &messages::nowhere(&hook.name, why)).await;
    }
}

/// Makes the task of a call: the hook's own words, and what was sent as others'.
fn request(delivery: Delivery, spot: Spot, now: DateTime<Utc>) -> TaskRequest {
    let Delivery { hook, id, event, content, .. } = delivery;
    let Spot { location, place, owner } = spot;
    let facts = Facts {
        taint: Taint::Raw,
        trigger: Trigger::Webhook,
        opened: hook.tools.clone(),
        // Nobody has asked: what asks an owner counts as others' requests.
        ..Facts::of(place, None, Trust::Allowed, now)
    };
    let is_fixed = matches!(content, Content::Words(_));
    let note = match is_fixed {
        true => messages::fixed_note(&hook.name),
        false => messages::prompt_note(&hook.name),
    };
    let text = match content {
        Content::Words(words) => words,
        Content::Prompt { prompt, payload } => {
            // What it calls the event is the service's word as well.
            let text = match event.is_empty() {
                true => payload,
                false => format!("event: {event}\n{payload}"),
            };
            let sent = Enclosure::Text { name: messages::sender(&hook.name), text };
            Letter { own: prompt, enclosed: vec![sent] }.written()
        }
    };
    let cause = Cause::Webhook { hook: hook.name.clone(), delivery: id };
    TaskRequest {
        location,
        order: now.timestamp_micros(),
        task: NewTask { most_waiting: Some(MAX_WAITING), ..NewTask::new(cause, facts) },
        words: Words { note, fixed: is_fixed, ..Words::said(owner, now, text) },
    }
}
