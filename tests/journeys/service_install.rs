//! `selkie service` below a root of its own: what it writes is shown first, is taken by systemd's own checker, is known
//! again, and goes without a trace; what a person has changed stays.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// An empty machine with a program and a config.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { root: tempfile::tempdir().expect("a folder") };
        // One that is there on the machine that checks the unit, too.
        machine.file("/bin/true", 0o755);
        machine.file("/etc/selkie/config.yaml", 0o644);
        machine.file("/etc/selkie/telegram.bot_token", 0o600);
        machine.file("/etc/selkie/notes.txt", 0o600);
        fs::create_dir_all(machine.at("/srv/a b")).expect("a folder");
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    fn file(&self, path: &str, mode: u32) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, "").expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
    }

    /// Runs `selkie service` where nobody can answer; returns its exit code and all it says.
    fn service(&self, words: &[&str]) -> (i32, String) {
        let mut selkie = Command::new(env!("CARGO_BIN_EXE_selkie"));
        selkie.arg("service").args(words).arg("--root").arg(self.root.path());
        selkie.env_clear().env("HOME", "/home/ada").env("PATH", "/usr/bin:/bin");
        selkie.current_dir(self.root.path()).stdin(Stdio::null());
        let out = selkie.output().expect("selkie runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code().unwrap_or(-1), text(&out.stdout) + &text(&out.stderr))
    }

    fn install(&self, more: &[&str]) -> (i32, String) {
        let words = ["install", "--program", "/bin/true", "--config", "/etc/selkie/config.yaml"];
        self.service(&[&words, more].concat())
    }

    fn standing(&self) -> (i32, Value) {
        let (code, said) = self.service(&["status", "--json"]);
        (code, serde_json::from_str(&said).expect("JSON"))
    }
}

/// What systemd's checker says of a unit, if there is one on this machine.
fn verified(unit: &Path, more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut analyze = Command::new("systemd-analyze");
    analyze.args(more).args(["verify", "--man=no"]).arg(unit);
    match analyze.env("XDG_RUNTIME_DIR", folder.path()).output() {
        Ok(out) => {
            [out.stdout, out.stderr].map(|s| String::from_utf8_lossy(&s).into_owned()).concat()
        }
        Err(_) => String::new(),
    }
}

#[test]
fn a_service_of_the_machine_is_shown_installed_known_again_and_removed() {
    let machine = Machine::new();
    let (unit, beside) = (
        machine.at("/etc/systemd/system/selkie.service"),
        machine.at("/etc/systemd/system/selkie.service.d/10-installed.conf"),
    );
    let (code, said) = machine.install(&["--workspace", "/srv/a b", "--dry-run"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("DynamicUser=yes") && said.contains("Nothing has changed."), "{said}");
    let (code, said) = machine.install(&[]);
    assert!(code == 2 && said.contains("add --yes"), "{said}");
    assert!(!unit.exists() && !beside.exists(), "nobody has agreed");

    let (code, said) = machine.install(&["--workspace", "/srv/a b", "--yes"]);
    assert!(code == 0 && said.contains(" enable selkie.service"), "{said}");
    let text = fs::read_to_string(&beside).expect("a file");
    for line in [
        "ExecStart=/bin/true run --config /etc/selkie/config.yaml",
        "LoadCredential=telegram.bot_token:/etc/selkie/telegram.bot_token",
        "ReadWritePaths=\"/srv/a b\"",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in {text}");
    }
    assert!(!text.contains("notes"), "{text}");
    assert_eq!(unit.metadata().expect("a file").permissions().mode() & 0o777, 0o644);
    let folder = beside.parent().expect("a folder").metadata().expect("a folder");
    assert_eq!(folder.permissions().mode() & 0o777, 0o755, "everybody may see units");
    assert_eq!(verified(&unit, &[]), "");
    let (code, standing) = machine.standing();
    assert_eq!((code, &standing["unit"]), (0, &"this_version".into()), "{standing}");
    assert_eq!((&standing["kind"], &standing["active"]), (&"system".into(), &Value::Null));
    let (code, said) = machine.install(&["--workspace", "/srv/a b", "--yes"]);
    assert!(code == 0 && said.matches("stays as it is").count() == 2, "{said}");

    let (code, said) = machine.service(&["uninstall", "--yes"]);
    assert!(code == 0 && said.contains("State and config stay"), "{said}");
    assert!(!unit.exists() && !beside.parent().expect("a folder").exists());
    assert!(machine.at("/etc/selkie/config.yaml").exists());
    let (code, standing) = machine.standing();
    assert_eq!((code, &standing["path"]), (1, &Value::Null));
    let (code, said) = machine.service(&["uninstall", "--yes"]);
    assert!(code == 1 && said.contains("does not exist"), "{said}");
}

#[test]
fn what_is_missing_below_a_root_is_named_where_it_was_looked_for() {
    let machine = Machine::new();
    for [program, config] in
        [["/no/selkie", "/etc/selkie/config.yaml"], ["/bin/true", "/no/c.yaml"]]
    {
        let words = ["install", "--program", program, "--config", config, "--yes"];
        let (code, said) = machine.service(&words);
        assert_eq!(code, 2, "{said}");
        let [flag, path] =
            if program == "/no/selkie" { ["--program", program] } else { ["--config", config] };
        let told = format!("{flag} {path}: {} does not exist", machine.at(path).display());
        assert!(said.contains(&told), "{said}");
    }
}

#[test]
fn what_a_person_has_changed_stays_until_they_say_otherwise() {
    let machine = Machine::new();
    let unit = machine.at("/etc/systemd/system/selkie.service");
    assert_eq!(machine.install(&["--yes"]).0, 0);
    let changed =
        fs::read_to_string(&unit).expect("a unit").replace("RestartSec=5", "RestartSec=9");
    fs::write(&unit, &changed).expect("a unit");
    assert_eq!(machine.standing().1["unit"], "changed");
    for words in [["install", "--program", "/bin/true"].as_slice(), &["uninstall"]] {
        let (code, said) = machine.service(&[words, &["--yes"]].concat());
        assert!(code == 1 && said.contains("use --force"), "{said}");
        assert_eq!(fs::read_to_string(&unit).expect("a unit"), changed);
    }
    let (code, said) = machine.install(&["--yes", "--force"]);
    assert!(code == 0 && said.contains("selkie.service.old"), "{said}");
    let kept = fs::read_to_string(unit.with_extension("service.old")).expect("a unit");
    assert_eq!(kept, changed);
    fs::write(&unit, "[Unit]\n").expect("a unit");
    let (code, said) = machine.service(&["uninstall", "--yes", "--force"]);
    assert!(code == 0 && said.contains("What was changed is kept as") && !unit.exists(), "{said}");
    assert_eq!(machine.install(&["--yes"]).0, 0);
    assert_eq!(machine.standing().1["unit"], "this_version");
}

#[test]
fn a_user_has_a_service_of_their_own() {
    let machine = Machine::new();
    machine.file("/home/ada/bot.yaml", 0o600);
    let words = ["install", "--user", "--program", "/bin/true", "--yes"];
    let more = ["--config", "/home/ada/bot.yaml", "--state", "/home/ada/50% state"];
    let (code, said) = machine.service(&[&words[..], &more].concat());
    assert_eq!(code, 0, "{said}");
    let unit = machine.at("/home/ada/.config/systemd/user/selkie.service");
    assert_eq!(verified(&unit, &["--user"]), "");
    let text = fs::read_to_string(&unit).expect("a unit");
    assert!(text.contains("`systemctl --user edit selkie`"), "{text}");
    let beside = fs::read_to_string(unit.with_extension("service.d").join("10-installed.conf"));
    let line =
        "ExecStart=/bin/true run --config /home/ada/bot.yaml --state \"/home/ada/50%% state\"";
    assert!(beside.expect("a file").lines().any(|l| l == line));
    let (code, standing) = machine.standing();
    assert_eq!((code, &standing["kind"]), (0, &"user".into()), "it is found without --user");
    assert_eq!(machine.service(&["uninstall", "--user", "--yes"]).0, 0);
    assert!(!unit.exists());
}

#[test]
fn what_a_service_could_not_run_with_is_refused_with_what_to_do() {
    let machine = Machine::new();
    machine.file("/etc/selkie/closed.yaml", 0o600);
    machine.file("/home/ada/config.yaml", 0o644);
    for (words, says) in [
        (["--config", "/etc/selkie/closed.yaml"], "chmod 644"),
        (["--config", "/home/ada/config.yaml"], "put it into /etc/selkie"),
        (["--config", "/etc/selkie/none.yaml"], "selkie init makes one"),
        (["--config", "/etc/../etc/selkie/config.yaml"], "name it in full"),
        (["--program", "/usr/bin/none"], "name selkie's own file"),
        (["--workspace", "/srv/none"], "make it first"),
        (["--state", "/srv/state"], "is not below /var/lib"),
        (["--name", "../x"], "takes a unit's name"),
        (["--name", "selkie@team"], "needs no installing"),
    ] {
        let words = if words[0] == "--program" {
            words.to_vec()
        } else {
            [&words[..], &["--program", "/bin/true"]].concat()
        };
        let (code, said) = machine.service(&[&["install", "--yes"], &words[..]].concat());
        assert!(code == 2 && said.contains(says), "{words:?}: {code} {said}");
    }
    assert!(!machine.at("/etc/systemd").exists(), "nothing is written");
    machine.file("/usr/lib/systemd/system/selkie.service", 0o644);
    let (code, said) = machine.install(&["--yes"]);
    assert!(code == 1 && said.contains("is a package's"), "{said}");
    assert_eq!(machine.standing().1["unit"], "packaged");
}

#[test]
fn without_a_service_logs_says_where_the_log_goes() {
    let home = tempfile::tempdir().expect("a folder");
    let logs = |words: &[&str]| {
        let mut selkie = Command::new(env!("CARGO_BIN_EXE_selkie"));
        selkie.arg("logs").args(words).env_clear().env("HOME", home.path());
        let out = selkie.current_dir(home.path()).output().expect("selkie runs");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (code, said) = logs(&["--name", "no-such-selkie"]);
    assert!(code == Some(1) && said.contains("where you started"), "{said}");
    for bad in [["-n", "0"], ["-n", "1000001"], ["--since", "a\nb"], ["--name", "a b"]] {
        assert_eq!(logs(&bad).0, Some(2), "{bad:?}");
    }
}
