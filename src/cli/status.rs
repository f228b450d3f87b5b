//! `selkie status`: how the running daemon stands.

use std::time::Duration;

use anyhow::Context as _;
use tokio::time::timeout;

use super::outcome::{Failure, Outcome};
use super::print;
use super::request::to_ask_silently;
use selkie_app::Binary;
use selkie_app::backup::BackupStatus;
use selkie_app::build::ConfigChoice;
use selkie_app::client::RunningDaemon;
use selkie_app::config_drift;
use selkie_app::lifecycle;
use selkie_app::status::{ChannelStatus, NextTime, Reception, Status, StoreStatus};
use selkie_domain::count::{counted, sized};
use selkie_guard::visible::one_line;
use selkie_schedule::words::moment;
use selkie_schedule::zone::Zone;
use selkie_store::read::{Counts, MAX_USED, TaskUsage};

/// How long the daemon may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// `selkie status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie status
  selkie status --json | jq .counts

Exit codes: 0 selkie runs and nothing is wrong · 1 no daemon runs with this state folder, a platform refuses its channel, the \
store cannot be written to, a part of selkie hangs, backups fail, or a restored selkie waits for `selkie resume` · 2 the command \
line or the config is wrong")]
pub struct StatusArgs {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Shows how the daemon stands.
pub fn status(binary: &Binary, chosen: &ConfigChoice, args: &StatusArgs) -> Outcome {
    let plan = to_ask_silently(binary, chosen)?;
    let state = &plan.folders.state;
    let status: Option<Status> = lifecycle::runtime()?.block_on(async {
        match RunningDaemon::find(&plan.tls, state).await? {
            Some(daemon) => {
                let told = timeout(TIMEOUT, daemon.status()).await;
                Ok::<_, anyhow::Error>(Some(told.context(
                    "the daemon has not answered for 10 s: it hangs, or its database does not answer; its log says \
                     which",
                )??))
            }
            None => Ok(None),
        }
    })?;
    let Some(status) = status else {
        return Err(Failure::Failed(anyhow::anyhow!(
            "no daemon runs with the state folder {}: start one with `selkie run`, or name another folder with --state",
            state.display()
        )));
    };
    match args.json {
        true => print::json(&status)?,
        false => print::out(&told(&status, plan.zone, print::width()))?,
    }
    if status.is_well() { Ok(()) } else { Err(Failure::Told) }
}

fn told(status: &Status, zone: Zone, width: usize) -> String {
    let Status { version, pid, since, .. } = status;
    let since = moment(*since, zone);
    let head =
        format!("selkie {} has been running since {since}, process {pid}\n", one_line(version));
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut row = |what: &str, how: String| rows.push([what.to_owned(), how]);
    for it in status.still.iter() {
        row("stalled", one_line(it));
    }
    if let Some(restored) = status.restored() {
        row("restored", restored.says(&moment(restored.made_at, zone)));
    }
    if let Some(due) = config_drift::restart_due(&status.config.restart_due, zone) {
        row("restart due", due);
    }
    if let Some(it) = &status.config.not_loaded {
        let says = one_line(&config_drift::not_loaded(it, zone));
        row("config", format!("{says}: {}", config_drift::advice(it)));
    }
    for it in &status.channels {
        let held = status.restored().is_some() && it.state == Reception::Off;
        let how = if held {
            format!("is on hold until selkie resume ({})", it.account)
        } else {
            channel(it, zone)
        };
        row(&it.name, how);
    }
    if let Some(rows) = &status.rows {
        row("tasks", tasks(&rows.counts));
        row("messages out", messages(&rows.counts, status.refused));
        if rows.approvals > 0 {
            let waiting = counted(rows.approvals as u64, ["request waits", "requests wait"]);
            row("approvals", format!("{waiting}: `selkie approvals list`"));
        }
        row("today", today(&rows.today));
    }
    if !status.answers.is_empty() {
        row("model", one_line(&status.answers));
    }
    for it in &status.cut_prompts {
        row("prompt cut", one_line(it));
    }
    row("store", store(&status.store));
    if let Some(it) = &status.backup {
        row("backup", backup(it, zone));
    }
    for it in status.rows.iter().flat_map(|rows| &rows.next) {
        row("next", next(it, zone));
    }
    for it in &status.limits {
        row("limit reached", one_line(it));
    }
    if let Some(why) = &status.memory {
        row("memory", format!("is searched by keyword only: {}", one_line(why)));
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    print::hanging(&head, width) + &print::table(&rows, width)
}

fn backup(it: &BackupStatus, zone: Zone) -> String {
    let last = it.last_at.map_or_else(
        || format!("none yet in {}", it.dir.display()),
        |at| format!("{} in {}", moment(at, zone), it.dir.display()),
    );
    match &it.trouble {
        None => last,
        Some(why) => format!("none can be made: {}; the newest: {last}", one_line(why)),
    }
}

fn channel(it: &ChannelStatus, zone: Zone) -> String {
    let how = match (it.state, &it.why) {
        (Reception::Listening, _) => "listens".to_owned(),
        (Reception::Off, _) => "only speaks".to_owned(),
        (Reception::Refused, why) => {
            format!("is refused: {}", one_line(why.as_deref().unwrap_or("no reason is known")))
        }
    };
    let heard = match it.heard_at {
        Some(at) => format!(", heard {}", moment(at, zone)),
        None if it.state == Reception::Listening => ", waits for its first answer".to_owned(),
        None => String::new(),
    };
    format!("{how}{heard} ({})", it.account)
}

fn tasks(counts: &Counts) -> String {
    let Counts { running, waiting, parked, .. } = counts;
    format!("{running} running, {waiting} waiting, {parked} waiting for somebody's answer")
}

fn messages(counts: &Counts, refused: u64) -> String {
    let Counts { queued, sending, unclear, .. } = counts;
    let open = match queued + sending + unclear {
        0 => "nothing to send".to_owned(),
        _ => format!("{queued} to send, {sending} on the way, {unclear} unclear"),
    };
    match refused {
        0 => open,
        some => {
            format!("{open}; {some} refused by their platforms since the start (the log says why)")
        }
    }
}

fn today(today: &TaskUsage) -> String {
    let TaskUsage { tasks, usage } = today;
    let more = if *tasks >= MAX_USED { "at least " } else { "" };
    let tasks = counted(*tasks, ["task", "tasks"]);
    let calls = counted(u64::from(usage.calls), ["model call", "model calls"]);
    format!("{more}{tasks}, {calls}, {}", usage.told())
}

fn store(store: &StoreStatus) -> String {
    let engine = match store.engine.as_str() {
        "sqlite" => "SQLite",
        _ => "PostgreSQL",
    };
    let size = store.bytes.map(|bytes| format!(", {}", sized(bytes)));
    let how = store.trouble.as_deref().map_or_else(|| "fine".to_owned(), one_line);
    format!("{engine}{}: {how}", size.unwrap_or_default())
}

fn next(it: &NextTime, zone: Zone) -> String {
    format!("{}  schedule {}  {}", moment(it.at, zone), it.id, one_line(&it.name))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use selkie_app::status::Rows;
    use selkie_domain::config_drift::{DueKey, NotInForce, NotLoaded};
    use selkie_domain::usage::Usage;

    /// So wide that nothing is broken.
    const WIDE: usize = 1000;

    fn status_of(state: Reception, why: Option<&str>) -> Status {
        Status {
            version: "0.1.0".to_owned(),
            pid: 4711,
            since: DateTime::UNIX_EPOCH,
            channels: vec![ChannelStatus {
                name: "bird".to_owned(),
                account: "bird:1".to_owned(),
                state,
                why: why.map(str::to_owned),
                heard_at: Some(DateTime::UNIX_EPOCH),
            }],
            rows: Some(Rows {
                counts: Counts { running: 1, parked: 2, unclear: 1, ..Counts::default() },
                approvals: 1,
                today: TaskUsage {
                    tasks: 3,
                    usage: Usage {
                        calls: 4,
                        input: 900,
                        output: 100,
                        micro_usd: 1_500,
                        ..Usage::default()
                    },
                },
                next: vec![NextTime { id: 7, name: "tea".to_owned(), at: DateTime::UNIX_EPOCH }],
                restored: None,
            }),
            store: StoreStatus { engine: "sqlite".to_owned(), bytes: Some(3 << 20), trouble: None },
            refused: 0,
            store_syncs: 9,
            answers: "gpt-6 via main (llm.routes.main)".to_owned(),
            cut_prompts: Vec::new(),
            limits: vec!["limits.person.calls_per_day (tg:4711)".to_owned()],
            memory: None,
            still: Vec::new(),
            backup: None,
            zone: None,
            config: NotInForce::default(),
            config_file: None,
        }
    }

    #[test]
    fn what_is_not_in_force_is_said_and_is_nothing_wrong() {
        let due = DueKey { key: "worker.count".to_owned(), since: DateTime::UNIX_EPOCH };
        let not_loaded = NotLoaded {
            file: "/etc/c.yaml".to_owned(),
            changed_at: Some(DateTime::UNIX_EPOCH),
            keys: vec!["owners".to_owned()],
            faults: 0,
            refused: None,
        };
        let config = NotInForce { restart_due: vec![due], not_loaded: Some(not_loaded) };
        let status = Status { config, ..status_of(Reception::Listening, None) };
        assert!(status.is_well());
        let told = told(&status, Zone::UTC, WIDE);
        for part in [
            "restart due    worker.count changed at 1970-01-01 00:00 UTC\n",
            "config         /etc/c.yaml was changed at 1970-01-01 00:00 UTC and is not in force (owners): selkie reload\n",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn it_is_told_in_lines_that_say_what_matters() {
        let status = status_of(Reception::Listening, None);
        assert!(status.is_well());
        insta::assert_snapshot!(told(&status, Zone::UTC, 80), @r"
        selkie 0.1.0 has been running since 1970-01-01 00:00 UTC, process 4711
        bird           listens, heard 1970-01-01 00:00 UTC (bird:1)
        tasks          1 running, 0 waiting, 2 waiting for somebody's answer
        messages out   0 to send, 0 on the way, 1 unclear
        approvals      1 request waits: `selkie approvals list`
        today          3 tasks, 4 model calls, 1,000 tokens, $0.0015
        model          gpt-6 via main (llm.routes.main)
        store          SQLite, 3.0 MiB: fine
        next           1970-01-01 00:00 UTC  schedule 7  tea
        limit reached  limits.person.calls_per_day (tg:4711)
        ");
    }

    #[test]
    fn a_refused_channel_is_not_well_and_says_why() {
        let status = status_of(Reception::Refused, Some("401:\na wrong token"));
        assert!(!status.is_well());
        assert!(told(&status, Zone::UTC, 80).contains("is refused: 401:"), "{status:?}");
        assert_eq!(
            told(&status, Zone::UTC, WIDE).lines().count(),
            10,
            "no reason takes a line of its own"
        );
    }
}
