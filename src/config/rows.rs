//! What is wrong with the rows of `approvals.policy`: each names what is there, and can come to something.

use selkie_channel_core::ChannelKit;

use crate::problem::{Wrong, one_of};
use selkie_guard::policy::{MAX_ROWS, Row};

/// Lists what is wrong with the rows; `judge` says it of a word that is to name a tool or a class.
pub fn problems(
    rows: &[Row],
    kits: &[ChannelKit],
    judge: &dyn Fn(&str) -> Option<String>,
) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    if rows.len() > MAX_ROWS {
        let message = format!("takes at most {MAX_ROWS} rows, not {}", rows.len());
        wrong.push((path(&[]), message));
    }
    let places = places(kits);
    for (at, row) in rows.iter().enumerate() {
        let at = at.to_string();
        for (key, list) in lists(row) {
            wrong.extend(list.iter().enumerate().filter_map(|(index, word)| {
                Some((path(&[&at, key, &index.to_string()]), judge(word)?))
            }));
        }
        let said = [
            ("place", row.place.as_deref(), &*places),
            ("trust", row.trust.as_deref(), &["owner", "allowed", "stranger"].map(str::to_owned)),
            (
                "trigger",
                row.trigger.as_deref(),
                &["asked", "scheduled", "heartbeat", "relayed", "webhook"].map(str::to_owned),
            ),
        ];
        for (key, written, takes) in said {
            if let Some(written) = written
                && !takes.iter().any(|word| word == written)
            {
                let message = format!("takes {}, not {written:?}", one_of(takes));
                wrong.push((path(&[&at, key]), message));
            }
        }
        wrong.extend(idle(row).map(|message| (path(&[&at]), message)));
    }
    wrong
}

/// Lists every place that a row can name: the command line, classes of places, channels, and their kinds.
pub(crate) fn places(kits: &[ChannelKit]) -> Vec<String> {
    let of = |kit: &ChannelKit| {
        let name = kit.name;
        let kinds = kit.kinds.iter().map(move |(kind, _)| format!("{name}:{kind}"));
        std::iter::once(name.to_owned()).chain(kinds).collect::<Vec<_>>()
    };
    let everywhere = ["cli", "private", "group"].map(str::to_owned);
    everywhere.into_iter().chain(kits.iter().flat_map(of)).collect()
}

fn lists(row: &Row) -> [(&'static str, &Vec<String>); 3] {
    [("allow", &row.allow), ("ask", &row.ask), ("deny", &row.deny)]
}

/// Says why a row comes to nothing, or says two things of one word.
fn idle(row: &Row) -> Option<String> {
    let lists = lists(row);
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return Some("says nothing: write allow, ask or deny, or take the row out".to_owned());
    }
    for (at, (key, list)) in lists.iter().enumerate() {
        for (other, words) in &lists[at + 1..] {
            if let Some(word) = list.iter().find(|word| words.contains(word)) {
                return Some(format!("names {word} in {key} and in {other}: keep one of the two"));
            }
        }
    }
    None
}

fn path(keys: &[&str]) -> Vec<String> {
    ["approvals", "policy"].iter().chain(keys).map(|k| (*k).to_owned()).collect()
}
