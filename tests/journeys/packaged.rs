//! The recommended install, on a machine of its own (an overlay of this one): the package is put in, `selkie init` sets the
//! bot up at a terminal, and the service's user reads what it wrote. Needs root and Linux's namespaces.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use selkie_playground::telegram::TOKEN;
use serde_json::Value;

use crate::support::terminal::AtTerminal;
use crate::support::world::World;

/// Programs that say what they were called with, in place of systemd's; what is root's in the state folder then is told, too.
const SYSTEMCTL: &str =
    "#!/bin/sh\necho \"$@\" >> /told\nfind /var/lib/selkie -user root >> /told\n";
/// Mounts the machine and runs the rest in it.
const ENTER: &str = "mount -t overlay overlay -o \"lowerdir=/,upperdir=$0/up,workdir=$0/work\" \"$0/root\" && \
    mount --rbind /proc \"$0/root/proc\" && mount --rbind /dev \"$0/root/dev\" && exec chroot \"$0/root\" \"$@\"";

/// A machine whose changes are kept in a folder.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    /// `None` where none can be made.
    fn new() -> Option<Self> {
        let machine = Self { folder: tempfile::tempdir().expect("a folder") };
        for folder in ["up", "work", "root"] {
            fs::create_dir(machine.folder.path().join(folder)).expect("a folder");
        }
        let there = machine.command(&["true"]).status().is_ok_and(|status| status.success());
        there.then_some(machine)
    }

    /// A path of the machine; it is not mounted now.
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("up").join(path.trim_start_matches('/'))
    }

    fn put(&self, path: &str, text: &str, mode: u32) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a mode");
    }

    /// A command on the machine, one at a time.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", ENTER]).arg(self.folder.path()).args(words);
        command
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", "/root");
        command
    }

    /// Runs it to its end; returns its exit code and all it says.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let out = self.command(words).output().expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code().unwrap_or(-1), text(&out.stdout) + &text(&out.stderr))
    }

    fn install(&self) {
        let package = package(self.folder.path());
        fs::rename(package, self.at("/selkie.deb")).expect("on the same disk");
        let (code, says) = self.run(&["dpkg", "--force-depends", "-i", "/selkie.deb"]);
        assert_eq!(code, 0, "{says}");
        fs::remove_file(self.at("/selkie.deb")).expect("a file");
    }

    /// Rights, owner and group of a path.
    fn owned(&self, path: &str) -> String {
        self.run(&["stat", "-c", "%a %U:%G", path]).1.trim().to_owned()
    }
}

/// `[package.metadata.deb]`'s files: from, to, mode.
fn assets() -> Vec<[String; 3]> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"]);
    let out = cargo.arg(tree("Cargo.toml")).output().expect("cargo");
    let all: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let packages = all["packages"].as_array().expect("packages");
    let ours = packages.iter().find(|package| package["name"] == "selkie").expect("ours");
    serde_json::from_value(ours["metadata"]["deb"]["assets"].clone()).expect("assets")
}

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files of this tree that an asset names, by a pattern such as `src/docs/*.md`, too.
fn meant(from: &str) -> Vec<PathBuf> {
    let Some((folder, ending)) = from.split_once("/*") else { return vec![tree(from)] };
    let files = fs::read_dir(tree(folder)).expect("a folder").map(|file| file.expect("a file"));
    files.map(|file| file.path()).filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

/// Makes the package of the built program, without what the program prints.
fn package(folder: &Path) -> PathBuf {
    let root = folder.join("package");
    for [from, to, mode] in assets() {
        let files = match from.strip_prefix("target/release/") {
            Some("selkie") => vec![PathBuf::from(env!("CARGO_BIN_EXE_selkie"))],
            Some(_) => continue,
            None => meant(&from),
        };
        let mode = u32::from_str_radix(&mode, 8).expect("a mode");
        for from in files {
            let name =
                if to.ends_with('/') { from.file_name().unwrap_or_default() } else { "".as_ref() };
            // A name of its own has nothing behind it.
            let to = if name.is_empty() { root.join(&to) } else { root.join(&to).join(name) };
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(&from, &to).expect("a file");
            fs::set_permissions(&to, Permissions::from_mode(mode)).expect("a mode");
        }
    }
    let control = root.join("DEBIAN");
    fs::create_dir_all(&control).expect("a folder");
    let text =
        "Package: selkie\nVersion: 1\nArchitecture: all\nMaintainer: x <x@y>\nDescription: x\n";
    fs::write(control.join("control"), text).expect("a file");
    fs::write(control.join("conffiles"), "/etc/selkie/config.yaml\n").expect("a file");
    for script in ["postinst", "prerm", "postrm"] {
        let from = tree("src/packaging/debian").join(script);
        fs::copy(from, control.join(script)).expect("a file");
        fs::set_permissions(control.join(script), Permissions::from_mode(0o755)).expect("a mode");
    }
    let package = folder.join("selkie.deb");
    let mut deb = Command::new("dpkg-deb");
    deb.args(["--root-owner-group", "-Znone", "-b"]).arg(&root).arg(&package);
    assert!(deb.status().expect("dpkg-deb").success());
    fs::remove_dir_all(root).expect("a folder");
    package
}

#[tokio::test(flavor = "multi_thread")]
async fn the_packages_bot_is_set_up_and_kept_running() {
    let Some(machine) = Machine::new() else {
        eprintln!("NOT TESTED: only root makes a machine");
        return;
    };
    let world = World::start().await;
    machine.install();
    machine.put("/usr/local/sbin/systemctl", SYSTEMCTL, 0o755);
    fs::create_dir_all(machine.at("/run/systemd/system")).expect("a folder");
    let config = "/etc/selkie/config.yaml";
    let (code, says) = machine.run(&["runuser", "-u", "selkie", "--", "selkie", "init"]);
    assert!(code == 1 && says.contains("you may not write to /etc/selkie"), "{code}: {says}");

    let url = format!("SELKIE__TELEGRAM__BASE_URL={}", world.playground.telegram_base_url());
    let init = ["env", &url, "selkie", "init", "--set", "llm.provider=offline"];
    let mut terminal = AtTerminal::start(machine.command(&init));
    let shown = world.within("a question", terminal.shows("Set up Telegram? [Y/n]: ")).await;
    assert!(shown.contains(config) && !shown.contains("already exists"), "{shown}");
    terminal.types("\n");
    world.within("the token's question", terminal.shows("Bot token (not shown)")).await;
    terminal.types(&format!("{TOKEN}\n"));
    for title in ["Slack", "LINE"] {
        world.within("a question", terminal.shows(&format!("Set up {title}? [y/N]: "))).await;
        terminal.types("\n");
    }
    let shown = world.within("a code", terminal.shows("Waiting for it.")).await;
    let code = shown.lines().find_map(|line| line.trim().strip_prefix("pair "));
    let paired = world.ask(&format!("pair {}", code.expect("a code"))).await;
    assert!(paired.contains("You are paired"), "{paired}");
    let shown = world.within("the end", terminal.shows("Keep it running? [Y/n]: ")).await;
    assert!(shown.contains("systemctl enable --now selkie"), "{shown}");
    terminal.types("\n");
    let (status, shown) = world.within("its end", terminal.ended()).await;
    assert!(status.success() && shown.contains("selkie runs, and starts with"), "{shown}");

    let told = fs::read_to_string(machine.at("/told")).expect("systemd was told");
    let lines = ["enable -- selkie.service", "restart -- selkie.service"];
    assert_eq!(told.lines().collect::<Vec<_>>(), lines, "nothing there is root's");
    is_the_services(&machine);
    let written = fs::read_to_string(machine.at(config)).expect("a config");
    assert!(written.contains("owners: [\"tg:4711\"]"), "{written}");
    let check = ["runuser", "-u", "selkie", "--", "env", &url, "selkie", "config", "check"];
    let (code, says) = machine.run(&check);
    assert_eq!(code, 0, "{says}");
    assert!(!machine.at("/etc/selkie/config.yaml.old").exists(), "nobody has written it");

    let token = format!("T={TOKEN}");
    let again = ["env", &token, "selkie", "init", "--yes", "--untested", "--force", "--set"];
    let more = ["llm.provider=offline", "--secret-env", "telegram.bot_token=T"];
    let (code, says) = machine.run(&[&again[..], &more].concat());
    assert!(code == 0 && says.contains("systemctl enable --now selkie"), "{says}");
    is_the_services(&machine);
    assert!(machine.at("/etc/selkie/config.yaml.old").exists(), "a person's is kept");
}

/// The service's user reads config and secrets, nobody else does, and the state is where the unit has it.
fn is_the_services(machine: &Machine) {
    for (path, owned) in [
        ("/etc/selkie/config.yaml", "640 root:selkie"),
        ("/etc/selkie/secrets", "750 root:selkie"),
        ("/etc/selkie/secrets/telegram.bot_token", "640 root:selkie"),
        ("/var/lib/selkie/selkie.db", "600 selkie:selkie"),
    ] {
        assert_eq!(machine.owned(path), owned, "{path}");
    }
    let config = fs::read_to_string(machine.at("/etc/selkie/config.yaml")).expect("a config");
    let folders = ["file_state_dir: \"/var/lib/selkie\"", "file_cache_dir: \"/var/cache/selkie\""];
    assert!(folders.iter().all(|line| config.lines().any(|l| l == *line)), "{config}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_container_it_is_said_what_keeps_the_bot_running() {
    let world = World::start().await;
    let config = world.home.folder().join("etc/selkie/config.yaml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_selkie"));
    command.args(["init", "--yes", "--untested", "--set", "llm.provider=offline"]);
    command.args(["--secret-env", "telegram.bot_token=T", "--config"]).arg(&config);
    command.env_clear().env("container", "oci").env("T", TOKEN).env("HOME", world.home.folder());
    let out = command.current_dir(world.home.folder()).output();
    let out = out.expect("selkie runs");
    let says = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && says.contains("docker compose up -d"), "{out:?}");
    assert_eq!(config.metadata().expect("a config").permissions().mode() & 0o777, 0o600);
}
