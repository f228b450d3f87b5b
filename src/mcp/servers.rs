//! All servers of the config with what an owner has agreed to of them, and the watch over what they say now.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::connections::Connections;
use crate::deps::ListWatcher;
use crate::error::McpError;
use crate::pins::{Difference, PinFolder, PinnedList};
use async_trait::async_trait;
use selkie_channel_core::locked;
use tokio::time::Instant;

/// So long a list that was read counts as what a server offers. What a model reads of it are the pinned words in any case.
const FRESH: Duration = Duration::from_secs(60);

/// Tells an owner something in private, once for ever under its key.
#[async_trait]
pub trait OwnerTeller: Send + Sync {
    /// Tells it.
    async fn tell(&self, key: &str, text: &str);
}

/// The servers of the config.
pub struct Servers {
    /// The ways to them.
    pub connections: Connections,
    folder: PinFolder,
    agreed: BTreeMap<String, Arc<PinnedList>>,
    news: Arc<ListNews>,
    watch: Mutex<Watch>,
    teller: Mutex<Option<Arc<dyn OwnerTeller>>>,
}

struct ReadList {
    at: Instant,
    list: Arc<PinnedList>,
}

/// Hears that a list which was read is over.
#[derive(Default)]
pub struct ListNews(Mutex<BTreeSet<String>>);

impl ListWatcher for ListNews {
    fn list_changed(&self, server: &str) {
        locked(&self.0).insert(server.to_owned());
    }
}

/// What was seen of servers since the start.
#[derive(Default)]
struct Watch {
    read: BTreeMap<String, ReadList>,
    /// Hashes of lists that an owner was told of, each with its server.
    told: BTreeSet<(String, String)>,
    /// Tools that are otherwise than was agreed to, each with its server.
    changed: BTreeSet<(String, String)>,
}

impl Servers {
    /// Takes the servers with what was agreed to of them. Nothing is started.
    pub(crate) fn new(
        connections: Connections,
        folder: PinFolder,
        agreed: BTreeMap<String, Arc<PinnedList>>,
        news: Arc<ListNews>,
    ) -> Arc<Self> {
        Arc::new(Self {
            connections,
            folder,
            agreed,
            news,
            watch: Mutex::default(),
            teller: Mutex::default(),
        })
    }

    /// Says who tells owners from now on.
    pub fn tell_by(&self, teller: Arc<dyn OwnerTeller>) {
        *locked(&self.teller) = Some(teller);
    }

    /// Compares what a server offers now with what was agreed to, and tells an owner of what differs. A tool for which this
    /// is an error must not be called.
    pub(crate) async fn look(&self, server: &str, tool: &str) -> Result<(), LookError> {
        let now = self.now(server).await?;
        let Some(agreed) = self.agreed.get(server) else { return Err(LookError::Gone) };
        let differences = agreed.differences(&now);
        if !differences.is_empty() {
            self.note(server, &now, &differences).await;
        }
        match now.tool(tool) {
            None => Err(LookError::Gone),
            Some(there) if Some(there) != agreed.tool(tool) => Err(LookError::Changed),
            Some(_) => Ok(()),
        }
    }

    /// What a server offers now, or has offered a moment ago.
    async fn now(&self, server: &str) -> Result<Arc<PinnedList>, McpError> {
        let is_over = locked(&self.news.0).remove(server);
        if let Some(read) = locked(&self.watch).read.get(server)
            && read.at.elapsed() < FRESH
            && !is_over
        {
            return Ok(Arc::clone(&read.list));
        }
        let list = Arc::new(self.connections.list(server).await?.offer);
        let read = ReadList { at: Instant::now(), list: Arc::clone(&list) };
        locked(&self.watch).read.insert(server.to_owned(), read);
        if self.agreed.get(server).is_some_and(|agreed| agreed.differences(&list).is_empty()) {
            // Whatever it has offered in between.
            {
                let mut watch = locked(&self.watch);
                watch.changed.retain(|(of, _)| of != server);
                watch.told.retain(|(of, _)| of != server);
            }
            self.keep(server, None).await;
        }
        Ok(list)
    }

    /// Keeps what a server offers otherwise, or that it does so no more.
    async fn keep(&self, server: &str, seen: Option<PinnedList>) {
        let folder = self.folder.clone();
        let name = server.to_owned();
        let kept = tokio::task::spawn_blocking(move || match seen {
            Some(list) => folder.keep_seen(&name, &list),
            None => folder.forget_seen(&name),
        });
        if let Err(error) = kept.await.map_err(io::Error::other).flatten() {
            tracing::warn!(server, %error, "what an MCP server offers now cannot be kept");
        }
    }

    /// Says that a tool was seen to be otherwise than was agreed to.
    pub(crate) fn is_changed(&self, server: &str, tool: &str) -> bool {
        locked(&self.watch).changed.contains(&(server.to_owned(), tool.to_owned()))
    }

    async fn note(&self, server: &str, now: &PinnedList, differences: &[Difference]) {
        let hash = now.hash();
        let is_new = {
            let mut watch = locked(&self.watch);
            let changed = differences.iter().filter_map(Difference::tool);
            watch.changed.retain(|(of, _)| of != server);
            watch.changed.extend(changed.map(|tool| (server.to_owned(), tool.to_owned())));
            watch.told.insert((server.to_owned(), hash.clone()))
        };
        if !is_new {
            return;
        }
        let what = crate::review::in_short(differences);
        tracing::warn!(server, what, "an MCP server offers other tools than were agreed to");
        self.keep(server, Some(now.clone())).await;
        let teller = locked(&self.teller).clone();
        if let Some(teller) = teller {
            let text = format!(
                "The MCP server {server} offers other tools than you agreed to: {what}. What changed is not used. To see it \
                 and to agree, run on the machine: `selkie mcp trust {server}`"
            );
            teller.tell(&format!("mcp:{server}:{hash}"), &text).await;
        }
    }
}

/// Why a tool must not be called.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookError {
    #[error(transparent)]
    Server(#[from] McpError),
    #[error("the server does not offer it any more")]
    Gone,
    #[error(
        "its server describes it otherwise than the owner agreed to; an owner can look at it with `selkie mcp trust`"
    )]
    Changed,
}
