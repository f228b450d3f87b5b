//! Values of the right type that are of no use: lengths of time, names of variables, patterns, numbers.

use crate::problem::Wrong;
use crate::settings::Settings;
use crate::source::split;
use selkie_domain::span::Span;
use selkie_tools::pattern_fault;
use selkie_tools::shell::is_variable;

const MOMENT: Span = Span(std::time::Duration::from_millis(1));
const SECOND: Span = Span::seconds(1);
const MINUTE: Span = Span::seconds(60);
const HOUR: Span = Span::seconds(3600);
const DAY: Span = Span::seconds(24 * 3600);
const YEAR: Span = Span::seconds(365 * 24 * 3600);
/// More tasks than this at once are no machine's.
const MAX_WORKERS: usize = 1_000;

/// Lists every value that lies outside of what is taken.
pub fn problems(settings: &Settings) -> Vec<Wrong> {
    let mut wrong = spans(settings);
    let workers = settings.worker.max_concurrency.get();
    if workers > MAX_WORKERS {
        let message = format!("takes 1 to {MAX_WORKERS}, not {workers}");
        wrong.push((split("worker.max_concurrency"), message));
    }
    let most = settings.agent.max_cost_usd;
    if !most.is_finite() || most < 0.0 {
        let message = format!("takes US dollars, 0 or more (0 lifts the limit), not {most}");
        wrong.push((split("agent.max_cost_usd"), message));
    }
    let most = settings.alerts.daily_cost_usd;
    if !most.is_finite() || most < 0.0 {
        let message = format!("takes US dollars, 0 or more (0: not told), not {most}");
        wrong.push((split("alerts.daily_cost_usd"), message));
    }
    let otlp = settings.telemetry.otlp.problems();
    wrong.extend(
        otlp.into_iter().map(|(key, message)| (split(&format!("telemetry.otlp.{key}")), message)),
    );
    wrong.extend(folders(settings));
    wrong.extend(variables(settings));
    wrong.extend(patterns(settings));
    let rewrite = &settings.tools.bash.rewrite;
    if rewrite.enabled && rewrite.binary.trim().is_empty() {
        let message = "is missing: tools.bash.rewrite.enabled puts a program before every command; name it, or take \
                    enabled out";
        wrong.push((split("tools.bash.rewrite.binary"), message.to_owned()));
    }
    wrong
}

fn spans(settings: &Settings) -> Vec<Wrong> {
    let Settings { tools, gate, outbox, progress, approvals, .. } = settings;
    let kept = &settings.store.retention;
    let all = [
        ("debounce", settings.debounce, None, Some(HOUR)),
        ("join_within", settings.join_within, None, Some(MINUTE)),
        ("gate.oldest", gate.oldest, Some(SECOND), None),
        ("gate.timeout", gate.timeout, Some(MOMENT), None),
        ("tools.bash.timeout", tools.bash.timeout, Some(MOMENT), None),
        ("tools.bash.max_timeout", tools.bash.max_timeout, Some(MOMENT), None),
        ("tools.powershell.timeout", tools.powershell.timeout, Some(MOMENT), None),
        ("tools.powershell.max_timeout", tools.powershell.max_timeout, Some(MOMENT), None),
        ("tools.url_fetch.timeout", tools.url_fetch.timeout, Some(MOMENT), None),
        ("tools.ask_user.timeout", tools.ask_user.timeout, Some(SECOND), None),
        ("approvals.timeout", approvals.timeout, Some(SECOND), None),
        ("approvals.unattended_timeout", approvals.unattended_timeout, Some(SECOND), None),
        ("outbox.answer_expires", outbox.answer_expires, Some(MOMENT), None),
        ("progress.every", progress.every, Some(MOMENT), None),
        ("progress.stream_after", progress.stream_after, None, Some(HOUR)),
        ("alerts.channel_silent", settings.alerts.channel_silent, None, Some(DAY)),
        ("alerts.certificate", settings.alerts.certificate, None, Some(YEAR)),
        ("backup.every", settings.backup.every, Some(Span::seconds(60)), None),
        ("store.retention.transcripts", kept.transcripts, Some(DAY), None),
        ("store.retention.inbox", kept.inbox, Some(DAY), None),
        ("store.retention.outbox", kept.outbox, Some(DAY), None),
        ("store.retention.keys", kept.keys, Some(DAY), None),
        ("store.retention.cache", kept.cache, Some(DAY), None),
    ];
    let judge = |(key, span, least, most): (&str, Span, Option<Span>, Option<Span>)| {
        let shown = if span == Span::seconds(0) { "0s".to_owned() } else { span.to_string() };
        let short = least.is_some_and(|least| span < least);
        let long = most.is_some_and(|most| span > most);
        let message = match (least, most) {
            _ if !short && !long => return None,
            (Some(least), _) if least == MOMENT => {
                format!("takes a length of time above 0, not {shown}")
            }
            (Some(least), _) => format!("takes {least} or more, not {shown}"),
            (None, most) => format!("takes at most {}, not {shown}", most.unwrap_or(span)),
        };
        Some((split(key), message))
    };
    all.into_iter().filter_map(judge).collect()
}

fn folders(settings: &Settings) -> Vec<Wrong> {
    let all = [
        ("file_state_dir", &settings.file_state_dir),
        ("file_cache_dir", &settings.file_cache_dir),
        ("workspace.dir", &settings.workspace.dir),
        ("backup.dir", &settings.backup.dir),
    ];
    let empty = all.into_iter().filter(|(_, path)| {
        path.as_ref().is_some_and(|path| path.to_string_lossy().trim().is_empty())
    });
    let message = "takes a folder, not \"\": write one, or take the key out";
    empty.map(|(key, _)| (split(key), message.to_owned())).collect()
}

fn variables(settings: &Settings) -> Vec<Wrong> {
    let tools = &settings.tools;
    let shells = [
        ("bash", &tools.bash.injected_env_vars),
        ("powershell", &tools.powershell.injected_env_vars),
    ];
    let all = shells.into_iter().flat_map(|(shell, names)| {
        names.iter().enumerate().map(move |(index, name)| (shell, index, name))
    });
    all.filter(|(_, _, name)| !is_variable(name))
        .map(|(shell, index, name)| {
            let message = format!("takes the name of a variable (HTTPS_PROXY), not {name:?}");
            (split(&format!("tools.{shell}.injected_env_vars.{index}")), message)
        })
        .collect()
}

fn patterns(settings: &Settings) -> Vec<Wrong> {
    let rules = settings.tools.patch.validate.iter().enumerate();
    let judge = |(index, rule): (usize, &selkie_tools::settings::Validate)| {
        let why = pattern_fault(&rule.glob)?;
        let message =
            format!("takes a pattern such as file_state_dir/**/*.yaml; {:?} {why}", rule.glob);
        Some((split(&format!("tools.patch.validate.{index}.glob")), message))
    };
    rules.filter_map(judge).collect()
}
