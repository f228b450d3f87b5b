//! Whose the files are that root restores: those of whoever the state folder belongs to.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::Context as _;

/// Gives what root restores to whom the state folder belongs.
pub fn give(path: &Path, state: &Path) -> anyhow::Result<()> {
    let owner = fs::metadata(state)?;
    if !rustix::process::geteuid().is_root() || owner.uid() == 0 {
        return Ok(());
    }
    let given = |path: &Path| {
        std::os::unix::fs::lchown(path, Some(owner.uid()), Some(owner.gid()))
            .with_context(|| format!("{} cannot be given to the folder's owner", path.display()))
    };
    given(&state.join("selkie.lock"))?;
    walk(path, &given)
}

fn walk(path: &Path, each: &dyn Fn(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    each(path)?;
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            walk(&entry?.path(), each)?;
        }
    }
    Ok(())
}
