//! A TCP listener whose connections a handler can cut: the socket closes without an answer.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::ConnectInfo;
use axum::http::Extensions;
use axum::serve::Listener;
use selkie_channel_core::server::ConnectionInfo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// The handle of one connection, given to handlers by `ConnectInfo`.
#[derive(Clone, Debug)]
pub(crate) struct Line(Arc<AtomicBool>);

impl Line {
    /// Cuts the connection: not one byte of the answer that follows leaves the machine.
    pub(crate) fn cut(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl ConnectionInfo for Line {
    fn enter(&self, extensions: &mut Extensions) {
        extensions.insert(ConnectInfo(self.clone()));
    }
}

/// Accepts connections that can be cut.
pub(crate) struct LineListener(pub(crate) TcpListener);

impl Listener for LineListener {
    type Io = LineStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (LineStream, SocketAddr) {
        loop {
            match self.0.accept().await {
                Ok((stream, address)) => {
                    stream.set_nodelay(true).ok();
                    let line = Line(Arc::new(AtomicBool::new(false)));
                    return (LineStream { stream, line }, address);
                }
                Err(error) => {
                    tracing::warn!(%error, "the playground could not accept a connection");
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// One connection; writing fails once its [`Line`] is cut, and the server then drops the socket.
pub(crate) struct LineStream {
    stream: TcpStream,
    line: Line,
}

impl LineStream {
    /// The handle that cuts it.
    pub(crate) fn line(&self) -> Line {
        self.line.clone()
    }

    fn check(&self) -> io::Result<()> {
        if self.line.0.load(Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "cut by a fault"));
        }
        Ok(())
    }
}

impl AsyncRead for LineStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for LineStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
