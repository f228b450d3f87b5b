//! The `console` section: where the read API listens, and who may read it.

use std::net::SocketAddr;

use schemars::JsonSchema;
use selkie_channel_core::server::{Wall, read_listen_address};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

/// Where the read API listens, and which page may read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Loopback address and port of the read API, e.g. `127.0.0.1:7780` (port 0 takes a free one);
    /// null: off. Other addresses are refused: the read API has no login.
    pub listen: Option<String>,
    /// The one other origin whose pages may read it, e.g. `http://127.0.0.1:8080`; null: none.
    pub allow_origin: Option<String>,
    /// Names by which it may be asked besides `localhost` and loopback addresses, e.g. of a tunnel that
    /// ends on this machine.
    pub allow_hosts: Vec<String>,
}

/// Why the read API does not listen. Each variant says what to change.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Not an address with a port.
    #[error(
        "console.listen: {0:?} is not an address with a port: write 127.0.0.1:7780, or null for off"
    )]
    Unreadable(String),
    /// Reachable from other machines.
    #[error(
        "console.listen: {0} can be reached from other machines, and the console has no login: \
         listen on 127.0.0.1 and reach it through an SSH tunnel"
    )]
    NotLoopback(SocketAddr),
    /// The system refuses it.
    #[error(
        "console.listen: cannot listen on {address}: {error}; choose another port, or 0 for a free one"
    )]
    Taken {
        /// Where.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
}

impl ListenError {
    /// Says what the key takes, behind its name.
    pub fn takes(&self) -> String {
        match self {
            Self::Unreadable(listen) => {
                format!("takes an address with a port (127.0.0.1:7780), not {listen:?}")
            }
            Self::NotLoopback(address) => format!(
                "takes a loopback address (127.0.0.1:7780), not {address}: the console has no sign-in"
            ),
            Self::Taken { address, error } => format!("is {address}, which is taken: {error}"),
        }
    }
}

impl Settings {
    /// Returns the address to listen on; `None` when the read API is off.
    ///
    /// # Errors
    /// When it is no loopback address with a port.
    pub fn address(&self) -> Result<Option<SocketAddr>, ListenError> {
        let Some(listen) = self.listen.as_deref() else { return Ok(None) };
        let address = read_listen_address(listen.trim())
            .ok_or_else(|| ListenError::Unreadable(listen.to_owned()))?;
        if !address.ip().is_loopback() {
            return Err(ListenError::NotLoopback(address));
        }
        Ok(Some(address))
    }

    /// Returns who may ask.
    pub fn wall(&self) -> Wall {
        let wall = self.allow_hosts.iter().fold(Wall::default(), |wall, host| wall.host(host));
        match &self.allow_origin {
            Some(origin) => wall.origin(origin),
            None => wall,
        }
    }

    /// Listens; `None` when the read API is off.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub async fn listen(&self) -> Result<Option<TcpListener>, ListenError> {
        let Some(address) = self.address()? else { return Ok(None) };
        let bound = TcpListener::bind(address).await;
        bound.map(Some).map_err(|error| ListenError::Taken { address, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening(on: &str) -> Result<Option<SocketAddr>, String> {
        let settings = Settings { listen: Some(on.to_owned()), ..Settings::default() };
        settings.address().map_err(|e| e.to_string())
    }

    #[test]
    fn loopback_is_taken_and_nothing_means_off() {
        assert_eq!(Settings::default().address().unwrap(), None);
        for on in ["127.0.0.1:7780", "127.8.8.8:7780", "[::1]:7780", "localhost:7780"] {
            assert_eq!(listening(on).unwrap().unwrap().port(), 7780, "{on}");
        }
    }

    #[test]
    fn what_others_could_reach_is_refused_with_the_way_out() {
        insta::assert_snapshot!(listening("0.0.0.0:7300").unwrap_err(), @"console.listen: 0.0.0.0:7300 can be reached from other machines, and the console has no login: listen on 127.0.0.1 and reach it through an SSH tunnel");
        assert!(listening("[::]:7300").is_err());
        assert!(listening("192.168.1.4:7300").is_err());
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        insta::assert_snapshot!(listening("7300").unwrap_err(), @r#"console.listen: "7300" is not an address with a port: write 127.0.0.1:7780, or null for off"#);
        assert!(listening("localhost:").is_err());
        assert!(listening("localhost.evil.example:80").is_err());
    }

    #[tokio::test]
    async fn a_taken_port_says_what_to_do() {
        let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = Some(first.local_addr().unwrap().to_string());
        let error = Settings { listen, ..Settings::default() }.listen().await.unwrap_err();
        assert!(error.to_string().contains("choose another port"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        assert!(serde_json::from_str::<Settings>(r#"{"listn": null}"#).is_err());
        assert_eq!(serde_json::from_str::<Settings>("{}").unwrap(), Settings::default());
    }
}
