//! Starts the playground on loopback and hands out its URLs and handles.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::DATE;
use axum::response::Response;
use axum::{Router, middleware};
use selkie_channel_core::server::{Caps, Door, Wall, guard};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::{Mover, Now, machine};
use crate::control::{self, Control, Platforms};
use crate::line::{LineListener, LineStream};
use crate::line_platform::{self, LinePlatform};
use crate::model::{self, Behaviour, Model};
use crate::slack::{self, Slack};
use crate::telegram::{self, Pace, Server, Telegram};
use crate::x::{self, XPlatform};

/// What the guests of the emulated platforms may take: a bot under load asks often and at once, and keeps its
/// connections longer than it leaves them idle.
const CAPS: Caps = Caps { connections: 512, head: Duration::from_secs(120), ..Caps::LOCAL };

/// How a playground starts.
#[derive(Clone)]
pub struct Options {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Whether the platforms' pace is held.
    pub pace: Pace,
    /// What the model servers answer without a script.
    pub behaviour: Behaviour,
    /// The key the model servers demand; `None` takes any.
    pub model_key: Option<String>,
    /// The time.
    pub now: Now,
    /// What the platforms' answers say the time is; `None` for this machine's.
    pub date: Option<Now>,
    /// How many of the platforms' numbers were given away by earlier playgrounds that the same bot knew: no
    /// platform gives a number twice.
    pub skipped: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            pace: Pace::Held,
            behaviour: Behaviour::Echo,
            model_key: None,
            now: machine(),
            date: None,
            skipped: 0,
        }
    }
}

/// Why a playground did not start.
#[derive(Debug)]
pub struct StartError {
    port: u16,
    source: std::io::Error,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let port = self.port;
        write!(f, "the playground cannot listen on 127.0.0.1:{port} (port 0 takes a free one)")
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// A running playground; it stops when it is dropped.
pub struct Playground {
    address: SocketAddr,
    telegram: Telegram,
    line: LinePlatform,
    slack: Slack,
    x: XPlatform,
    model: Model,
    control: Arc<Control>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Playground {
    /// Starts one.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let port = options.port;
        let error = |source| StartError { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        let stop = CancellationToken::new();
        let server =
            Server::new(options.pace, options.skipped, Arc::clone(&options.now), stop.clone());
        let telegram = Telegram::new(Arc::clone(&server));
        let (line, events) = line_platform::Server::new(options.skipped, Arc::clone(&options.now));
        let base = format!("http://{address}/slack");
        let workspace =
            slack::Server::new(base, options.pace, Arc::clone(&options.now), stop.clone());
        let slack = Slack::new(Arc::clone(&workspace));
        let timeline = x::Server::new(Arc::clone(&options.now));
        let x = XPlatform::new(Arc::clone(&timeline));
        let model = Model::new(options.behaviour, options.model_key, Arc::clone(&options.now));
        let line_handle = LinePlatform::new(Arc::clone(&line));
        let platforms = Platforms {
            telegram: telegram.clone(),
            slack: slack.clone(),
            line: line_handle.clone(),
            x: x.clone(),
        };
        let control = Control::new(platforms, model.clone(), options.now, stop.clone());
        let router = Router::new()
            .nest("/telegram", telegram::routes(server))
            .nest("/line", line_platform::routes(Arc::clone(&line)))
            .nest("/line-data", line_platform::data_routes(Arc::clone(&line)))
            .nest("/slack", slack::routes(workspace))
            .nest(x::MOUNT, x::routes(timeline))
            .nest("/model", model::routes(model.clone()))
            .merge(control::routes(Arc::clone(&control)))
            // Platforms and page alike are for this machine: no foreign page may ask any of them.
            .layer(middleware::from_fn_with_state(Arc::new(Wall::default()), guard))
            .layer(middleware::map_response_with_state(options.date, dated));
        let tasks = TaskTracker::new();
        let door = Door { routes: router, caps: CAPS };
        let served = door.serve_with(LineListener(listener), LineStream::line, stop.clone());
        tasks.spawn(serve_until(served, stop.clone()));
        tasks.spawn(line_platform::send_webhooks(Arc::clone(&line), events, stop.clone()));
        tasks.close();
        let line = line_handle;
        Ok(Self { address, telegram, slack, line, x, model, control, stop, tasks })
    }

    /// The page's URL, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What `telegram.base_url` should say.
    pub fn telegram_base_url(&self) -> String {
        format!("{}/telegram", self.url())
    }

    /// What `line.base_url` should say.
    pub fn line_base_url(&self) -> String {
        format!("{}/line", self.url())
    }

    /// What `line.data_base_url` should say.
    pub fn line_data_base_url(&self) -> String {
        format!("{}/line-data", self.url())
    }

    /// What `slack.base_url` should say.
    pub fn slack_base_url(&self) -> String {
        format!("{}/slack/api", self.url())
    }

    /// What `x.base_url` should say.
    pub fn x_base_url(&self) -> String {
        format!("{}/x", self.url())
    }

    /// The endpoint of the OpenAI-compatible server, before `/chat/completions`.
    pub fn model_endpoint(&self) -> String {
        format!("{}/model/v1", self.url())
    }

    /// The endpoint of the Anthropic server, before `/messages`.
    pub fn anthropic_endpoint(&self) -> String {
        format!("{}/model/anthropic/v1", self.url())
    }

    /// Plays Telegram's people.
    pub fn telegram(&self) -> &Telegram {
        &self.telegram
    }

    /// Plays LINE's people.
    pub fn line(&self) -> &LinePlatform {
        &self.line
    }

    /// Plays Slack's people.
    pub fn slack(&self) -> &Slack {
        &self.slack
    }

    /// Looks at X's timeline.
    pub fn x(&self) -> &XPlatform {
        &self.x
    }

    /// Writes the models' scripts.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Tells the page where the daemon's console is.
    pub fn set_daemon_url(&self, url: &str) {
        self.control.set_daemon_url(url);
    }

    /// Lets the page move the clock, ours and the daemon's.
    pub fn set_mover(&self, mover: Mover) {
        self.control.set_mover(mover);
    }

    /// Tells the page what answers, e.g. a model's name.
    pub fn set_model_name(&self, name: &str) {
        self.control.set_model_name(name);
    }

    /// StopTokens and waits for the server's end.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

impl Drop for Playground {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Says the time in an answer, where it is another one than this machine's.
async fn dated(State(date): State<Option<Now>>, mut response: Response) -> Response {
    let date = date.map(|date| date().format("%a, %d %b %Y %H:%M:%S GMT").to_string());
    if let Some(date) = date.and_then(|date| HeaderValue::from_str(&date).ok()) {
        response.headers_mut().insert(DATE, date);
    }
    response
}

/// Serves until the stop; calls that still wait then (a scripted delay) get a second more.
async fn serve_until(served: impl Future<Output = ()>, stop: CancellationToken) {
    let grace = async {
        stop.cancelled().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    tokio::select! {
        () = served => {}
        () = grace => {}
    }
}
