//! selkie's receiver and sender on Slack.
//!
//! [`kit`] is the whole of it: settings, speaking tools and the building of a channel, as data behind the
//! traits of `selkie-channel-core`. In: `listen` keeps `socket`s open, `hear` reads envelopes. Out:
//! `markdown` and `cut` make messages, `call` the calls, `sender` makes them and tells by what is proven
//! what became of them, `stream` lets a message grow, `lookup` asks Slack where nothing is proven.

mod anew;
mod api;
mod backfill;
mod blocks;
mod call;
mod connector;
mod cut;
mod doubts;
mod emoji;
mod ending;
mod examine;
mod fetch;
mod form;
mod growth;
mod hear;
mod homes;
mod ids;
mod listen;
mod lookup;
mod manifest;
mod markdown;
mod mrkdwn;
mod names;
mod raw;
mod receiver;
mod refs;
mod refusal;
mod render;
mod sender;
mod settings;
mod signs;
mod socket;
mod speaking;
mod stream;
mod stubs;
mod table_blocks;
mod upload;
mod verdict;
mod whoami;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod testkit;

use std::sync::Arc;

use schemars::schema_for;
use secrecy::ExposeSecret;
use selkie_channel_core::http::Opener;
use selkie_channel_core::{
    Audience, BuildContext, Channel, ChannelKit, ContactForm, Ids, Problem, Routes,
};
use serde_json::Value;

use crate::api::ClientFactory;
use crate::ids::NAME;
use crate::names::Names;
use crate::receiver::SlackReceiver;
use crate::sender::SlackSender;
use crate::socket::Patience;
use crate::whoami::Whoami;
use selkie_channel_core::Pauses;

/// Returns Slack as the daemon needs to know it.
pub fn kit() -> ChannelKit {
    ChannelKit {
        name: NAME,
        prefix: "slack",
        settings: || schema_for!(settings::Settings),
        secrets: &["bot_token", "app_token"],
        also: &[],
        listens: &[],
        people: Ids { such_as: "slack:T0123456:U0123456", fit: ids::is_person },
        places: Ids { such_as: "slack:T0123456:C0123456", fit: ids::is_place },
        contacts: ContactForm {
            ids: &[
                "slack:{slack_team_id}:{slack_user_id}",
                "slack:{slack_team_id}:{slack_dm_channel_id}",
                "slack:{slack_team_id}:{slack_channel_ids}",
                "slack:{slack_channel_ids}",
            ],
            names: ids::is_named,
            seen: ids::seen,
            routes: Routes {
                direct: &[
                    "slack:{slack_team_id}:{slack_dm_channel_id}",
                    "slack:{slack_team_id}:{slack_user_id}",
                ],
                shared: &["slack:{slack_team_id}:{slack_channel_ids}", "slack:{slack_channel_ids}"],
                falls_back: false,
                rank: 1,
            },
        },
        allow_keys: settings::ALLOW_KEYS,
        kinds: &[("dm", Audience::Direct), ("channel", Audience::Group)],
        features: ids::features,
        speaking: speaking::TOOLS,
        posting: None,
        manifest: Some(manifest::manifest),
        setup: Some(&settings::SETUP),
        build,
    }
}

fn build(section: Value, context: BuildContext) -> Result<Option<Channel>, Vec<Problem>> {
    assemble(section, context, Pauses::USUAL, Patience::USUAL)
}

fn assemble(
    section: Value,
    context: BuildContext,
    pauses: Pauses,
    patience: Patience,
) -> Result<Option<Channel>, Vec<Problem>> {
    let Some(settings) = settings::read(section)? else { return Ok(None) };
    context.redactor.learn(settings.bot_token.expose_secret());
    context.redactor.learn(settings.app_token.expose_secret());
    let account = ids::account_of(settings.bot_token.expose_secret());
    let whoami = Arc::new(Whoami::new());
    let line = ClientFactory {
        bot_token: settings.bot_token,
        app_token: settings.app_token,
        base: settings.base,
        file_hosts: settings.file_hosts,
        http: Opener::new("the Web API", &context),
    };
    let open =
        || line.open().map_err(|message| vec![Problem { key: "base_url".to_owned(), message }]);
    // Two clients: what hears has connections of its own.
    let sender = SlackSender::new(open()?, Arc::clone(&whoami), settings.max_upload, context.now);
    let receiver = SlackReceiver {
        account: account.clone(),
        api: open()?,
        line,
        whoami: Arc::clone(&whoami),
        names: Names::default(),
        teams: settings.teams,
        max_sockets: settings.max_sockets,
        max_download: settings.max_download,
        pauses,
        patience,
    };
    Ok(Some(Channel {
        name: NAME,
        address: Arc::new(ids::SlackAddress::new(account.clone(), whoami)),
        account,
        receiver: Some(Arc::new(receiver)),
        sender: Arc::new(sender),
        allow: settings.allow,
        allow_keys: settings::ALLOW_KEYS,
        carrier: Some("/selkie"),
        posting: None,
        pace: settings.pace,
        max_fetch_bytes: settings.max_download,
    }))
}
