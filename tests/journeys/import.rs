//! Another program's `cron.yaml` becomes schedules: all of its tasks, or none, each mistake with its line.

use std::fs;

use selkie_playground::telegram::{ADA, GROUP};

use crate::support::joined::joined;
use crate::support::world::World;

fn import(world: &World, text: &str, more: &[&str]) -> (i32, String) {
    let file = world.home.folder().join("cron.yaml");
    fs::write(&file, text).expect("a file");
    let file = file.display().to_string();
    let (code, out, err) = world.home.run(&[&["schedules", "import", &file], more].concat());
    (code, (out + &err).replace(&file, "cron.yaml"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_task_becomes_a_schedule_and_one_mistake_makes_none() {
    let world = World::start().await;
    let wrong = "- {cron: '0 0 31 2 *', content: never}\n\
                 - {cron: '0 8 * * *', tz: Asia/Tokio, content: news}\n\
                 - {cron: '0 8 * * *', content: fine}\n";
    let (code, said) = import(&world, wrong, &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("cron.yaml:1: cron \"0 0 31 2 *\" never happens"), "{said}");
    assert!(said.contains("cron.yaml:2: tz \"Asia/Tokio\" is not a time zone"), "{said}");
    assert!(said.contains("Asia/Tokyo"), "{said}");
    let unknown = "- {cron: '0 8 * * *', content: fine}\n\
                   - {cron: '0 8 * * *', content: x, chat_id: nowhere}\n\
                   - {at: 2090-12-24 18:00, content: x, llm_profile: huge}\n";
    let (code, said) = import(&world, unknown, &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("cron.yaml:2: chat_id \"nowhere\" is not a conversation"), "{said}");
    assert!(said.contains("cron.yaml:3: llm_profile \"huge\" is not a model profile"), "{said}");
    let (_, list, _) = world.home.run(&["schedules", "list"]);
    assert!(list.starts_with("There are no schedules."), "one mistake makes none: {list}");
    let right = format!(
        "- {{id: t1, title: News, cron: '0 8 * * *', tz: Asia/Tokyo, content: tell the news, chat_id: '{}'}}\n\
         - {{at: 2090-12-24 18:00, tz: Europe/Berlin, content: Merry Christmas, llm_profile: default}}\n",
        GROUP.chat
    );
    let (code, said) = import(&world, &right, &["--preview"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Would make: every day at 08:00 Asia/Tokyo: News"), "{said}");
    let (_, list, _) = world.home.run(&["schedules", "list"]);
    assert!(list.starts_with("There are no schedules."), "{list}");
    for what in ["Made", "There already:"] {
        let (code, said) = import(&world, &right, &[]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains(&format!("prompt to tg:{}: News", GROUP.chat)), "{said}");
        assert!(said.contains(&format!("prompt to tg:{ADA}: Merry Christmas")), "{said}");
        assert!(said.lines().all(|line| line.starts_with(what)), "{what}: {said}");
    }
    let list = joined(&world.home.run(&["schedules", "list"]).1);
    assert_eq!(list.matches(" · prompt to ").count(), 2, "twice is once: {list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_fails_as_elsewhere() {
    let world = World::start().await;
    for command in [&["schedules", "import", "none.yaml"][..], &["restore", "none.yaml"]] {
        let (code, _, err) = world.home.run(command);
        assert_eq!(code, 1, "{command:?}: {err}");
        assert!(err.contains("none.yaml") && err.contains("No such file"), "{command:?}: {err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_removed_is_made_again_and_what_is_there_stays() {
    let world = World::start().await;
    let file = "- {cron: '0 8 * * *', content: one}\n\
                - {cron: '0 8 * * *', content: two}\n\
                - {cron: '0 8 * * *', content: two}\n";
    let begins = |said: &str| {
        let first = |line: &str| line.split([' ', ':']).next().unwrap_or_default().to_owned();
        // The first run makes the store, too, and it and its log say so.
        let is_told = |line: &&str| !line.contains(" INFO ") && !line.starts_with("selkie:");
        let lines = said.lines().filter(is_told);
        lines.map(first).collect::<Vec<_>>()
    };
    let (_, said) = import(&world, file, &[]);
    assert_eq!(begins(&said), ["Made", "Made", "There"], "{said}");
    assert_eq!(world.home.run(&["schedules", "remove", "2"]).0, 0);
    let (_, said) = import(&world, file, &["--preview"]);
    assert_eq!(begins(&said), ["There", "Would", "There"], "{said}");
    // As a run that was killed behind its first schedule has left it.
    let (_, said) = import(&world, file, &[]);
    assert_eq!(begins(&said), ["There", "Made", "There"], "{said}");
    let (_, said) = import(&world, file, &[]);
    assert_eq!(begins(&said), ["There", "There", "There"], "{said}");
    assert_eq!(
        joined(&world.home.run(&["schedules", "list"]).1).matches(" · prompt to ").count(),
        2
    );
}
