//! Where the files of a service lie, for the machine or for one user, here or below another root.

use std::path::{Path, PathBuf};

use selkie_config::source::Environment;

/// Is there while systemd runs the machine.
const BOOTED: &str = "/run/systemd/system";
/// Where a package puts its units.
const PACKAGED: [&str; 2] = ["/usr/lib/systemd/system", "/lib/systemd/system"];

/// Whose service it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The machine's.
    System,
    /// One user's.
    User,
}

impl Kind {
    /// How its manager is called, in words for people.
    pub fn systemctl(self) -> &'static str {
        match self {
            Self::System => "systemctl",
            Self::User => "systemctl --user",
        }
    }
}

/// Which service is meant.
#[derive(Clone, Debug)]
pub struct ServiceTarget {
    /// Whose it is.
    pub kind: Kind,
    /// The unit's name, without its ending.
    pub name: String,
    /// The file system's root, when it is not this machine's.
    pub root: Option<PathBuf>,
}

/// A service's place.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Which service.
    pub asked: ServiceTarget,
    /// With what programs are started, and where home is.
    pub env: Environment,
    /// Whether a systemd is there that can be told.
    pub runs: bool,
    folder: PathBuf,
}

impl Machine {
    /// Looks where the service belongs. `None`: a user's, and nobody says where their home is.
    pub fn of(asked: ServiceTarget, env: &Environment) -> Option<Self> {
        let folder = folder(asked.kind, env)?;
        let reached = asked.kind == Kind::System || set(env, "XDG_RUNTIME_DIR").is_some();
        let runs = asked.root.is_none() && reached && Path::new(BOOTED).is_dir();
        Some(Self { asked, env: env.clone(), runs, folder })
    }

    /// The service of this name that is installed: the machine's, else the user's.
    pub fn installed(asked: &ServiceTarget, env: &Environment) -> Option<Self> {
        let there = |kind| {
            let machine = Self::of(ServiceTarget { kind, ..asked.clone() }, env)?;
            machine.unit().map(|_| machine)
        };
        match asked.kind {
            Kind::System => there(Kind::System).or_else(|| there(Kind::User)),
            Kind::User => there(Kind::User),
        }
    }

    /// A path of the service's world, as it lies here.
    pub fn below(&self, path: &Path) -> PathBuf {
        match &self.asked.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// The unit's whole name.
    pub fn unit_name(&self) -> String {
        format!("{}.service", self.asked.name)
    }

    /// The unit that selkie writes.
    pub fn unit_file(&self) -> PathBuf {
        self.below(&self.folder).join(self.unit_name())
    }

    /// What selkie writes beside it: what differs from machine to machine.
    pub fn drop_in(&self) -> PathBuf {
        self.below(&self.folder).join(format!("{}.d/10-installed.conf", self.unit_name()))
    }

    /// The link by which systemd starts it with the machine, or when its user comes.
    pub fn start_link(&self) -> PathBuf {
        let target = match self.asked.kind {
            Kind::System => "multi-user.target.wants",
            Kind::User => "default.target.wants",
        };
        self.below(&self.folder).join(target).join(self.unit_name())
    }

    /// The unit that a package has brought.
    pub fn packaged(&self) -> Option<PathBuf> {
        if self.asked.kind == Kind::User {
            return None;
        }
        // An instance is a template's.
        let name = match self.asked.name.split_once('@') {
            Some((template, _)) => format!("{template}@.service"),
            None => self.unit_name(),
        };
        let mut all = PACKAGED.iter().map(|folder| self.below(Path::new(folder)).join(&name));
        all.find(|path| path.is_file())
    }

    /// The unit that systemd takes.
    pub fn unit(&self) -> Option<PathBuf> {
        let own = Some(self.unit_file()).filter(|path| path.symlink_metadata().is_ok());
        own.or_else(|| self.template()).or_else(|| self.packaged())
    }

    fn template(&self) -> Option<PathBuf> {
        let (template, _) = self.asked.name.split_once('@')?;
        let file = self.below(&self.folder).join(format!("{template}@.service"));
        Some(file).filter(|path| path.is_file())
    }

    /// How a person changes it, in words for them.
    pub fn to_edit(&self) -> String {
        format!("{} edit {}", self.asked.kind.systemctl(), self.asked.name)
    }

    /// How `systemctl` is called for this service, in words for people.
    pub fn systemctl(&self) -> String {
        let systemctl = self.asked.kind.systemctl();
        match &self.asked.root {
            None => systemctl.to_owned(),
            Some(root) => format!("{systemctl} --root={}", root.display()),
        }
    }
}

fn folder(kind: Kind, env: &Environment) -> Option<PathBuf> {
    match kind {
        Kind::System => Some("/etc/systemd/system".into()),
        Kind::User => {
            let config = set(env, "XDG_CONFIG_HOME");
            let config = config.or_else(|| Some(set(env, "HOME")?.join(".config")));
            Some(config?.join("systemd/user"))
        }
    }
}

/// A folder that a variable names in full.
fn set(env: &Environment, name: &str) -> Option<PathBuf> {
    env.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
