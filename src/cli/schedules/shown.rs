//! A schedule as the command line shows it: in a line, and with all that is set.

use selkie_domain::count::counted;
use selkie_domain::schedule::Misfire;
use selkie_guard::visible::visible;
use selkie_schedule::budget;
use selkie_schedule::line::Line;
use selkie_schedule::view::View;

/// One schedule in a line.
pub(super) fn line(view: &View) -> String {
    let View { id, state, why, when, next, does, name, to, asked, .. } = view;
    let next = next.first().map(|at| view.shown(*at));
    let line = Line {
        id: *id,
        when,
        state: *state,
        why,
        next: next.as_deref(),
        does,
        to: Some(to),
        asked: asked.as_deref(),
        name,
    };
    format!("{line}\n")
}

/// What the line leaves out, a line for each kind of thing.
pub(super) fn details(view: &View) -> String {
    let later: Vec<String> = view.next.iter().skip(1).map(|at| view.shown(*at)).collect();
    let then = (!later.is_empty()).then(|| format!("then {}", later.join(", ")));
    let forecast = Some(view.forecast.clone()).filter(|words| !words.is_empty());
    let all = [then, forecast, model(view), limits(view), missed(view), words(view)];
    all.into_iter().flatten().map(|line| format!("   {}\n", line.replace('\n', "\n   "))).collect()
}

fn model(view: &View) -> Option<String> {
    let View { model, effort, history, budget, .. } = view;
    let model = model.as_deref().unwrap_or("the main model");
    let thinks = effort.map(|effort| format!(" and thinks {effort}")).unwrap_or_default();
    let tasks = counted((*history).into(), ["earlier task", "earlier tasks"]);
    let asks = || format!("asks {model}, which reads {tasks}{thinks}; {}", budget::words(budget));
    (view.does == "prompt").then(asks)
}

fn limits(view: &View) -> Option<String> {
    let View { starts, until, times, active, jitter, .. } = view;
    let all = [
        starts.map(|at| format!("not before {}", view.shown(at))),
        until.map(|at| format!("not after {}", view.shown(at))),
        times.map(|times| format!("{} at most", counted(times.into(), ["time", "times"]))),
        active.as_ref().map(|hours| format!("only {hours}")),
        jitter.map(|jitter| format!("starts up to {jitter} later each time")),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// What becomes of times at which nobody could act.
fn missed(view: &View) -> Option<String> {
    let late = |late| format!("if it is at most {late} late");
    Some(match (view.lateness, view.misfire) {
        (None, _) => "catches up on a missed time, however late".to_owned(),
        (_, Misfire::Skip) => "skips missed times".to_owned(),
        (Some(lateness), Misfire::Once) => {
            format!("catches up on the latest missed time {}", late(lateness))
        }
        (Some(lateness), Misfire::All) => {
            format!("catches up on each missed time {}", late(lateness))
        }
    })
}

/// Its words, where the line has a title or a part of them alone.
fn words(view: &View) -> Option<String> {
    (view.text != view.name).then(|| format!("{}: {}", view.does, visible(&view.text)))
}
