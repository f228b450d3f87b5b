//! What a command may read, and so write: as far as its words tell.

use std::io;
use std::path::{Path, PathBuf};

use super::Roots;
use super::commands::OpenRun;
use super::zone::Zone;
use selkie_domain::clock::SharedClock;
use selkie_domain::taint::Taint;
use selkie_guard::outward::reaches_network;

/// So many entries of a folder are looked at for what a command may read.
const MANY: usize = 1_000;
/// So many words of a command.
const WORDS: usize = 300;

/// Notes that a command starts in a folder and may write in these, before it does.
///
/// # Errors
/// When it cannot be noted: then the command must not start.
pub fn note_command(
    cmd: &str,
    folder: &Path,
    roots: &Roots,
    writes: &[PathBuf],
    clock: &SharedClock,
) -> io::Result<Option<OpenRun>> {
    let reads = of_command(cmd, folder, roots);
    let writes: Vec<&Path> = writes.iter().map(PathBuf::as_path).collect();
    roots.level.starts(&writes, reads, clock)
}

/// Notes the same of a program of which nobody knows what it reads.
///
/// # Errors
/// As [`note_command`].
pub fn note_program(
    roots: &Roots,
    writes: &[PathBuf],
    clock: &SharedClock,
) -> io::Result<Option<OpenRun>> {
    let writes: Vec<&Path> = writes.iter().map(PathBuf::as_path).collect();
    roots.level.starts(&writes, Taint::Raw, clock)
}

/// Returns the level of what a command may read: over the network, the files that it names, those of the folder that it
/// may sweep over, and of the conversation's own folder where it stands or goes there. What names the state folder or a
/// list of it may read what many have written.
pub fn of_command(cmd: &str, folder: &Path, roots: &Roots) -> Taint {
    let own = &roots.own;
    let cmd = &*cmd.replace("file_cache_dir", &own.to_string_lossy());
    // Without the network, and without the state folder, there is nothing of others' to be read there.
    let is_closed = roots.confinement.is_closed();
    // The conversation's own folder may lie below the state folder, as skills do, which are looked at by name; and what a
    // folder is called says nothing.
    let mut elsewhere = cmd.replace(&*own.to_string_lossy(), "");
    for skill in roots.skills.paths() {
        elsewhere = elsewhere.replace(&*skill.to_string_lossy(), "");
    }
    if !is_closed && (reaches_network(&elsewhere) || reads_lists(&elsewhere, folder, roots)) {
        return Taint::Raw;
    }
    let named = words(cmd).take(WORDS).map(|word| of_path(&folder.join(word), roots));
    let named = named.chain([of_skill(folder, roots)]).max().unwrap_or_default();
    if is_plain(cmd) && !sweeps(cmd) {
        return named;
    }
    let stands_there = folder.starts_with(own) || cmd.contains(&*own.to_string_lossy());
    let in_own = if stands_there { of_entries(own, roots) } else { Taint::Clean };
    named.max(of_entries(folder, roots)).max(in_own)
}

fn reads_lists(cmd: &str, folder: &Path, roots: &Roots) -> bool {
    let Roots { own, state, skills, .. } = roots;
    let cmd = cmd.to_lowercase();
    let names = |path: &Path| cmd.contains(&path.to_string_lossy().to_lowercase());
    let is_open = |folder: &Path| folder.starts_with(own) || skills.hold(folder);
    let stands_in = |state: &Path| folder.starts_with(state) && !is_open(folder);
    cmd.contains("todo.md")
        || cmd.contains("todo.done.md")
        || cmd.contains("file_state_dir")
        || state.as_deref().is_some_and(|state| names(state) || stands_in(state))
}

fn words(cmd: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || "'\"`;|&<>()$={}".contains(c);
    cmd.split(between).filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// Whether a command reads what its words say: no shell puts other words in their place.
fn is_plain(cmd: &str) -> bool {
    !cmd.contains(['$', '`', '*', '?', '[', '{', '<', '('])
}

/// Whether a command may read files that it does not name, or their names.
fn sweeps(cmd: &str) -> bool {
    let many = ["find", "xargs", "rg", "tar", "zip", "git", "ls", "dir", "tree", "du", "stat"];
    let between = |c: char| c.is_whitespace() || "|;&".contains(c);
    cmd.split(between).any(|word| {
        many.contains(&word)
            || matches!(word, "." | "--recursive")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
    })
}

/// Of a file, by what it is: a folder that is named holds no words.
fn of_path(path: &Path, roots: &Roots) -> Taint {
    let of_skill = of_skill(path, roots);
    if !path.is_file() || of_skill.is_any() {
        return of_skill;
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let cache = roots.cache.canonicalize();
    let is_cached = cache.is_ok_and(|cache| real.starts_with(cache));
    let zone = if is_cached { Zone::Own } else { Zone::Workspace };
    roots.level.of(roots.level.whose_path(&real, zone))
}

/// Of what lies in a skill, by who has reviewed it.
fn of_skill(path: &Path, roots: &Roots) -> Taint {
    let Ok(real) = path.canonicalize() else { return Taint::Clean };
    let Ok(found) = real.metadata() else { return Taint::Clean };
    roots.skills.level(&real, &found).unwrap_or_default()
}

fn of_entries(folder: &Path, roots: &Roots) -> Taint {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_own = folder.starts_with(&roots.own);
    let levels = entries.take(MANY).map(|entry| match entry.file_type() {
        // What lies deeper is not looked at.
        Ok(kind) if kind.is_dir() && is_own => Taint::Raw,
        _ => of_path(&entry.path(), roots),
    });
    levels.max().unwrap_or_default()
}
