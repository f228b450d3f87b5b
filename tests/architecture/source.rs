//! The workspace's Rust files as the walls see them: where each stands, which module it is, what it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use crate::facts::Facts;

/// A module of a crate: the crate's folder name and the path of modules below its root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Module {
    /// `selkie`, `bin`, or the crate's folder below `src` or `channels`.
    pub package: String,
    /// `["intake", "gate"]`.
    pub path: Vec<String>,
}

/// One file.
pub struct Source {
    pub module: Module,
    pub facts: Facts,
}

/// All files, by their path from the root of the repository.
#[derive(Clone, Default)]
pub struct Tree {
    pub files: BTreeMap<String, Arc<Source>>,
    modules: BTreeMap<Module, String>,
}

/// The tree as it stands, parsed once for all tests.
static STANDING: LazyLock<Tree> =
    LazyLock::new(|| Tree::parsed(Path::new(env!("CARGO_MANIFEST_DIR"))));

impl Tree {
    /// Everything below `src` and `channels`.
    pub fn read() -> Self {
        STANDING.clone()
    }

    /// Everything below `src` and `channels` of another tree.
    pub fn parsed(root: &Path) -> Self {
        let mut tree = Self::default();
        for folder in ["src", "channels"] {
            for file in below(&root.join(folder), "rs") {
                let text = fs::read_to_string(&file).expect("a source file can be read");
                tree.insert(&relative(root, &file), &text);
            }
        }
        tree
    }

    fn insert(&mut self, name: &str, text: &str) {
        let source = Source { facts: Facts::read(name, text), module: module(name) };
        self.modules.insert(source.module.clone(), name.to_owned());
        self.files.insert(name.to_owned(), Arc::new(source));
    }

    /// The tree with one file made anew from its text by `change`.
    pub fn with(mut self, file: &str, change: impl FnOnce(String) -> String) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = fs::read_to_string(path).unwrap_or_default();
        self.insert(file, &change(text));
        self
    }

    /// The files that are not there for tests alone.
    pub fn production(&self) -> impl Iterator<Item = (&String, &Source)> {
        self.files.iter().filter(|(name, _)| !self.is_test(name)).map(|(name, s)| (name, &**s))
    }

    /// Whether a file is compiled for tests only: it or a module around it is declared so.
    pub fn is_test(&self, file: &str) -> bool {
        let module = &self.files[file].module;
        (1..=module.path.len()).any(|depth| {
            let around = Module { path: module.path[..depth - 1].to_vec(), ..module.clone() };
            self.at(&around)
                .is_some_and(|(_, s)| s.facts.test_modules.contains(&module.path[depth - 1]))
        }) || file.contains("/tests/") && !file.starts_with("src/")
    }

    /// The file that is a module.
    pub fn at(&self, module: &Module) -> Option<(&String, &Source)> {
        let name = self.modules.get(module)?;
        Some((name, &*self.files[name]))
    }
}

/// The JavaScript files of the demo's page, with their texts.
pub fn scripts() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let texts = |file: PathBuf| {
        (relative(root, &file), fs::read_to_string(&file).expect("a script can be read"))
    };
    below(&root.join("channels"), "js").into_iter().map(texts).collect()
}

fn below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("folder").map(|e| e.expect("entry").path()) {
        if entry.is_dir() {
            found.extend(below(&entry, extension));
        } else if entry.extension().is_some_and(|e| e == extension) {
            found.push(entry);
        }
    }
    found
}

fn relative(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/")
}

fn module(file: &str) -> Module {
    let (package, inside) = match file.strip_prefix("src/") {
        Some("main.rs" | "channels.rs" | "stand_in.rs") => ("bin", &file["src/".len()..]),
        Some(inside) => match inside.split_once('/') {
            Some(within) => within,
            None => ("selkie", inside),
        },
        None => {
            let rest = file.strip_prefix("channels/").unwrap_or(file);
            let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
            (package, inside.strip_prefix("src/").unwrap_or(inside))
        }
    };
    let stem = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut path: Vec<String> = stem.split('/').map(str::to_owned).collect();
    if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        path.pop();
    }
    Module { package: package.to_owned(), path }
}
