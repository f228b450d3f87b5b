//! Whether the folders and files that the config names can be used: they are there, or can be made.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::paths::{FolderPaths, Folders, From};
use crate::settings::Settings;
use crate::source::Environment;
use selkie_tools::acp::AgentProgram;

/// Something on this machine that cannot be used.
pub struct Unfit {
    /// The key that names it.
    pub key: String,
    /// The variable that named it in the key's place.
    pub variable: Option<&'static str>,
    /// What is wrong.
    pub message: String,
}

/// Looks at every folder, program and schema that the config names. Nothing is made.
pub fn problems(
    settings: &Settings,
    found: &FolderPaths,
    env: &Environment,
    here: &Path,
) -> Vec<Unfit> {
    let workspace = settings.workspace.dir.as_ref().map(|dir| here.join(dir));
    let Folders { state, cache } = &found.folders;
    let all = [
        ("file_state_dir", found.state.variable(), Some(state)),
        ("file_cache_dir", found.cache.variable(), Some(cache)),
        ("workspace.dir", None, workspace.as_ref()),
    ];
    // A cache inside of a state folder that cannot be is no second mistake.
    let told = found.cache == From::Beside && unusable(state).is_some();
    let wrong = |(key, variable, path): (&'static str, _, Option<&PathBuf>)| {
        let message = unusable(path?).or_else(|| pruned(key, path?, cache))?;
        Some(Unfit { key: key.to_owned(), variable, message })
    };
    let all = all.into_iter().filter(|(key, ..)| !(told && *key == "file_cache_dir"));
    let programs = [
        rewriter(settings, env),
        configured("transcription.command", &settings.transcription.command, env),
        configured("speech.command", &settings.speech.command, env),
    ];
    let program_of = |(name, agent): (&String, &AgentProgram)| {
        program(&format!("acp.agents.{name}.command"), &agent.command, env)
    };
    let acp = settings.acp.agents.iter().filter(|(_, agent)| !agent.command.is_empty());
    let programs = programs.into_iter().flatten().chain(acp.filter_map(program_of));
    let agents = agents(settings, state, cache);
    all.filter_map(wrong).chain(programs).chain(schemas(settings, state)).chain(agents).collect()
}

/// The folders and the files of agents.
fn agents(settings: &Settings, state: &Path, cache: &Path) -> Vec<Unfit> {
    let mut wrong = Vec::new();
    for (name, agent) in &settings.agents {
        let mut add = |key: &str, message: Option<String>| {
            let key = format!("agents.{name}.{key}");
            wrong.extend(message.map(|message| Unfit { key, variable: None, message }));
        };
        let folder = agent.workspace.as_deref().filter(|folder| folder.is_absolute());
        add("workspace", folder.and_then(|folder| in_the_bots(folder, [state, cache])));
        add("workspace", folder.and_then(unusable));
        let file = agent.persona_file().map(|file| state.join(file));
        let missing = file.filter(|file| !file.is_file());
        let missing =
            missing.map(|file| format!("is {}, which does not exist: write it", file.display()));
        add("persona", missing);
    }
    wrong
}

/// Says that a folder for work holds the bot's own files, or lies among them.
fn in_the_bots(folder: &Path, own: [&Path; 2]) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real(folder);
    let is_one = own.into_iter().any(|own| {
        let own = real(own);
        folder.starts_with(&own) || own.starts_with(&folder)
    });
    is_one.then(|| {
        format!(
            "is {}, which contains, or is inside, the bot's own folders: choose another",
            folder.display()
        )
    })
}

/// The program that is put before every command.
fn rewriter(settings: &Settings, env: &Environment) -> Option<Unfit> {
    let rewrite = &settings.tools.bash.rewrite;
    let name = rewrite.binary.split_whitespace().next().filter(|_| rewrite.enabled)?;
    program("tools.bash.rewrite.binary", name, env)
}

/// A program that stands in a server's place.
fn configured(key: &str, command: &[String], env: &Environment) -> Option<Unfit> {
    program(key, command.first()?, env)
}

/// Says that a program is not there.
fn program(key: &str, name: &str, env: &Environment) -> Option<Unfit> {
    let path = env.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
    let there = match name.contains('/') {
        true => Path::new(name).is_absolute() && Path::new(name).is_file(),
        false => std::env::split_paths(path).any(|folder| folder.join(name).is_file()),
    };
    (!there).then(|| Unfit {
        key: key.to_owned(),
        variable: None,
        message: format!(
            "is {name}, which does not exist: takes a program in PATH, or a whole path"
        ),
    })
}

/// Schemas that are named are those of the house or files of the state folder.
fn schemas(settings: &Settings, state: &Path) -> Vec<Unfit> {
    let named = settings.tools.patch.validate.iter().enumerate();
    let named = named.filter_map(|(index, rule)| Some((index, rule.schema.as_deref()?)));
    let file = |name: &str| state.join("schemas").join(format!("{name}.json"));
    let missing = named.filter(|(_, name)| *name != "config" && !file(name).is_file());
    missing
        .map(|(index, name)| Unfit {
            key: format!("tools.patch.validate.{index}.schema"),
            variable: None,
            message: format!(
                "takes the name of a schema that is there, not {name:?}: config, or a file as {}",
                file(name).display()
            ),
        })
        .collect()
}

/// Says that a folder lies where old files are deleted.
fn pruned(key: &str, path: &Path, cache: &Path) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let inside = path.starts_with(cache) || real(path).starts_with(real(cache));
    (key != "file_cache_dir" && inside).then(|| {
        let path = path.display();
        let cache = cache.display();
        format!("is {path}, in the cache folder {cache}, where old files are deleted: choose one outside of it")
    })
}

/// Says why a folder cannot be used; the nearest folder that is there decides about one that is not.
fn unusable(path: &Path) -> Option<String> {
    let shown = path.display();
    let there = path.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok())?;
    if !there.is_dir() {
        return Some(format!("is {shown}, and {} is not a folder", there.display()));
    }
    let error = match access(there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) if is_the_kernels(there) => "it belongs to the kernel".to_owned(),
        Ok(()) => return None,
        Err(Errno::ACCESS) if there == path => {
            format!("{}: `chown -R USER {shown}` gives it to selkie's user", Errno::ACCESS)
        }
        Err(error) => error.to_string(),
    };
    let what = if there == path { "cannot be written to" } else { "cannot be created" };
    Some(format!("is {shown}, which {what}: {}: {error}", there.display()))
}

/// Root is told that it may write to `/proc` and `/sys`, and cannot.
fn is_the_kernels(folder: &Path) -> bool {
    ["/proc", "/sys", "/dev"].iter().any(|kernel| folder.starts_with(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_missing_is_judged_by_the_one_above_it() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let said = |name: &str| {
            let text = unusable(&home.path().join(name));
            text.map(|t| t.replace(home.path().to_str().unwrap(), "…"))
        };
        assert_eq!(said("new/deep"), None);
        assert_eq!(said(""), None);
        assert_eq!(said("file/x").unwrap(), "is …/file/x, and …/file is not a folder");
        // Nobody makes folders there, root neither.
        assert!(unusable(Path::new("/proc/selkie/state")).is_some());
    }
}
