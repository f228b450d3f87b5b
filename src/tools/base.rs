//! The single list: every static tool. A new tool is its file and one line here.

use std::sync::Arc;

use crate::tools::registry::Base;
use crate::tools::{Settings, Tool, conversation, files};

/// Builds the base registry from config. Called once, at start.
///
/// # Errors
/// A name that stands twice: a defect.
pub fn build(settings: &Settings) -> Result<Base, String> {
    let tools: Vec<Arc<dyn Tool>> = vec![
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
            ["list_files", "read_file", "think", "todo_read", "todo_write", "write_file"]
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
        for switch in ["read_file", "write_file", "list_files", "think", "todo_read", "todo_write"] {
            let mut json = serde_json::to_value(&settings).unwrap();
            json[switch]["enabled"] = false.into();
            settings = serde_json::from_value(json).unwrap();
        }
        let base = build(&settings).unwrap();
        assert_eq!(settings.disabled().len(), 6);
        assert!(settings.disabled().iter().all(|name| base.contains(name)));
    }
}
