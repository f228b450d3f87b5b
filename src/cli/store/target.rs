//! Where a copy goes: a database or a file, what is left there by a copy that did not end, and how the copy is used.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use secrecy::SecretString;

use selkie_app::build::AppConfig;
#[cfg(feature = "postgres")]
use selkie_app::ledger;
use selkie_store::Ledger as _;
use selkie_store::copy::is_half;
use selkie_store::database::Database;
#[cfg(feature = "postgres")]
use selkie_store::database::Opener;
use selkie_store::open;
#[cfg(feature = "postgres")]
use selkie_store::postgres::Address;
use selkie_store::settings::Settings;
use selkie_store::sql::SqlLedger;

/// Where a copy goes.
pub enum Place {
    /// A file that is not there yet.
    File(FilePlace),
    /// A database of a server.
    #[cfg(feature = "postgres")]
    Server(Box<Address>),
}

/// A file that a copy is made in.
#[derive(Clone)]
pub struct FilePlace {
    file: PathBuf,
    /// Where the state folder has its own.
    own: PathBuf,
    /// The config names a database.
    from_server: bool,
}

impl Place {
    /// Reads `--to`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(
        config: &AppConfig,
        here: &Path,
        to: &str,
        password: Option<SecretString>,
    ) -> Result<Self, String> {
        let store = &config.settings.store;
        if !to.contains("://") {
            let own = config.folders.state.join("selkie.db");
            let place = FilePlace { file: here.join(to), own, from_server: store.url.is_some() };
            if !place.from_server && place.is_own() {
                let file = place.file.display();
                return Err(format!("--to {file} is the store itself: name another file"));
            }
            return Ok(Self::File(place));
        }
        let url = Some(SecretString::from(to));
        let settings = Settings { url, password, ..Settings::default() };
        match Database::read(&settings).map_err(|why| format!("--to {why}"))? {
            Database::Own => Err("--to names no database".to_owned()),
            #[cfg(feature = "postgres")]
            Database::Postgres(address) => Ok(Self::Server(address)),
        }
    }

    /// As it is told, without a password.
    pub fn name(&self) -> String {
        match self {
            Self::File(place) => place.file.display().to_string(),
            #[cfg(feature = "postgres")]
            Self::Server(address) => address.to_string(),
        }
    }

    /// Whether the state folder of a daemon that keeps nothing there holds the copy.
    pub fn is_in_the_state_folder(&self) -> bool {
        match self {
            Self::File(place) => place.from_server && place.is_beside_own(),
            #[cfg(feature = "postgres")]
            Self::Server(_) => false,
        }
    }

    /// Says how the copy is used.
    pub fn to_use_it(&self) -> String {
        match self {
            Self::File(place) => place.to_use_it(),
            #[cfg(feature = "postgres")]
            Self::Server(_) => {
                "set store.url to it, with store.password_file where it needs one, and start selkie"
                    .to_owned()
            }
        }
    }
}

impl FilePlace {
    fn is_own(&self) -> bool {
        self.is_beside_own() && self.file.file_name() == self.own.file_name()
    }

    fn is_beside_own(&self) -> bool {
        let real = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
        real(&self.file).is_some_and(|folder| Some(folder) == real(&self.own))
    }

    fn to_use_it(&self) -> String {
        let mut steps = Vec::new();
        if self.from_server {
            steps.push("take store.url and its password out of the config".to_owned());
        }
        if !self.is_own() {
            let own = self.own.display();
            if self.own.exists() {
                steps.push(format!(
                    "move {own} and its companion files (selkie.db-wal, selkie.db-shm) away"
                ));
            }
            steps.push(format!(
                "move {} to {own}, for the user who runs selkie",
                self.file.display()
            ));
        }
        steps.push("start selkie".to_owned());
        steps.join("; ")
    }

    /// Names a file beside it.
    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    /// Says, while it is there, that a copy is being made: one that was killed may be made anew.
    fn mark(&self) -> PathBuf {
        self.beside(".copying")
    }

    fn lock(&self) -> PathBuf {
        self.file.with_file_name("selkie.lock")
    }

    /// Takes away what was made of the copy.
    fn clear(&self) {
        for ending in ["", "-wal", "-shm", ".copying"] {
            // What is not there need not go; what stays is told by the next try.
            fs::remove_file(self.beside(ending)).ok();
        }
    }
}

/// A place that is open.
pub struct Target {
    /// What is written.
    pub ledger: SqlLedger,
    file: Option<CopyFile>,
}

/// A file that a copy is being made in.
struct CopyFile {
    place: FilePlace,
    /// The lock beside it is of use to nobody else.
    locked_for_it: bool,
}

impl Target {
    /// Opens it, and makes it where it is a file.
    ///
    /// # Errors
    /// When it is in use, or something is there.
    #[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "only a server asks"))]
    pub async fn open(config: &AppConfig, place: &Place, instance: &str) -> anyhow::Result<Self> {
        match place {
            Place::File(place) => Self::make(place.clone()).await,
            #[cfg(feature = "postgres")]
            Place::Server(address) => {
                let opener = ledger::opener(instance);
                refuse_foreign((**address).clone(), opener.clone(), &config.tls).await?;
                let ledger = open::remote((**address).clone(), opener, &config.tls, None)?;
                Ok(Self { ledger, file: None })
            }
        }
    }

    async fn make(place: FilePlace) -> anyhow::Result<Self> {
        let locked_for_it = !place.lock().exists();
        if place.file.exists() && !(place.mark().exists() && is_left_over(&place).await?) {
            bail!(
                "{} is there already: name a file that does not exist yet, or move that one away first",
                place.file.display()
            );
        }
        place.clear();
        fs::write(place.mark(), "")
            .with_context(|| format!("{} cannot be written", place.mark().display()))?;
        let ledger = open::own(&place.file).inspect_err(|_| place.clear())?;
        Ok(Self { ledger, file: Some(CopyFile { place, locked_for_it }) })
    }

    /// Closes it; what was made of a copy that is none goes.
    pub async fn close(self, is_copy: bool) {
        self.ledger.close().await;
        let Some(CopyFile { place, locked_for_it }) = self.file else { return };
        match is_copy {
            true => drop(fs::remove_file(place.mark())),
            false => place.clear(),
        }
        if locked_for_it && !place.is_beside_own() {
            // A stray lock keeps nobody out.
            fs::remove_file(place.lock()).ok();
        }
    }
}

/// Refuses a database that other programs use: a life is copied into one of its own.
#[cfg(feature = "postgres")]
async fn refuse_foreign(
    address: Address,
    who: Opener,
    tls: &rustls::ClientConfig,
) -> anyhow::Result<()> {
    let name = address.to_string();
    let tls = tls.clone();
    let look = move || selkie_store::postgres::examine(address, who, &tls);
    if let Some(table) = tokio::task::spawn_blocking(look).await??.foreign {
        bail!(
            "{name} holds the table {table}, which is not selkie's: copy into a database of its own"
        );
    }
    Ok(())
}

/// Whether a copy that was killed has left the file.
async fn is_left_over(place: &FilePlace) -> anyhow::Result<bool> {
    let ledger = open::own(&place.file)?;
    let half = is_half(&ledger).await;
    ledger.close().await;
    Ok(half?)
}
