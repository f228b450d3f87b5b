//! Names of people and groups: asked behind the receiver's back, kept for a day, there for the next event.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::bounded::BoundedMap;
use crate::ids::Spot;
use selkie_channel_core::locked;

const NAMES: usize = 10_000;
/// A name is asked for again after so long.
const FRESH: Duration = Duration::from_secs(24 * 3600);

/// What people and groups are called.
#[derive(Clone)]
pub struct Names {
    api: Api,
    known: Arc<Mutex<BoundedMap<NameCache>>>,
    tasks: TaskTracker,
}

#[derive(Clone)]
struct NameCache {
    /// Empty while it is asked for, and when LINE does not tell.
    name: String,
    since: Instant,
}

impl Names {
    /// Asks through `api`.
    pub fn new(api: Api) -> Self {
        let known = Arc::new(Mutex::new(BoundedMap::new(NAMES)));
        Self { api, known, tasks: TaskTracker::new() }
    }

    /// Returns a person's name as it is known now, empty at first; asks for it again when it is not fresh.
    pub fn person(&self, spot: &Spot, user: &str) -> String {
        self.look_up(person(spot, user), "displayName")
    }

    /// Returns a group's title as it is known now; rooms have none.
    pub fn title(&self, spot: &Spot) -> String {
        summary(spot).map(|path| self.look_up(path, "groupName")).unwrap_or_default()
    }

    /// Asks for what nobody has asked for yet: who speaks and what the group is called.
    pub async fn learn(&self, spot: &Spot, user: Option<&str>) {
        let paths = user.map(|user| (person(spot, user), "displayName")).into_iter();
        let paths = paths.chain(summary(spot).map(|path| (path, "groupName")));
        let asked = paths.filter_map(|(path, field)| {
            let fresh = self.lock().get(&path).is_none();
            fresh.then(|| self.ask(path, String::new(), field))
        });
        // They go on in the background when nobody waits any more.
        for task in asked.collect::<Vec<_>>() {
            _ = task.await;
        }
    }

    fn look_up(&self, path: String, field: &'static str) -> String {
        let known = self.lock().get(&path).cloned();
        let name = known.as_ref().map(|k| k.name.clone()).unwrap_or_default();
        if known.is_none_or(|known| known.since.elapsed() > FRESH) {
            drop(self.ask(path, name.clone(), field));
        }
        name
    }

    /// Asks in the background; `name` counts until there is an answer.
    fn ask(&self, path: String, name: String, field: &'static str) -> JoinHandle<()> {
        // Marked before it is asked for: a burst of messages asks once.
        self.lock().put(&path, NameCache { name, since: Instant::now() });
        let api = self.api.clone();
        let known = Arc::clone(&self.known);
        self.tasks.spawn(async move {
            match api.get(&path).await {
                Ok(answer) => {
                    let name = answer[field].as_str().unwrap_or_default().to_owned();
                    let mut known = locked(&known);
                    known.put(&path, NameCache { name, since: Instant::now() });
                }
                Err(fault) => tracing::debug!(why = %fault, "a name stays unknown"),
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, BoundedMap<NameCache>> {
        locked(&self.known)
    }
}

fn person(spot: &Spot, user: &str) -> String {
    match spot.kind() {
        "user" => format!("profile/{user}"),
        kind => format!("{kind}/{}/member/{user}", spot.id()),
    }
}

fn summary(spot: &Spot) -> Option<String> {
    (spot.kind() == "group").then(|| format!("group/{}/summary", spot.id()))
}
