//! The packages: what their recipes name is in this tree, and the units they bring are its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::commands::refused;

const WORKFLOW: &str = include_str!("../../.github/workflows/release.yml");
const PACK: &str = include_str!("../../src/packaging/pack");
const CONTAINERFILE: &str = include_str!("../../src/packaging/Containerfile");
const COMPOSE: &str = include_str!("../../src/packaging/compose.yaml");

/// What `pack` has the program print, before cargo-deb runs.
const PRINTED: &str = "target/release/printed/";

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// `[package.metadata.deb]`, as cargo reads it.
fn deb() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"]);
    let out = cargo.arg(tree("Cargo.toml")).output().expect("cargo");
    let all: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let packages = all["packages"].as_array().expect("packages");
    let ours = packages.iter().find(|package| package["name"] == "selkie").expect("ours");
    ours["metadata"]["deb"].clone()
}

/// A file of the package.
struct Asset {
    from: String,
    to: String,
    mode: String,
}

fn assets() -> Vec<Asset> {
    let deb = deb();
    let all = deb["assets"].as_array().expect("assets");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    all.iter()
        .map(|one| Asset { from: text(&one[0]), to: text(&one[1]), mode: text(&one[2]) })
        .collect()
}

/// Whether a file is in this tree, or one that a pattern such as `src/docs/*.md` means.
fn is_there(from: &str) -> bool {
    let Some((folder, ending)) = from.split_once("/*") else { return tree(from).is_file() };
    let mut files = fs::read_dir(tree(folder)).into_iter().flatten().flatten();
    files.any(|file| file.file_name().to_string_lossy().ends_with(ending))
}

#[test]
fn every_file_of_the_package_is_there_or_printed() {
    for Asset { from, .. } in assets() {
        match from.strip_prefix(PRINTED) {
            Some(printed) => {
                let named = printed.split('*').next().unwrap_or_default().trim_end_matches('/');
                assert!(PACK.contains(&format!("$printed/{named}")), "pack does not make {from}");
            }
            None if from == "target/release/selkie" => {}
            None => assert!(is_there(&from), "{from} is not there"),
        }
    }
    let deb = deb();
    assert!(tree(deb["license-file"][0].as_str().expect("a name")).is_file());
    for script in ["postinst", "prerm", "postrm"] {
        let folder = tree(deb["maintainer-scripts"].as_str().expect("a folder"));
        let file = folder.join(script);
        let read = Command::new("sh").arg("-n").arg(&file).output().expect("sh");
        assert!(read.status.success(), "{script}: {}", String::from_utf8_lossy(&read.stderr));
    }
}

/// Each where the links of the others lead.
#[test]
fn the_package_brings_what_an_operator_reads() {
    let assets = assets();
    for file in [
        "README.md",
        "config.example.yaml",
        "src/docs/operating.md",
        "src/docs/channels/slack.md",
        "src/packaging/alerts.yml",
        "src/packaging/grafana.json",
        "systemd/README.md",
    ] {
        let folder = file.rfind('/').map_or("", |end| &file[..=end]);
        let to = format!("usr/share/doc/selkie/{folder}");
        let is_it = |one: &Asset| one.from == file || one.from == format!("{folder}*.md");
        let brings = assets.iter().any(|one| is_it(one) && one.to == to);
        assert!(brings && tree(file).is_file(), "{file} does not come as {to}");
    }
    for kept in ["src/docs/*.md", "alerts.yml", "grafana.json"] {
        assert!(PACK.contains(kept), "the archive lacks {kept}");
    }
    let homepage = WORKFLOW.find("homepage = ").expect("a homepage");
    assert!(homepage < WORKFLOW.find("pack \"$TARGET\"").expect("pack"), "it comes too late");
}

/// Every key that a file beside the config can hold, and a unit that starts without any of them.
#[test]
fn no_credential_has_to_be_there() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("telegram.bot_tokn"), "x").expect("a file");
    let mut selkie = Command::new(env!("CARGO_BIN_EXE_selkie"));
    selkie.args(["config", "check"]).env_clear().env("CREDENTIALS_DIRECTORY", folder.path());
    let out = selkie.current_dir(folder.path()).output().expect("the program");
    let said = [out.stdout, out.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    let said = said.concat().split_whitespace().collect::<Vec<_>>().join(" ");
    let keys = said.split_once("takes ").and_then(|(_, rest)| rest.split_once(')'));
    let keys = keys.unwrap_or_else(|| panic!("no keys in {said}")).0.split(", ");
    // A key of a name of one's own cannot be foreseen; `twitter` is the older word for `x`.
    let keys: Vec<_> =
        keys.filter(|key| !key.contains('*') && !key.starts_with("twitter.")).collect();
    assert!(keys.len() > 10, "{keys:?}");
    for (name, folder) in [("selkie.service", "/etc/selkie"), ("selkie@.service", "/etc/selkie/%i")]
    {
        let unit = fs::read_to_string(tree("systemd").join(name)).expect("the unit");
        let lines = |start: &str| unit.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!([lines("LoadCredential="), lines("SetCredential=")], [keys.len(); 2], "{name}");
        for key in &keys {
            let pair = format!("\nLoadCredential={key}:{folder}/{key}\nSetCredential={key}:\\n\n");
            assert!(unit.contains(&pair), "{name} lacks {pair}");
        }
    }
}

#[test]
fn the_config_is_closed_and_kept_over_upgrades() {
    let assets = assets();
    let config = assets.iter().find(|one| one.to == "etc/selkie/config.yaml").expect("a config");
    assert_eq!((config.from.as_str(), config.mode.as_str()), ("src/packaging/config.yaml", "640"));
    assert_eq!(deb()["conf-files"], serde_json::json!(["/etc/selkie/config.yaml"]));
    let mut selkie = Command::new(env!("CARGO_BIN_EXE_selkie"));
    selkie.args(["config", "check", "--config"]).arg(tree(&config.from)).env_clear();
    // The machine's own folders are left alone.
    let folder = tempfile::tempdir().expect("a folder");
    selkie
        .arg("--state")
        .arg(folder.path())
        .env("SELKIE__FILE_CACHE_DIR", folder.path().join("cache"));
    let out = selkie.output().expect("the program");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// The unit is this tree's own, also in what the package says beside it.
#[cfg(target_os = "linux")]
#[test]
fn the_package_brings_this_trees_units() {
    let assets = assets();
    let brings = |from: &str, to: &str| {
        let found = assets.iter().any(|one| one.from == from && one.to.starts_with(to));
        assert!(found, "{from} does not come as {to}");
    };
    let units = "usr/lib/systemd/system/";
    for (name, more) in [("selkie.service", "selkie.conf"), ("selkie@.service", "selkie@.conf")] {
        brings(&format!("systemd/{name}"), units);
        let more = format!("src/packaging/units/{more}");
        brings(&more, &format!("{units}{name}.d/"));
        let told = fs::read_to_string(tree(&more)).expect("a drop-in");
        assert_eq!(refused(&told), [""; 0]);
        assert_eq!(verified(name, &told), "", "{name}");
    }
}

/// What systemd says of a unit with the package's words beside it, the program being the built one.
fn verified(name: &str, more: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let built = |text: &str| {
        let program = env!("CARGO_BIN_EXE_selkie");
        text.replace("/usr/local/bin/selkie", program).replace("/usr/bin/selkie", program)
    };
    let unit = fs::read_to_string(tree("systemd").join(name)).expect("the unit");
    fs::write(folder.path().join(name), built(&unit)).expect("a file");
    let beside = folder.path().join(format!("{name}.d"));
    fs::create_dir(&beside).expect("a folder");
    fs::write(beside.join("package.conf"), built(more)).expect("a file");
    let started = folder.path().join(name.replace('@', "@one"));
    let mut analyze = Command::new("systemd-analyze");
    let out = analyze.args(["verify", "--man=no"]).arg(started).output();
    let out = out.expect("systemd-analyze, which `tests/run` installs");
    [out.stdout, out.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat()
}

#[test]
fn the_container_file_names_what_is_there() {
    let health = CONTAINERFILE.lines().find(|line| line.starts_with("HEALTHCHECK"));
    let shown = |line: &str| line.replace(['[', ']', ',', '"'], " ");
    let checked = health.and_then(|line| line.split_once(" CMD ")).expect("a check").1;
    assert_eq!(refused(&shown(checked)), [""; 0]);
    let run = CONTAINERFILE.lines().find_map(|line| line.strip_prefix("CMD ")).expect("a command");
    assert_eq!(refused(&format!("selkie {}", shown(run))), [""; 0]);
    let last = CONTAINERFILE.lines().rfind(|line| line.starts_with("USER ")).expect("a user");
    assert!(last["USER ".len()..].parse::<u32>().is_ok_and(|user| user > 0), "{last}");
}

#[test]
fn the_compose_file_keeps_what_the_image_writes() {
    let compose: Value = serde_saphyr::from_str(COMPOSE).expect("YAML");
    let service = &compose["services"]["bot"];
    let line = CONTAINERFILE.lines().find_map(|line| line.strip_prefix("VOLUME "));
    for kept in line.expect("volumes").split_whitespace() {
        let mut mounted = service["volumes"].as_array().expect("volumes").iter();
        let volume = mounted.find_map(|one| one.as_str()?.strip_suffix(&format!(":{kept}")));
        let volume = volume.unwrap_or_else(|| panic!("{kept} is lost with its container"));
        assert!(compose["volumes"].get(volume).is_some(), "{volume} is not declared");
    }
    for line in COMPOSE.lines().filter_map(|line| line.strip_prefix("#   docker compose ")) {
        let line = line.split("  ").next().unwrap_or_default();
        let words = line.split_once("bot ").map(|(_, words)| words);
        let words = words.map(|words| words.trim_start_matches("selkie "));
        let refused = words.map(|words| refused(&format!("selkie {words}"))).unwrap_or_default();
        assert_eq!(refused, [""; 0], "{line}");
    }
}

#[test]
fn the_workflow_is_narrow_and_its_commands_are_ours() {
    let workflow: Value = serde_saphyr::from_str(WORKFLOW).expect("YAML");
    assert_eq!(workflow["permissions"], serde_json::json!({}), "each job names its own");
    let jobs = workflow["jobs"].as_object().expect("jobs");
    for (name, job) in jobs {
        assert!(job["permissions"].is_object() && job["timeout-minutes"].is_number(), "{name}");
        for step in job["steps"].as_array().expect("steps") {
            if let Some(action) = step["uses"].as_str() {
                let (_, commit) = action.split_once('@').expect("a version");
                let pinned = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
                assert!(pinned, "{action} names no commit");
            }
            let commands = step["run"].as_str().unwrap_or_default();
            assert!(!commands.contains("${{"), "{name}: an expression in a script can be code");
            assert_eq!(refused(commands), [""; 0]);
            for file in commands.split_whitespace().filter(|word| word.starts_with("src/")) {
                assert!(tree(file).is_file(), "{file} is not there");
            }
        }
    }
    assert_eq!(refused(PACK), [""; 0]);
}
