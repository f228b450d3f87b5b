//! One socket, from its opening to its end: frames out, acknowledgements in.
//!
//! slack-morphism's own socket client is not used, for reasons seen in 2.31: it has no time limit for
//! connecting, reads the system's certificates anew for each connection, keeps the pongs from its
//! listener, so that nobody can tell a silent socket from a dead one, and writes the socket's address,
//! a ticket, into the log. The socket library inside it is used as it is.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};
use selkie_channel_core::http::chain;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{
    Connector, MaybeTlsStream, WebSocketStream, connect_async_tls_with_config,
};

use crate::api::CONNECT_LIMIT;

/// Frames taken in one go at most.
const BATCH: usize = 100;

/// How patient a socket is.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For Slack's `hello` after connecting.
    pub hello: Duration,
    /// Silence after which we ask whether anybody is there.
    pub ping: Duration,
    /// Silence after which the socket is given up: no event, no ping, no pong.
    pub silence: Duration,
}

impl Patience {
    /// Slack itself pings about every ten seconds; a short limit would cut slow lines for nothing.
    pub const USUAL: Self = Self {
        hello: Duration::from_secs(20),
        ping: Duration::from_secs(15),
        silence: Duration::from_secs(60),
    };
}

/// An open socket.
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    patience: Patience,
    /// When anything at all was last heard.
    heard: Instant,
    greeted: bool,
}

/// What a socket brought.
pub enum SocketEvent {
    /// Text frames, in order; empty for a sign of life.
    Frames(Vec<String>),
    /// It is over, and why.
    End(String),
}

impl Socket {
    /// Connects to the address that Slack named.
    ///
    /// # Errors
    /// In words, without the address: it is a ticket.
    pub async fn connect(
        url: &str,
        tls: &Arc<rustls::ClientConfig>,
        patience: Patience,
    ) -> Result<Self, String> {
        let connector = Some(Connector::Rustls(Arc::clone(tls)));
        let connect = connect_async_tls_with_config(url, None, true, connector);
        let connected = timeout(CONNECT_LIMIT, connect).await;
        let connected = connected.map_err(|_| "connecting took too long".to_owned())?;
        let (stream, _) = connected.map_err(|e| chain(&e).replace(url, "the socket"))?;
        Ok(Self { stream, patience, heard: Instant::now(), greeted: false })
    }

    /// Waits for the next frames: the first, and what is there already behind it.
    pub async fn next(&mut self) -> SocketEvent {
        let wait = if self.greeted { self.patience.ping } else { self.patience.hello };
        let Ok(first) = timeout(wait, self.stream.next()).await else { return self.quiet().await };
        let mut frames = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Some(Ok(Message::Text(text))) => frames.push(text.as_str().to_owned()),
                Some(Ok(Message::Close(_))) | None if frames.is_empty() => {
                    return SocketEvent::End("Slack closed the socket".to_owned());
                }
                Some(Err(e)) if frames.is_empty() => return SocketEvent::End(chain(&e)),
                // The end comes again, once the frames before it are stored.
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            }
            next = if frames.len() < BATCH { self.stream.next().now_or_never() } else { None };
        }
        self.heard = Instant::now();
        SocketEvent::Frames(frames)
    }

    /// Slack has said hello: from now on silence is measured.
    pub fn greeted(&mut self) {
        self.greeted = true;
    }

    /// Sends an acknowledgement.
    ///
    /// # Errors
    /// In words: the socket is broken, and Slack will send the event again.
    pub async fn send(&mut self, text: String) -> Result<(), String> {
        let sent = timeout(self.patience.silence, self.stream.send(Message::text(text))).await;
        match sent {
            Ok(sent) => sent.map_err(|e| chain(&e)),
            Err(_) => Err("the socket accepts nothing more".to_owned()),
        }
    }

    /// Says good-bye; a dead socket is not waited for.
    pub async fn close(mut self) {
        drop(timeout(Duration::from_secs(1), self.stream.close(None)).await);
    }

    /// Nothing came for a while: asks, or gives up.
    async fn quiet(&mut self) -> SocketEvent {
        if !self.greeted {
            return SocketEvent::End("connected, and Slack never said hello".to_owned());
        }
        if self.heard.elapsed() >= self.patience.silence {
            return SocketEvent::End("silent: not even a pong came".to_owned());
        }
        let ping = Message::Ping(Vec::new().into());
        match timeout(self.patience.ping, self.stream.send(ping)).await {
            Ok(Ok(())) => SocketEvent::Frames(Vec::new()),
            Ok(Err(e)) => SocketEvent::End(chain(&e)),
            Err(_) => SocketEvent::End("the socket accepts nothing more".to_owned()),
        }
    }
}
