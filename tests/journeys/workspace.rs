//! Workspaces: config gives private conversations a folder, an owner sets another; groups have what is set.

use std::fs;
use std::path::{Path, PathBuf};

use selkie_playground::telegram::{ADA, GRACE, GROUP};
use serde_json::json;
use tempfile::TempDir;

use crate::support::world::World;

/// The one folder below.
fn only(folder: &Path) -> PathBuf {
    let mut all: Vec<_> = fs::read_dir(folder).expect("it is there").flatten().collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).path()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_works_where_config_or_the_owner_says() {
    let dir = TempDir::new().expect("a folder");
    let real = dir.path().canonicalize().expect("a folder");
    let (projects, mine) = (real.join("projects"), real.join("mine"));
    fs::create_dir(&mine).expect("a folder");
    let sections = json!({"llm": {"provider": "offline"}, "workspace": {"dir": projects}});
    let world = World::with(sections).await;
    let daemon = world.daemon();
    world.ask("write a.txt: one").await;
    assert_eq!(fs::read_to_string(only(&projects).join("a.txt")).expect("a file"), "one");
    assert!(world.ask("/workspace").await.contains("as workspace.dir in the config says"));
    for (folder, why) in [
        ("mine".to_owned(), "is not absolute"),
        (world.home.state().display().to_string(), "the bot's own folders"),
        ("/".to_owned(), "belongs to the system"),
    ] {
        let answer = world.ask(&format!("/workspace {folder}")).await;
        assert!(answer.contains(why), "{answer}");
    }
    let answer = world.ask(&format!("/workspace {}", mine.display())).await;
    assert!(answer.starts_with("From now on I work in"), "{answer}");
    world.ask("write b.txt: two").await;
    assert!(mine.join("b.txt").is_file());
    assert!(daemon.stop().await.success());
    let _daemon = world.daemon();
    world.ask("write c.txt: three").await;
    assert!(mine.join("c.txt").is_file(), "it is kept over a restart");
    assert!(world.ask("/workspace").await.contains(&mine.display().to_string()));
    assert!(world.ask("/workspace off").await.starts_with("Done: files go"));
    world.ask("write d.txt: four").await;
    assert!(only(&projects).join("d.txt").is_file());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_has_a_workspace_only_where_the_owner_set_one() {
    let dir = TempDir::new().expect("a folder");
    let real = dir.path().canonicalize().expect("a folder");
    let (projects, team) = (real.join("projects"), real.join("team"));
    fs::create_dir(&team).expect("a folder");
    let sections = json!({"llm": {"provider": "offline"}, "workspace": {"dir": projects}});
    let world = World::with(sections).await;
    let _daemon = world.daemon();
    let write = |name: &str| {
        format!("@selkie_demo_bot call write_file {}", json!({"path": name, "content": "x"}))
    };
    let set = format!("/workspace {}", team.display());
    world.ask_in(GROUP, GRACE, &write("before.txt")).await;
    assert!(!projects.exists() && !team.join("before.txt").exists());
    assert!(world.ask_in(GROUP, GRACE, &set).await.contains("Only an owner"));
    assert!(world.ask_in(GROUP, ADA, &set).await.contains("Everybody who can use me here"));
    world.ask_in(GROUP, ADA, &write("after.txt")).await;
    assert!(team.join("after.txt").is_file());
    let other = json!({"path": projects.join("x"), "content": "x"});
    let call = format!("@selkie_demo_bot call write_file {other}");
    let refused = world.ask_in(GROUP, GRACE, &call).await;
    assert!(refused.contains("refusing to write outside"), "{refused}");
    let state = json!({"path": "file_state_dir/TODO.md"});
    let call = format!("@selkie_demo_bot call read_file {state}");
    let closed = world.ask_in(GROUP, GRACE, &call).await;
    assert!(closed.contains("file_state_dir is closed here"), "{closed}");
}
