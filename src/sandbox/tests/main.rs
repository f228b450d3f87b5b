//! The sandbox from inside: programs that try to get out, on this kernel, as this user and as nobody.

mod attempts;
mod escape;
mod held;
mod stand;
mod trouble;

use std::panic::catch_unwind;
use std::process::ExitCode;

use selkie_sandbox::supervised;

const STORIES: &[(&str, fn())] = &[
    ("what_is_needed_works", held::what_is_needed_works),
    ("everything_ends_with_the_daemon", held::everything_ends_with_the_daemon),
    ("everything_ends_with_the_program", held::everything_ends_with_the_program),
    ("a_thousand_start_at_once", held::a_thousand_start_at_once),
    ("limits_hold", held::limits_hold),
    ("nothing_gets_out", escape::nothing_gets_out),
    ("the_network_is_what_was_asked_for", escape::the_network_is_what_was_asked_for),
    ("the_attempts_work_outside", escape::the_attempts_work_outside),
    ("nothing_gets_out_as_nobody", escape::nothing_gets_out_as_nobody),
    ("nothing_gets_out_under_the_units_filter", escape::nothing_gets_out_under_the_units_filter),
    ("without_landlock_nothing_starts", trouble::without_landlock_nothing_starts),
    ("without_seccomp_nothing_starts", trouble::without_seccomp_nothing_starts),
    ("links_and_missing_folders", trouble::links_and_missing_folders),
    ("sudo_excludes_it", trouble::sudo_excludes_it),
];

fn main() -> ExitCode {
    if let Some(ended) = supervised(std::env::args_os()) {
        return ended;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == held::DAEMON) {
        return held::as_daemon();
    }
    let asked: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mut failed = false;
    for (name, story) in STORIES {
        if !asked.is_empty() && !asked.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let ended = catch_unwind(story);
        println!("{name} ... {}", if ended.is_ok() { "ok" } else { "FAILED" });
        failed |= ended.is_err();
    }
    ExitCode::from(u8::from(failed))
}
