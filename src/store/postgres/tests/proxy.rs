//! Stands between a store and its server, counts what the store sends, and cuts the connection at a message.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tempfile::TempDir;

/// Where a message is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server does not get it.
    Before,
    /// The server gets it, and its answer is lost.
    After,
    /// The server gets it, and nothing comes back any more; nobody closes the connection.
    Silent,
}

/// A way to a server that can be cut.
pub struct Proxy {
    folder: TempDir,
    gauge: Arc<Gauge>,
}

#[derive(Default)]
struct Gauge {
    seen: AtomicU64,
    /// The number of the message that is cut; 0 for none.
    at: AtomicU64,
    after: AtomicBool,
    silent: AtomicBool,
    cuts: AtomicU64,
}

impl Proxy {
    /// Stands before the server whose socket lies in this folder.
    pub fn before(server: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("selkie-way").tempdir().unwrap();
        let gauge = Arc::new(Gauge::default());
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let (there, shared) = (server.join(".s.PGSQL.5432"), Arc::clone(&gauge));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                // A server that is away closes the connection.
                let Ok(server) = UnixStream::connect(&there) else { continue };
                serve(client, server, &shared);
            }
        });
        Self { folder, gauge }
    }

    /// The folder of its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Cuts the `n`th message from now on, counted from 1, once.
    pub fn cut(&self, n: u64, cut: Cut) {
        self.gauge.after.store(cut == Cut::After, Ordering::SeqCst);
        self.gauge.silent.store(cut == Cut::Silent, Ordering::SeqCst);
        self.gauge.at.store(self.gauge.seen.load(Ordering::SeqCst) + n, Ordering::SeqCst);
    }

    /// How often it has cut.
    pub fn cuts(&self) -> u64 {
        self.gauge.cuts.load(Ordering::SeqCst)
    }
}

impl Gauge {
    /// Counts a message; `true` when this is the one.
    fn is_cut(&self) -> bool {
        let n = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let cut = self.at.compare_exchange(n, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if cut {
            self.cuts.fetch_add(1, Ordering::SeqCst);
        }
        cut
    }
}

fn serve(client: UnixStream, server: UnixStream, gauge: &Arc<Gauge>) {
    let deaf = Arc::new(AtomicBool::new(false));
    let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (mute, hushed) = (Arc::clone(&deaf), Arc::clone(gauge));
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(n) = answers.read(&mut buffer) {
            let is_mute = mute.load(Ordering::SeqCst);
            if is_mute && hushed.silent.load(Ordering::SeqCst) {
                // Whoever waits for an answer finds the connection open.
                if n == 0 {
                    return;
                }
                continue;
            }
            if n == 0 || is_mute || back.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        drop(back.shutdown(Shutdown::Both));
    });
    let gauge = Arc::clone(gauge);
    std::thread::spawn(move || {
        carry(client, &server, &gauge, &deaf);
        // The server finishes what it was given, and then finds nobody there.
        drop(server.shutdown(Shutdown::Write));
    });
}

/// Carries messages to the server, whole ones.
fn carry(mut client: UnixStream, mut server: &UnixStream, gauge: &Gauge, deaf: &AtomicBool) {
    let mut first = true;
    loop {
        let mut message = vec![0; if first { 4 } else { 5 }];
        if client.read_exact(&mut message).is_err() {
            return;
        }
        let length = message[message.len() - 4..].try_into().map(u32::from_be_bytes).unwrap();
        let from = message.len();
        message.resize(from + length as usize - 4, 0);
        if client.read_exact(&mut message[from..]).is_err() {
            return;
        }
        let cut = !first && gauge.is_cut();
        first = false;
        if cut {
            deaf.store(true, Ordering::SeqCst);
            if gauge.silent.load(Ordering::SeqCst) {
                drop(server.write_all(&message));
                continue;
            }
            if gauge.after.load(Ordering::SeqCst) {
                drop(server.write_all(&message));
            }
            drop(client.shutdown(Shutdown::Both));
            return;
        }
        if server.write_all(&message).is_err() {
            return;
        }
    }
}

/// The place of a socket's folder in a URL.
pub fn in_url(folder: &Path) -> String {
    let folder: PathBuf = folder.to_owned();
    folder.to_str().unwrap().replace('/', "%2F")
}
