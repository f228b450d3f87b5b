//! A daemon that cannot start says why in clear words, with the exit code of its kind.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::world::World;

/// The user nobody.
const NOBODY: u32 = 65_534;

/// A home whose store was made by a daemon that has ended.
async fn used() -> World {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    assert!(daemon.stop().await.success());
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_daemon_names_the_first_and_leaves_it_alone() {
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("hello").await;
    let (code, _, error) = world.home.run(&["run"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains(&format!("process {} holds the store", daemon.pid())), "{error}");
    world.ask("still there?").await;
    assert!(daemon.stop().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_left_as_it_is() {
    let world = used().await;
    let file = world.home.database();
    let conn = rusqlite::Connection::open(&file).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let before = fs::read(&file).unwrap();
    let (code, _, error) = world.home.run(&["run"]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("newer") && error.contains("99"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_database_is_named() {
    let world = used().await;
    let file = world.home.database();
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    let output = as_somebody(world.home.command(&["run"]), world.home.folder()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains(&file.display().to_string()) && error.contains("cannot be written"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_somebody_else_is_told_with_what_gives_it_back() {
    let world = World::start().await;
    let mut command = as_somebody(world.home.command(&["run"]), world.home.folder());
    fs::create_dir_all(world.home.cache()).unwrap();
    fs::set_permissions(world.home.cache(), Permissions::from_mode(0o500)).unwrap();
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    let gives = format!("`chown -R USER {}`", world.home.cache().display());
    assert!(error.contains("which cannot be written to") && error.contains(&gives), "{error}");
}

/// Root may write everything: as root, somebody else runs a copy of the binary on this folder.
fn as_somebody(command: Command, folder: &Path) -> Command {
    if !rustix::process::getuid().is_root() {
        return command;
    }
    let binary = folder.join("selkie");
    fs::copy(command.get_program(), &binary).unwrap();
    give_away(folder);
    let mut other = Command::new(binary);
    other.args(command.get_args()).env_clear().current_dir(folder).uid(NOBODY).gid(NOBODY);
    other
}

fn give_away(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give_away(&entry.unwrap().path()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_config_is_told_with_file_and_line() {
    let mut world = World::start().await;
    let file = world.home.config_file();
    fs::write(&file, "telegram:\n  bot_token: [\n").unwrap();
    let (code, _, error) = world.home.run(&["run"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("config.yaml:"), "{error}");
    fs::write(&file, "telegram:\n  bot_token: \"1:x\"\n  no_such_key: 1\nwhile_bussy: queue\n")
        .unwrap();
    let (code, _, error) = world.home.run(&["run"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("config.yaml:3: telegram.no_such_key"), "{error}");
    assert!(error.contains("config.yaml:4: while_bussy"), "{error}");
    world.home.set("telegram", json!({ "allowed_chat_ids": ["*"] }));
    let (code, _, error) = world.home.run(&["run"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("config.yaml:") && error.contains("bot_token"), "{error}");
}
