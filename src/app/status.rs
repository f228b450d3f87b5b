//! How the daemon stands, all at once: what `selkie status` shows, and the socket and health checks tell.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::app::App;
use crate::backup::BackupStatus;
use crate::build::VERSION;
use crate::config_drift::InForce;
use crate::vitals::Vitals;
use selkie_domain::command_line;
use selkie_domain::config_drift::NotInForce;
use selkie_engine::delivery::{ChannelState, ListenState};
use selkie_schedule::day;
use selkie_schedule::zone::Zone;
use selkie_store::read::{Counts, TaskUsage};
use selkie_store::{self as store, RestoreOrigin, States, Which, sqlite};

/// So many of the next times are told.
const MAX_NEXT: usize = 5;
/// Whoever asks how the daemon stands waits no longer for the store.
const TIMEOUT: Duration = Duration::from_secs(3);

/// How the daemon stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Status {
    /// Which selkie.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Since when it runs.
    pub since: DateTime<Utc>,
    /// Its channels, by their accounts.
    pub channels: Vec<ChannelStatus>,
    /// What the store says; nothing while it does not answer.
    #[serde(flatten)]
    pub rows: Option<Rows>,
    /// Where the rows are.
    pub store: StoreStatus,
    /// Parts of messages that platforms have refused since the start.
    #[serde(default)]
    pub refused: u64,
    /// Durable commits that were synced since the start.
    pub store_syncs: u64,
    /// What answers conversations, where nobody chooses another model.
    #[serde(default)]
    pub answers: String,
    /// What to do about servers of models that have cut a prompt, a sentence each.
    #[serde(default)]
    pub cut_prompts: Vec<String>,
    /// Limits that are reached, each with whose it is.
    pub limits: Vec<String>,
    /// Why what is remembered is found by its words alone, where it should not be.
    pub memory: Option<String>,
    /// Loops that should have turned long ago.
    pub still: Vec<String>,
    /// Backups that the config asks for.
    pub backup: Option<BackupStatus>,
    /// The zone that it reads times in.
    #[serde(default)]
    pub zone: Option<Zone>,
    /// What of the config is not in force.
    #[serde(default)]
    pub config: NotInForce,
    /// The config file that it was started with, if there was one.
    #[serde(default)]
    pub config_file: Option<PathBuf>,
}

/// What the store says of how the daemon stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Rows {
    /// Rows by state.
    pub counts: Counts,
    /// Requests that wait for approval.
    pub approvals: usize,
    /// What the tasks of today have used; the day begins at midnight in the daemon's zone.
    pub today: TaskUsage,
    /// What is next by the clock.
    pub next: Vec<NextTime>,
    /// Which backup this life was restored from, while nobody has let it go on.
    pub restored: Option<RestoreOrigin>,
}

/// How a channel stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelStatus {
    /// Its name.
    pub name: String,
    /// Which bot.
    pub account: String,
    /// How it hears.
    pub state: Reception,
    /// Why it is refused.
    pub why: Option<String>,
    /// When its platform last answered.
    pub heard_at: Option<DateTime<Utc>>,
}

/// How a channel hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reception {
    /// It listens.
    Listening,
    /// The platform refuses it; it is asked again from time to time.
    Refused,
    /// It only speaks.
    Off,
}

/// Where the rows are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreStatus {
    /// `sqlite` or `postgres`.
    pub engine: String,
    /// What it takes on the disk, its log included; unknown of a server.
    pub bytes: Option<u64>,
    /// Why nothing can be written.
    pub trouble: Option<String>,
}

/// Something that comes by the clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextTime {
    /// The schedule.
    pub id: i64,
    /// What it is called.
    pub name: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// Tells it.
pub struct StatusDesk {
    /// Of whom.
    pub app: Arc<App>,
    vitals: Arc<Vitals>,
    since: DateTime<Utc>,
    in_force: Arc<InForce>,
}

impl StatusDesk {
    /// Tells it of an app that starts now.
    pub fn of(app: &Arc<App>, vitals: Arc<Vitals>, in_force: Arc<InForce>) -> Self {
        Self { app: Arc::clone(app), vitals, since: app.clock.now(), in_force }
    }

    /// Looks at the files of the config, too: whether they were changed and nobody has loaded them. A store that does not
    /// answer keeps nobody from the rest.
    pub async fn look_at_all(&self) -> Status {
        let (config, rows) = tokio::join!(self.not_in_force(), timeout(TIMEOUT, self.rows()));
        let (rows, unread) = match rows {
            Ok(Ok(rows)) => (Some(rows), None),
            Ok(Err(error)) => (None, Some(format!("it cannot be read: {error}"))),
            Err(_) => (None, Some(format!("it has not answered for {} s", TIMEOUT.as_secs()))),
        };
        let mut status = Status { config, ..self.told(rows) };
        status.store.trouble = status.store.trouble.or(unread);
        status
    }

    /// Tells what of the config is not in force.
    pub async fn not_in_force(&self) -> NotInForce {
        self.in_force.look().await
    }

    /// Looks.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn look(&self) -> store::Result<Status> {
        Ok(self.told(Some(self.rows().await?)))
    }

    async fn rows(&self) -> store::Result<Rows> {
        let ledger = &self.app.ledger;
        let now = self.app.clock.now();
        let which =
            Which { conversation: None, person: None, states: States::OPEN, limit: MAX_NEXT };
        let next = ledger.schedules(&which).await?;
        let next = next.into_iter().filter_map(|row| {
            Some(NextTime { id: row.id().0, name: row.schedule.title, at: row.next_at? })
        });
        Ok(Rows {
            counts: ledger.counts().await?,
            approvals: ledger.approvals(None).await?.len(),
            today: ledger.used_since(day::begins(self.app.plan.zone, now)).await?,
            next: next.collect(),
            restored: ledger.restored().await?,
        })
    }

    fn told(&self, rows: Option<Rows>) -> Status {
        let app = &self.app;
        let flow = &self.app.flow;
        let now = flow.now();
        let platforms = flow.channels().into_iter().filter(|it| it.name != command_line::NAME);
        Status {
            version: VERSION.to_owned(),
            pid: std::process::id(),
            since: self.since,
            channels: platforms.map(|it| channel(it, now)).collect(),
            rows,
            store: self.store(),
            refused: app.metrics.refused(),
            store_syncs: app.ledger.syncs(),
            answers: flow.answers(),
            cut_prompts: flow.cut_prompts(),
            limits: flow.limits.reached(now),
            memory: flow.memory.vectors().and_then(|vectors| vectors.trouble()),
            still: self.vitals.still(),
            backup: app.backups.as_ref().map(|backups| backups.status()),
            zone: Some(app.plan.zone),
            config: self.in_force.restart_due(),
            config_file: app.plan.file.clone(),
        }
    }

    /// Names loops that should have turned long ago.
    pub fn still(&self) -> Vec<String> {
        self.vitals.still()
    }

    fn store(&self) -> StoreStatus {
        let plan = &self.app.plan;
        // One that holds the rows itself.
        let file = plan.settings.store.url.is_none().then(|| plan.folders.state.join("selkie.db"));
        let gone = || self.app.ledger.in_place().err().map(|error| error.to_string());
        let unwritable = self.app.flow.store_trouble();
        let unwritable =
            unwritable.map(|why| format!("it cannot be written to, what needs it waits: {why}"));
        StoreStatus {
            engine: if file.is_some() { "sqlite" } else { "postgres" }.to_owned(),
            bytes: file.as_deref().and_then(sqlite::bytes_of),
            trouble: unwritable.or_else(gone),
        }
    }
}

impl Status {
    /// Returns which backup this life was restored from, while nobody has let it go on.
    pub fn restored(&self) -> Option<&RestoreOrigin> {
        self.rows.as_ref()?.restored.as_ref()
    }

    /// Whether nothing is wrong.
    pub fn is_well(&self) -> bool {
        let is_refused = |channel: &ChannelStatus| channel.state == Reception::Refused;
        !self.channels.iter().any(is_refused)
            && self.still.is_empty()
            && self.store.trouble.is_none()
            && self.restored().is_none()
            && self.backup.as_ref().is_none_or(|backup| backup.trouble.is_none())
    }
}

fn channel(channel: ChannelState, now: DateTime<Utc>) -> ChannelStatus {
    let ChannelState { name, account, hearing, heard_ago } = channel;
    let (state, why) = match hearing {
        ListenState::Listening => (Reception::Listening, None),
        ListenState::Refused { reason } => (Reception::Refused, Some(reason)),
        ListenState::Off => (Reception::Off, None),
    };
    let ago = heard_ago.and_then(|ago| TimeDelta::from_std(ago).ok());
    let heard_at = ago.and_then(|ago| now.checked_sub_signed(ago));
    ChannelStatus { name: name.to_owned(), account: account.to_string(), state, why, heard_at }
}
