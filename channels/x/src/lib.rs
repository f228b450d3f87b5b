//! selkie's sender on X. It only speaks: there is no receiver.
//!
//! [`kit`] is the whole of it: settings and the building of a channel, as data behind the traits of
//! `selkie-channel-core`. `weigh` counts as X counts and `thread` cuts, `call` makes posts, `sender` posts
//! them (pictures before: `media`), `timeline` tells whether a doubtful one stands there; `posting` is what tools that post have to know; `sign` and `tokens` prove who posts.

mod api;
mod atoms;
mod call;
mod credential;
mod emoji;
mod examine;
mod ids;
mod links;
mod media;
mod posting;
mod refusal;
mod sender;
mod settings;
mod sign;
mod thread;
mod timeline;
mod tokens;
mod weigh;
mod wire;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod testkit;

use std::sync::Arc;

use schemars::schema_for;
use selkie_channel_core::http::Opener;
use selkie_channel_core::{
    AllowKeys, AllowList, Audience, BuildContext, Channel, ChannelKit, ContactForm, Ids, Postable,
    Problem,
};
use serde_json::Value;

use crate::api::{Api, Platform};
use crate::ids::NAME;
use crate::sender::{Who, XSender};

/// Returns X as the daemon needs to know it.
pub fn kit() -> ChannelKit {
    ChannelKit {
        name: NAME,
        prefix: NAME,
        settings: || schema_for!(settings::Settings),
        secrets: &settings::SECRETS,
        also: &settings::ALSO,
        listens: &[],
        people: Ids::NONE,
        contacts: ContactForm::NONE,
        places: Ids { such_as: "x:main", fit: |text| text == ids::MAIN },
        allow_keys: AllowKeys::default(),
        kinds: &[("timeline", Audience::Group)],
        features: |_| ids::features(),
        speaking: &[],
        build,
        posting: Some(&posting::POSTING),
        manifest: None,
        setup: None,
    }
}

fn build(section: Value, context: BuildContext) -> Result<Option<Channel>, Vec<Problem>> {
    let Some(settings) = settings::read(section)? else { return Ok(None) };
    let account = settings.login.account();
    let who = Who { login: settings.login.name(), id: settings.login.id() };
    settings.login.secrets().for_each(|secret| context.redactor.learn(secret));
    let platform = Platform {
        base: settings.base,
        http: Opener::new("X", &context),
        now: context.now,
        folder: context.state_dir,
    };
    let api = Api::open(platform, settings.login)
        .map_err(|message| vec![Problem { key: "base_url".to_owned(), message }])?;
    Ok(Some(Channel {
        name: NAME,
        address: Arc::new(ids::XAddress::new(account.clone())),
        account,
        receiver: None,
        sender: Arc::new(XSender::new(api, settings.numbering, who)),
        allow: AllowList::default(),
        allow_keys: AllowKeys::default(),
        carrier: None,
        posting: Some(Postable { data: &posting::POSTING, a_month: settings.posts_a_month }),
        pace: settings.pace,
        max_fetch_bytes: 0,
    }))
}
