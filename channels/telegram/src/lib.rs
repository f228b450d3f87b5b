//! selkie's receiver and sender on Telegram.
//!
//! [`kit`] is the whole of it: settings, speaking tools and the building of a channel, as data behind the
//! traits of `selkie-channel-core`. In: `listen` polls, `hear` reads updates. Out: `markdown` and `cut`
//! make messages, `call` the calls, `sender` makes them and tells by what is proven what became of them.

mod api;
mod asked;
mod call;
mod commands;
mod cut;
mod examine;
mod fetch;
mod hear;
mod html;
mod ids;
mod keyboard;
mod listen;
mod maker;
mod markdown;
mod receiver;
mod refusal;
mod render;
mod rich_html;
mod sender;
mod settings;
mod speaking;
mod upload;
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
use crate::receiver::TelegramReceiver;
use crate::sender::TelegramSender;
use crate::whoami::Whoami;
use selkie_channel_core::Pauses;

/// Returns Telegram as the daemon needs to know it.
pub fn kit() -> ChannelKit {
    ChannelKit {
        name: NAME,
        prefix: "tg",
        settings: || schema_for!(settings::Settings),
        secrets: &["bot_token"],
        also: &[],
        listens: &[],
        people: Ids { such_as: "tg:4711", fit: ids::is_person },
        places: Ids { such_as: "tg:-1001234567890", fit: ids::is_place },
        contacts: ContactForm {
            ids: &[
                "tg:@{tg_username}",
                "tg:{tg_user_id}",
                "tg:{tg_private_chat_id}",
                "tg:{tg_group_chat_ids}",
            ],
            names: ids::is_named,
            seen: ids::seen,
            routes: Routes {
                direct: &["tg:{tg_private_chat_id}", "tg:{tg_user_id}"],
                shared: &["tg:{tg_group_chat_ids}"],
                falls_back: true,
                rank: 2,
            },
        },
        allow_keys: settings::ALLOW_KEYS,
        kinds: &[("private", Audience::Direct), ("group", Audience::Group)],
        features: ids::features,
        speaking: speaking::TOOLS,
        posting: None,
        manifest: None,
        setup: Some(&settings::SETUP),
        build,
    }
}

fn build(section: Value, context: BuildContext) -> Result<Option<Channel>, Vec<Problem>> {
    assemble(section, context, Pauses::USUAL)
}

fn assemble(
    section: Value,
    context: BuildContext,
    pauses: Pauses,
) -> Result<Option<Channel>, Vec<Problem>> {
    let Some(settings) = settings::read(section)? else { return Ok(None) };
    let token = settings.token.expose_secret();
    context.redactor.learn(token);
    if let Some((_, secret)) = token.split_once(':') {
        context.redactor.learn(secret);
    }
    let account = ids::account_of(token);
    let whoami = Whoami::new(ids::own_id(token).unwrap_or_default());
    let line = ClientFactory {
        token: settings.token.clone(),
        base: settings.base,
        http: Opener::new("the Bot API", &context),
    };
    let open =
        || line.open().map_err(|message| vec![Problem { key: "base_url".to_owned(), message }]);
    // Two clients: the poll's connections may be replaced while messages go out over the others.
    let sender = TelegramSender::new(account.clone(), open()?, settings.max_upload);
    let receiver = TelegramReceiver {
        account: account.clone(),
        api: open()?,
        line,
        whoami,
        poll: settings.poll,
        max_download: settings.max_download,
        pauses,
    };
    Ok(Some(Channel {
        name: NAME,
        address: Arc::new(ids::TelegramAddress::new(account.clone())),
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
