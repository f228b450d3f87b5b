//! Connections to servers of a test, and what they tell.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selkie_channel_core::{Redactor, locked};
use selkie_domain::clock::SystemClock;
use selkie_domain::plan::Plan;
use selkie_domain::span::Span;
use selkie_sandbox::{Launcher, Mode, Policy, Settings};
use selkie_tools::auth::AuthProfiles;
use selkie_tools::paths::Ours;
use selkie_tools::ports::Progress;
use selkie_tools::shell::{Processes, SpokenPrograms};
use selkie_tools::web::client::GuardedClient;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    CallContext, CallOutcome, CallResult, ConnectionDeps, Connections, ListWatcher, McpError,
    ServerSettings, TokenFolder,
};

/// An end to waiting, not a timing.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);
/// What every script begins with.
const BEGIN: &str = r#"
tell() { printf '%s\n' "$1"; }
next() {
    IFS= read -r line || exit 0
    id=${line#*'"id":'}; id=${id%%[,\}]*}
    method=${line#*'"method":"'}; method=${method%%'"'*}
    name=${line#*'"name":"'}; name=${name%%'"'*}
}
result() { tell '{"jsonrpc":"2.0","id":'"$1"',"result":'"$2"'}'; }
text() { result "$1" '{"content":[{"type":"text","text":"'"$2"'"}]}'; }
refuse() { tell '{"jsonrpc":"2.0","id":'"$1"',"error":{"code":-32601,"message":"no '"$method"'"}}'; }
initialized() { result $id '{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"old","version":"1"},"instructions":"be quick"}'; next; }
legacy() { next; [ "$method" = server/discover ] && { refuse $id; next; }; initialized; }
modern() { next; result $id '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"be kind","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"2"}}}'; }
tools() { result $id '{"tools":[{"name":"a","description":"does a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}'; }
"#;

/// Connections to one server called `robin`.
pub(super) struct Desk {
    pub(super) dir: TempDir,
    pub(super) settings: ServerSettings,
    pub(super) ear: Arc<Ear>,
    /// Who starts programs: in the sandbox where that is the daemon's own binary.
    pub(super) launcher: Launcher,
    pub(super) redactor: Redactor,
    /// Where tokens are kept.
    pub(super) state: PathBuf,
    /// Credentials of the config.
    pub(super) auth: Arc<AuthProfiles>,
    connections: Option<Connections>,
}

/// Remembers what it is told.
#[derive(Default)]
pub(super) struct Ear {
    pub(super) lines: Mutex<Vec<String>>,
    pub(super) changes: Mutex<usize>,
}

impl Progress for Ear {
    fn plan(&self, _: &Plan) {}

    fn doing(&self, line: &str) {
        locked(&self.lines).push(line.to_owned());
    }
}

impl ListWatcher for Ear {
    fn list_changed(&self, server: &str) {
        assert_eq!(server, "robin");
        *locked(&self.changes) += 1;
    }
}

impl Desk {
    /// With a program that a shell reads.
    pub(super) fn script(script: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("server.sh");
        std::fs::write(&file, format!("{BEGIN}{script}")).unwrap();
        let settings = ServerSettings {
            command: Some("sh".to_owned()),
            args: vec![file.to_string_lossy().into_owned()],
            env: [("KEY".to_owned(), "k-1".into())].into(),
            ..ServerSettings::default()
        };
        Self::with(dir, settings)
    }

    fn with(dir: TempDir, settings: ServerSettings) -> Self {
        let state = dir.path().to_owned();
        Self {
            dir,
            state,
            settings,
            ear: Arc::default(),
            launcher: Launcher::Direct,
            redactor: Redactor::default(),
            auth: Arc::default(),
            connections: None,
        }
    }

    /// With a server at an address.
    pub(super) fn at(url: &str) -> Self {
        let settings = ServerSettings { url: Some(url.to_owned()), ..ServerSettings::default() };
        Self::with(TempDir::new().unwrap(), settings)
    }

    /// With a program and its arguments, of plain words.
    pub(super) fn running(line: &str) -> Self {
        let mut words = line.split_whitespace().map(str::to_owned);
        let command = words.next();
        let settings = ServerSettings { command, args: words.collect(), ..Default::default() };
        Self::with(TempDir::new().unwrap(), settings)
    }

    pub(super) fn within(mut self, limit: Span) -> Self {
        self.settings.timeout = limit;
        self
    }

    /// Makes the connections: nothing starts.
    pub(super) fn open(mut self) -> Self {
        let env: BTreeMap<_, _> = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into();
        let mode = if self.launcher == Launcher::Direct { Mode::Off } else { Mode::Auto };
        let sandbox = Settings { mode, ..Settings::default() };
        let processes = Arc::new(Processes::new(self.launcher.clone()));
        let policy = Policy::new(sandbox, false, processes.machine());
        let deps = ConnectionDeps {
            policy,
            programs: SpokenPrograms { processes, env: Arc::new(env), sandbox: Arc::default() },
            ours: Ours::default(),
            network: network(),
            auth: Arc::clone(&self.auth),
            clock: Arc::new(SystemClock),
            folder: self.dir.path().join("mcp"),
            tokens: self.tokens(),
            watcher: Arc::clone(&self.ear) as _,
        };
        let servers = [("robin".to_owned(), self.settings.clone())].into();
        self.connections = Some(Connections::new(deps, servers));
        self
    }

    /// Where tokens are kept.
    pub(super) fn tokens(&self) -> TokenFolder {
        TokenFolder::of(&self.state, &self.redactor)
    }

    pub(super) fn connections(&self) -> &Connections {
        self.connections.as_ref().expect("it is open")
    }

    pub(super) fn context(&self) -> CallContext {
        CallContext {
            progress: Arc::clone(&self.ear) as _,
            cancel: CancellationToken::new(),
            deadline: Instant::now() + TIMEOUT,
            schema: None,
            answers: Map::new(),
        }
    }

    pub(super) async fn call_with(&self, of: CallContext) -> Result<CallOutcome, McpError> {
        self.connections().call("robin", "a", &Map::new(), of).await
    }

    /// Calls the tool `a`.
    pub(super) async fn call(&self) -> Result<CallResult, McpError> {
        self.call_named("a").await
    }

    pub(super) async fn call_named(&self, tool: &str) -> Result<CallResult, McpError> {
        let arguments = match serde_json::json!({ "x": 1 }) {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        match self.connections().call("robin", tool, &arguments, self.context()).await? {
            CallOutcome::Done(result) => Ok(result),
            CallOutcome::Asks(asks) => panic!("{asks:?}"),
        }
    }

    /// Calls a tool, and says what came of it.
    pub(super) async fn says(&self, tool: &str) -> String {
        let called = tokio::time::timeout(TIMEOUT, self.call_named(tool)).await.expect("it ends");
        called.map_or_else(|error| error.to_string(), |result| result.text)
    }

    /// A file in the folder that the server works in.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join("mcp/robin").join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Waits until a file of the server holds something.
    pub(super) async fn wrote(&self, name: &str) -> String {
        let written = async {
            loop {
                let text = self.read(name);
                if text.ends_with('\n') {
                    return text.trim().to_owned();
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, written).await.expect("it writes")
    }
}

/// Whether a process runs.
pub(super) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[expect(clippy::disallowed_methods, reason = "a client of the tests' own")]
pub(super) fn network() -> Arc<GuardedClient> {
    let tls = selkie_channel_core::tls::client_config(rustls::RootCertStore::empty).unwrap();
    let factory = move || {
        let config = rustls::ClientConfig::clone(&tls);
        Ok(reqwest::Client::builder().tls_backend_preconfigured(config).user_agent("selkie/test"))
    };
    Arc::new(GuardedClient::new(Default::default(), Box::new(factory)))
}
