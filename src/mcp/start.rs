//! What the settings of a server name → a way to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use secrecy::ExposeSecret as _;
use selkie_domain::facts::Trust;
use selkie_domain::taint::Taint;
use selkie_sandbox::Limits;
use selkie_tools::auth::{AuthError, BoundHeader};
use selkie_tools::paths::{Level, Lists, Roots};
use selkie_tools::shell::{Speaker, SpokenProgram};
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::deps::ConnectionDeps;
use crate::error::McpError;
use crate::http_link::HttpLink;
use crate::link::Link;
use crate::login::{Bearer, Wire};
use crate::news::ListBell;
use crate::settings::ServerSettings;
use crate::stdio_link::StdioLink;

const MAX_HEADERS: u64 = 64 * 1024;

/// Opens the way to a server of the config.
pub(crate) struct Start {
    pub(crate) name: String,
    pub(crate) settings: ServerSettings,
    pub(crate) deps: Arc<ConnectionDeps>,
    pub(crate) tracker: TaskTracker,
}

impl Start {
    /// Starts the program, or makes ready to ask the address: nothing is asked yet.
    pub(crate) async fn link(&self, bell: &ListBell) -> Result<Link, McpError> {
        let Self { name, settings, tracker, .. } = self;
        if let Some(fault) = settings.fault() {
            return Err(McpError::Settings(fault.to_owned()));
        }
        let Some(url) = self.address()? else {
            let speaker = self.speaker().await?;
            return Ok(Link::Stdio(StdioLink::new(name, speaker, Arc::clone(bell), tracker)));
        };
        let headers = self.headers(&url).await?;
        // Who writes a header or a credential into the config means that one.
        let bearer = match settings.auth.is_some() || headers.contains_key(AUTHORIZATION) {
            true => None,
            false => Some(Bearer {
                server: name.clone(),
                wire: Wire::to(&self.deps.network, &url)?,
                url: url.clone(),
                settings: settings.oauth.clone().unwrap_or_default(),
                folder: self.deps.tokens.clone(),
                clock: Arc::clone(&self.deps.clock),
                tracker: tracker.clone(),
            }),
        };
        self.http_link(url, headers, bearer, bell)
    }

    /// Returns the server's address, where it is none that is started.
    pub(crate) fn address(&self) -> Result<Option<Url>, McpError> {
        let url = self.settings.url.as_deref().map(Url::parse).transpose();
        url.map_err(|error| McpError::Settings(error.to_string()))
    }

    /// Returns what every request carries by the config.
    pub(crate) async fn headers(&self, url: &Url) -> Result<HeaderMap, McpError> {
        let mut headers = match &self.settings.headers_file {
            Some(file) => headers_in(file).await?,
            None => HeaderMap::new(),
        };
        if let Some(id) = &self.settings.auth {
            let bound = self.bound(id, url).await;
            let bound = bound.map_err(|why| McpError::Settings(format!("auth {id}: {why}")))?;
            headers.insert(bound.name, bound.value);
        }
        Ok(headers)
    }

    pub(crate) fn http_link(
        &self,
        url: Url,
        headers: HeaderMap,
        bearer: Option<Bearer>,
        bell: &ListBell,
    ) -> Result<Link, McpError> {
        let host = url.host_str().unwrap_or_default();
        let client = self.deps.network.to_host(host).map_err(McpError::Settings)?;
        Ok(Link::Http(Arc::new(HttpLink {
            server: self.name.clone(),
            client,
            url,
            bearer,
            headers,
            bell: Arc::clone(bell),
            tracker: self.tracker.clone(),
            session: Mutex::default(),
            last: AtomicU64::default(),
        })))
    }

    /// Loads the credential of a profile that is for this address.
    async fn bound(&self, id: &str, url: &Url) -> Result<BoundHeader, AuthError> {
        let unknown = || AuthError::NotAllowed("is no name of secrets.auth_profiles".to_owned());
        let profile = self.deps.auth.get(id).ok_or_else(unknown)?;
        profile.judge(&Method::POST, url)?;
        // A server that refused the last connection may take another one by now.
        profile.forget().await;
        profile.header().await
    }

    /// Starts the program, beside everything else: folders are made, and a machine is asked what its sandbox can.
    async fn speaker(&self) -> Result<Speaker, McpError> {
        let ServerSettings { command, args, env, cwd, sandbox, .. } = self.settings.clone();
        let command = command.unwrap_or_default();
        let value = |secret: &secrecy::SecretString| secret.expose_secret().to_owned();
        let env: BTreeMap<_, _> = env.iter().map(|(name, it)| (name.clone(), value(it))).collect();
        let folder = self.deps.folder.clone();
        // A name of the config is one of a folder, too.
        let own = folder.join(&self.name);
        let deps = Arc::clone(&self.deps);
        let started = tokio::task::spawn_blocking(move || {
            let level = Level::of_task(Taint::Raw, Trust::Owner);
            let roots = Roots {
                cache: folder,
                own,
                state: None,
                workspace: None,
                // Its working folder is the config's.
                elsewhere: true,
                ours: deps.ours.clone(),
                skills: Default::default(),
                lists: Lists::default(),
                confinement: deps.policy.of(true, |_| false),
                level: level.noting(deps.programs.processes.commands()),
            };
            let made_of = environment_of(&command).into_iter().chain(packages_of(&command, &args));
            let reads: Vec<_> = cwd.iter().map(Into::into).chain(made_of).collect();
            let program = SpokenProgram {
                tool: "mcp",
                command: &command,
                args: &args,
                env: &env,
                hold: sandbox,
                reads: &reads,
                cwd: cwd.as_deref(),
                limits: &Limits::default(),
            };
            Handle::current().block_on(deps.programs.serve(&roots, &program, &deps.clock))
        });
        let started = started.await.map_err(|error| McpError::NotStarted(error.to_string()))?;
        started.map_err(|error| McpError::NotStarted(error.to_string()))
    }
}

/// Returns the virtual environment of Python that a program lies in, and of the Python behind it its programs and
/// libraries: whoever names the program by its whole path means what it is made of, too.
fn environment_of(command: &str) -> Vec<PathBuf> {
    let folder = Path::new(command).parent().and_then(Path::parent);
    let Some(folder) = folder.filter(|folder| folder.is_absolute()) else { return Vec::new() };
    let Ok(config) = std::fs::read_to_string(folder.join("pyvenv.cfg")) else { return Vec::new() };
    let values = config.lines().filter_map(|line| line.split_once('='));
    let mut homes = values.filter(|(key, _)| key.trim() == "home").map(|(_, home)| home.trim());
    let behind = homes.next().and_then(|home| Path::new(home).parent());
    let behind = behind.filter(|prefix| prefix.is_absolute()).into_iter();
    let behind = behind.flat_map(|prefix| [prefix.join("bin"), prefix.join("lib")]);
    std::iter::once(folder.to_owned()).chain(behind).collect()
}

/// Returns the folders of packages of Node in which a program, or a script that it is given, lies.
fn packages_of(command: &str, args: &[String]) -> Vec<PathBuf> {
    let outermost = |word: &str| {
        let folders = Path::new(word).ancestors().filter(|path| path.ends_with("node_modules"));
        folders.last().filter(|path| path.is_absolute()).map(Path::to_owned)
    };
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    words.filter_map(outermost).collect()
}

/// Reads a file of headers. What is wrong with it is said without what stands there.
async fn headers_in(file: &Path) -> Result<HeaderMap, McpError> {
    let shown = file.display();
    let cannot = |error: std::io::Error| {
        McpError::Settings(format!("headers_file {shown} cannot be read: {error}"))
    };
    let opened = tokio::fs::File::open(file).await.map_err(cannot)?;
    let mut text = String::new();
    opened.take(MAX_HEADERS).read_to_string(&mut text).await.map_err(cannot)?;
    let mut headers = HeaderMap::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = at + 1;
        let wrong = || {
            let why = format!("line {at} of headers_file {shown} is no header: write Name: value");
            McpError::Settings(why)
        };
        let written = line.split_once(':').ok_or_else(wrong)?;
        let name = HeaderName::from_bytes(written.0.trim().as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(written.1.trim()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_with_what_it_is_made_of() {
        let folder = tempfile::TempDir::new().unwrap();
        let config = "home = /opt/python/3.12/bin\nversion = 3.12\n";
        std::fs::write(folder.path().join("pyvenv.cfg"), config).unwrap();
        let program = folder.path().join("bin/weather").display().to_string();
        let parts = ["/opt/python/3.12/bin", "/opt/python/3.12/lib"].map(PathBuf::from);
        assert_eq!(environment_of(&program)[0], folder.path());
        assert_eq!(environment_of(&program)[1..], parts);
        assert!(environment_of("python3").is_empty() && environment_of("/usr/bin/sh").is_empty());
        let script = "/srv/x/node_modules/@a/b/node_modules/c/index.js".to_owned();
        assert_eq!(packages_of("node", &[script]), [PathBuf::from("/srv/x/node_modules")]);
        assert!(packages_of("node_modules/.bin/x", &["a".to_owned()]).is_empty());
    }
}
