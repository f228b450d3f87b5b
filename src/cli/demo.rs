//! `selkie demo`: the same daemon as `run`, with emulated platforms around it.

use std::io::Write as _;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::json;
use tokio::sync::{oneshot, watch};

use super::args::Demo;
use super::banner::{self, Banner};
use super::errand::Errand;
use super::outcome::{Failure, Outcome};
use super::{demo_model, later, print, story};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice, plan_of_demo};
use selkie_app::demo::{Start, World};
use selkie_app::lifecycle;
use selkie_app::run::{Attendant, Up, daemon};
use selkie_app::service_manager::ServiceManager;
use selkie_app::state;
use selkie_app::telemetry;
use selkie_app::travel::Traveller;
use selkie_config::Flag;
use selkie_config::paths::ConfigFile;
use selkie_domain::clock::{Clock as _, SystemClock};
use selkie_engine::clocks::Clocks;
use selkie_schedule::movable::MovableClocks;

/// How long something to say waits for a database that is away.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Where a state folder counts its demos.
const COUNTED: &str = "demos";
/// Names a database for one run.
const STORE_URL: &str = "SELKIE__STORE__URL";

/// Serves the page, or says one thing and prints what a person would see.
pub fn demo(binary: &Binary, mut chosen: ConfigChoice, demo: Demo) -> Outcome {
    let world = (binary.world)().ok_or_else(|| {
        Failure::Usage(
            "this selkie was built without the playground: build it with --features playground"
                .to_owned(),
        )
    })?;
    // Found by chance, a file could bring in channels that are no part of a demo.
    if matches!(chosen.file, ConfigFile::Found(_)) {
        chosen.file = ConfigFile::None;
    }
    let fresh = match &chosen.state {
        Some(_) => None,
        None => Some(Fresh::make(binary, "selkie-demo")?),
    };
    if let Some(fresh) = &fresh {
        chosen.state = Some(fresh.0.clone());
    }
    let stand_in = demo.story.is_some().then(|| "offline".to_owned());
    let family = demo_model::family(demo.model.as_deref(), &*world)?;
    let model = demo.model.as_ref().filter(|_| family.is_none());
    if let Some(model) = model.or(stand_in.as_ref()) {
        chosen.flags.push(Flag { name: "--model".to_owned(), value: demo_model::config(model)? });
    }
    lifecycle::runtime()?.block_on(with_world(
        binary,
        chosen,
        demo,
        Platforms { world, family, is_fresh: fresh.is_some() },
    ))
}

async fn with_world(
    binary: &Binary,
    mut chosen: ConfigChoice,
    demo: Demo,
    platforms: Platforms,
) -> Outcome {
    let Platforms { mut world, family, is_fresh } = platforms;
    let visit = visit(binary, &demo, &*world)?;
    let earlier = earlier_demos(binary, &chosen)?;
    let clocks = MovableClocks::over(Arc::new(SystemClock));
    let clock = Arc::clone(&clocks) as _;
    world.start(Start { port: demo.port, earlier, clock, family }).await?;
    let mut guest = world.config();
    guest["console"] = json!({ "listen": "127.0.0.1:0", "allow_origin": world.url() });
    chosen.flags.insert(0, Flag { name: "the playground".to_owned(), value: guest });
    let mut plan = plan_of_demo(binary, &chosen, Clocks::movable(&clocks))?;
    if let Visit::Say(errand) = &visit {
        let readable = |to: &String| later::readable(to, plan.zone, clocks.now());
        errand.then.iter().try_for_each(readable)?;
    }
    let told = demo.use_store || binary.env.get(STORE_URL).is_some_and(|url| !url.is_empty());
    if let Some(name) = banner::remote(&plan.settings.store).filter(|_| !told) {
        return Err(Failure::Usage(format!(
            "the config's store.url names {name}, and a demo would keep its made-up chats there: give --use-store if \
             that is meant, {STORE_URL} for a database of its own, or another --config"
        )));
    }
    plan.settings.logging = plan.settings.logging.quiet();
    telemetry::start(plan.settings.logging, &plan.redactor, telemetry::colour(&binary.env));
    let config = chosen.file.path().map(|path| path.display().to_string());
    both(plan, visit, Stage { world, clocks, is_fresh }, config.as_deref()).await
}

/// Counts this demo among those of its state folder and returns how many there were before.
fn earlier_demos(binary: &Binary, chosen: &ConfigChoice) -> anyhow::Result<u32> {
    let Some(state) = &chosen.state else { return Ok(0) };
    let state = binary.here.join(state);
    let file = state.join(COUNTED);
    // What is no number was not written by a demo.
    let earlier = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
    let earlier: u32 = earlier.unwrap_or_default();
    state::make(&state)
        .and_then(|()| std::fs::write(&file, format!("{}\n", earlier.saturating_add(1))))
        .with_context(|| format!("{} cannot be written: use another --state", file.display()))?;
    Ok(earlier)
}

/// Where a demo plays: the emulated platforms, and the clocks that they share with the daemon.
struct Stage {
    world: Box<dyn World>,
    clocks: Arc<MovableClocks>,
    /// Its state folder goes with it.
    is_fresh: bool,
}

/// What a demo brings before it has clocks.
struct Platforms {
    world: Box<dyn World>,
    /// Whose rules its model server keeps, where that is the model.
    family: Option<String>,
    /// Its state folder goes with it.
    is_fresh: bool,
}

/// Runs the daemon and the visit side by side; the visit's end ends the daemon.
async fn both(plan: AppConfig, visit: Visit, stage: Stage, config: Option<&str>) -> Outcome {
    let Stage { world, clocks, is_fresh } = stage;
    let (up, started) = oneshot::channel::<Up>();
    let (end, ended) = oneshot::channel::<()>();
    let (waits, mut waited) = watch::channel(String::new());
    // Its log is quiet, and whoever looks at an empty terminal is to know why.
    let tell = |what: String| {
        writeln!(std::io::stderr(), "\n  {what}").ok();
        waits.send_replace(what);
    };
    let model = plan.model.card().name;
    world.set_model(&model);
    let banner = banner::Facts {
        url: &world.url(),
        model: &model,
        config,
        state: &plan.folders.state,
        is_fresh,
        store: &plan.settings.store,
    };
    let banner = banner.in_words();
    if warns(&visit, &model) {
        // A courtesy: a closed standard error stops nothing.
        write!(std::io::stderr(), "{}", banner::REAL_TOOLS).ok();
    }
    let visiting = async {
        let visited = match until_up(&visit, started, &mut waited).await {
            Ok(Some(up)) => attend(&*world, &up, clocks, &visit, &banner).await,
            Ok(None) => Ok(()),
            Err(why) => Err(why.into()),
        };
        // A daemon that has ended needs no telling.
        end.send(()).ok();
        visited
    };
    let attendant = Attendant {
        up,
        end: Some(ended),
        waits: &tell,
        manager: ServiceManager::default(),
        signals: None,
        reread: None,
    };
    let mut daemon = pin!(daemon(plan, attendant));
    tokio::select! {
        ran = &mut daemon => Ok(ran?),
        visited = visiting => {
            daemon.await?;
            visited
        }
    }
}

/// Waits until the daemon is up, which nobody who only looks at the page is in a hurry for; `None` when it has ended.
async fn until_up(
    visit: &Visit,
    started: oneshot::Receiver<Up>,
    waited: &mut watch::Receiver<String>,
) -> anyhow::Result<Option<Up>> {
    match visit {
        Visit::Page(_) => Ok(started.await.ok()),
        Visit::Say(_) | Visit::Story(_) => tokio::select! {
            up = started => Ok(up.ok()),
            why = too_long(waited) => Err(why),
        },
    }
}

/// Tells the world of the daemon, and does what the demo was started for.
async fn attend(
    world: &dyn World,
    up: &Up,
    clocks: Arc<MovableClocks>,
    visit: &Visit,
    banner: &Banner,
) -> Outcome {
    if let Visit::Page(team) = visit {
        set_stage(world, &team.0).await;
    }
    if let Some(console) = up.console {
        world.set_daemon(&format!("http://{console}"));
    }
    let traveller = Arc::new(Traveller::new(Arc::clone(&up.app), clocks));
    world.set_movable(Arc::clone(&traveller) as _);
    match visit {
        Visit::Say(errand) => errand.say(world, up, &traveller).await,
        Visit::Story(team) => story::approval(world, &team.0).await.map_err(Into::into),
        Visit::Page(_) => stay(banner).await,
    }
}

/// Ends when the start has waited too long for what it waits for; says what that was.
async fn too_long(waited: &mut watch::Receiver<String>) -> anyhow::Error {
    if waited.wait_for(|what| !what.is_empty()).await.is_err() {
        // Nobody waits any more.
        return std::future::pending().await;
    }
    tokio::time::sleep(START_TIMEOUT).await;
    let seconds = START_TIMEOUT.as_secs();
    anyhow!(
        "nothing was said: the database was not there for {seconds} s (start it, or leave {STORE_URL} and store.url out)"
    )
}

/// Whether somebody is to be told that tools are real: who opens the page, and who lets a model choose the calls. The
/// stand-in does what one message says, and scripts read what it prints.
fn warns(visit: &Visit, model: &str) -> bool {
    matches!(visit, Visit::Page(_)) || model != banner::STAND_IN
}

/// Prints the page's address and stays; the daemon ends by its own signal, and with it everything.
async fn stay(banner: &Banner) -> Outcome {
    print::out(&banner.address)?;
    print::told(&banner.words);
    std::future::pending().await
}

/// Gives the group its folder. Without it the page is as good, but for the requests for approval.
async fn set_stage(world: &dyn World, team: &Path) {
    if let Err(error) = story::give_folder(world, team).await {
        tracing::warn!(%error, "the group has no folder of its own");
    }
}

/// What a demo is started for.
enum Visit {
    /// One message.
    Say(Errand),
    /// A story, with the group's folder.
    Story(Fresh),
    /// The page, with the group's folder.
    Page(Fresh),
}

fn visit(binary: &Binary, demo: &Demo, world: &dyn World) -> Result<Visit, Failure> {
    if let Some(errand) = Errand::read(demo, world)? {
        return Ok(Visit::Say(errand));
    }
    let team = Fresh::make(binary, "selkie-demo-team")?;
    Ok(if demo.story.is_some() { Visit::Story(team) } else { Visit::Page(team) })
}

/// A folder of its own that goes with the demo.
struct Fresh(std::path::PathBuf);

impl Fresh {
    fn make(binary: &Binary, name: &str) -> anyhow::Result<Self> {
        let base =
            binary.env.get("TMPDIR").filter(|t| !t.is_empty()).map_or("/tmp", String::as_str);
        let name = format!("{name}-{}", uuid::Uuid::now_v7());
        let path = Path::new(base).join(name);
        std::fs::create_dir_all(&path)
            .with_context(|| format!("no temporary folder in {base}: name one with --state"))?;
        Ok(Self(path))
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
