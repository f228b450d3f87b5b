//! Every parameter of every tool, and those among them that can name another conversation: calls are judged by what these
//! name, and a new tool cannot forget it.

use async_trait::async_trait;
use selkie_channel_core::{AccountId, ConversationId};

use super::*;
use crate::ports::{Addressee, AddresseeQuery, Addressees, Sender};
use crate::registry::{AskRules, Base, Hide, Overlay, Selection};
use crate::testkit::Folders;
use crate::{Settings, base};
use selkie_domain::taint::Taint;
use selkie_domain::tool::ToolSpec;

/// Tools with their parameters; `*`: it names where text goes.
const PARAMETERS: &str = "\
apply_patch: patch
ask_user: question questions header options multi_select allow_free_text free_text_placeholder
bash: cmd cwd timeout_seconds env run_in_background run_in_subtask
contacts_send: contact_id* chat_id* content_type message_text message_base64 session_id reply_to
cron: action schedule prompt remind id timezone
edit_file: path old_string new_string replace_all
git_status: path
list_agents:
message_agent: names message
peek_agent: name
spawn: task name agent wait tools model effort timeout output_schema
stop_agent: name
glob: pattern path
grep: pattern path include context_lines
list_files: path recursive include details
memory_get: path from lines
memory_search: query max_results min_score
memory_write: text section
message: to* content
notebook_edit: notebook_path cell_number cell_id new_source cell_type edit_mode
patch: path operation content old_string new_string
persona_write: name creature vibe emoji core_truths boundaries manner
plan_enter:
plan_exit: plan_summary
powershell: cmd cwd timeout_seconds
process: action process_id input signal wait_seconds cursor
read_file: path offset limit page
read_schema: schema path
recall: id
sessions_history: session_id limit
sessions_list: limit
sessions_send: session_id* content
sessions_status:
think: thought
todo_read:
todo_write: todos
url_fetch: url method headers body download_path timeout_seconds max_bytes
web_fetch: url prompt format timeout
web_search: q max_results
write_file: path content mode
plan_create: task max_steps style model
todo_update: action content people chat_id*
image_generate: prompt picture size
acp_spawn: agent task cwd
load_skill: name
";

/// Finds whatever is named, in one chat.
struct OneChat;

#[async_trait]
impl Addressees for OneChat {
    async fn find(&self, _: &Sender, _: &AddresseeQuery) -> Result<Addressee, ToolError> {
        Ok(Addressee {
            conversation: ConversationId::new(AccountId::new("bird:1"), "bird:9"),
            contact: String::new(),
            name: String::new(),
            is_shared: false,
            costs: None,
            level: Taint::Clean,
        })
    }
}

fn all() -> Vec<Arc<Tool>> {
    let (settings, means) = (Settings::default(), base::ToolDeps::default());
    let built = base::build(&settings, &means).unwrap();
    let names: Vec<_> = built.specs().iter().map(|spec| spec.name).collect();
    let view = Registry::view(Arc::new(built), Vec::new(), Overlay::default());
    let find = |name| look_up(&view, name);
    let of_base = names.into_iter().filter_map(|name| find(name).ok());
    of_base.chain(base::runtime(&settings, &means).into_iter().map(|on_top| on_top.tool)).collect()
}

fn parameters(spec: &ToolSpec) -> Vec<&str> {
    let named = spec.parameters.get("properties").and_then(Value::as_object);
    named.into_iter().flat_map(|named| named.keys().map(String::as_str)).collect()
}

fn listed(name: &str) -> Vec<&'static str> {
    let line = PARAMETERS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("add {name} to the list")).split_whitespace().collect()
}

/// Arguments that a call of the tool needs besides its target.
fn arguments(name: &str, target: &str) -> Value {
    let mut args = match name {
        "contacts_send" => json!({"contact_id": "bird:9", "message_text": "x"}),
        "todo_update" => json!({"action": "add", "content": "2026-03-05 18:30 x", "people": []}),
        _ => json!({"content": "x"}),
    };
    args[target] = json!("bird:9");
    args
}

#[tokio::test]
async fn what_names_a_conversation_is_judged_as_a_message_to_it() {
    let folders = Folders::new();
    let scope = Scope { taint: Taint::Raw, addressees: Arc::new(OneChat), ..folders.scope() };
    for tool in all() {
        let spec = tool.spec();
        let listed = listed(spec.name);
        let plain: Vec<_> = listed.iter().map(|name| name.trim_end_matches('*')).collect();
        assert_eq!(
            parameters(spec),
            plain,
            "{}: does the new parameter say where text goes?",
            spec.name
        );
        for target in listed.iter().filter_map(|name| name.strip_suffix('*')) {
            let found = super::target(&tool, &scope, &arguments(spec.name, target)).await.unwrap();
            assert_eq!(found.reach, Reach::Elsewhere, "{} {target}", spec.name);
        }
    }
}

#[tokio::test]
async fn a_note_for_another_conversation_asks_and_is_hidden_as_a_message_is() {
    let folders = Folders::new();
    let scope = Scope { taint: Taint::Raw, addressees: Arc::new(OneChat), ..folders.scope() };
    let call = |chat: Option<&str>| {
        let mut args = arguments("todo_update", "chat_id");
        args["chat_id"] = json!(chat);
        Call { id: "c1.0".into(), name: "todo_update".into(), arguments: args }
    };
    let rule = |base: &Base| Hide {
        reason: "asks first: it speaks elsewhere".into(),
        what: Arc::new(Selection::over(base, &[Class::Message], &[])),
        except: None,
    };
    let view = |asks: bool| {
        let (settings, means) = (Settings::default(), base::ToolDeps::default());
        let base = Arc::new(base::build(&settings, &means).unwrap());
        let there =
            base::runtime(&settings, &means).into_iter().map(|on_top| on_top.tool).collect();
        let overlay = Overlay { there, ..Overlay::default() };
        let rules = vec![rule(&base)];
        let (hides, asks) = if asks { (Vec::new(), rules) } else { (rules, Vec::new()) };
        let asks = AskRules { of: Approvers::Owners, rules: asks, freed: Vec::new() };
        Registry::view_asking(base, hides, asks, overlay)
    };
    let exposure =
        async |asks, chat| resolve(&view(asks), &call(chat), &scope).await.unwrap().exposure;
    assert!(exposure(true, Some("bird:9")).await.asks());
    assert!(matches!(exposure(false, Some("bird:9")).await, Exposure::Hidden(_)));
    assert_eq!(exposure(true, None).await, Exposure::Free, "its own list");
}
