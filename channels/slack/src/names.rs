//! How people and channels are called: Slack's events name them by id alone. Asked once, kept, and never
//! waited for long.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::{join, join_all};
use selkie_channel_core::locked;
use selkie_channel_core::{Inbound, What};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::api::Api;
use crate::ids::Spot;
use crate::refs;

/// An event must be acknowledged within three seconds, and stored before.
const TIMEOUT: Duration = Duration::from_millis(800);
/// A name is asked again after this.
const FRESH: Duration = Duration::from_secs(3600);
/// One that was not to be had is asked again after this.
const MISSING: Duration = Duration::from_secs(60);
/// More than any workspace talks in one hour; then all is forgotten.
const MANY: usize = 20_000;

/// People, channels and groups that are looked up for one text.
const MAX_NAMED: usize = 20;
/// No name is longer, bytes.
const MAX_LENGTH: usize = 120;

/// The names that are known.
#[derive(Default)]
pub struct Names {
    known: Mutex<HashMap<String, (String, Instant)>>,
}

impl Names {
    /// Writes names and titles into what people said, changed and tapped. Who has no name goes by the
    /// handle; whom a text names by id is named there.
    pub async fn fill(&self, api: &Api, batch: &mut [Inbound]) {
        let mut asked: HashSet<String> =
            batch.iter().filter(|inbound| said(inbound)).flat_map(ids).flatten().collect();
        for inbound in batch.iter_mut().filter(|inbound| said(inbound)) {
            texts(inbound).for_each(|text| refs::of(text, MAX_NAMED, &mut asked));
        }
        let missing: Vec<String> = asked.into_iter().filter(|id| self.get(id).is_none()).collect();
        if !missing.is_empty() {
            let groups = missing.iter().any(|id| id.starts_with('S'));
            let one = missing.iter().filter(|id| !id.starts_with('S'));
            let all = join_all(one.map(|id| self.ask(api, id)));
            let groups = async {
                if groups {
                    self.ask_groups(api).await;
                }
            };
            if timeout(TIMEOUT, join(all, groups)).await.is_err() {
                tracing::debug!("names did not arrive in time; ids are shown instead");
            }
            // What did not come in time is not waited for again at once.
            missing.iter().filter(|id| self.get(id).is_none()).for_each(|id| self.put(id, ""));
        }
        for inbound in batch.iter_mut().filter(|inbound| said(inbound)) {
            self.write(inbound);
        }
    }

    fn write(&self, inbound: &mut Inbound) {
        let [user, channel] = ids(inbound);
        let name = |id: Option<String>| id.and_then(|id| self.get(&id)).unwrap_or_default();
        let speaker = &mut inbound.speaker;
        if speaker.name.is_empty() {
            let handle = || speaker.username.clone().unwrap_or_default();
            speaker.name = Some(name(user)).filter(|n| !n.is_empty()).unwrap_or_else(handle);
        }
        if inbound.title.is_empty() {
            inbound.title = name(channel);
        }
        let known = |id: &str| self.get(id).filter(|name| !name.is_empty());
        for text in texts(inbound) {
            if let Some(named) = refs::named(text, known) {
                *text = named;
            }
        }
    }

    /// The handles of groups of people (`@tea-team`); an app without `usergroups:read` is told none.
    async fn ask_groups(&self, api: &Api) {
        let answer = api.ask("usergroups.list", &[]).await.unwrap_or_default();
        let groups = answer.get("usergroups").and_then(Value::as_array);
        for group in groups.into_iter().flatten().take(MANY / 2) {
            if let (Some(id), Some(handle)) = (text(group, "id"), text(group, "handle")) {
                self.put(&id, &handle);
            }
        }
    }

    async fn ask(&self, api: &Api, id: &str) {
        let answer = match id.starts_with(['U', 'W']) {
            true => api.ask("users.info", &[("user", id)]).await.ok().and_then(|a| person(&a)),
            false => {
                let answer = api.ask("conversations.info", &[("channel", id)]).await.ok();
                answer.and_then(|a| text(a.get("channel")?, "name"))
            }
        };
        self.put(id, &answer.unwrap_or_default());
    }

    fn get(&self, id: &str) -> Option<String> {
        let known = locked(&self.known);
        let (name, at) = known.get(id)?;
        let good_for = if name.is_empty() { MISSING } else { FRESH };
        (at.elapsed() < good_for).then(|| name.clone())
    }

    fn put(&self, id: &str, name: &str) {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = &name[..name.floor_char_boundary(MAX_LENGTH)];
        let mut known = locked(&self.known);
        if known.len() >= MANY {
            known.clear();
        }
        known.insert(id.to_owned(), (name.to_owned(), Instant::now()));
    }
}

/// What people say, change and tap.
fn said(inbound: &Inbound) -> bool {
    matches!(inbound.what, What::Message | What::Edit | What::Tap { .. })
}

/// The texts of an inbound that may name somebody by id.
fn texts(inbound: &mut Inbound) -> impl Iterator<Item = &mut String> {
    let Inbound { text, command, quote, .. } = inbound;
    let args = command.as_mut().map(|command| &mut command.args);
    let quoted = quote.as_mut().map(|quote| &mut quote.text);
    std::iter::once(text).chain(args).chain(quoted)
}

/// Returns whom and which channel an inbound would like named; a direct conversation has no title.
fn ids(inbound: &Inbound) -> [Option<String>; 2] {
    let user = inbound.speaker.id.as_str().rsplit(':').next().filter(|_| !inbound.speaker.is_bot);
    let user = user.filter(|u| u.starts_with(['U', 'W']) && inbound.speaker.name.is_empty());
    let spot = Spot::parse(inbound.place.key(), None).filter(|spot| spot.kind() != "dm");
    [user.map(str::to_owned), spot.map(|spot| spot.channel)]
}

fn person(answer: &Value) -> Option<String> {
    let user = answer.get("user")?;
    let profile = user.get("profile");
    let shown = profile.and_then(|p| text(p, "display_name").or_else(|| text(p, "real_name")));
    shown.or_else(|| text(user, "real_name")).or_else(|| text(user, "name"))
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
