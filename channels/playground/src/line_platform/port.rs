//! A port that nobody else gets while it is kept.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// A port that is bound and listens to nothing: whoever takes any free one is given another, and whoever names this one may
/// listen there, as all listeners of ours allow addresses to be used again.
pub(super) struct ReservedPort {
    /// Where.
    pub address: SocketAddr,
    /// Other systems let nobody else listen there.
    _socket: Option<TcpSocket>,
}

impl ReservedPort {
    pub fn new() -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = socket.local_addr()?;
        Ok(Self { address, _socket: cfg!(target_os = "linux").then_some(socket) })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    #[tokio::test]
    async fn a_kept_port_is_for_who_names_it_and_listens_there_again_and_again() {
        let ReservedPort { address, _socket } = ReservedPort::new().unwrap();
        let strange = TcpSocket::new_v4().unwrap();
        assert_eq!(strange.bind(address).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(TcpStream::connect(address).await.is_err(), "nobody listens yet");
        for _ in 0..2 {
            let listener = TcpListener::bind(address).await.unwrap();
            let (called, heard) = tokio::join!(TcpStream::connect(address), listener.accept());
            assert!(called.is_ok() && heard.is_ok());
        }
    }
}
