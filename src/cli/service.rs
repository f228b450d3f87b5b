//! `selkie service`: installs selkie as a service of systemd, removes it, and shows how it stands.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use super::confirm::confirmed;
use super::outcome::{Failure, Outcome};
use super::print;
use super::service_args::{Consent, Install, Service, ServiceStatus, Uninstall, Which};
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_config as config;
use selkie_config::paths::ConfigFile;
use selkie_ops::init::Prompter;
use selkie_ops::service::{
    self, Kind, Machine, Ready, Removal, ServiceSpec, ServiceState, ServiceTarget, Unable, standing,
};

/// The unit's usual name.
const SERVICE: &str = "selkie";
/// The variable that says inside of a container that it is one.
const CONTAINER: &str = "container";
/// Looks at no more files for credentials.
const ENTRIES: usize = 1000;

/// Carries out one of them.
pub fn service(binary: &Binary, chosen: &ConfigChoice, what: Service) -> Outcome {
    match what {
        Service::Install(install) => self::install(binary, chosen, &install),
        Service::Uninstall(uninstall) => self::uninstall(binary, chosen, &uninstall),
        Service::Status(wanted) => status(binary, &wanted),
    }
}

impl From<&Which> for ServiceTarget {
    fn from(which: &Which) -> Self {
        let kind = if which.user { Kind::User } else { Kind::System };
        Self { kind, name: which.name.clone(), root: which.root.clone() }
    }
}

/// The place of the service that is meant.
fn machine(binary: &Binary, which: &Which) -> Result<Machine, Failure> {
    let mut asked = ServiceTarget::from(which);
    asked.root = asked.root.map(|root| binary.here.join(root));
    if let Some(root) = asked.root.as_ref().filter(|root| !root.is_dir()) {
        return Err(Failure::Usage(format!("--root {} is not a folder: name one", root.display())));
    }
    Machine::of(asked, &binary.env)
        .ok_or_else(|| Failure::Usage("HOME is not set: set it, or leave out --user".to_owned()))
}

fn install(binary: &Binary, chosen: &ConfigChoice, install: &Install) -> Outcome {
    let machine = machine(binary, &install.which)?;
    if machine.asked.name.contains('@') {
        let says = "--name is that of a template's instance, which needs no installing: systemctl enable --now starts it";
        return Err(Failure::Usage(says.to_owned()));
    }
    let wanted = wanted(binary, chosen, install, &machine)?;
    put_in(&machine, &wanted, install.consent)
}

/// Installs, where somebody has agreed; shows it first.
fn put_in(machine: &Machine, wanted: &ServiceSpec, consent: Consent) -> Outcome {
    let ready = Ready::new(machine, wanted, consent.force).map_err(failure)?;
    let updates = machine.unit_file().exists();
    print::prose(&shown(&ready))?;
    if consent.dry_run || !agreed(consent, "Install it like this?")? {
        return Ok(print::out("Nothing has changed.\n")?);
    }
    for aside in ready.write().map_err(failure)? {
        print::prose(&format!("What was there is kept as {}.\n", aside.display()))?;
    }
    if !machine.runs {
        return Ok(print::prose(&by_hand(machine))?);
    }
    ready.start().map_err(failure)?;
    Ok(print::prose(&done(machine, updates))?)
}

fn failure(error: Unable) -> Failure {
    match error {
        Unable::Unfit(unfit) => Failure::Usage(unfit.to_string()),
        other => Failure::Failed(other.into()),
    }
}

/// Whether it is to be done; at a terminal a person says so.
fn agreed(consent: Consent, question: &str) -> Result<bool, Failure> {
    if consent.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        let says = "it asks before it changes anything, and there is no terminal to ask on: add --yes, or --dry-run \
            to only look";
        return Err(Failure::Usage(says.to_owned()));
    }
    Ok(confirmed(question)?)
}

fn wanted(
    binary: &Binary,
    chosen: &ConfigChoice,
    install: &Install,
    machine: &Machine,
) -> Result<ServiceSpec, Failure> {
    let full = |path: &Path| plain(&binary.here.join(path));
    let program = match &install.program {
        Some(program) => full(program),
        None => std::env::current_exe()?,
    };
    let config = match (&chosen.file, machine.asked.kind) {
        (ConfigFile::Named(path), _) | (ConfigFile::Found(path), Kind::User) => full(path),
        // Whatever lies where root happens to stand is not the machine's.
        (_, Kind::System) => PathBuf::from(format!("/etc/{}/config.yaml", machine.asked.name)),
        (ConfigFile::None, Kind::User) => full(Path::new("config.yaml")),
    };
    let credentials = match machine.asked.kind {
        Kind::System => credentials(binary, machine, &config),
        Kind::User => Vec::new(),
    };
    Ok(ServiceSpec {
        program,
        config,
        state: chosen.state.as_deref().map(full),
        workspaces: install.workspace.iter().map(|folder| full(folder)).collect(),
        credentials,
    })
}

/// Takes `.` out of a path; `..` could mean something else than it says.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// The files beside the config that are named like keys of secrets.
fn credentials(binary: &Binary, machine: &Machine, config: &Path) -> Vec<PathBuf> {
    let Some(folder) = config.parent() else { return Vec::new() };
    let entries = std::fs::read_dir(machine.below(folder)).into_iter().flatten();
    let names =
        entries.take(ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| config::is_secret(&binary.kits, name)).collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

fn shown(ready: &Ready<'_>) -> String {
    let mut text = String::new();
    for file in &ready.files {
        let path = file.path.display();
        match file.is_there() {
            true => text.push_str(&format!("{path} stays as it is.\n\n")),
            false => text.push_str(&format!("This goes into {path}:\n\n{}\n", file.text)),
        }
    }
    text
}

/// What a person does where systemd cannot be told.
fn by_hand(machine: &Machine) -> String {
    let systemctl = machine.systemctl();
    let unit = machine.unit_name();
    match &machine.asked.root {
        Some(_) => format!("Installed. Next:\n  {systemctl} enable {unit}\n"),
        None => format!(
            "Installed, but systemd cannot be reached from here. Where it runs:\n  {systemctl} daemon-reload\n  {systemctl} \
             enable --now {unit}\n"
        ),
    }
}

fn done(machine: &Machine, updates: bool) -> String {
    let systemctl = machine.systemctl();
    let unit = machine.unit_name();
    let mut text = "Installed and started. selkie logs -f shows its log.\n".to_owned();
    if updates {
        text.push_str(&format!(
            "If it was running already, {systemctl} restart {unit} applies the change.\n"
        ));
    }
    if machine.asked.kind == Kind::User {
        text.push_str(
            "It runs while you are logged in; loginctl enable-linger keeps it running.\n",
        );
    }
    text
}

fn uninstall(binary: &Binary, chosen: &ConfigChoice, uninstall: &Uninstall) -> Outcome {
    let machine = machine(binary, &uninstall.which)?;
    let removal = Removal::new(&machine, uninstall.consent.force).map_err(failure)?;
    let stops = if machine.runs {
        "This stops and disables the service, and removes"
    } else {
        "This removes"
    };
    let files: String =
        removal.files.iter().map(|file| format!("  {}\n", file.display())).collect();
    print::out(&format!("{stops}:\n{files}"))?;
    if uninstall.consent.dry_run || !agreed(uninstall.consent, "Remove it?")? {
        return Ok(print::out("Nothing has changed.\n")?);
    }
    for aside in removal.remove().map_err(failure)? {
        print::prose(&format!("What was changed is kept as {}.\n", aside.display()))?;
    }
    Ok(print::prose(&format!("The service is gone. {}\n", stays(chosen, &machine)))?)
}

/// Where what is the owner's stays.
fn stays(chosen: &ConfigChoice, machine: &Machine) -> String {
    let name = &machine.asked.name;
    let state = chosen.state.as_ref().map(|state| state.display().to_string());
    match machine.asked.kind {
        Kind::System => {
            let state = state.unwrap_or_else(|| format!("/var/lib/{name}"));
            format!("State and config stay: {state} and /etc/{name}, unless you named others.")
        }
        Kind::User => {
            let state = state.unwrap_or_else(|| "~/.local/state/selkie".to_owned());
            format!(
                "State and config stay: {state}, unless you named others, and the config where it is."
            )
        }
    }
}

fn status(binary: &Binary, wanted: &ServiceStatus) -> Outcome {
    let mut machine = machine(binary, &wanted.which)?;
    if let Some(installed) = Machine::installed(&machine.asked, &binary.env) {
        machine = installed;
    }
    let standing = standing(&machine);
    match wanted.json {
        true => print::json(&standing)?,
        false => print::prose(&told(&standing))?,
    }
    match standing.is_well() {
        true => Ok(()),
        false => Err(Failure::Told),
    }
}

fn told(standing: &ServiceState) -> String {
    let Some(path) = &standing.path else {
        return format!(
            "{} is not installed: to install it, run selkie service install\n",
            standing.name
        );
    };
    let row = |what: &str, says: String| vec![what.to_owned(), says];
    let whose = standing.unit.map_or("", |unit| unit.says());
    let mut rows = vec![row("unit", format!("{}, {whose}", path.display()))];
    rows.extend(standing.drop_in.iter().map(|path| row("beside it", path.display().to_string())));
    rows.extend(standing.enabled.iter().map(|says| row("at boot", says.clone())));
    rows.extend(standing.active.iter().map(|says| row("now", says.clone())));
    rows.extend(standing.started_at.map(|at| row("last start", at.to_rfc3339())));
    if standing.active.is_none() {
        rows.push(row("now", "unknown: systemd cannot be reached from here".to_owned()));
    }
    print::table(&rows, print::width())
}

/// Who can keep what was set up running.
pub enum Keeper {
    /// A package's service, which reads this config.
    Packaged(Machine),
    /// A service of one's own, which is not installed yet.
    Own(Machine),
    /// Whoever runs this container.
    Container,
    /// Nobody but a person.
    Nobody,
}

impl Keeper {
    /// Finds it.
    pub fn of(binary: &Binary, config: &Path) -> Self {
        let of = |kind| {
            let asked = ServiceTarget { kind, name: SERVICE.to_owned(), root: None };
            Machine::of(asked, &binary.env)
        };
        let is_machines = config == Path::new("/etc/selkie/config.yaml");
        if let Some(machine) = of(Kind::System).filter(|m| is_machines && m.packaged().is_some()) {
            return Self::Packaged(machine);
        }
        if binary.env.get(CONTAINER).is_some_and(|value| !value.is_empty()) {
            return Self::Container;
        }
        // Root's bot is the machine's, whose service cannot read a config that is closed to others.
        let is_root = rustix::process::geteuid().is_root();
        let fits = |m: &Machine| m.runs && m.unit().is_none() && !is_root;
        of(Kind::User).filter(fits).map_or(Self::Nobody, Self::Own)
    }
}

/// Starts a package's service, now and with the machine.
pub fn keep_running(machine: &Machine) -> Outcome {
    service::keep_running(machine).map_err(failure)?;
    let says = "selkie runs, and starts with this machine. selkie logs -f shows its log.\n";
    Ok(print::prose(says)?)
}

/// Installs one of one's own for whoever has just set selkie up; returns whether it runs now.
pub fn installed_own(
    binary: &Binary,
    chosen: &ConfigChoice,
    config: &Path,
    machine: &Machine,
    prompter: &Prompter,
) -> bool {
    let why = match install_own(binary, chosen, machine, config) {
        Ok(()) => return true,
        Err(Failure::Failed(error)) => format!("{error:#}"),
        Err(Failure::Usage(says)) => says,
        Err(Failure::Told) => return false,
    };
    prompter.say(&format!("It is not installed: {why}"));
    false
}

fn install_own(
    binary: &Binary,
    chosen: &ConfigChoice,
    machine: &Machine,
    config: &Path,
) -> Outcome {
    let wanted = ServiceSpec {
        program: std::env::current_exe()?,
        config: plain(config),
        state: chosen.state.as_ref().map(|state| plain(&binary.here.join(state))),
        workspaces: Vec::new(),
        credentials: Vec::new(),
    };
    put_in(machine, &wanted, Consent { yes: true, dry_run: false, force: false })
}
