//! What root's commands make in the folders of somebody else's stopped selkie is theirs: as them, it starts again.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;

use crate::support::world::World;

const NOBODY: u32 = 65534;

fn each(path: &Path, then: &dyn Fn(&Path)) {
    then(path);
    if path.symlink_metadata().expect("there").is_dir() {
        fs::read_dir(path).expect("a folder").for_each(|e| each(&e.expect("there").path(), then));
    }
}

fn is_nobodys(path: &Path) {
    let uid = path.symlink_metadata().expect("there").uid();
    assert_eq!(uid, NOBODY, "{} is not its owner's", path.display());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_roots_commands_make_belongs_to_the_state_folders_owner() {
    if !rustix::process::getuid().is_root() {
        eprintln!("NOT TESTED: only root gives files away");
        return;
    }
    let world = World::start().await;
    let daemon = world.daemon();
    world.ask("the first words").await;
    let file = world.home.folder().join("life.tar.gz");
    let file = file.to_str().expect("a path");
    assert_eq!(world.home.run(&["backup", file]).0, 0);
    assert!(daemon.stop().await.success());
    let (state, cache) = (world.home.state(), world.home.cache());
    each(&state, &|path| chown(path, Some(NOBODY), Some(NOBODY)).expect("given"));
    for line in [
        &["restore", file, "--force"][..],
        &["resume", "--waiting", "drop", "--yes"],
        &["todos", "list"],
    ] {
        fs::remove_dir_all(&cache).ok();
        let (code, out, error) = world.home.run(line);
        assert_eq!(code, 0, "{out}{error}");
        each(&state, &is_nobodys);
    }
    each(&cache, &is_nobodys);
    let moved = fs::read_dir(&state).expect("a folder").flatten();
    let mut moved =
        moved.filter(|e| e.file_name().to_string_lossy().starts_with("before-restore-"));
    assert!(moved.next().is_some(), "what was there before was looked at, too");
}
