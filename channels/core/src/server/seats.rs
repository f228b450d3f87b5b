//! The open connections of one listener: counted, each address within its share, and at the most the one that
//! has owed a whole request for the longest time makes room.

use crate::lock::locked;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Who opened a connection.
pub trait Client {
    /// The address whose connections are counted together; `None` where there is none, or where everybody's
    /// is the same: on this machine.
    fn counted(&self) -> Option<IpAddr>;
}

impl Client for SocketAddr {
    fn counted(&self) -> Option<IpAddr> {
        match self.ip().to_canonical() {
            ip if ip.is_loopback() => None,
            // One customer has a whole network of them.
            IpAddr::V6(ip) => Some(IpAddr::V6((ip.to_bits() >> 64 << 64).into())),
            ip => Some(ip),
        }
    }
}

impl Client for tokio::net::unix::SocketAddr {
    fn counted(&self) -> Option<IpAddr> {
        None
    }
}

/// The connections of one listener.
pub(super) struct Seats {
    most: usize,
    share: usize,
    inner: Mutex<Inner>,
    freed: Notify,
}

#[derive(Default)]
struct Inner {
    last: u64,
    taken: BTreeMap<u64, TakenSeat>,
}

struct TakenSeat {
    client: Option<IpAddr>,
    /// Since when it owes a request, or the rest of one; `None` while one is answered.
    owes: Option<Instant>,
    leave: CancellationToken,
}

/// One connection's seat, free again when it is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    /// Cancelled when another connection needs the seat.
    pub(super) leave: CancellationToken,
}

/// A request from its head on. Once it is whole, its connection makes room for nobody until this is dropped.
pub(super) struct Busy(Arc<Seat>);

enum Try {
    Taken(Seat),
    /// Somebody has been told to leave, or nobody can be.
    Wait,
    /// The client has its share, and all of it is being answered.
    Never,
}

impl Seats {
    pub(super) fn new(most: usize, share: usize) -> Arc<Self> {
        let (inner, freed) = Default::default();
        Arc::new(Self { most: most.max(1), share: share.max(1), inner, freed })
    }

    /// Waits for a seat; `None` when the client has its share already. The connection that has owed a whole
    /// request for the longest time leaves for it: one of the same client, where that has its share.
    pub(super) async fn take(self: &Arc<Self>, client: Option<IpAddr>) -> Option<Seat> {
        loop {
            let mut freed = pin!(self.freed.notified());
            // A seat that is freed after the look below is not missed.
            freed.as_mut().enable();
            match self.try_take(client) {
                Try::Taken(seat) => return Some(seat),
                Try::Never => return None,
                Try::Wait => freed.await,
            }
        }
    }

    fn try_take(self: &Arc<Self>, client: Option<IpAddr>) -> Try {
        let mut inner = self.inner();
        let theirs = |taken: &&TakenSeat| client.is_some() && taken.client == client;
        if inner.taken.values().filter(theirs).count() >= self.share {
            return if leave(inner.taken.values().filter(theirs)) { Try::Wait } else { Try::Never };
        }
        if inner.taken.len() >= self.most {
            leave(inner.taken.values());
            return Try::Wait;
        }
        inner.last += 1;
        let number = inner.last;
        let leave = CancellationToken::new();
        let taken = TakenSeat { client, owes: Some(Instant::now()), leave: leave.clone() };
        inner.taken.insert(number, taken);
        Try::Taken(Seat { seats: Arc::clone(self), number, leave })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        locked(&self.inner)
    }
}

/// Sends away the one that has owed a request for the longest time. Returns whether there is one.
fn leave<'a>(taken: impl Iterator<Item = &'a TakenSeat>) -> bool {
    let owing = taken.filter_map(|taken| taken.owes.map(|since| (since, &taken.leave)));
    let oldest = owing.min_by_key(|(since, _)| *since);
    oldest.inspect(|(_, leave)| leave.cancel()).is_some()
}

impl Seat {
    /// Marks the seat as needed once the request is [whole](Busy::whole), until what is returned is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.mark(Some(Instant::now()));
        Busy(Arc::clone(self))
    }

    fn mark(&self, owes: Option<Instant>) {
        if let Some(taken) = self.seats.inner().taken.get_mut(&self.number) {
            taken.owes = owes;
        }
        // Whoever waits may find somebody idle now.
        if owes.is_some() {
            self.seats.freed.notify_one();
        }
    }
}

impl Busy {
    /// The request is there to its end.
    pub(super) fn whole(&self) {
        self.0.mark(None);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.inner().taken.remove(&self.number);
        self.seats.freed.notify_one();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.mark(Some(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(text: &str) -> Option<IpAddr> {
        SocketAddr::new(text.parse().unwrap(), 80).counted()
    }

    #[test]
    fn a_network_is_one_client_and_this_machine_is_none() {
        assert_eq!(from("127.0.0.1"), None);
        assert_eq!(from("::ffff:127.0.0.1"), None);
        assert_eq!(from("::ffff:192.0.2.1"), from("192.0.2.1"));
        assert_eq!(from("2001:db8::1"), from("2001:db8::ffff:1"));
        assert_ne!(from("2001:db8::1"), from("2001:db8:0:1::1"));
    }

    #[tokio::test]
    async fn who_has_its_share_makes_room_for_itself_alone() {
        let seats = Seats::new(4, 2);
        let (loud, quiet) = (from("192.0.2.1"), from("192.0.2.2"));
        let other = seats.take(quiet).await.unwrap();
        let first = seats.take(loud).await.unwrap();
        let second = Arc::new(seats.take(loud).await.unwrap());
        let went = async {
            first.leave.cancelled().await;
            drop(first);
        };
        let (third, ()) = tokio::join!(seats.take(loud), went);
        assert!(!other.leave.is_cancelled());
        let third = Arc::new(third.unwrap());
        // Both are being answered: nobody can leave.
        let (a, b) = (second.busy(), third.busy());
        a.whole();
        b.whole();
        assert!(seats.take(loud).await.is_none());
        assert!(seats.take(None).await.is_some());
    }
}
