//! Which addresses tools may reach: the public internet, and single hosts that config opens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `guard.network`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Hosts (`192.168.1.5`, `wiki.internal`) and networks (`10.0.0.0/8`, for addresses that are written as
    /// such) that tools may reach although they are private.
    pub allow_private: Vec<String>,
}

impl Settings {
    /// Judges a host as it stands in an address, in the form that the URL parser gives (which reads
    /// `0x7f.1` and `2130706433` as 127.0.0.1). Names are judged again by their addresses.
    ///
    /// # Errors
    /// Why it may not be reached, for the model.
    pub fn host(&self, host: &str) -> Result<(), String> {
        match bare(host).parse::<IpAddr>() {
            Ok(address) => self.address(host, address),
            Err(_) => Ok(()),
        }
    }

    /// Judges an address that a host leads to.
    ///
    /// # Errors
    /// Why it may not be reached, for the model.
    pub fn address(&self, host: &str, address: IpAddr) -> Result<(), String> {
        let Some(what) = refusal(address).filter(|_| !self.opens(host)) else { return Ok(()) };
        let host = bare(host);
        let leads = match host.parse::<IpAddr>() {
            Ok(_) => host.to_owned(),
            Err(_) => format!("{host} leads to {address}, which"),
        };
        Err(format!("private ip/localhost is not allowed by guard: {leads} is {what}"))
    }

    /// Whether config opens this host, by the name it is called.
    fn opens(&self, host: &str) -> bool {
        let host = bare(host);
        let address = host.parse::<IpAddr>().ok();
        self.allow_private.iter().map(|open| open.trim()).any(|open| {
            bare(open).eq_ignore_ascii_case(host)
                || network(open).zip(address).is_some_and(|(net, address)| holds(&net, address))
        })
    }
}

/// Says why an entry of `allow_private` can open nothing.
pub fn entry_fault(entry: &str) -> Option<String> {
    let text = entry.trim();
    let takes =
        "takes an address (192.168.1.5), a network (10.0.0.0/8) or a host's name (wiki.internal)";
    if is_host(text) || network(text).is_some() {
        return None;
    }
    let meant = url_host(bare(text)).filter(|_| !text.contains(['/', '@', '?', '#']));
    let hint = meant.map(|meant| format!(": write {}", bare(&meant))).unwrap_or_default();
    Some(format!("{takes}, not {entry:?}{hint}"))
}

/// Whether a text is a host as addresses name it: nothing else is ever found in one.
pub fn is_host(text: &str) -> bool {
    let plain = bare(text);
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    plain.chars().all(fits)
        && url_host(plain).is_some_and(|host| bare(&host).eq_ignore_ascii_case(plain))
}

fn url_host(plain: &str) -> Option<String> {
    let host = if plain.contains(':') { format!("[{plain}]") } else { plain.to_owned() };
    let url = reqwest::Url::parse(&format!("http://{host}/")).ok()?;
    url.port().is_none().then(|| url.host_str().map(str::to_owned)).flatten()
}

/// The addresses that begin as this one does.
struct Network {
    address: IpAddr,
    /// How many bits of it count.
    length: u32,
}

/// Reads `10.0.0.0/8`.
fn network(text: &str) -> Option<Network> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = length.parse::<u32>().ok().filter(|length| *length <= most)?;
    Some(Network { address, length })
}

fn holds(network: &Network, address: IpAddr) -> bool {
    let length = network.length;
    match (network.address, address) {
        (IpAddr::V4(net), IpAddr::V4(address)) => {
            let differ = net.to_bits() ^ address.to_bits();
            differ.checked_shr(32 - length).unwrap_or(0) == 0
        }
        (IpAddr::V6(net), IpAddr::V6(address)) => {
            let differ = net.to_bits() ^ address.to_bits();
            differ.checked_shr(128 - length).unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// Says what an address is when it is none of the public internet.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => refusal_v4(v4),
        IpAddr::V6(v6) => refusal_v6(v6),
    }
}

/// Without brackets and the dot of the root.
fn bare(host: &str) -> &str {
    let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host)
}

fn refusal_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [0, ..] => Some("this very network"),
        [127, ..] => Some("this machine"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private network"),
        [100, 64..=127, ..] => Some("a provider's inner network"),
        [169, 254, ..] => Some("link-local (cloud metadata lives there)"),
        [192, 0, 0 | 2, _] | [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Some("reserved for special use")
        }
        [192, 88, 99, _] => Some("a 6to4 relay"),
        [224..=239, ..] => Some("multicast"),
        [240..=255, ..] => Some("reserved"),
        _ => None,
    }
}

fn refusal_v6(address: Ipv6Addr) -> Option<&'static str> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("not an address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("this machine"),
        [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0, 0, ..] => Some("an IPv4 address in disguise"),
        [0x64, 0xff9b, ..] => Some("a NAT64 address: an IPv4 address in disguise"),
        [0xfc00..=0xfdff, ..] => Some("a private network"),
        [0xfe80..=0xfeff, ..] => Some("link-local"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        [0x2002, ..] => Some("a 6to4 address: an IPv4 address in disguise"),
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, ..] => {
            Some("reserved for special use")
        }
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::Url;

    use super::*;

    fn says(url: &str, rules: &Settings) -> String {
        let url = Url::parse(url).unwrap();
        rules.host(url.host_str().unwrap()).err().unwrap_or_else(|| "open".to_owned())
    }

    #[test]
    fn every_spelling_of_an_inner_address_is_refused() {
        let hosts = [
            "127.0.0.1",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "127.0.0.1.",
            "0",
            "10.1.2.3",
            "172.31.0.1",
            "172.32.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.128.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "8.8.8.8",
            "[::1]",
            "[::]",
            "[::ffff:8.8.8.8]",
            "[::ffff:7f00:1]",
            "[::7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fd00::1]",
            "[fe80::1]",
            "[ff02::1]",
            "[2001::1]",
            "[2606:4700::1]",
            "example.com",
        ];
        let rules = Settings::default();
        let said: Vec<_> = hosts
            .iter()
            .map(|h| format!("{h}: {}", says(&format!("http://{h}/"), &rules)))
            .collect();
        insta::assert_snapshot!(said.join("\n"), @r"
        127.0.0.1: private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
        2130706433: private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
        0x7f.1: private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
        0177.0.0.1: private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
        127.1: private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
        127.0.0.1.: private ip/localhost is not allowed by guard: 127.0.0.1 is this machine
        0: private ip/localhost is not allowed by guard: 0.0.0.0 is this very network
        10.1.2.3: private ip/localhost is not allowed by guard: 10.1.2.3 is a private network
        172.31.0.1: private ip/localhost is not allowed by guard: 172.31.0.1 is a private network
        172.32.0.1: open
        192.168.0.1: private ip/localhost is not allowed by guard: 192.168.0.1 is a private network
        169.254.169.254: private ip/localhost is not allowed by guard: 169.254.169.254 is link-local (cloud metadata lives there)
        100.64.0.1: private ip/localhost is not allowed by guard: 100.64.0.1 is a provider's inner network
        100.128.0.1: open
        224.0.0.1: private ip/localhost is not allowed by guard: 224.0.0.1 is multicast
        255.255.255.255: private ip/localhost is not allowed by guard: 255.255.255.255 is reserved
        8.8.8.8: open
        [::1]: private ip/localhost is not allowed by guard: ::1 is this machine
        [::]: private ip/localhost is not allowed by guard: :: is not an address
        [::ffff:8.8.8.8]: private ip/localhost is not allowed by guard: ::ffff:808:808 is an IPv4 address in disguise
        [::ffff:7f00:1]: private ip/localhost is not allowed by guard: ::ffff:7f00:1 is an IPv4 address in disguise
        [::7f00:1]: private ip/localhost is not allowed by guard: ::7f00:1 is an IPv4 address in disguise
        [64:ff9b::7f00:1]: private ip/localhost is not allowed by guard: 64:ff9b::7f00:1 is a NAT64 address: an IPv4 address in disguise
        [2002:7f00:1::]: private ip/localhost is not allowed by guard: 2002:7f00:1:: is a 6to4 address: an IPv4 address in disguise
        [fd00::1]: private ip/localhost is not allowed by guard: fd00::1 is a private network
        [fe80::1]: private ip/localhost is not allowed by guard: fe80::1 is link-local
        [ff02::1]: private ip/localhost is not allowed by guard: ff02::1 is multicast
        [2001::1]: private ip/localhost is not allowed by guard: 2001::1 is reserved for special use
        [2606:4700::1]: open
        example.com: open
        ");
    }

    #[test]
    fn config_opens_single_hosts() {
        let rules = Settings {
            allow_private: vec!["10.0.0.5".into(), "Wiki.internal".into(), "::1".into()],
        };
        let inner = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 5));
        assert_eq!(rules.host("10.0.0.5"), Ok(()));
        assert_eq!(rules.host("[::1]"), Ok(()));
        assert_eq!(rules.address("wiki.internal.", inner), Ok(()));
        assert!(rules.host("10.0.0.6").is_err());
        assert_eq!(
            rules.address("evil.example", inner).unwrap_err(),
            "private ip/localhost is not allowed by guard: evil.example leads to 10.0.0.5, which is a private network"
        );
    }

    #[test]
    fn config_opens_networks_and_says_what_opens_nothing() {
        let rules = Settings { allow_private: vec!["10.0.0.0/8".into(), "fd00::/8".into()] };
        for (host, open) in [
            ("10.9.8.7", true),
            ("11.0.0.1", true),
            ("192.168.0.1", false),
            ("[fd12::1]", true),
            ("[fe80::1]", false),
            ("[::ffff:10.0.0.1]", false),
        ] {
            assert_eq!(rules.host(host).is_ok(), open, "{host}");
        }
        // A name leads there for its own reasons.
        assert!(rules.address("evil.example", Ipv4Addr::new(10, 0, 0, 5).into()).is_err());
        for good in
            ["10.0.0.0/8", "192.168.1.5", "Wiki.internal", "::1", "[fd00::1]", "localhost", "nas"]
        {
            assert_eq!(entry_fault(good), None, "{good}");
        }
        let bad = ["http://foo/bar", "300.1.1.1", "", "*", "10.0.0.0/33", "foo:80", "127.1", "a b"];
        let said: Vec<_> = bad.iter().map(|b| entry_fault(b).unwrap_or_default()).collect();
        assert!(said.iter().all(|s| s.starts_with("takes an address")), "{said:?}");
        assert!(said[6].ends_with("not \"127.1\": write 127.0.0.1"), "{}", said[6]);
    }

    proptest! {
        /// An address that the standard library calls special is never open.
        #[test]
        fn nothing_special_is_open_v4(bits in any::<u32>()) {
            let a = Ipv4Addr::from(bits);
            let special = a.is_private() || a.is_loopback() || a.is_link_local() || a.is_multicast()
                || a.is_broadcast() || a.is_unspecified() || a.is_documentation();
            prop_assert!(!special || refusal(a.into()).is_some(), "{}", a);
            // No disguise of it is open, whatever it is.
            prop_assert!(refusal(a.to_ipv6_mapped().into()).is_some());
            prop_assert!(refusal(a.to_ipv6_compatible().into()).is_some());
            let [x, y] = [(bits >> 16) as u16, bits as u16];
            prop_assert!(refusal(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, x, y).into()).is_some());
            prop_assert!(refusal(Ipv6Addr::new(0x2002, x, y, 0, 0, 0, 0, 1).into()).is_some());
        }

        /// Decimal and hexadecimal spellings are judged as the address they mean.
        #[test]
        fn spellings_do_not_matter(bits in any::<u32>()) {
            let rules = Settings::default();
            let plain = says(&format!("http://{}/", Ipv4Addr::from(bits)), &rules);
            prop_assert_eq!(&says(&format!("http://{bits}/"), &rules), &plain);
            prop_assert_eq!(&says(&format!("http://{bits:#x}/"), &rules), &plain);
        }

        /// Only what lies in 2000::/3 can be open at all.
        #[test]
        fn nothing_special_is_open_v6(bits in any::<u128>()) {
            let a = Ipv6Addr::from(bits);
            if refusal(a.into()).is_none() {
                prop_assert_eq!(a.segments()[0] & 0xe000, 0x2000);
                prop_assert!(!a.is_loopback() && !a.is_multicast() && !a.is_unspecified());
            }
        }
    }
}
