//! `selkie demo --say`: what is said, where and by whom, and what came of it.

use std::time::Duration;

use anyhow::{anyhow, bail};
use tokio::sync::broadcast;
use tokio::time::timeout;

use super::args::Demo;
use super::outcome::{Failure, Outcome};
use super::{later, print, running_config};
use selkie_app::demo::{Line, Manner, SpeakerAt, World};
use selkie_app::run::Up;
use selkie_app::travel::{Traveller, has_failed, idle};
use selkie_config::problem::one_of;
use selkie_domain::event::Event;

/// How long `--say` waits for everything that belongs to its answer.
const TIMEOUT: Duration = Duration::from_secs(120);
/// A message that was heard and of which nothing comes for so long was ignored.
const QUIET: Duration = Duration::from_secs(3);

/// What `--say` wants said, and where.
pub(super) struct Errand {
    place: String,
    by: String,
    /// One after the other, each when the one before is answered.
    texts: Vec<String>,
    manner: Manner,
    /// Where the clock goes afterwards.
    pub(super) then: Vec<String>,
}

impl Errand {
    /// Reads `--say`, `--in` and `--as`: the place that was named, or the first there is.
    pub(super) fn read(demo: &Demo, world: &dyn World) -> Result<Option<Self>, Failure> {
        let texts = demo.say.clone();
        if texts.is_empty() {
            return Ok(None);
        }
        let places = world.places();
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Err(Failure::Usage("--say is empty: there is nothing to send".to_owned()));
        }
        let place = demo.place.as_ref().or_else(|| places.first()).cloned().unwrap_or_default();
        if !places.contains(&place) {
            return Err(Failure::Usage(format!("--in takes {}, not {place:?}", one_of(&places))));
        }
        if let Some(says) =
            texts.iter().find_map(|text| running_config::written(text, &place, world))
        {
            return Err(Failure::Usage(says));
        }
        let manner = if demo.unnamed { Manner::ToTheRoom } else { Manner::ToTheBot };
        let people = world.people();
        let is_known = |who: &String| people.iter().any(|name| name.eq_ignore_ascii_case(who));
        if let Some(who) = demo.who.as_ref().filter(|who| !is_known(who)) {
            return Err(Failure::Usage(format!("--as takes {}, not {who:?}", one_of(&people))));
        }
        let SpeakerAt { place, by } = world.speaking(&place, demo.who.as_deref());
        Ok(Some(Self { place, by, texts, manner, then: demo.then.clone() }))
    }

    /// Says what is to be said, and prints what stands there when everything has settled.
    pub(super) async fn say(&self, world: &dyn World, up: &Up, traveller: &Traveller) -> Outcome {
        let mut failed = false;
        let mut last = None;
        for text in &self.texts {
            let Some(answered) = self.one(world, up, text).await? else { return Ok(()) };
            failed |= answered.failed;
            last = Some(answered);
        }
        let Some(DemoAnswer { message, seen, .. }) = last else { return Ok(()) };
        let talk = later::Talk { world, place: &self.place, since: message };
        if talk.goes_on(traveller, &self.then, seen).await? || failed {
            return Err(Failure::Told);
        }
        Ok(())
    }

    /// Says one thing and prints what stands there when everything has settled; `None` for what was not for the bot.
    async fn one(
        &self,
        world: &dyn World,
        up: &Up,
        text: &str,
    ) -> Result<Option<DemoAnswer>, Failure> {
        let Errand { place, by, manner, .. } = self;
        let events = up.app.events.listen();
        let line = Line { place, by, text, manner: *manner };
        let message = world.say(&line).map_err(|why| Failure::Usage(format!("--as: {why}")))?;
        let settled = timeout(TIMEOUT, settled(up, events)).await;
        let seen = world.seen(place, message);
        for answer in &seen {
            print::out(&format!("{}\n", answer.trim_end()))?;
        }
        let failed = settled
            .map_err(|_| anyhow!("the answer is not complete after {} s", TIMEOUT.as_secs()))??;
        if seen.is_empty() && *manner == Manner::ToTheRoom {
            print::prose("nothing was sent: the message was not for the bot\n")?;
            return Ok(None);
        }
        if seen.is_empty() {
            return Err(anyhow!("there was no answer to {text:?}").into());
        }
        Ok(Some(DemoAnswer { message, seen, failed }))
    }
}

/// What came of one message.
struct DemoAnswer {
    message: i64,
    seen: Vec<String>,
    /// A task failed.
    failed: bool,
}

/// Waits until something has come of the message and nothing is left to do. Returns whether a task failed.
async fn settled(up: &Up, mut events: broadcast::Receiver<Event>) -> anyhow::Result<bool> {
    let mut heard = false;
    let mut something = false;
    let mut failed = false;
    loop {
        let event = match timeout(QUIET, events.recv()).await {
            Ok(Err(broadcast::error::RecvError::Closed)) => bail!("the daemon has ended"),
            // One that was missed is made up for by the counts.
            Ok(Err(broadcast::error::RecvError::Lagged(_))) => {
                heard = true;
                None
            }
            Ok(Ok(event)) => Some(event),
            // Heard, and nothing came of it for so long: it was ignored.
            Err(_) if heard && !something && idle(&*up.app.ledger).await? => return Ok(failed),
            Err(_) => continue,
        };
        heard |= matches!(event, Some(Event::Received { .. }));
        // What comes before it was heard is left of the message before.
        something |= heard && matches!(event, Some(Event::Ended { .. } | Event::Delivered { .. }));
        failed |= event.as_ref().is_some_and(has_failed);
        if something && idle(&*up.app.ledger).await? {
            return Ok(failed);
        }
    }
}
