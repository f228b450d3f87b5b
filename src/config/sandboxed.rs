//! What is wrong with `sandbox` and with commands that leave it.

use selkie_channel_core::ChannelKit;

use crate::problem::{Wrong, one_of};
use crate::rows::places;
use crate::settings::Settings;
use crate::source::path;
use selkie_guard::plain;
use selkie_sandbox::Mode;

/// Lists what is wrong.
pub fn problems(settings: &Settings, kits: &[ChannelKit]) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let sandbox = &settings.sandbox;
    for (key, list) in [("read", &sandbox.read), ("write", &sandbox.write)] {
        let relative = list.iter().enumerate().filter(|(_, folder)| !folder.is_absolute());
        wrong.extend(relative.map(|(index, folder)| {
            let message = format!("takes absolute paths, not {:?}", folder.display().to_string());
            (path(&["sandbox", key, &index.to_string()]), message)
        }));
    }
    let places = places(kits);
    let trusts = ["owner", "allowed", "stranger"].map(str::to_owned);
    for (index, rule) in sandbox.rules.iter().enumerate() {
        let at = |key: &str| path(&["sandbox", "rules", &index.to_string(), key]);
        let named = [("place", &rule.place, &*places), ("trust", &rule.trust, &trusts)];
        for (key, written, takes) in named {
            let Some(written) = written else { continue };
            if !takes.contains(written) {
                wrong.push((at(key), format!("takes {}, not {written:?}", one_of(takes))));
            }
        }
    }
    let wanted = sandbox.rules.iter().filter_map(|rule| rule.mode).chain([sandbox.mode]);
    if settings.tools.bash.limits.sudo && wanted.into_iter().any(|mode| mode == Mode::Required) {
        let message = "excludes the sandbox, and sandbox is required: take one of them out";
        wrong.push((path(&["tools", "bash", "limits", "sudo"]), message.to_owned()));
    }
    wrong.extend(leaving(settings));
    wrong
}

/// Rows of `tools.bash.host_commands` that match nothing, or lead nowhere.
fn leaving(settings: &Settings) -> Vec<Wrong> {
    let rows = settings.tools.bash.host_commands.iter().enumerate();
    let faults = rows.flat_map(|(index, row)| {
        let line = plain::read(&row.begins);
        let is_plain = line.is_plain && !line.is_joined && line.commands.len() == 1;
        let begins =
            (!is_plain).then_some(("match", "takes the plain words that a command begins with"));
        let host = row.ssh.trim();
        let is_host =
            !host.is_empty() && !host.starts_with('-') && !host.contains(char::is_whitespace);
        let ssh = (!is_host).then_some(("ssh", "takes a host as ssh does: me@build.example"));
        [begins, ssh].into_iter().flatten().map(move |fault| (index, fault))
    });
    let at = |index: usize, key| path(&["tools", "bash", "host_commands", &index.to_string(), key]);
    faults.map(|(index, (key, message))| (at(index, key), message.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_named_by_its_key() {
        let text = r#"{"sandbox": {"mode": "required", "read": ["/srv", "data"],
            "rules": [{"place": "nowhere"}, {"trust": "friend", "place": "group"}]},
            "tools": {"bash": {"limits": {"sudo": true}, "host_commands": [
                {"match": "docker compose", "ssh": "me@host"}, {"match": "a | b", "ssh": "-oProxyCommand=x"}]}}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        let keys: Vec<String> = problems(&settings, &[]).iter().map(|w| w.0.join(".")).collect();
        assert_eq!(
            keys,
            [
                "sandbox.read.1",
                "sandbox.rules.0.place",
                "sandbox.rules.1.trust",
                "tools.bash.limits.sudo",
                "tools.bash.host_commands.1.match",
                "tools.bash.host_commands.1.ssh"
            ]
        );
    }
}
