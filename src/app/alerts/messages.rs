//! What the owner reads of trouble.

use crate::certificates::{CertificateState, Of, PlaceReport};
use crate::status::ChannelStatus;
use selkie_domain::count::counted;
use selkie_domain::span::Span;
use selkie_domain::usage::dollars;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;

/// The disk is nearly full.
pub(super) fn disk(free: u64, least: u64, folder: &str) -> String {
    let [free, least] = [free, least].map(|bytes| bytes / 1_000_000);
    format!(
        "The disk is nearly full: {free} MB are free for `{folder}`, and I warn you below {least} MB. Please make \
         room: when it is full, I cannot answer anybody."
    )
}

/// The day is dear.
pub(super) fn cost(micro_usd: u64, most: f64) -> String {
    format!(
        "Today's tasks have cost {}, more than ${most:.2} (`alerts.daily_cost_usd`). `selkie trace` lists them; \
         `limits` in the config limits what people can use.",
        dollars(micro_usd)
    )
}

/// A platform says nothing.
pub(super) fn silent(channel: &ChannelStatus, most: Span) -> String {
    let ChannelStatus { name, account, why, .. } = channel;
    let how = match why {
        Some(why) => format!("{name} ({account}) has refused me for {most}: {why}"),
        None => format!("{name} ({account}) has not answered me for {most}"),
    };
    format!("{}. I keep trying; `selkie doctor` tells you more.", how.trim_end_matches('.'))
}

/// The daemon dies again and again.
pub(super) fn crashes(times: u32) -> String {
    let times = counted(times.into(), ["time", "times"]);
    format!("I ended {times} within an hour without being asked to. `selkie logs` tells you why.")
}

/// A certificate expires soon, or has.
pub(super) fn certificate(looked: &PlaceReport, zone: Zone) -> String {
    let PlaceReport { place, found } = looked;
    let (whose, then) = match &place.of {
        Of::Channel(name) => (
            format!("`{}`, where {name} reaches me,", place.host),
            format!("With an expired one {name} no longer sends me anything"),
        ),
        Of::Database => (
            format!("the database server `{}`", place.host),
            "With an expired one I can no longer connect to it".to_owned(),
        ),
    };
    let at = |at: &Option<_>| at.map(|at| format!(" on {}", moment(at, zone))).unwrap_or_default();
    let how = match found {
        CertificateState::Ended(until) => format!("expired{}", at(until)),
        CertificateState::Ends(Some(until)) => format!("expires{}", at(&Some(*until))),
        _ => "expires within days".to_owned(),
    };
    format!(
        "The certificate of {whose} {how}: please renew it. {then}. `selkie doctor` looks again."
    )
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::certificates::Place;

    #[test]
    fn a_certificate_is_told_with_its_day_and_what_its_end_means() {
        let place = |of| Place { of, host: "a.example".to_owned(), address: None, port: 443 };
        let until = Some(DateTime::UNIX_EPOCH);
        let channel =
            PlaceReport { place: place(Of::Channel("bird")), found: CertificateState::Ends(until) };
        assert_eq!(
            certificate(&channel, Zone::UTC),
            "The certificate of `a.example`, where bird reaches me, expires on 1970-01-01 00:00 UTC: please renew it. With an \
             expired one bird no longer sends me anything. `selkie doctor` looks again."
        );
        let database =
            PlaceReport { place: place(Of::Database), found: CertificateState::Ended(until) };
        let told = certificate(&database, Zone::UTC);
        assert!(
            told.contains("server `a.example` expired on 1970-01-01 00:00 UTC: please"),
            "{told}"
        );
    }
}
