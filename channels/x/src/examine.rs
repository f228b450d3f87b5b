//! How the login stands with X: whether it is taken, and whose it is.

use selkie_channel_core::http::{Fault, Refusal};
use selkie_channel_core::{CredentialCheck, ExaminationReport};

use crate::api::Api;
use crate::refusal::{Kind, advice, kind};

/// Asks, and changes nothing: a login that is renewed is not tried, for its refresh token works once.
pub async fn examine(api: &Api) -> ExaminationReport {
    let mut examined = ExaminationReport::default();
    if api.renews() {
        examined.fine(
            "the login was not tried: its refresh token works only once, and the daemon needs it",
        );
        return examined;
    }
    match api.get("users/me", &[]).await {
        Ok(me) => {
            let me = &me["data"];
            let name = me["username"].as_str().map(|name| format!("@{name}"));
            let name = name.or_else(|| Some(format!("the account {}", me["id"].as_str()?)));
            let name = name.unwrap_or_else(|| "an account that X does not name".to_owned());
            examined.fine(format!("the login works: it posts as {name}"));
        }
        Err(Fault::Refused(refusal)) => match kind(&refusal) {
            Kind::Limited => examined.warning(
                format!("X limits the account ({})", refusal.words),
                "run selkie doctor again in a quarter of an hour",
            ),
            Kind::Login => examined.error(not_taken(&refusal), another(api)),
            _ => examined.error(advice(&refusal, api.keys()), "see X's developer console"),
        },
        Err(fault) => examined.error(
            format!("X cannot be reached: {fault}"),
            "check this machine's network, its proxy, and x.base_url",
        ),
    }
    examined.clock = api.their_time();
    examined
}

/// Asks whose the login is, and nothing else: one that is renewed is left alone.
pub async fn check_credential(api: &Api) -> CredentialCheck {
    if api.renews() {
        return CredentialCheck::Unknown;
    }
    match api.get("users/me", &[]).await {
        Ok(_) => CredentialCheck::Taken,
        Err(Fault::Refused(refusal)) if kind(&refusal) == Kind::Login => {
            CredentialCheck::Refused(format!("{}: {}", not_taken(&refusal), another(api)))
        }
        Err(_) => CredentialCheck::Unknown,
    }
}

fn not_taken(Refusal { status, words, .. }: &Refusal) -> String {
    format!("X refuses the login ({status}: {words})")
}

fn another(api: &Api) -> String {
    format!(
        "make a new one in X's developer console and put it into {}; a wrong clock causes this, too",
        api.keys()
    )
}
