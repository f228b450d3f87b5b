//! The single list: every static tool. A new tool is its file and one line here.

use std::sync::Arc;

use crate::tools::files::Denied;
use crate::tools::registry::Base;
use crate::tools::{Schemas, Settings, Tool, conversation, files};

/// Builds the base registry from config, without schemas of the house.
///
/// # Errors
/// A name that stands twice: a defect.
pub fn build(settings: &Settings) -> Result<Base, String> {
    build_with(settings, Schemas::default())
}

/// Builds the base registry from config; `schemas` are those that no file holds. Called once, at start.
///
/// # Errors
/// A name that stands twice: a defect.
pub fn build_with(settings: &Settings, schemas: Schemas) -> Result<Base, String> {
    let reading = |own: &[String]| Denied::new(settings.closed_to_readers(own));
    let writing = |own: &[String]| Denied::new(settings.closed_to_writers(own));
    let patch = &settings.patch;
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(files::ApplyPatch::new(writing(&settings.apply_patch.deny_paths))),
        Arc::new(files::EditFile::new(writing(&settings.edit_file.deny_paths))),
        Arc::new(files::GitStatus::new(reading(&settings.git_status.deny_paths))),
        Arc::new(files::Glob::new(reading(&settings.glob.deny_paths))),
        Arc::new(files::Grep::new(reading(&settings.grep.deny_paths))),
        Arc::new(files::NotebookEdit::new(writing(&settings.notebook_edit.deny_paths))),
        Arc::new(files::Patch::new(
            writing(&patch.deny_paths),
            patch.validate.clone(),
            schemas.clone(),
        )),
        Arc::new(files::ReadSchema::new(schemas)),
        Arc::new(files::ListFiles::new(&settings.list_files)),
        Arc::new(files::ReadFile::new(&settings.read_file)),
        Arc::new(files::WriteFile::new(&settings.write_file)),
        Arc::new(conversation::Think::new()),
        Arc::new(conversation::TodoRead::new()),
        Arc::new(conversation::TodoWrite::new()),
    ];
    Base::build_without(tools, &settings.disabled())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_sorted_documented_and_takes_one_object() {
        let base = build(&Settings::default()).unwrap();
        let names: Vec<_> = base.specs().iter().map(|s| s.name).collect();
        assert_eq!(
            names,
            [
                "apply_patch",
                "edit_file",
                "git_status",
                "glob",
                "grep",
                "list_files",
                "notebook_edit",
                "patch",
                "read_file",
                "read_schema",
                "think",
                "todo_read",
                "todo_write",
                "write_file"
            ]
        );
        for spec in base.specs() {
            assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
            assert_eq!(spec.parameters["additionalProperties"], false, "{}", spec.name);
            assert!(spec.description.ends_with('.'), "{}", spec.name);
            let described = spec.parameters["properties"].as_object().unwrap();
            assert!(described.values().all(|p| p["description"].is_string()), "{}", spec.name);
        }
    }

    #[test]
    fn every_switch_names_a_tool() {
        let mut settings = Settings::default();
        let all: Vec<_> = build(&settings).unwrap().specs().iter().map(|s| s.name).collect();
        for switch in &all {
            let mut json = serde_json::to_value(&settings).unwrap();
            json[*switch]["enabled"] = false.into();
            settings = serde_json::from_value(json).unwrap();
        }
        let base = build(&settings).unwrap();
        assert_eq!(settings.disabled().len(), all.len());
        assert!(settings.disabled().iter().all(|name| base.contains(name)));
    }
}
