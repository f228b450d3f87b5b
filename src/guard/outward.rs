//! What may leave while words of others are in play, and what a command may have brought in.

use super::plain;
use super::programs::is_called;

/// Programs that reach the network, or run what does.
const PROGRAMS: [&str; 74] = [
    "ansible",
    "apk",
    "apt",
    "apt-get",
    "aria2c",
    "aws",
    "axel",
    "az",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "conda",
    "curl",
    "deno",
    "dig",
    "dnf",
    "docker",
    "elinks",
    "ftp",
    "gcloud",
    "gem",
    "gh",
    "git",
    "glab",
    "go",
    "helm",
    "host",
    "http",
    "httpie",
    "https",
    "imapsync",
    "kubectl",
    "lftp",
    "links",
    "lynx",
    "mail",
    "mosquitto_sub",
    "mysql",
    "nc",
    "ncat",
    "netcat",
    "nmap",
    "npm",
    "npx",
    "nslookup",
    "openssl",
    "pacman",
    "ping",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "podman",
    "psql",
    "redis-cli",
    "rclone",
    "rsync",
    "scp",
    "sendmail",
    "sftp",
    "socat",
    "ssh",
    "telnet",
    "terraform",
    "uv",
    "w3m",
    "wget",
    "whois",
    "yarn",
    "youtube-dl",
    "yt-dlp",
    "yum",
];
/// What programs are written with that reach the network.
const TRACES: [&str; 14] = [
    "://",
    "/dev/tcp",
    "/dev/udp",
    "socket",
    "urllib",
    "requests",
    "httpx",
    "aiohttp",
    "http.client",
    "net/http",
    "fetch(",
    "lwp",
    "net::",
    "invoke-webrequest",
];
/// What programs do without the network, or with what was brought before: what is built may reach it as any script may.
const AT_HOME: [(&str, &[&str]); 6] = [
    ("cargo", &["bench", "build", "check", "clean", "clippy", "doc", "fmt", "run", "test", "tree"]),
    (
        "git",
        &[
            "add",
            "blame",
            "branch",
            "checkout",
            "commit",
            "config",
            "diff",
            "grep",
            "init",
            "log",
            "ls-files",
            "merge",
            "mv",
            "rebase",
            "reset",
            "restore",
            "rev-parse",
            "rm",
            "show",
            "stash",
            "status",
            "switch",
            "tag",
            "worktree",
        ],
    ),
    ("go", &["build", "env", "fmt", "test", "vet"]),
    ("npm", &["run", "test"]),
    ("pnpm", &["run", "test"]),
    ("yarn", &["run", "test"]),
];
/// What every program does without it.
const TELLS_OF_ITSELF: [&str; 2] = ["--help", "--version"];

/// Whether a command names a program that reaches the network, or an address. What it starts in turn is not seen; where
/// that matters, the sandbox has no network. Of plain words the programs count, of all else every word.
pub fn reaches_network(cmd: &str) -> bool {
    let cmd = cmd.to_lowercase();
    if TRACES.iter().any(|trace| cmd.contains(trace)) {
        return true;
    }
    let line = plain::read(&cmd);
    if line.is_judged() {
        return line.programs().any(|words| {
            let next = words.get(1).map_or("", |word| &word.text);
            let reaches = |name: &str| is_called(&words[0].text, name) && !is_at_home(name, next);
            PROGRAMS.iter().any(|name| reaches(name))
        });
    }
    let between = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let mut words = cmd.split(between).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied().unwrap_or_default();
        if PROGRAMS.contains(&word) && !is_at_home(word, next) {
            return true;
        }
    }
    false
}

fn is_at_home(program: &str, next: &str) -> bool {
    let its = AT_HOME.iter().filter(|(name, _)| *name == program);
    its.flat_map(|(_, verbs)| *verbs).any(|verb| *verb == next) || TELLS_OF_ITSELF.contains(&next)
}

/// Whether an address stands in what people typed, to the letter and not as a part of a longer one; its
/// `https://` may be missing there.
pub fn is_typed_address(url: &str, typed: &[String]) -> bool {
    let url = url.trim();
    let bare = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let forms = [Some(url), bare].into_iter().flatten();
    let forms = forms.flat_map(|form| [form, form.strip_suffix('/').unwrap_or(form)]);
    let mut forms = forms.filter(|form| !form.is_empty());
    forms.any(|form| typed.iter().any(|text| stands_in(form, text)))
}

/// Whether search words stand in what people typed, one after the other.
pub fn are_typed_words(words: &str, typed: &[String]) -> bool {
    let plain = |text: &str| -> String {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.fold(" ".to_owned(), |all, word| all + &word.to_lowercase() + " ")
    };
    let wanted = plain(words);
    !wanted.trim().is_empty() && typed.iter().any(|text| plain(text).contains(&wanted))
}

fn stands_in(address: &str, text: &str) -> bool {
    text.match_indices(address).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + address.len()..]
            .trim_start_matches(['.', ',', ')', '!', '?', ';', ':', '>', '"', '\'', ']', '/']);
        let is_part = |c: char| c.is_alphanumeric() || "-._~%@/:?#&=+".contains(c);
        !before.is_some_and(is_part) && after.chars().next().is_none_or(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_may_bring_others_words_are_told_apart() {
        for cmd in [
            "curl -s https://a.example",
            "x=$(wget -qO- a.example)",
            "git clone a.example:x",
            "/usr/bin/nc a 80",
            "python3 -c 'import urllib.request'",
            "echo hi; ssh host ls",
            "exec 3<>/dev/tcp/a/80",
            "'cu'rl a://b",
            "cargo install x",
            "npm install",
            "cargo build && curl x.example",
            "curl -v x.example",
            "sudo -n git pull",
            "echo $(curl)",
        ] {
            assert!(reaches_network(cmd), "{cmd}");
        }
        for cmd in [
            "ls -la",
            "cargo-fmt x",
            "git status",
            "cat notes/curling.txt",
            "make test",
            "cargo build --release",
            "cd a; cargo test && npm run lint",
            "git init -q && git commit -qm curl",
            "echo curl; cp -r /etc/apt d",
            "docker --version",
        ] {
            assert!(!reaches_network(cmd), "{cmd}");
        }
    }

    #[test]
    fn only_an_address_that_somebody_typed_counts() {
        let typed = ["look at https://a.example/x?id=1. and (b.example/y), please".to_owned()];
        for url in ["https://a.example/x?id=1", "https://b.example/y", "http://b.example/y/"] {
            assert!(is_typed_address(url, &typed), "{url}");
        }
        for url in [
            "https://a.example/x",
            "https://a.example/x?id=1&key=secret",
            "https://a.example/x?id=12",
            "a.example",
            "https://evil.example/?u=https://a.example/x?id=1",
            "https://example/y",
            "",
        ] {
            assert!(!is_typed_address(url, &typed), "{url}");
        }
        let typed = ["Who won the Tour de France?".to_owned()];
        assert!(are_typed_words("tour de france", &typed));
        assert!(!are_typed_words("tour de france password hunter2", &typed));
        assert!(!are_typed_words(" ", &typed));
    }
}
