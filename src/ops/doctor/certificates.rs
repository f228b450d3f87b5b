//! The look at certificates that selkie depends on: of the addresses where platforms reach it, and of its database.

use selkie_channel_core::Channel;

use super::finding::Finding;
use super::look::Look;
use selkie_app::build::AppConfig;
use selkie_app::certificates::{CertificateState, Judge, Of, Place, of_channel, of_store};
use selkie_domain::span::Span;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

const WHAT: &str = "certificate";
const RENEW: &str =
    "renew it, or find out why it is not renewed automatically (certbot, caddy, the provider)";

/// One for each channel, whose platform is asked where it reaches the bot, and one for each server of the database.
pub fn looks(plan: &AppConfig, zone: Zone) -> Vec<Look> {
    let message = FindingText { ahead: plan.settings.alerts.certificate, zone };
    let judge = Judge::of(plan);
    let channel = |channel: &Channel| {
        let channel = channel.clone();
        let judge = judge.clone();
        Look::new(WHAT, channel.name, async move {
            let mut findings = Vec::new();
            // A platform that does not tell is told of with its channel.
            for place in of_channel(&channel).await.unwrap_or_default() {
                findings.extend(message.finding(&place, judge.look(&place).await));
            }
            findings.into()
        })
    };
    let server = |place: Place| {
        let judge = judge.clone();
        Look::new(WHAT, place.host.clone(), async move {
            let found = judge.look(&place).await;
            message.finding(&place, found).into_iter().collect::<Vec<_>>().into()
        })
    };
    let channels = plan.channels.iter().filter(|channel| channel.receiver.is_some()).map(channel);
    channels.chain(of_store(&plan.settings.store).into_iter().map(server)).collect()
}

/// How it is said.
#[derive(Clone, Copy)]
struct FindingText {
    ahead: Span,
    zone: Zone,
}

impl FindingText {
    fn finding(self, place: &Place, found: CertificateState) -> Option<Finding> {
        let Self { ahead, zone } = self;
        let whose = match &place.of {
            Of::Channel(name) => format!("the certificate where {name} reaches selkie"),
            Of::Database => "the database server's certificate".to_owned(),
        };
        let at = |at: Option<_>| at.map(|at| format!(": {}", moment(at, zone))).unwrap_or_default();
        let finding = match found {
            CertificateState::Plain => return None,
            CertificateState::Valid if ahead.0.is_zero() => {
                Finding::fine(WHAT, format!("{whose} is valid"))
            }
            CertificateState::Valid => {
                Finding::fine(WHAT, format!("{whose} is valid for at least {ahead}"))
            }
            CertificateState::Ends(until) => {
                let message = format!("{whose} expires within {ahead}{}", at(until));
                Finding::warning(WHAT, message, RENEW)
            }
            CertificateState::Ended(until) => {
                Finding::error(WHAT, format!("{whose} has expired{}", at(until)), RENEW)
            }
            CertificateState::Untrusted(why) => Finding::warning(
                WHAT,
                format!("this machine does not accept {whose}: {why}"),
                "make sure that the server sends the whole chain, for this name; add a private authority to this machine's store",
            ),
            CertificateState::Unknown(why) => Finding::warning(
                WHAT,
                format!("{whose} could not be checked: {why}"),
                "make sure that this machine reaches that address; guard.network.allow_private lets selkie check a private one",
            ),
        };
        Some(finding.of(place.host.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn what_expires_is_told_with_its_time_and_what_to_do() {
        let until: DateTime<Utc> = "2026-11-28T09:30:00Z".parse().unwrap();
        let message = FindingText { ahead: Span::seconds(14 * 24 * 3600), zone: Zone::UTC };
        let of = |of| Place { of, host: "a.example".to_owned(), address: None, port: 443 };
        let (channel, database) = (of(Of::Channel("bird")), of(Of::Database));
        let soon = message.finding(&channel, CertificateState::Ends(Some(until))).unwrap();
        assert_eq!(
            soon.message,
            "the certificate where bird reaches selkie expires within 14d: 2026-11-28 09:30 UTC"
        );
        assert_eq!(
            (soon.level, soon.name.as_str(), soon.advice.as_str()),
            (Level::Warning, "a.example", RENEW)
        );
        let over = message.finding(&database, CertificateState::Ended(None)).unwrap();
        assert_eq!(
            (over.level, over.message.as_str()),
            (Level::Error, "the database server's certificate has expired")
        );
        assert_eq!(message.finding(&database, CertificateState::Valid).unwrap().level, Level::Fine);
        assert_eq!(message.finding(&database, CertificateState::Plain), None);
    }
}
