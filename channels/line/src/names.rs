//! Names of people and groups: asked behind the receiver's back, kept for a day, there for the next event.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::bounded::Bounded;
use crate::ids::Spot;

const NAMES: usize = 10_000;
/// A name is asked for again after so long.
const FRESH: Duration = Duration::from_secs(24 * 3600);

/// What people and groups are called.
#[derive(Clone)]
pub struct Names {
    api: Api,
    known: Arc<Mutex<Bounded<Known>>>,
    tasks: TaskTracker,
}

#[derive(Clone)]
struct Known {
    /// Empty while it is asked for, and when LINE does not tell.
    name: String,
    since: Instant,
}

impl Names {
    /// Asks through `api`.
    pub fn new(api: Api) -> Self {
        let known = Arc::new(Mutex::new(Bounded::new(NAMES)));
        Self { api, known, tasks: TaskTracker::new() }
    }

    /// Returns a person's name as it is known now, empty at first; asks for it when it is not fresh.
    pub fn person(&self, spot: &Spot, user: &str) -> String {
        let path = match spot.kind() {
            "user" => format!("profile/{user}"),
            kind => format!("{kind}/{}/member/{user}", spot.id()),
        };
        self.look_up(path, "displayName")
    }

    /// Returns a group's title as it is known now; rooms have none.
    pub fn title(&self, spot: &Spot) -> String {
        match spot.kind() {
            "group" => self.look_up(format!("group/{}/summary", spot.id()), "groupName"),
            _ => String::new(),
        }
    }

    fn look_up(&self, path: String, field: &'static str) -> String {
        let known = self.lock().get(&path).cloned();
        let name = known.as_ref().map(|k| k.name.clone()).unwrap_or_default();
        if known.is_none_or(|known| known.since.elapsed() > FRESH) {
            // Marked before it is asked for: a burst of messages asks once.
            self.lock().put(&path, Known { name: name.clone(), since: Instant::now() });
            self.ask(path, field);
        }
        name
    }

    fn ask(&self, path: String, field: &'static str) {
        let (api, known) = (self.api.clone(), Arc::clone(&self.known));
        self.tasks.spawn(async move {
            match api.get(&path).await {
                Ok(answer) => {
                    let name = answer[field].as_str().unwrap_or_default().to_owned();
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    known.put(&path, Known { name, since: Instant::now() });
                }
                Err(fault) => tracing::debug!(why = fault.words(), "a name stays unknown"),
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Bounded<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
