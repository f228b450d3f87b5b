//! An expression in words that a person reads.

use chrono::{DateTime, SecondsFormat, Utc};

use super::cron::Cron;
use super::expression::{Every, Expression};
use super::zone::Zone;
use selkie_domain::count::counted;

const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Says when: `every day at 08:00 Europe/Berlin`; what has no plain words is shown as it is written.
pub fn words(expression: &Expression, zone: Zone) -> String {
    match expression {
        Expression::Cron(cron) => match of_cron(cron) {
            Some(Words::OfDay(words)) => format!("{words} {zone}"),
            Some(Words::OfHour(words)) => words,
            None => format!("{cron} {zone}"),
        },
        Expression::Every(every) => of_every(*every),
        Expression::Once(at) => format!("once on {}", moment(*at, zone)),
    }
}

/// Shows an instant in a zone: `2026-11-23 08:00 Europe/Berlin`.
pub fn moment(at: DateTime<Utc>, zone: Zone) -> String {
    format!("{} {zone}", zone.local(at).format("%Y-%m-%d %H:%M"))
}

/// Writes what the clocks of a zone show, with its offset: `2026-11-23T08:00:00+01:00 Europe/Berlin`.
pub fn local_time(zone: Zone, at: DateTime<Utc>) -> String {
    format!("{} {zone}", zone.stamp(at).to_rfc3339_opts(SecondsFormat::Secs, false))
}

enum Words {
    /// A time of day, which is some zone's.
    OfDay(String),
    /// Hours and minutes that are everybody's.
    OfHour(String),
}

fn of_cron(cron: &Cron) -> Option<Words> {
    let fields: Vec<&str> = cron.fields().collect();
    let &[minute, hour, day, month, weekday] = fields.as_slice() else { return None };
    if month != "*" {
        return None;
    }
    if hour == "*" && day == "*" && weekday == "*" {
        return of_hour(minute).map(Words::OfHour);
    }
    let minute: u32 = minute.parse().ok()?;
    let hour: u32 = hour.parse().ok()?;
    let days = match (day, weekday) {
        ("*", "*") => "every day".to_owned(),
        ("*", weekday) => of_week(weekday)?,
        (day, "*") => format!("on day {} of every month", day.parse::<u32>().ok()?),
        _ => return None,
    };
    Some(Words::OfDay(format!("{days} at {hour:02}:{minute:02}")))
}

fn of_hour(minute: &str) -> Option<String> {
    if minute == "*" {
        return Some("every minute".to_owned());
    }
    if let Some(step) = minute.strip_prefix("*/") {
        let step: u64 = step.parse().ok().filter(|step| 60_u64.is_multiple_of(*step))?;
        return Some(interval(step, "minute"));
    }
    match minute.parse::<u32>().ok()? {
        0 => Some("every hour on the hour".to_owned()),
        minute => Some(format!("every hour at minute {minute}")),
    }
}

fn of_week(weekday: &str) -> Option<String> {
    if ["1-5", "mon-fri", "monday-friday"].contains(&weekday) {
        return Some("Monday to Friday".to_owned());
    }
    let days: Option<Vec<&str>> = weekday.split(',').map(day).collect();
    match days?.as_slice() {
        [one] => Some(format!("every {one}")),
        [more @ .., last] => Some(format!("every {} and {last}", more.join(", "))),
        [] => None,
    }
}

fn day(text: &str) -> Option<&'static str> {
    let number = text.parse::<usize>().ok().filter(|number| *number <= 7);
    let by_name = || {
        WEEKDAYS
            .iter()
            .position(|day| day.eq_ignore_ascii_case(text) || day[..3].eq_ignore_ascii_case(text))
    };
    number.or_else(by_name).map(|number| WEEKDAYS[number % 7])
}

fn of_every(every: Every) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let seconds = every.span().0.as_secs();
    let whole = UNITS.iter().find(|(unit, _)| seconds.is_multiple_of(*unit));
    match whole {
        // A day of the calendar is not always as long.
        Some((86_400, _)) if seconds == 86_400 => "every 24 hours".to_owned(),
        Some((unit, name)) => interval(seconds / unit, name),
        None => interval(seconds, "second"),
    }
}

fn interval(number: u64, unit: &str) -> String {
    if number == 1 {
        return format!("every {unit}");
    }
    format!("every {}", counted(number, [unit, &format!("{unit}s")]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_expressions_are_words_and_others_stay_as_they_are() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let now = "2026-11-22T15:00:00Z".parse().unwrap();
        for (written, said) in [
            ("0 8 * * *", "every day at 08:00 Europe/Berlin"),
            ("@daily", "every day at 00:00 Europe/Berlin"),
            ("30 9 * * 1-5", "Monday to Friday at 09:30 Europe/Berlin"),
            ("30 9 * * mon,7", "every Monday and Sunday at 09:30 Europe/Berlin"),
            ("@weekly", "every Sunday at 00:00 Europe/Berlin"),
            ("@monthly", "on day 1 of every month at 00:00 Europe/Berlin"),
            ("@hourly", "every hour on the hour"),
            ("15 * * * *", "every hour at minute 15"),
            ("*/5 * * * *", "every 5 minutes"),
            ("*/1 * * * *", "every minute"),
            ("*/7 * * * *", "*/7 * * * * Europe/Berlin"),
            ("0 8 1 * 1", "0 8 1 * 1 Europe/Berlin"),
            ("0 8 * 6 *", "0 8 * 6 * Europe/Berlin"),
            ("0 8-10 * * *", "0 8-10 * * * Europe/Berlin"),
            ("every 10m", "every 10 minutes"),
            ("every 1h", "every hour"),
            ("every 24h", "every 24 hours"),
            ("every 90s", "every 90 seconds"),
            ("in 20m", "once on 2026-11-22 16:20 Europe/Berlin"),
            ("at 08:00", "once on 2026-11-23 08:00 Europe/Berlin"),
        ] {
            let expression = Expression::written(written, zone, now).unwrap();
            assert_eq!(words(&expression, zone), said, "{written}");
        }
    }
}
