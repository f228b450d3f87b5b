//! Events to tasks, tasks to answers, answers to platforms.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use selkie_channel_core::{AccountId, Channel, PersonId, Redactor};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::Agent;
use crate::domain::chance::Chance;
use crate::domain::clock::SharedClock;
use crate::domain::crash::Crash;
use crate::domain::happening::Happenings;
use crate::domain::ids::Boot;
use crate::llm::Model;
use crate::shape::Shaper;
use crate::store::{Ledger, StoreError};
use crate::tools::paths::Ours;
use crate::tools::ports::Pictures;
use crate::tools::shell::Processes;

mod account;
mod answer;
mod ask;
mod attempt;
mod backfill;
mod chain;
mod commands;
mod courier;
mod departure;
mod desk;
mod detached;
mod endings;
mod files;
mod finish;
mod gate;
mod governor;
mod health;
mod heard;
mod hints;
mod hold;
mod intake;
mod janitor;
mod knocks;
mod limits;
mod listen;
mod mind;
mod park;
mod persona;
mod policy;
mod post;
mod presence;
mod progress;
mod questions;
mod records;
mod remains;
mod reply;
mod rights;
mod say;
mod scope;
pub mod settings;
mod spool;
mod standings;
mod steer;
mod stops;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod stories_of_crowds;
#[cfg(test)]
mod stories_of_hanging_up;
#[cfg(test)]
mod stories_of_questions;
#[cfg(test)]
mod stories_of_refusals;
mod sweep;
mod taps;
mod terminal;
#[cfg(test)]
mod testing;
mod typed;
mod unheard;
mod verdict;
mod words;
mod worker;
mod workspace;

pub use account::{ChannelState, Hearing};
pub use ask::{Ask, AskEvent, Reply};
pub use say::Told;
pub use settings::Settings;
pub use workspace::WorkspaceSettings;

use answer::Answers;
use commands::{Commands, Shapes};
use courier::Courier;
use desk::Desk;
use endings::Endings;
use gate::Gate;
use intake::Intake;
use knocks::Knocks;
use mind::{Mind, Thinking};
use post::Letterbox;
use stops::Stops;
use taps::Taps;
use terminal::Terminal;
use worker::Workers;

/// What flow is made of.
pub struct Parts {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Makes shapes.
    pub shaper: Arc<Shaper>,
    /// Drives runs.
    pub agent: Arc<Agent>,
    /// Decides for the group gate.
    pub decision: Arc<dyn Model>,
    /// The built channels, without the command line.
    pub channels: Vec<Channel>,
    /// Always allowed; the first gets notices.
    pub owners: Vec<PersonId>,
    /// From config.
    pub settings: Settings,
    /// The time.
    pub clock: SharedClock,
    /// Chance.
    pub chance: Arc<dyn Chance>,
    /// Where to die, in tests.
    pub crash: Arc<Crash>,
    /// Who watches.
    pub happenings: Happenings,
    /// This run of the process.
    pub boot: Boot,
    /// The state folder.
    pub state_dir: PathBuf,
    /// The folder of cached files.
    pub cache_dir: PathBuf,
    /// What is the bot's own: closed to every tool.
    pub ours: Ours,
    /// Hides secrets.
    pub redactor: Redactor,
    /// What tools run, for `/ps`.
    pub processes: Arc<Processes>,
    /// When the main model sees: where pictures that people send are made ready for it.
    pub sees: Option<Arc<dyn Pictures>>,
    /// For `/status`.
    pub version: &'static str,
}

/// How the daemon ends flow: first nothing new is heard, then nothing more is begun.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Ends the ears; from then on no task is begun, and what waits goes on at the next start.
    pub receivers: CancellationToken,
    /// Ends workers and couriers; unfinished tasks go on at the next start.
    pub work: CancellationToken,
}

/// Everything between the channels and the agent.
pub struct Flow {
    desk: Arc<Desk>,
    intake: Arc<Intake>,
    workers: Arc<Workers>,
    commands: Arc<Commands>,
    gate: Arc<Gate>,
    endings: Arc<Endings>,
    terminal: Arc<Terminal>,
    /// Until [`Flow::start`] takes them.
    letterboxes: Mutex<HashMap<AccountId, Letterbox>>,
}

/// Who thinks, and as whom.
struct Minds {
    mind: Arc<dyn Mind>,
    shapes: Shapes,
    decision: Arc<dyn Model>,
    persona: String,
}

impl Flow {
    /// Puts the parts together; nothing runs yet.
    pub fn new(parts: Parts) -> Arc<Self> {
        let shaper = Arc::clone(&parts.shaper);
        let shapes: Shapes = Arc::new(move |facts| shaper.shape(facts));
        let agent = Arc::clone(&parts.agent);
        let decision = Arc::clone(&parts.decision);
        let thinking = |desk: &Arc<Desk>, shapes: Shapes, persona: String| -> Arc<dyn Mind> {
            let records = Arc::new(records::Records(Arc::clone(desk)));
            Arc::new(Thinking {
                agent,
                shapes,
                scopes: scope::Scopes {
                    todos: Arc::clone(&records) as _,
                    modes: records,
                    workspaces: desk.workspaces(),
                    clock: Arc::clone(&desk.clock),
                },
                persona,
            })
        };
        let terminal = Arc::new(Terminal::default());
        let (desk, letterboxes) = Desk::of(parts, &terminal);
        let persona = persona::read(&desk.state_dir);
        let mind = thinking(&desk, Arc::clone(&shapes), persona.clone());
        let minds = Minds { mind, shapes, decision, persona };
        Arc::new(Self::assemble(desk, letterboxes, terminal, minds))
    }

    fn assemble(
        desk: Arc<Desk>,
        letterboxes: HashMap<AccountId, Letterbox>,
        terminal: Arc<Terminal>,
        minds: Minds,
    ) -> Self {
        let Minds { mind, shapes, decision, persona } = minds;
        let stops = Arc::new(Stops::new(desk.stop.work.clone()));
        let endings = Arc::new(Endings::default());
        let answers = Answers {
            desk: Arc::clone(&desk),
            mind,
            stops: Arc::clone(&stops),
            endings: Arc::clone(&endings),
        };
        let workers = Arc::new(Workers::new(Arc::clone(&desk), answers));
        let gate = Gate::new(Arc::clone(&desk), Arc::clone(&workers), decision, persona);
        let gate = Arc::new(gate);
        let taps = Taps::new(Arc::clone(&desk), Arc::clone(&workers));
        let commands = Arc::new(Commands { desk: Arc::clone(&desk), stops, shapes, taps });
        let intake = Arc::new(Intake {
            desk: Arc::clone(&desk),
            workers: Arc::clone(&workers),
            commands: Arc::clone(&commands),
            gate: Arc::clone(&gate),
            knocks: Knocks::default(),
        });
        let letterboxes = Mutex::new(letterboxes);
        Self { desk, intake, workers, commands, gate, endings, terminal, letterboxes }
    }

    /// Starts: dead claims are taken back, stored commands carried out, then couriers, workers, ears.
    /// Returns when everything is started; what runs, runs on `tracker` until `stop`.
    ///
    /// # Errors
    /// When the store cannot be read or written: nothing is started.
    pub async fn start(
        self: &Arc<Self>,
        tracker: &TaskTracker,
        stop: Stop,
    ) -> Result<(), StoreError> {
        let desk = &self.desk;
        let back = desk.ledger.reclaim(&desk.boot, desk.clock.now()).await?;
        if back > 0 {
            tracing::info!(tasks = back, "unfinished tasks of an earlier start go on");
        }
        self.workers.suspect().await?;
        let moved = desk.ledger.moved_places().await?;
        let open = desk.ledger.open_commands().await?;
        self.relay(tracker, stop);
        for (old, new) in moved {
            if let Some(account) = desk.accounts.get(old.account()) {
                desk.follow(account, &old, &new).await;
            }
        }
        self.commands.carry_out(open).await;
        let couriers = self.couriers().await?;
        desk.spool.sweep(couriers.iter().flat_map(Courier::parts));
        desk.tracker.spawn(progress::sweep(Arc::clone(desk)));
        for courier in couriers {
            desk.tracker.spawn(courier.run());
        }
        desk.tracker.spawn(Arc::clone(&self.workers).dispatch());
        self.gate.resume().await?;
        desk.tracker.spawn(hold::sweep(Arc::clone(desk)));
        desk.tracker.spawn(hold::offer_again(Arc::clone(desk)));
        desk.tracker.spawn(limits::write_behind(Arc::clone(desk)));
        desk.tracker.spawn(janitor::run(Arc::clone(desk)));
        desk.tracker.spawn(health::watch_over(Arc::clone(desk)));
        for account in desk.accounts.values() {
            let listening = listen::listen(Arc::clone(&self.intake), Arc::clone(account));
            desk.tracker.spawn(listening);
        }
        Ok(())
    }

    /// Waits until every channel is refused for sure and none has ever worked, and says why.
    pub async fn hopeless(&self) -> String {
        let mut hopeless = self.desk.hopeless.subscribe();
        match hopeless.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            // The sender lives as long as `self`.
            Err(_) => std::future::pending().await,
        }
    }

    /// Tells how the channels stand.
    pub fn channels(&self) -> Vec<ChannelState> {
        self.desk.channel_states()
    }

    /// Runs one task in the terminal and streams what happens, to the end of its delivery. Whoever drops the
    /// stream has hung up: the task is stopped.
    ///
    /// # Errors
    /// When the task could not be stored.
    pub async fn ask(&self, ask: Ask) -> Result<mpsc::Receiver<AskEvent>, StoreError> {
        let (desk, intake) = (Arc::clone(&self.desk), Arc::clone(&self.intake));
        let (endings, terminal) = (Arc::clone(&self.endings), Arc::clone(&self.terminal));
        let begun = async move { ask::begin(&desk, &intake, &endings, &terminal, ask).await };
        self.desk.to_the_end(begun).await
    }

    /// Answers the question with this key for whoever sits at the terminal.
    ///
    /// # Errors
    /// When the answer could not be stored.
    pub async fn answer(&self, question: &str, reply: Ask) -> Result<Reply, StoreError> {
        let (desk, intake) = (Arc::clone(&self.desk), Arc::clone(&self.intake));
        let question = question.to_owned();
        let answered = async move { ask::answer(&desk, &intake, (&question, reply)).await };
        self.desk.to_the_end(answered).await
    }

    /// Starts the couriers alone: nothing is heard, no task is run.
    ///
    /// # Errors
    /// When the store cannot be read: nothing is started.
    pub async fn start_couriers(
        &self,
        tracker: &TaskTracker,
        stop: Stop,
    ) -> Result<(), StoreError> {
        self.relay(tracker, stop);
        for courier in self.couriers().await? {
            self.desk.tracker.spawn(courier.run());
        }
        Ok(())
    }

    /// Says the owner's own words in the conversation that `to` names, and waits for what becomes of them.
    ///
    /// # Errors
    /// When they could not be stored: nothing was said.
    pub async fn say(&self, to: &str, markdown: &str) -> Result<Told, StoreError> {
        say::say(&self.desk, to, markdown).await
    }

    /// Hands the daemon's stop on, and keeps its tracker busy until all of flow has ended.
    fn relay(&self, tracker: &TaskTracker, stop: Stop) {
        let desk = Arc::clone(&self.desk);
        let (inner, own) = (desk.stop.clone(), desk.tracker.clone());
        tracker.spawn(async move {
            tokio::select! {
                () = stop.receivers.cancelled() => {}
                () = stop.work.cancelled() => {}
            }
            inner.receivers.cancel();
            stop.work.cancelled().await;
            inner.work.cancel();
            own.close();
            own.wait().await;
            // What the last tasks have used.
            limits::write(&desk).await;
        });
    }

    async fn couriers(&self) -> Result<Vec<Courier>, StoreError> {
        let letterboxes =
            std::mem::take(&mut *self.letterboxes.lock().unwrap_or_else(PoisonError::into_inner));
        let mut couriers = Vec::new();
        for (id, letterbox) in letterboxes {
            let Some(account) = self.desk.accounts.get(&id) else { continue };
            let mut courier = Courier::new(Arc::clone(&self.desk), Arc::clone(account), letterbox);
            courier.load().await?;
            couriers.push(courier);
        }
        Ok(couriers)
    }
}
