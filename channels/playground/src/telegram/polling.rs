//! `getUpdates`: the long poll, its acknowledgement and its one poller.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::Server;
use super::params::Params;
use super::refusal::Refusal;

/// How often a batch is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redelivery {
    /// As it should be.
    Once,
    /// Each update twice in this batch.
    Twice,
    /// The batch acknowledged last comes again.
    Again,
}

/// Waits for updates; a later poll ends an earlier one with 409.
pub(crate) async fn get_updates(
    server: &Server,
    params: &Params,
    redelivery: Redelivery,
) -> Result<String, Refusal> {
    let limit = params.int("limit").map_or(100, |n| n.clamp(1, 100));
    let limit = usize::try_from(limit).unwrap_or(100);
    let seconds = params.int("timeout").unwrap_or(0).clamp(0, 50);
    let deadline = Instant::now() + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let poll = begin(server, params, redelivery)?;
    let copies = if redelivery == Redelivery::Twice { 2 } else { 1 };
    loop {
        let arrival = server.arrivals.notified();
        tokio::pin!(arrival);
        arrival.as_mut().enable();
        if let Some(batch) = look(server, poll, limit, copies)? {
            return Ok(batch);
        }
        tokio::select! {
            () = arrival => {}
            () = tokio::time::sleep_until(deadline) => return Ok("[]".to_owned()),
            () = server.stop.cancelled() => return Ok("[]".to_owned()),
        }
    }
}

/// Takes the poller's place and its acknowledgement.
fn begin(server: &Server, params: &Params, redelivery: Redelivery) -> Result<u64, Refusal> {
    let kinds = allowed_updates(params)?;
    let now = server.now();
    let poll = {
        let mut world = server.world();
        if world.webhook.is_some() {
            return Err(Refusal::webhook_active());
        }
        if let Some(kinds) = kinds {
            world.updates.allow(kinds);
        }
        world.updates.expire(now);
        world.updates.acknowledge(params.int("offset").unwrap_or(0));
        if redelivery == Redelivery::Again {
            world.updates.redeliver();
        }
        world.updates.poll += 1;
        world.updates.poll
    };
    server.arrivals.notify_waiters();
    Ok(poll)
}

fn look(
    server: &Server,
    poll: u64,
    limit: usize,
    copies: usize,
) -> Result<Option<String>, Refusal> {
    let world = server.world();
    if world.updates.poll != poll {
        return Err(Refusal::second_poller());
    }
    if world.webhook.is_some() {
        return Err(Refusal::webhook_active());
    }
    Ok(world.updates.batch(limit, copies))
}

/// The kinds the bot asks for, `None` when it says nothing.
pub(crate) fn allowed_updates(params: &Params) -> Result<Option<Vec<String>>, Refusal> {
    let Some(value) = params.json("allowed_updates")? else { return Ok(None) };
    let wrong = || Refusal::bad("can't parse allowed_updates: expected an Array of String");
    let list = value.as_array().ok_or_else(wrong)?;
    let kinds: Option<Vec<String>> =
        list.iter().map(|kind: &Value| kind.as_str().map(str::to_owned)).collect();
    kinds.map(Some).ok_or_else(wrong)
}
