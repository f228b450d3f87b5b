//! Addresses in the config: servers that are asked, hosts that are opened, where we listen ourselves.

use std::net::SocketAddr;

use reqwest::Url;
use selkie_channel_core::ChannelKit;

use crate::problem::Wrong;
use crate::settings::Settings;
use crate::source::split;
use selkie_guard::network;

/// Lists every address that leads nowhere.
pub fn problems(settings: &Settings) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let search = &settings.tools.web_search;
    for (name, url) in
        [("duckduckgo", &search.duckduckgo.base_url), ("brave", &search.brave.base_url)]
    {
        let sound = Url::parse(url.trim())
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if !sound {
            let message =
                format!("takes an address that begins with http:// or https://, not {url:?}");
            wrong.push((split(&format!("tools.web_search.{name}.base_url")), message));
        }
    }
    for (index, entry) in settings.guard.network.allow_private.iter().enumerate() {
        let message = network::entry_fault(entry);
        let key = format!("guard.network.allow_private.{index}");
        wrong.extend(message.map(|message| (split(&key), message)));
    }
    wrong.extend(console(settings));
    wrong
}

fn console(settings: &Settings) -> Vec<Wrong> {
    let console = &settings.console;
    let mut wrong = Vec::new();
    match (&console.allow_origin, &console.listen) {
        (Some(_), None) => {
            let message =
                "is set and console.listen is not: nothing would listen. Set both or neither";
            wrong.push((split("console.allow_origin"), message.to_owned()));
        }
        (Some(origin), Some(_)) if !is_origin(origin.trim()) => {
            let message = format!(
                "takes an origin as browsers send it (http://127.0.0.1:8080), not {origin:?}"
            );
            wrong.push((split("console.allow_origin"), message));
        }
        _ => {}
    }
    for (index, host) in console.allow_hosts.iter().enumerate() {
        if !network::is_host(host.trim()) {
            let message = format!(
                "takes a host's name without scheme and port (selkie.tunnel.example), not {host:?}"
            );
            wrong.push((split(&format!("console.allow_hosts.{index}")), message));
        }
    }
    if let Err(error) = console.address() {
        wrong.push((split("console.listen"), error.takes()));
    }
    wrong
}

fn is_origin(text: &str) -> bool {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.is_some_and(|url| url.origin().ascii_serialization() == text)
}

/// Finds addresses that two would listen on; `value` tells what a key of a channel's section takes effect as,
/// when there is such a section.
pub fn listeners(
    settings: &Settings,
    kits: &[ChannelKit],
    value: &dyn Fn(&[String]) -> Option<String>,
) -> Vec<Wrong> {
    let console = settings.console.address().ok().flatten();
    let mut known: Vec<(String, SocketAddr)> =
        console.map(|address| ("console.listen".to_owned(), address)).into_iter().collect();
    let mut wrong = Vec::new();
    let hooks = settings.webhooks.address().ok().flatten();
    if let Some(address) = hooks.filter(|address| address.port() != 0) {
        match known.iter().find(|(_, other)| same(*other, address)) {
            Some((other, _)) => {
                let message =
                    format!("is {address}, where {other} listens already: choose another port");
                wrong.push((split("webhooks.listen"), message));
            }
            None => known.push(("webhooks.listen".to_owned(), address)),
        }
    }
    for (kit, key) in kits.iter().flat_map(|kit| kit.listens.iter().map(move |key| (kit, *key))) {
        let path = vec![kit.name.to_owned(), key.to_owned()];
        let address = value(&path).and_then(|text| text.trim().parse::<SocketAddr>().ok());
        let Some(address) = address.filter(|address| address.port() != 0) else { continue };
        match known.iter().find(|(_, other)| same(*other, address)) {
            Some((other, _)) => {
                let message =
                    format!("is {address}, where {other} listens already: choose another port");
                wrong.push((path, message));
            }
            None => known.push((path.join("."), address)),
        }
    }
    wrong
}

/// Whether the second of two could not listen.
fn same(one: SocketAddr, other: SocketAddr) -> bool {
    let everywhere = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() == other.port() && (everywhere || one.ip() == other.ip())
}
