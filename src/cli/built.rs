//! Which selkie this is, and what is built into it.

use selkie_app::Binary;

/// Says which selkie this is, and what is built in.
pub fn version(binary: &Binary) -> String {
    let channels: Vec<&str> = binary.kits.iter().map(|kit| kit.name).collect();
    let channels = if channels.is_empty() { "none".to_owned() } else { channels.join(", ") };
    let stores = if cfg!(feature = "postgres") { "sqlite, postgres" } else { "sqlite" };
    let demo = if (binary.world)().is_some() { "built in" } else { "not built in" };
    format!("{}\nchannels: {channels}\nstores: {stores}\ndemo: {demo}", env!("CARGO_PKG_VERSION"))
}
