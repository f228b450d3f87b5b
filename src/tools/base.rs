//! The single list: every static tool. A new tool is its file and one line here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::domain::usage::Meter;
use crate::tools::files::Denied;
use crate::tools::isolate::{InProcess, Isolate};
use crate::tools::ports::Small;
use crate::tools::registry::Base;
use crate::tools::shell::Processes;
use crate::tools::web::client::Guarded;
use crate::tools::{Schemas, Settings, Tool, ToolError, conversation, files, shell, web};

/// What tools stand on besides config. The default one works alone: for tests and tables.
#[derive(Clone)]
pub struct ToolDeps {
    /// Everything that runs.
    pub processes: Arc<Processes>,
    /// The daemon's own environment, of which commands get a part.
    pub env: Arc<BTreeMap<String, String>>,
    /// The way to the network.
    pub client: Arc<Guarded>,
    /// The model for small work.
    pub small: Arc<dyn Small>,
    /// The conversations' own model, asked for words alone.
    pub main: Arc<dyn Small>,
    /// Where work on foreign bytes is done that could end who does it.
    pub isolate: Arc<dyn Isolate>,
    /// Schemas that no file holds.
    pub schemas: Schemas,
}

impl Default for ToolDeps {
    fn default() -> Self {
        Self {
            processes: Arc::default(),
            env: Arc::default(),
            client: Arc::default(),
            small: Arc::new(Speechless),
            main: Arc::new(Speechless),
            isolate: Arc::new(InProcess),
            schemas: Schemas::default(),
        }
    }
}

/// Stands where there is no model.
struct Speechless;

#[async_trait]
impl Small for Speechless {
    async fn ask(&self, _: &str, _: &str, _: Duration, _: &Meter) -> Result<String, ToolError> {
        Err(ToolError::tell("no model is configured for small work: ask without a prompt"))
    }
}

/// Builds the base registry from config. Called once, at start.
///
/// # Errors
/// A name that stands twice: a defect.
pub fn build(settings: &Settings, means: &ToolDeps) -> Result<Base, String> {
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
            means.schemas.clone(),
        )),
        Arc::new(files::ReadSchema::new(means.schemas.clone())),
        Arc::new(shell::Bash::new(&settings.bash, &means.processes, &means.env)),
        Arc::new(shell::PowerShell::new(&settings.powershell, &means.processes, &means.env)),
        Arc::new(shell::Process::new(&means.processes)),
        Arc::new(web::UrlFetch::new(&settings.url_fetch, &means.client)),
        Arc::new(web::WebFetch::new(&means.client, &means.small, &means.isolate)),
        Arc::new(web::WebSearch::new(&settings.web_search, &means.client, &means.isolate)),
        Arc::new(files::ListFiles::new(&settings.list_files)),
        Arc::new(files::ReadFile::new(&settings.read_file, &means.isolate)),
        Arc::new(files::WriteFile::new(&settings.write_file)),
        Arc::new(conversation::AskUser::new(&settings.ask_user)),
        Arc::new(conversation::PlanEnter::new()),
        Arc::new(conversation::PlanExit::new(&settings.ask_user)),
        Arc::new(conversation::Recall::new()),
        Arc::new(conversation::Think::new()),
        Arc::new(conversation::TodoRead::new()),
        Arc::new(conversation::TodoWrite::new()),
    ];
    Base::build_without(tools, &settings.disabled())
}

/// Builds the runtime tools that every setting's overlay begins with. They know no task: what is a task's
/// own comes with the scope of each call.
pub fn runtime(settings: &Settings, means: &ToolDeps) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(conversation::PlanCreate::new(&settings.plan_create, &means.main))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_sorted_documented_and_takes_one_object() {
        let base = build(&Settings::default(), &ToolDeps::default()).unwrap();
        let names: Vec<_> = base.specs().iter().map(|s| s.name).collect();
        assert_eq!(
            names,
            [
                "apply_patch",
                "ask_user",
                "bash",
                "edit_file",
                "git_status",
                "glob",
                "grep",
                "list_files",
                "notebook_edit",
                "patch",
                "plan_enter",
                "plan_exit",
                "powershell",
                "process",
                "read_file",
                "read_schema",
                "recall",
                "think",
                "todo_read",
                "todo_write",
                "url_fetch",
                "web_fetch",
                "web_search",
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
        let means = ToolDeps::default();
        let base = build(&settings, &means).unwrap();
        let runtime = runtime(&settings, &means);
        let on_top = runtime.iter().map(|t| t.spec().name);
        let all: Vec<_> = base.specs().iter().map(|s| s.name).chain(on_top).collect();
        for switch in &all {
            let mut json = serde_json::to_value(&settings).unwrap();
            json[*switch]["enabled"] = false.into();
            settings = serde_json::from_value(json).unwrap();
        }
        assert_eq!(settings.disabled().len(), all.len());
        assert!(settings.disabled().iter().all(|name| all.contains(name)));
    }

    #[test]
    fn every_other_name_leads_to_a_parameter() {
        for spec in build(&Settings::default(), &ToolDeps::default()).unwrap().specs() {
            for (other, ours) in crate::tools::aliases::spellings(spec.name) {
                assert!(spec.parameters["properties"][ours].is_object(), "{}: {ours}", spec.name);
                assert!(spec.parameters["properties"][other].is_null(), "{}: {other}", spec.name);
            }
        }
    }
}
