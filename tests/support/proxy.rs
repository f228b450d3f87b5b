//! Stands between a daemon and its model server and changes what the daemon asks.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

/// Changes a request's body.
pub type Change = fn(&mut Value);

/// A proxy on a free port; it ends when it is dropped.
pub struct Proxy {
    /// `127.0.0.1:<port>`.
    pub address: String,
    serving: JoinHandle<()>,
}

impl Proxy {
    /// Passes on to `target` (`127.0.0.1:<port>`): the first request with a body as it is, each later one changed.
    pub async fn before(target: &str, change: Change) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let target = target.to_owned();
        let serving = TaskTracker::new().spawn(async move {
            let mut bodies = 0;
            while let Ok((client, _)) = listener.accept().await {
                // One at a time: a story asks its model so, and counts.
                pass(client, &target, &mut bodies, change).await.ok();
            }
        });
        Self { address, serving }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Passes one request on, and the answer back.
async fn pass(
    client: TcpStream,
    target: &str,
    bodies: &mut usize,
    change: Change,
) -> std::io::Result<()> {
    let mut client = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if client.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "host" | "connection" => {}
            _ if line.trim().is_empty() => break,
            _ => head += &line,
        }
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body).await?;
    if let Ok(mut asked) = serde_json::from_slice::<Value>(&body) {
        if *bodies > 0 {
            change(&mut asked);
        }
        *bodies += 1;
        body = asked.to_string().into_bytes();
    }
    let mut server = TcpStream::connect(target).await?;
    let length = body.len();
    let rest = format!("host: {target}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    server.write_all((head + &rest).as_bytes()).await?;
    server.write_all(&body).await?;
    copy(&mut server, &mut client).await?;
    client.shutdown().await
}
