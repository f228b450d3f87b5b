//! The words of the unit and of what stands beside it, as systemd reads them.

use std::path::Path;

use super::machine::{Kind, ServiceTarget};
use super::wanted::ServiceSpec;

/// The unit that comes with this selkie.
pub const UNIT: &str = include_str!("../../../systemd/selkie.service");

/// What a user's manager can do, too: it has no users to give, no capabilities to take, and nothing of the system's to
/// mount. The filters of system calls need no more than `NoNewPrivileges=`.
const FOR_USERS: [&str; 21] = [
    "Description",
    "StartLimitIntervalSec",
    "StartLimitBurst",
    "Type",
    "NotifyAccess",
    "WatchdogSec",
    "UMask",
    "Restart",
    "RestartSec",
    "RestartPreventExitStatus",
    "TimeoutStopSec",
    "KillMode",
    "NoNewPrivileges",
    "RestrictAddressFamilies",
    "RestrictNamespaces",
    "RestrictRealtime",
    "RestrictSUIDSGID",
    "LockPersonality",
    "SystemCallArchitectures",
    "SystemCallFilter",
    "SystemCallErrorNumber",
];

/// Returns the unit for the machine or for a user.
pub fn unit(kind: Kind) -> String {
    match kind {
        Kind::System => UNIT.to_owned(),
        Kind::User => for_users(UNIT),
    }
}

/// A comment goes with the line that it stands above.
fn for_users(unit: &str) -> String {
    let mut text = String::new();
    let mut comments = String::new();
    for line in unit.lines() {
        let key = line.split_once('=').map(|(key, _)| key);
        match key {
            _ if line.starts_with("# ") => {
                let line = line.replace(Kind::System.systemctl(), Kind::User.systemctl());
                comments.push_str(&format!("{line}\n"));
            }
            _ if line.starts_with('#') => {}
            None if line.is_empty() => text.push('\n'),
            None => text.push_str(&format!("{line}\n")),
            Some("WantedBy") => text.push_str("WantedBy=default.target\n"),
            Some(key) if FOR_USERS.contains(&key) => {
                text.push_str(&format!("{}{line}\n", std::mem::take(&mut comments)));
            }
            Some(_) => comments.clear(),
        }
    }
    text
}

/// Returns what stands beside the unit: what differs from machine to machine.
pub fn drop_in(asked: &ServiceTarget, wanted: &ServiceSpec) -> String {
    let mut text = format!("[Service]\nExecStart=\nExecStart={}\n", command(asked, wanted, "run"));
    text.push_str(&format!("ExecReload=\nExecReload={}\n", command(asked, wanted, "reload")));
    if asked.kind == Kind::User {
        return text;
    }
    let folders = Folders::of(asked, wanted);
    for (key, folder) in [
        ("ConfigurationDirectory", &folders.config),
        ("StateDirectory", &folders.state),
        ("CacheDirectory", &folders.cache),
    ] {
        if folder != "selkie" {
            text.push_str(&format!("{key}=\n{key}={folder}\n"));
        }
    }
    // Those of the unit lie beside another config; the ones that are there follow.
    text.push_str("LoadCredential=\nSetCredential=\n");
    for path in &wanted.credentials {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&format!("LoadCredential={name}:{}\n", percent(&path.to_string_lossy())));
    }
    for folder in &wanted.workspaces {
        text.push_str(&format!("ReadWritePaths={}\n", word(folder, false)));
    }
    text
}

/// The service's folders, below those that systemd keeps for all.
struct Folders {
    config: String,
    state: String,
    cache: String,
}

impl Folders {
    fn of(asked: &ServiceTarget, wanted: &ServiceSpec) -> Self {
        let name = asked.name.clone();
        let state = wanted.state.as_ref().and_then(|state| state.strip_prefix("/var/lib").ok());
        let state = state.map_or_else(|| name.clone(), |state| word(state, false));
        Self { config: name.clone(), state, cache: name }
    }
}

fn command(asked: &ServiceTarget, wanted: &ServiceSpec, what: &str) -> String {
    let mut line =
        format!("{} {what} --config {}", word(&wanted.program, true), word(&wanted.config, true));
    if let (Kind::User, Some(state)) = (asked.kind, &wanted.state) {
        line.push_str(&format!(" --state {}", word(state, true)));
    }
    line
}

/// One word of systemd's. A command's may name variables, and shall not.
fn word(path: &Path, of_command: bool) -> String {
    let text = percent(&path.to_string_lossy());
    let text = if of_command { text.replace('$', "$$") } else { text };
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@,%$".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn percent(text: &str) -> String {
    text.replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a user's manager cannot do, or what the drop-in brings.
    const NOT_FOR_USERS: &str = "Documentation Wants After ExecStart ExecReload DynamicUser ConfigurationDirectory StateDirectory \
         StateDirectoryMode CacheDirectory CacheDirectoryMode LoadCredential SetCredential CapabilityBoundingSet AmbientCapabilities \
         ProtectSystem ProtectHome PrivateTmp PrivateDevices DevicePolicy PrivateUsers ProtectProc ProcSubset ProtectClock \
         ProtectControlGroups ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables RemoveIPC \
         KeyringMode WantedBy";

    #[test]
    fn of_every_line_of_the_unit_it_is_decided_whether_users_have_it() {
        let keys = UNIT.lines().filter(|line| !line.starts_with('#'));
        for key in keys.filter_map(|line| Some(line.split_once('=')?.0)) {
            let not = NOT_FOR_USERS.split_whitespace().any(|other| other == key);
            assert_ne!(FOR_USERS.contains(&key), not, "{key}: decide whether a user's unit has it");
        }
        let text = for_users(UNIT);
        assert!(text.ends_with("[Install]\nWantedBy=default.target\n"), "{text}");
        assert!(!text.contains("/etc/selkie") && !text.contains("Credential"), "{text}");
        let theirs = text.matches("systemctl --user ").count();
        assert!(theirs > 1 && theirs == text.matches("systemctl").count(), "{text}");
    }

    #[test]
    fn paths_are_one_word_each_and_name_nothing_else() {
        let quoted = |path: &str| word(Path::new(path), true);
        assert_eq!(quoted("/srv/a-b"), "/srv/a-b");
        assert_eq!(quoted("/a b\"c\\"), "\"/a b\\\"c\\\\\"");
        assert_eq!(quoted("/$HOME/%h"), "/$$HOME/%%h");
        assert_eq!(word(Path::new("/$a;b"), false), "\"/$a;b\"");
    }
}
