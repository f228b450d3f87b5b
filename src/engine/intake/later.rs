//! Commands about what is done later: `/schedules`, `/remind`, `/timezone`.

use std::sync::Arc;

use selkie_channel_core::{Audience, PlaceId};

use crate::delivery::reminders::LATER;
use crate::intake::given::{By, GivenCommand};
use crate::intake::messages::later as messages;
use crate::intake::remind_when::{self, NoTime, When};
use crate::intake::reminders::{ReminderAction as ToSettle, Reminders, Settler};
use crate::work::timetable::BookTimetable;
use selkie_domain::facts::Trust;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::{Action, Maker, Terms, Wish};
use selkie_domain::taint::Taint;
use selkie_schedule::book::{BookError, ScheduleRequest};
use selkie_schedule::expression::Expression;
use selkie_schedule::zone::Zone;
use selkie_schedule::zones::{PlaceZone, Zones};
use selkie_store::{Location, StoreError, Whose, ZoneOf};
use selkie_tools::ToolError;
use selkie_tools::ports::{Timetable as _, Wisher};

/// Carries the commands out.
pub struct Later {
    pub(crate) timetable: Arc<BookTimetable>,
    pub(crate) zones: Arc<Zones>,
    pub(crate) reminders: Arc<Reminders>,
}

/// What a command about a zone comes to.
pub struct ZoneDone {
    /// What is set; `None` for nothing.
    pub set: Option<ZoneOf>,
    /// What is said.
    pub text: String,
}

impl Later {
    /// Answers `/schedules`, and does what it asks for.
    pub async fn schedules(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<String, StoreError> {
        if trust == Trust::Stranger {
            return Ok(messages::NOT_FOR_STRANGERS.to_owned());
        }
        let words: Vec<&str> = given.command.args.split_whitespace().collect();
        let done = match words.as_slice() {
            [] => {
                let listed = self.timetable.list(given.conversation).await;
                listed.map(|listed| messages::listed(&listed))
            }
            [wish, id] => match (wish_of(wish), id.trim_start_matches('#').parse()) {
                (Some(wish), Ok(id)) => {
                    let by = Wisher { task: None, person: given.person.clone(), trust };
                    self.timetable.wish(given.conversation, &by, ScheduleId(id), wish).await
                }
                _ => return Ok(messages::SCHEDULES_USAGE.to_owned()),
            },
            _ => return Ok(messages::SCHEDULES_USAGE.to_owned()),
        };
        told(done)
    }

    /// Answers `/remind`: fixed words, once, here.
    pub async fn remind(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<String, StoreError> {
        if trust == Trust::Stranger {
            return Ok(messages::NOT_FOR_STRANGERS.to_owned());
        }
        let PlaceZone { zone, .. } = self.zones.of(given.place, Some(given.person)).await?;
        let now = self.timetable.book.now();
        let words: Vec<&str> = given.command.args.split_whitespace().collect();
        match words.split_first() {
            None => return Ok(messages::REMIND_USAGE.to_owned()),
            Some((verb, rest)) => {
                if let Some(wanted) = self.settles(verb, rest, zone) {
                    return match wanted {
                        Ok(wanted) => self.settle(given, wanted).await,
                        Err(why) => Ok(why),
                    };
                }
            }
        }
        let When { written: when, words: said } = match remind_when::read(&words, zone, now) {
            Ok(when) => when,
            Err(why) => return Ok(messages::no_time(&why)),
        };
        let text = behind(&given.command.args, said);
        if text.is_empty() {
            return Ok(messages::remind_of_what(&words.join(" ")));
        }
        let wanted = self.reminder(given, trust, Reminder { when, zone, text }).await;
        let kept = match wanted {
            Ok(wanted) => self.timetable.keep(wanted).await,
            Err(why) => return Ok(why.to_string()),
        };
        match kept {
            Ok(row) => {
                let ahead = self.timetable.book.outlook(&row);
                Ok(messages::reminds(row.id(), ahead.next.first().map(String::as_str)))
            }
            Err(BookError::Refused(why)) => Ok(messages::no_reminder(&why)),
            Err(BookError::Store(error)) => Err(error),
        }
    }

    /// Reads words about a reminder that was said: `done`, `snooze 20m`; `None` for other words.
    fn settles(&self, verb: &str, rest: &[&str], zone: Zone) -> Option<Result<ToSettle, String>> {
        let now = self.timetable.book.now();
        if verb.eq_ignore_ascii_case("done") {
            let done = rest.is_empty().then_some(ToSettle::Done);
            return Some(done.ok_or_else(|| messages::REMIND_USAGE.to_owned()));
        }
        if !verb.eq_ignore_ascii_case("snooze") {
            return None;
        }
        if rest.is_empty() {
            return Some(Ok(ToSettle::Again(now + LATER)));
        }
        Some(match Expression::written(&format!("in {}", rest.join(" ")), zone, now) {
            Ok(Expression::Once(at)) => Ok(ToSettle::Again(at)),
            Ok(_) => Err(messages::REMIND_USAGE.to_owned()),
            Err(why) => Err(messages::no_time(&NoTime::Wrong(why.to_string()))),
        })
    }

    async fn settle(
        &self,
        given: &GivenCommand<'_>,
        wanted: ToSettle,
    ) -> Result<String, StoreError> {
        let conversation = match self.timetable.speaks_in(given.conversation).await {
            Ok(conversation) => conversation,
            Err(why) => return Ok(why.to_string()),
        };
        let GivenCommand { person, audience, .. } = *given;
        let by = Settler { person, conversation: &conversation, audience };
        self.reminders.newest(by, wanted).await
    }

    async fn reminder(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
        reminder: Reminder<'_>,
    ) -> Result<ScheduleRequest, ToolError> {
        let Reminder { when, zone, text } = reminder;
        let by = Wisher { task: None, person: given.person.clone(), trust };
        let (name, key) = match given.by {
            By::Message(inbound) => {
                let account = inbound.conversation.account();
                (inbound.speaker.name.clone(), format!("remind:{account}|{}", inbound.key))
            }
            By::Hand(_) => (String::new(), format!("remind:{}", uuid::Uuid::now_v7())),
        };
        let speaks_in = self.timetable.speaks_in(given.conversation).await?;
        let location = match given.by {
            By::Message(_) => {
                let (conversation, place) = (speaks_in, given.place.clone());
                Location { conversation, place, title: String::new() }
            }
            By::Hand(_) => self.timetable.location(&speaks_in)?,
        };
        let person = self.timetable.person(&by)?;
        Ok(ScheduleRequest {
            recurrence: None,
            key,
            location,
            title: String::new(),
            when,
            zone: Some(zone.name().to_owned()),
            action: Action::Remind { markdown: text.to_owned() },
            maker: Maker { person, name, trust, taint: Taint::Clean, is_cleared: true },
            terms: Terms::default(),
        })
    }

    /// Answers `/timezone`: in private it is the person's, in a group everybody's there.
    pub async fn timezone(
        &self,
        given: &GivenCommand<'_>,
        trust: Trust,
    ) -> Result<ZoneDone, StoreError> {
        let says = |text: String| Ok(ZoneDone { set: None, text });
        if matches!(given.by, By::Hand(_)) {
            return says(messages::zone_of_terminal(self.zones.usual()));
        }
        let in_group = given.audience == Audience::Group;
        let written = given.command.args.trim();
        if written.is_empty() {
            let found = self.zones.of(given.place, Some(given.person)).await?;
            return says(messages::zone(found, !in_group || trust == Trust::Owner));
        }
        if in_group && trust != Trust::Owner {
            return says(messages::ZONE_IS_THE_OWNERS.to_owned());
        }
        let whose =
            if in_group { Whose::Place(place(given)) } else { Whose::Person(given.person.clone()) };
        if written.eq_ignore_ascii_case("off") {
            let set = Some(ZoneOf { whose, zone: String::new() });
            return Ok(ZoneDone { set, text: messages::zone_off(self.zones.usual()) });
        }
        match Zone::named(written) {
            Ok(zone) => {
                let now = self.timetable.book.now();
                let set = Some(ZoneOf { whose, zone: zone.name().to_owned() });
                Ok(ZoneDone { set, text: messages::zone_set(zone, now, in_group) })
            }
            Err(why) => says(why.to_string()),
        }
    }
}

/// What somebody wants to be reminded of.
struct Reminder<'a> {
    when: String,
    zone: Zone,
    text: &'a str,
}

fn place(given: &GivenCommand<'_>) -> PlaceId {
    given.place.clone()
}

fn wish_of(word: &str) -> Option<Wish> {
    Some(match word.to_ascii_lowercase().as_str() {
        "remove" | "cancel" | "delete" => Wish::Remove,
        "pause" => Wish::Pause,
        "resume" => Wish::Resume,
        _ => return None,
    })
}

/// What a text says behind so many words, as it was written.
fn behind(text: &str, words: usize) -> &str {
    let mut rest = text.trim_start();
    for _ in 0..words {
        rest = rest.find(char::is_whitespace).map_or("", |end| rest[end..].trim_start());
    }
    rest.trim_end()
}

fn told(done: Result<String, ToolError>) -> Result<String, StoreError> {
    match done {
        Ok(text) => Ok(text),
        Err(ToolError::Abort(why)) => Err(StoreError::Broken(why)),
        Err(why) => Ok(why.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_the_time_stays_as_it_was_written() {
        assert_eq!(behind("in  20m  buy\n milk ", 2), "buy\n milk");
        assert_eq!(behind("in 20m", 2), "");
        assert_eq!(behind("in", 2), "");
    }
}
