//! What of how the daemon stands is worth an alert. Pure.

use chrono::{DateTime, TimeDelta, Utc};

use super::messages;
use crate::certificates::{CertificateReport, PlaceReport};
use crate::status::{ChannelStatus, Reception};
use selkie_config::alerts::Alerts as Settings;
use selkie_schedule::zone::Zone;

/// What was seen at one look.
#[derive(Debug)]
pub(super) struct Observation {
    pub(super) now: DateTime<Utc>,
    /// Since when the daemon runs.
    pub(super) since: DateTime<Utc>,
    /// Free bytes on the disk of the state folder, where that is known.
    pub(super) free: Option<u64>,
    /// The folder, for people.
    pub(super) folder: String,
    /// The channels; none where the store could not tell.
    pub(super) channels: Vec<ChannelStatus>,
    /// What the day's tasks have cost in millionths of a dollar, and which day it is.
    pub(super) spent: Option<DayCost>,
    /// Ends within the last hour that nobody asked for.
    pub(super) crashes: u32,
    /// What the last look at certificates came to; `None` before the first.
    pub(super) certificates: Option<CertificateReport>,
    /// The zone that times are told in.
    pub(super) zone: Zone,
}

impl Observation {
    /// Whether it tells how a trouble stands: of what could not be looked at nobody knows that it is over.
    pub(super) fn tells(&self, trouble: &str) -> bool {
        match trouble {
            "disk" | "crashes" => true,
            _ if trouble.starts_with("certificate:") => {
                self.certificates.as_ref().is_some_and(|seen| seen.tells(trouble))
            }
            _ => self.spent.is_some(),
        }
    }
}

/// What a day has cost.
#[derive(Debug)]
pub(super) struct DayCost {
    pub(super) day: String,
    pub(super) micro_usd: u64,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Names it: the same as long as it lasts.
    pub(super) key: String,
    /// What the owner is told.
    pub(super) words: String,
    /// The account that is silent: it carries no alert.
    pub(super) account: Option<String>,
}

impl Trouble {
    fn of(key: impl Into<String>, words: String) -> Self {
        Self { key: key.into(), words, account: None }
    }
}

/// Finds what is wrong. `stands` says what was wrong at the look before: that is well again only when it clearly is.
pub(super) fn troubles(
    settings: &Settings,
    seen: &Observation,
    stands: impl Fn(&str) -> bool,
) -> Vec<Trouble> {
    let mut all: Vec<Trouble> = disk(settings, seen, stands("disk")).into_iter().collect();
    all.extend(cost(settings, seen));
    all.extend(seen.channels.iter().filter_map(|channel| silent(settings, seen, channel)));
    if settings.crashes > 0 && seen.crashes >= settings.crashes {
        all.push(Trouble::of("crashes", messages::crashes(seen.crashes)));
    }
    let looked = seen.certificates.iter().flat_map(|sighting| &sighting.looked);
    all.extend(looked.filter_map(|looked| certificate(looked, seen.zone)));
    all
}

fn certificate(looked: &PlaceReport, zone: Zone) -> Option<Trouble> {
    Some(Trouble::of(looked.trouble()?, messages::certificate(looked, zone)))
}

fn disk(settings: &Settings, seen: &Observation, stands: bool) -> Option<Trouble> {
    let free = seen.free?;
    let least = settings.disk_free_bytes;
    // A quarter more: else what is written and deleted at the border would be told again and again.
    let well = if stands { least.saturating_add(least / 4) } else { least };
    (free < well).then(|| Trouble::of("disk", messages::disk(free, least, &seen.folder)))
}

fn cost(settings: &Settings, seen: &Observation) -> Option<Trouble> {
    let DayCost { day, micro_usd } = seen.spent.as_ref()?;
    let most = settings.daily_cost_usd;
    #[expect(clippy::cast_precision_loss, reason = "money below 2^53 millionths is exact")]
    let spent = *micro_usd as f64 / 1e6;
    (most > 0.0 && spent > most)
        .then(|| Trouble::of(format!("cost:{day}"), messages::cost(*micro_usd, most)))
}

fn silent(settings: &Settings, seen: &Observation, channel: &ChannelStatus) -> Option<Trouble> {
    let most = settings.channel_silent;
    if most.0.is_zero() || channel.state == Reception::Off {
        return None;
    }
    let heard = channel.heard_at.unwrap_or(seen.since).max(seen.since);
    let for_so_long = seen.now - heard > TimeDelta::from_std(most.0).unwrap_or(TimeDelta::MAX);
    for_so_long.then(|| Trouble {
        key: format!("channel:{}", channel.account),
        words: messages::silent(channel, most),
        account: Some(channel.account.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::{CertificateState, Of, Place};
    use selkie_domain::span::Span;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(minutes * 60, 0).unwrap()
    }

    fn well() -> Observation {
        Observation {
            now: at(60),
            since: at(0),
            free: Some(10_000_000_000),
            folder: "/var/lib/selkie".to_owned(),
            channels: Vec::new(),
            spent: Some(DayCost { day: "2026-11-23".to_owned(), micro_usd: 9_000_000 }),
            crashes: 2,
            certificates: None,
            zone: Zone::UTC,
        }
    }

    fn keys(settings: &Settings, seen: &Observation, stands: bool) -> Vec<String> {
        troubles(settings, seen, |_| stands).into_iter().map(|trouble| trouble.key).collect()
    }

    #[test]
    fn a_disk_is_well_again_with_a_quarter_more() {
        let settings = Settings::default();
        for (free, stands, told) in [
            (500_000_000, false, false),
            (499_999_999, false, true),
            (500_000_000, true, true),
            (625_000_000, true, false),
        ] {
            let seen = Observation { free: Some(free), ..well() };
            assert_eq!(keys(&settings, &seen, stands).len(), usize::from(told), "{free}");
        }
        let off = Settings { disk_free_bytes: 0, ..settings.clone() };
        assert!(keys(&off, &Observation { free: Some(0), ..well() }, false).is_empty());
        assert!(keys(&settings, &Observation { free: None, ..well() }, true).is_empty());
    }

    #[test]
    fn each_day_and_each_channel_is_a_trouble_of_its_own() {
        let settings = Settings::default();
        let spent = |day: &str| Some(DayCost { day: day.to_owned(), micro_usd: 10_000_001 });
        let seen = Observation { spent: spent("2026-11-24"), crashes: 3, ..well() };
        assert_eq!(keys(&settings, &seen, false), ["cost:2026-11-24", "crashes"]);
        let off = Settings { daily_cost_usd: 0.0, crashes: 0, ..settings };
        assert!(keys(&off, &seen, false).is_empty());
    }

    #[test]
    fn a_channel_is_silent_after_its_time_whether_it_ever_spoke_or_not() {
        let settings = Settings { channel_silent: Span::seconds(15 * 60), ..Settings::default() };
        let channel = |account: &str, state, heard_at| ChannelStatus {
            name: "bird".to_owned(),
            account: account.to_owned(),
            state,
            why: None,
            heard_at,
        };
        let channels = vec![
            channel("a:1", Reception::Listening, Some(at(46))),
            channel("a:2", Reception::Listening, Some(at(44))),
            channel("a:3", Reception::Refused, None),
            channel("a:4", Reception::Off, None),
        ];
        let seen = Observation { channels: channels.clone(), ..well() };
        assert_eq!(keys(&settings, &seen, false), ["channel:a:2", "channel:a:3"]);
        let young = Observation { since: at(50), channels: channels.clone(), ..well() };
        assert!(keys(&settings, &young, false).is_empty(), "it has just begun");
        let off = Settings { channel_silent: Span::seconds(0), ..settings };
        assert!(keys(&off, &Observation { channels, ..well() }, false).is_empty());
    }

    #[test]
    fn a_certificate_is_a_trouble_by_its_end_and_over_when_another_one_is_seen() {
        let settings = Settings::default();
        let looked = |found| PlaceReport {
            place: Place { of: Of::Database, host: "db".to_owned(), address: None, port: 5432 },
            found,
        };
        let sighting =
            |found, is_whole| Some(CertificateReport { looked: vec![looked(found)], is_whole });
        let seen = |certificates| Observation { certificates, ..well() };
        let soon = seen(sighting(CertificateState::Ends(Some(at(90))), true));
        assert_eq!(keys(&settings, &soon, false), ["certificate:db:5432:5400"]);
        let over = seen(sighting(CertificateState::Ended(Some(at(90))), true));
        assert_eq!(keys(&settings, &over, false), ["certificate:db:5432:5400"], "the same one");
        let renewed = seen(sighting(CertificateState::Valid, true));
        assert!(keys(&settings, &renewed, true).is_empty());
        let key = "certificate:db:5432:5400";
        assert!(renewed.tells(key));
        let away = sighting(CertificateState::Unknown("away".to_owned()), true);
        for unsure in [None, away, sighting(CertificateState::Valid, false)] {
            assert!(!seen(unsure).tells(key));
        }
    }
}
