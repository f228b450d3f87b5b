//! Reads every source of the config and lays it over the weaker ones.

use std::path::{Path, PathBuf};

use selkie_channel_core::ChannelKit;
use serde_json::Value;

use crate::key_aliases::Also;
use crate::layer::Tree;
use crate::lines::Lines;
use crate::problem::{Problem, Problems};
use crate::secrets::{self, Secrets};
use crate::source::{Environment, SourceValues, key};
use crate::sources::Sources;
use crate::written::{FromFile, from_file, from_flag, strange_sections};
use crate::yaml::DuplicateKey;
use crate::{conventional_env, env, exposed, home};

/// All sources, laid over each other.
pub struct Layers {
    pub tree: Tree,
    /// The config file's name and lines, when there is one.
    pub file: Option<(String, Lines)>,
    /// Its keys that stand twice.
    pub repeated: Vec<DuplicateKey>,
    /// The files that keys like `bot_token_file` name.
    pub files: Vec<PathBuf>,
    /// What is wrong with what was written.
    pub problems: Vec<Problem>,
    /// Files that hold secrets and can be read by anybody.
    pub exposed: Vec<String>,
}

impl Layers {
    /// Reads all of them.
    ///
    /// # Errors
    /// When a file cannot be read at all.
    pub fn read(
        sources: &Sources,
        kits: &[ChannelKit],
        schema: &Value,
        secrets: &Secrets,
    ) -> Result<Self, Problems> {
        let FromFile { mut written, file, repeated } =
            from_file(&sources.file, &sources.here).map_err(|p| Problems(vec![p]))?;
        let (credentials, strange) = secrets.credentials(&sources.env);
        let mut reader = LayerReader {
            schema,
            secrets,
            home: sources.env.get("HOME").map(String::as_str),
            also: Also::new(kits),
            layers: Vec::new(),
            files: Vec::new(),
            problems: repeated.iter().map(|one| one.problem.clone()).chain(strange).collect(),
            unread: Vec::new(),
        };
        let folder = sources.file.folder(&sources.here);
        reader.expand(&mut written, &folder);
        let name = file.as_ref().map(|(name, _)| sources.here.join(name));
        let name = name.filter(|_| !secrets.values(&written.value).is_empty());
        let exposed = exposed::notes(name.as_deref(), &reader.files);
        reader.take(written, &folder);
        let stronger = [credentials, env::layer(&sources.env, schema)];
        for mut written in stronger.into_iter().chain(sources.flags.iter().map(from_flag)) {
            reader.expand(&mut written, &sources.here);
            reader.take(written, &sources.here);
        }
        let LayerReader { layers, also, files, mut problems, unread, .. } = reader;
        let (tree, clashes) = lay(layers, also, &sources.env)?;
        problems.extend(clashes);
        problems.extend(unread.into_iter().filter(|p| secrets::is_unread(tree.json(), &p.key)));
        Ok(Self { tree, file, repeated, files, problems, exposed })
    }
}

/// Lays the layers over each other and over what is weaker than all of them: the customary variables of other programs,
/// and other words for our keys. Returns which of these contradict a key.
fn lay(
    mut layers: Vec<SourceValues>,
    also: Also<'_>,
    env: &Environment,
) -> Result<(Tree, Vec<Problem>), Problems> {
    let tree = Tree::of(&layers)?;
    layers.insert(0, conventional_env::layer(env, tree.json()));
    let (also, clashes) = also.layer(env, tree.json());
    layers.insert(0, also);
    Ok((Tree::of(&layers)?, clashes))
}

/// What was read so far.
struct LayerReader<'a> {
    schema: &'a Value,
    secrets: &'a Secrets,
    home: Option<&'a str>,
    also: Also<'a>,
    /// The weakest first.
    layers: Vec<SourceValues>,
    files: Vec<PathBuf>,
    problems: Vec<Problem>,
    /// Files of secrets that cannot be read: a stronger source may give the secret itself.
    unread: Vec<Problem>,
}

impl LayerReader<'_> {
    /// Puts the home folder where a path begins with `~`, and notes the files that are named.
    fn expand(&mut self, written: &mut SourceValues, folder: &Path) {
        for (path, message) in home::expand(&mut written.value, self.home) {
            self.problems.push(Problem { place: (written.place)(&path), key: key(&path), message });
        }
        self.files.extend(secrets::named_files(&written.value, folder));
    }

    /// Takes a source as the strongest so far, with the secrets that its files hold.
    fn take(&mut self, mut written: SourceValues, folder: &Path) {
        for problem in self.secrets.read_files(&mut written, folder) {
            match secrets::is_unread(&written.value, &problem.key) {
                true => self.unread.push(problem),
                false => self.problems.push(problem),
            }
        }
        self.problems.extend(self.also.take(&mut written));
        self.problems.extend(strange_sections(&mut written, self.schema));
        self.layers.push(written);
    }
}
