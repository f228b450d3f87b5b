//! A time zone by its IANA name, with the rules that are compiled in.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDateTime, Offset as _, TimeZone as _, Utc};
use chrono_tz::{TZ_VARIANTS, Tz};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::said::shown;
use crate::domain::spelling;

/// Which rules these are (`2025b`). Others may give a stored schedule another next time.
pub const RULES: &str = chrono_tz::IANA_TZDB_VERSION;

/// How many names are offered for one that is not known.
const OFFERED: usize = 3;

/// A time zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zone(Tz);

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
    pub const UTC: Self = Self(Tz::UTC);

    /// Finds a zone by its name, whatever its case.
    ///
    /// # Errors
    /// When there is none: the names nearest to it.
    pub fn named(name: &str) -> Result<Self, UnknownZone> {
        let name = name.trim();
        let exact = Tz::from_str(name).ok();
        let any_case = || TZ_VARIANTS.into_iter().find(|tz| tz.name().eq_ignore_ascii_case(name));
        let found = exact.or_else(any_case).map(Self);
        found.ok_or_else(|| UnknownZone { name: shown(name), near: near(name) })
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
        self.0.name()
    }

    /// Returns what clocks on the wall show.
    pub fn local(self, at: DateTime<Utc>) -> NaiveDateTime {
        // chrono's own sum panics at the ends of time.
        at.naive_utc().checked_add_offset(self.offset(at)).unwrap_or_else(|| at.naive_utc())
    }

    /// Returns how far clocks on the wall are ahead.
    pub fn offset(self, at: DateTime<Utc>) -> chrono::FixedOffset {
        self.0.offset_from_utc_datetime(&at.naive_utc()).fix()
    }

    pub(super) fn rules(self) -> Tz {
        self.0
    }
}

impl UnknownZone {
    fn message(&self) -> String {
        let offer = match self.near.as_slice() {
            [] => String::new(),
            [one] => format!(" Did you mean {one}?"),
            [more @ .., last] => format!(" Did you mean {} or {last}?", more.join(", ")),
        };
        let takes = "takes a name like Europe/Berlin, Asia/Tokyo or UTC";
        format!("{:?} is not a time zone ({takes}).{offer}", self.name)
    }
}

/// A path into the zones' folder, or a name.
fn of_path(path: &str) -> Option<Zone> {
    let name = path.trim().rsplit_once("zoneinfo/").map_or(path.trim(), |(_, name)| name);
    let name = name.strip_prefix("posix/").or_else(|| name.strip_prefix("right/")).unwrap_or(name);
    Zone::named(name).ok()
}

/// Names that end like this one, or look like it.
fn near(name: &str) -> Vec<&'static str> {
    let place = city(name).replace(' ', "_");
    let all = || TZ_VARIANTS.into_iter().map(|tz| tz.name());
    let same = |of: &str| city(of).eq_ignore_ascii_case(&place);
    let mut near: Vec<&str> = all().filter(|zone| same(zone)).take(OFFERED).collect();
    while near.len() < OFFERED {
        let left = || all().filter(|zone| !near.contains(zone));
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

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
