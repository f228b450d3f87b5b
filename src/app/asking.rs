//! The config of a command that a running daemon can carry out: a mistake in it keeps nobody from reaching that one.

use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use crate::Binary;
use crate::build::{AppConfig, ConfigChoice, plan_of_sound, sources};
use crate::client::RunningDaemon;
use crate::request::{Request, Response};
use selkie_config::paths::ConfigFile;
use selkie_config::problem::Problems;
use selkie_config::state_folder::state_folder;
use selkie_domain::count::counted;
use selkie_schedule::zone::Zone;

/// Variables that say where things lie on this machine; every other one may be the mistake.
const ENVIRONMENT: [&str; 3] = ["HOME", "PATH", "TZ"];
/// How long a daemon may take to tell its zone: what is asked next has a patience of its own.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Builds what of the config has no mistakes, or nothing but its state folder. What it comes to asks a daemon and opens no
/// store itself as long as there are mistakes.
///
/// # Errors
/// When even that cannot be told: everything that is wrong.
pub fn plan_to_ask(binary: &Binary, chosen: &ConfigChoice) -> Result<AppConfig, Problems> {
    let mistakes = match plan_of_sound(binary, chosen) {
        Ok(config) => return Ok(config),
        Err(mistakes) => mistakes,
    };
    let Some(state) = state_folder(&sources(binary, chosen), &binary.kits) else {
        return Err(mistakes);
    };
    let mut bare = binary.clone();
    bare.env.retain(|name, _| ENVIRONMENT.contains(&name.as_str()));
    let chosen = ConfigChoice { file: ConfigFile::None, state: Some(state), flags: Vec::new() };
    match plan_of_sound(&bare, &chosen) {
        Ok(config) => Ok(AppConfig { mistakes: Some(mistakes), ..config }),
        Err(_) => Err(mistakes),
    }
}

/// What a daemon that runs with the state folder tells first.
pub struct Answers {
    /// The zone that it reads times in; none of a daemon of before, or of one that does not answer.
    pub zone: Option<Zone>,
}

/// Asks whether one runs; `None` when none does.
///
/// # Errors
/// When no client can be built.
pub async fn answers(config: &AppConfig) -> anyhow::Result<Option<Answers>> {
    let Some(daemon) = RunningDaemon::find(&config.tls, &config.folders.state).await? else {
        return Ok(None);
    };
    let zone = match timeout(TIMEOUT, daemon.answer(&Request::Zone)).await {
        Ok(Ok(Response::Zone(zone))) => Some(zone),
        _ => None,
    };
    Ok(Some(Answers { zone }))
}

/// Says in a line that a config has mistakes, and who answers all the same.
pub fn says(mistakes: &Problems, file: Option<&Path>) -> String {
    let Problems(all) = mistakes;
    let name = file.map(|file| file.display().to_string());
    let is_its = name.as_ref().is_some_and(|name| all.iter().any(|one| one.place.name == *name));
    let what = name.filter(|_| is_its).unwrap_or_else(|| "the config".to_owned());
    let many = counted(all.len() as u64, ["mistake", "mistakes"]);
    format!(
        "{what} has {many}, which `selkie config check` shows; the running selkie answers by what it has loaded"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use selkie_config::problem::{Place, Problem};

    #[test]
    fn it_is_the_files_mistake_where_it_stands_in_the_file() {
        let of = |place: &str| {
            let message = "is wrong".to_owned();
            Problem { place: Place::of(place), key: "a".to_owned(), message }
        };
        let said = |all: Vec<Problem>| says(&Problems(all), Some(Path::new("config.yaml")));
        assert!(said(vec![of("config.yaml")]).starts_with("config.yaml has 1 mistake, "));
        assert!(said(vec![of("SELKIE__A"), of("--b")]).starts_with("the config has 2 mistakes, "));
    }
}
