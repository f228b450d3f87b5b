//! The one place where what is said becomes calls of a platform: no secret is seen in them, however it was written.

use selkie_channel_core::{Channel, Outbound, Part, Redactor};

/// Renders what is said, in order; empty when it shows nothing there.
pub fn rendered(channel: &Channel, outbound: &Outbound, redactor: &Redactor) -> Vec<Part> {
    channel.sender.render(&redactor.said(outbound))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    fn below(folder: &Path) -> Vec<PathBuf> {
        let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn nobody_else_renders() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("delivery");
        let call = ["sender", ".render("].concat();
        let renders = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "rs")
                && std::fs::read_to_string(path).unwrap().contains(&call)
        };
        let all: Vec<PathBuf> = below(&root).into_iter().filter(renders).collect();
        assert_eq!(all, [root.join("rendered.rs")]);
    }
}
