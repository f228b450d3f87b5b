//! `selkie demo`: the same daemon as `run`, with emulated platforms around it.

use std::io::Write as _;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde_json::json;
use tokio::sync::{broadcast, oneshot, watch};
use tokio::time::timeout;

use super::args::Demo;
use super::banner::{self, Banner};
use super::outcome::{Failure, Outcome};
use super::{demo_model, later, print, running_config, story};
use selkie_app::Binary;
use selkie_app::build::{AppConfig, ConfigChoice, plan_of_demo};
use selkie_app::demo::{Line, Manner, SpeakerAt, Start, World};
use selkie_app::lifecycle;
use selkie_app::run::{Attendant, Up, daemon};
use selkie_app::service_manager::ServiceManager;
use selkie_app::state;
use selkie_app::telemetry;
use selkie_app::travel::{Traveller, has_failed, idle};
use selkie_config::Flag;
use selkie_config::paths::ConfigFile;
use selkie_config::problem::one_of;
use selkie_domain::clock::{Clock as _, SystemClock};
use selkie_domain::event::Event;
use selkie_engine::clocks::Clocks;
use selkie_schedule::movable::MovableClocks;

/// How long `--say` waits for everything that belongs to its answer.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long something to say waits for a database that is away.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Where a state folder counts its demos.
const COUNTED: &str = "demos";
/// Names a database for one run.
const STORE_URL: &str = "SELKIE__STORE__URL";
/// A message that was heard and of which nothing comes for so long was ignored.
const QUIET: Duration = Duration::from_secs(3);

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
        let up = match visit {
            Visit::Page(_) => started.await,
            Visit::Say(_) | Visit::Story(_) => tokio::select! {
                up = started => up,
                why = too_long(&mut waited) => {
                    // A daemon that has ended needs no telling.
                    end.send(()).ok();
                    return Err(why.into());
                }
            },
        };
        let Ok(up) = up else { return Ok(()) };
        if let Visit::Page(team) = &visit {
            set_stage(&*world, &team.0).await;
        }
        if let Some(console) = up.console {
            world.set_daemon(&format!("http://{console}"));
        }
        let traveller = Arc::new(Traveller::new(Arc::clone(&up.app), clocks));
        world.set_movable(Arc::clone(&traveller) as _);
        let visited = match &visit {
            Visit::Say(errand) => say(&*world, &up, errand, &traveller).await,
            Visit::Story(team) => story::approval(&*world, &team.0).await.map_err(Into::into),
            Visit::Page(_) => stay(&banner).await,
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

/// What `--say` wants said, and where.
struct Errand {
    place: String,
    by: String,
    /// One after the other, each when the one before is answered.
    texts: Vec<String>,
    manner: Manner,
    /// Where the clock goes afterwards.
    then: Vec<String>,
}

fn visit(binary: &Binary, demo: &Demo, world: &dyn World) -> Result<Visit, Failure> {
    if let Some(errand) = errand(demo, world)? {
        return Ok(Visit::Say(errand));
    }
    let team = Fresh::make(binary, "selkie-demo-team")?;
    Ok(if demo.story.is_some() { Visit::Story(team) } else { Visit::Page(team) })
}

/// Reads `--say`, `--in` and `--as`: the place that was named, or the first there is.
fn errand(demo: &Demo, world: &dyn World) -> Result<Option<Errand>, Failure> {
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
    if let Some(says) = texts.iter().find_map(|text| running_config::written(text, &place, world)) {
        return Err(Failure::Usage(says));
    }
    let manner = if demo.unnamed { Manner::ToTheRoom } else { Manner::ToTheBot };
    let people = world.people();
    let is_known = |who: &String| people.iter().any(|name| name.eq_ignore_ascii_case(who));
    if let Some(who) = demo.who.as_ref().filter(|who| !is_known(who)) {
        return Err(Failure::Usage(format!("--as takes {}, not {who:?}", one_of(&people))));
    }
    let SpeakerAt { place, by } = world.speaking(&place, demo.who.as_deref());
    Ok(Some(Errand { place, by, texts, manner, then: demo.then.clone() }))
}

/// Says what is to be said, and prints what stands there when everything has settled.
async fn say(world: &dyn World, up: &Up, errand: &Errand, traveller: &Traveller) -> Outcome {
    let (mut failed, mut last) = (false, None);
    for text in &errand.texts {
        let Some(answered) = one(world, up, errand, text).await? else { return Ok(()) };
        failed |= answered.failed;
        last = Some(answered);
    }
    let Some(DemoAnswer { message, seen, .. }) = last else { return Ok(()) };
    let talk = later::Talk { world, place: &errand.place, since: message };
    if talk.goes_on(traveller, &errand.then, seen).await? || failed {
        return Err(Failure::Told);
    }
    Ok(())
}

/// What came of one message.
struct DemoAnswer {
    message: i64,
    seen: Vec<String>,
    /// A task failed.
    failed: bool,
}

/// Says one thing and prints what stands there when everything has settled; `None` for what was not for the bot.
async fn one(
    world: &dyn World,
    up: &Up,
    errand: &Errand,
    text: &str,
) -> Result<Option<DemoAnswer>, Failure> {
    let Errand { place, by, manner, .. } = errand;
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

/// Waits until something has come of the message and nothing is left to do. Returns whether a task failed.
async fn settled(up: &Up, mut events: broadcast::Receiver<Event>) -> anyhow::Result<bool> {
    let (mut heard, mut something, mut failed) = (false, false, false);
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
