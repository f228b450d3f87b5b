//! A program of this machine that the config names in a server's place: each run has a folder of its own, and is held like
//! a command.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::OFlags;

use selkie_config::paths::Folders;
use selkie_llm::ServerError;
use selkie_sandbox::{Machine, Policy, Settings};
use selkie_tools::paths::Ours;
use selkie_tools::shell::{OwnProgram, OwnProgramError, OwnPrograms};

/// Where the program reads what it is given.
const INPUT: &str = "input.txt";

/// What such a program is made of, beside the settings.
pub struct ProgramParts<'a> {
    /// Where things lie.
    pub folders: &'a Folders,
    /// What is closed to every program.
    pub ours: &'a Ours,
    /// Whether programs run in the sandbox.
    pub sandbox: &'a Policy,
    /// What they run on.
    pub machine: &'a Arc<Machine>,
}

/// A program with its arguments.
pub struct ConfiguredProgram {
    command: Vec<String>,
    programs: OwnPrograms,
    /// Where each run has a folder.
    folder: PathBuf,
    limit: Duration,
}

/// One run of it.
pub struct ProgramRun<'a> {
    /// What stands for words in its arguments, with the words.
    pub words: &'a [(&'static str, &'a str)],
    /// What stands for a file in its arguments, and the file's plain name.
    pub file: (&'static str, &'a str),
    /// What the file holds; none where the program writes it.
    pub holds: Option<&'a [u8]>,
    /// What it reads from its standard input.
    pub input: &'a str,
    /// The most bytes that it writes.
    pub most: usize,
}

impl ProgramParts<'_> {
    /// Makes a program; nothing where the config names none.
    pub fn build(
        &self,
        settings: &Settings,
        command: &[String],
        limit: Duration,
    ) -> Option<ConfiguredProgram> {
        (!command.is_empty()).then(|| ConfiguredProgram {
            command: command.to_vec(),
            programs: OwnPrograms {
                machine: Arc::clone(self.machine),
                policy: self.sandbox.clone(),
                settings: settings.clone(),
                // Others' files lie in the cache; the folder of a run is opened by name.
                closed: [self.ours.all(), vec![self.folders.cache.clone()]].concat(),
            },
            folder: self.folders.cache.join("speech"),
            limit,
        })
    }
}

impl ConfiguredProgram {
    /// Returns the program.
    pub fn name(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Runs it, and returns what it writes: into the file where that is its own, else to its standard output.
    ///
    /// # Errors
    /// See [`ServerError`].
    pub async fn run(&self, run: ProgramRun<'_>) -> Result<Vec<u8>, ServerError> {
        let unusable =
            |error: io::Error| ServerError::Unusable(format!("its folder cannot be used: {error}"));
        let folder = Scratch::make(&self.folder).map_err(unusable)?;
        let (mark, name) = run.file;
        let file = folder.0.join(name);
        if let Some(holds) = run.holds {
            tokio::fs::write(&file, holds).await.map_err(unusable)?;
        }
        let input = folder.0.join(INPUT);
        tokio::fs::write(&input, run.input).await.map_err(unusable)?;
        let path = file.to_string_lossy();
        let fill = |word: &String| {
            let word = word.replace(mark, &path);
            run.words.iter().fold(word, |word, (mark, words)| word.replace(mark, words))
        };
        let argv: Vec<String> = self.command.iter().map(fill).collect();
        let program = OwnProgram {
            argv: &argv,
            input: Some(File::open(&input).map_err(unusable)?),
            folder: &folder.0,
            env: &BTreeMap::new(),
            limit: self.limit,
            most: run.most,
        };
        let output = self.programs.output(program).await.map_err(|error| match error {
            error @ OwnProgramError::Failed(..) => ServerError::Unusable(error.to_string()),
            error => ServerError::Away(error.to_string()),
        })?;
        let writes_file = run.holds.is_none() && self.command.iter().any(|w| w.contains(mark));
        match writes_file {
            true => read(&file, run.most).map_err(|error| {
                ServerError::Unusable(format!("{} left no {name}: {error}", self.name()))
            }),
            false => Ok(output),
        }
    }
}

/// Reads a file that a program has written, a byte more than `most` at most.
fn read(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A folder that goes when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn make(below: &Path) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let folder = below.join(uuid::Uuid::now_v7().to_string());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: the sweep of the cache takes what is left.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
