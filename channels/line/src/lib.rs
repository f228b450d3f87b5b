//! selkie's ears and mouth on LINE.
//!
//! [`kit`] is the whole of it: settings and the building of a channel, as data behind the traits of
//! `selkie-channel-core`. In: `webhook` takes signed events, `hear` reads them. Out: `call`
//! makes messages, `mouth` spends the free reply first and pushes last.

mod allowance;
mod api;
mod bounded;
mod buttons;
mod call;
mod ears;
mod fetch;
mod hear;
mod ids;
mod known;
mod listen;
mod mouth;
mod names;
mod quota;
mod refusal;
mod settings;
mod webhook;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod testkit;

use std::sync::Arc;

use schemars::schema_for;
use secrecy::ExposeSecret;
use selkie_channel_core::{AllowKeys, Audience, BuildContext, Channel, ChannelKit, Ids, Problem};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::allowance::Allowance;
use crate::api::{Api, Line};
use crate::ears::LineEars;
use crate::known::Known;
use crate::mouth::{LineMouth, Pushes};
use crate::names::Names;
use crate::quota::Quota;

const NAME: &str = "line";
/// Notices that wait for the ears to tell them.
const NOTICES: usize = 16;

/// Returns LINE as the daemon needs to know it.
pub fn kit() -> ChannelKit {
    ChannelKit {
        name: NAME,
        prefix: NAME,
        settings: || schema_for!(settings::Settings),
        secrets: &["channel_access_token", "channel_secret"],
        also: &[],
        listens: &["webhook_listen"],
        people: Ids { such_as: "line:U4af…", fit: ids::is_person },
        places: Ids { such_as: "line:Ca56…", fit: ids::is_place },
        kinds: &[("user", Audience::Direct), ("group", Audience::Group), ("room", Audience::Group)],
        features: ids::features,
        speaking: &[],
        build,
        manifest: None,
    }
}

fn build(section: Value, context: BuildContext) -> Result<Option<Channel>, Vec<Problem>> {
    let Some(settings) = settings::read(section)? else { return Ok(None) };
    context.redactor.learn(settings.token.expose_secret());
    context.redactor.learn(settings.secret.expose_secret());
    let account = ids::account_of(settings.secret.expose_secret());
    let line = Line {
        token: settings.token,
        base: settings.base,
        data: settings.data,
        tls: context.tls,
        redactor: context.redactor,
        user_agent: context.user_agent,
    };
    let api = Api::open(line).map_err(|says| vec![Problem { key: "base_url".to_owned(), says }])?;
    let known = Arc::new(Known::default());
    let (sender, notices) = mpsc::channel(NOTICES);
    let quota = Quota::new(api.clone(), sender);
    let (now, said) = (Arc::clone(&context.now), Arc::clone(&known));
    let pushes =
        Pushes { may: settings.push, allowance: Allowance::new(settings.max_pushes_per_day) };
    let mouth = LineMouth::new(api.clone(), said, quota.clone(), pushes, now);
    let ears = LineEars {
        account: account.clone(),
        names: Names::new(api.clone()),
        api,
        known,
        secret: settings.secret,
        listen: settings.listen,
        path: settings.path,
        max_download: settings.max_download,
        deadline: settings.reply_deadline,
        quota,
        now: context.now,
        notices: tokio::sync::Mutex::new(notices),
    };
    Ok(Some(Channel {
        name: NAME,
        address: Arc::new(ids::LineAddress::new(account.clone())),
        account,
        ears: Some(Arc::new(ears)),
        mouth: Arc::new(mouth),
        allow: settings.allow,
        allow_keys: AllowKeys::one("allowed_ids"),
        carrier: None,
        pace: settings.pace,
        max_fetch_bytes: settings.max_download,
    }))
}
