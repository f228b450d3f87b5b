//! The look at the clock, by what the platforms' answers say the time is.

use chrono::TimeDelta;

use super::finding::Finding;
use selkie_schedule::zone::Zone;

const WHAT: &str = "clock";
const ZONE: &str = "time zone";
/// So far off it is told.
const OFF: TimeDelta = TimeDelta::seconds(30);
/// So far off signatures are refused, and what is scheduled comes at a wrong time.
const FAR: TimeDelta = TimeDelta::minutes(5);

/// The zones that times are read in.
#[derive(Clone, Copy, Default)]
pub struct Times {
    /// By the running daemon, where there is one.
    pub running: Option<Zone>,
    /// By the config, where it can be read.
    pub config: Option<Zone>,
}

/// Compares; several clocks that were seen agree with ours when one does.
pub fn findings(times: Times, ahead: impl Iterator<Item = TimeDelta>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let nearest = ahead.min_by_key(TimeDelta::abs).map(compared);
    findings.push(nearest.unwrap_or_else(|| {
        Finding::unknown(WHAT, "the clock could not be checked: no platform told the time")
    }));
    findings.extend(times.says().map(|message| Finding::fine(ZONE, message)));
    findings
}

impl Times {
    fn says(self) -> Option<String> {
        match (self.running, self.config) {
            (Some(running), Some(config)) if running != config => Some(format!(
                "the running selkie reads times in the zone {running}; the config says {config}, which applies from the next start"
            )),
            (running, config) => {
                running.or(config).map(|zone| format!("times are in the zone {zone}"))
            }
        }
    }
}

fn compared(ahead: TimeDelta) -> Finding {
    let off = ahead.abs();
    if off <= OFF {
        return Finding::fine(WHAT, "the clock agrees with the platforms'");
    }
    let way = if ahead > TimeDelta::zero() { "behind" } else { "ahead of" };
    let minutes = off.num_minutes();
    let seconds = off.num_seconds() % 60;
    let message = format!("this machine's clock is {minutes} min {seconds} s {way} the platforms'");
    let advice = "let the machine set its clock: timedatectl set-ntp true, or chronyd";
    match off < FAR {
        true => Finding::warning(WHAT, message, advice),
        false => Finding::error(WHAT, message, advice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_clock_is_as_bad_as_it_is_off() {
        let level = |seconds| compared(TimeDelta::seconds(seconds)).level;
        assert_eq!([0, 30, -30].map(level), [Level::Fine; 3]);
        assert_eq!([31, -31, 299].map(level), [Level::Warning; 3]);
        assert_eq!([300, -4000].map(level), [Level::Error; 2]);
        assert!(compared(TimeDelta::seconds(95)).message.contains("1 min 35 s behind"));
        assert!(compared(TimeDelta::seconds(-95)).message.contains("ahead of"));
        let times = Times::default();
        let nearest = findings(times, [4000, 2].map(TimeDelta::seconds).into_iter());
        assert_eq!(nearest[0].level, Level::Fine);
        let none = findings(times, std::iter::empty());
        assert!(none.len() == 1 && none[0].level == Level::Unknown, "{none:?}");
        let berlin = Zone::named("Europe/Berlin").unwrap();
        let of = |running, config| Times { running, config }.says().unwrap();
        assert_eq!(of(None, Some(berlin)), "times are in the zone Europe/Berlin");
        assert!(of(Some(berlin), Some(Zone::UTC)).contains("the config says UTC"));
    }
}
