//! selkie's receiver and sender on LINE.
//!
//! [`kit`] is the whole of it: settings and the building of a channel, as data behind the traits of
//! `selkie-channel-core`. In: `webhook` takes signed events, `hear` reads them. Out: `call`
//! makes messages, `sender` spends the free reply first and pushes last.

mod allowance;
mod api;
mod bounded;
mod buttons;
mod call;
mod examine;
mod fetch;
mod hear;
mod ids;
mod known;
mod listen;
mod mention;
mod names;
mod own_id;
mod quota;
mod receiver;
mod refusal;
mod sender;
mod settings;
mod webhook;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod testkit;

use std::sync::Arc;

use schemars::schema_for;
use secrecy::ExposeSecret;
use selkie_channel_core::http::Opener;
use selkie_channel_core::{
    Audience, Brakes, BuildContext, Channel, ChannelKit, ContactForm, Ids, Problem, Routes,
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::allowance::Allowance;
use crate::api::{Api, ClientFactory};
use crate::ids::NAME;
use crate::known::RecentMessages;
use crate::listen::Listener;
use crate::names::Names;
use crate::quota::Quota;
use crate::receiver::LineReceiver;
use crate::sender::LineSender;
use crate::sender::messenger::{Messenger, Pushes};

/// Notices that wait for the receiver to tell them.
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
        contacts: ContactForm {
            ids: &["line:{line_user_id}", "line:{line_chat_ids}"],
            names: |text| ids::is_person(text) || ids::is_place(text),
            seen: ids::seen,
            routes: Routes {
                direct: &["line:{line_user_id}"],
                shared: &["line:{line_chat_ids}"],
                falls_back: true,
                rank: 3,
            },
        },
        allow_keys: settings::ALLOW_KEYS,
        kinds: &[("user", Audience::Direct), ("group", Audience::Group), ("room", Audience::Group)],
        features: ids::features,
        speaking: &[],
        build,
        posting: None,
        manifest: None,
        setup: Some(&settings::SETUP),
    }
}

fn build(section: Value, context: BuildContext) -> Result<Option<Channel>, Vec<Problem>> {
    let Some(settings) = settings::read(section)? else { return Ok(None) };
    context.redactor.learn(settings.token.expose_secret());
    context.redactor.learn(settings.secret.expose_secret());
    let account = ids::account_of(settings.secret.expose_secret());
    let line = ClientFactory {
        token: settings.token,
        base: settings.base,
        data: settings.data,
        http: Opener::new("LINE", &context),
    };
    let api =
        Api::open(line).map_err(|message| vec![Problem { key: "base_url".to_owned(), message }])?;
    let known = Arc::new(RecentMessages::default());
    let (sender, notices) = mpsc::channel(NOTICES);
    let quota = Quota::new(api.clone(), sender);
    let now = Arc::clone(&context.now);
    let said = Arc::clone(&known);
    let pushes =
        Pushes { may: settings.push, allowance: Allowance::new(settings.max_pushes_per_day) };
    let quota_too = quota.clone();
    let brakes = Brakes::default();
    let messenger =
        Messenger { api: api.clone(), known: said, quota: quota_too, pushes, brakes, now };
    let sender = LineSender::new(messenger);
    let listener = Listener {
        account: account.clone(),
        names: Names::new(api.clone()),
        api,
        known,
        secret: settings.secret,
        address: settings.listen,
        path: settings.path,
        deadline: settings.reply_deadline,
        quota,
        now: context.now,
        notices: tokio::sync::Mutex::new(notices),
    };
    let receiver = LineReceiver { listener, max_download: settings.max_download };
    Ok(Some(Channel {
        name: NAME,
        address: Arc::new(ids::LineAddress::new(account.clone())),
        account,
        receiver: Some(Arc::new(receiver)),
        sender: Arc::new(sender),
        allow: settings.allow,
        allow_keys: settings::ALLOW_KEYS,
        carrier: None,
        posting: None,
        pace: settings.pace,
        max_fetch_bytes: settings.max_download,
    }))
}
