//! `cron`: has something done later, or again and again, in this conversation.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::args::typed;
use crate::basis::Target;
use crate::paths::Roots;
use crate::ports::{Entry, EntryDoes, ScheduleList, When};
use crate::scope::Scope;
use crate::shown::Preview;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::facts::Trigger;
use selkie_domain::ids::ScheduleId;
use selkie_domain::schedule::Wish;
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// The tool.
pub(crate) struct Cron;

#[derive(Deserialize, JsonSchema)]
struct Args {
    action: Action,
    /// For add: 5-field crontab ("0 8 * * 1-5"), "@daily", "every 10m", "in 20m", "at 18:30" or "at
    /// 2026-12-24T18:00:00+01:00".
    schedule: Option<String>,
    /// For add: what to do, in words that stand by themselves.
    prompt: Option<String>,
    /// For add, in place of prompt: a reminder's words.
    remind: Option<String>,
    /// For remove, pause, resume.
    id: Option<String>,
    /// For add: IANA zone ("Europe/Berlin").
    timezone: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    List,
    Add,
    Remove,
    Pause,
    Resume,
}

#[async_trait]
impl Handler for Cron {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Schedules of this conversation: something done later, or again and again. Each prompt \
                          becomes a task of its own, answered here; a reminder's words are said as they are."
                .to_owned(),
            group: "conversation",
            sources: &["S4"],
            doing: "managing schedules",
            // Kept under the call's id: calling again finds what is there.
            // A reminder is a note to this conversation; what asks a model counts as a message: see `target`.
            ..spec::<Args>("cron", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let args: Args = typed(args)?;
        let text = match args.action {
            Action::List => return list(scope).await,
            Action::Add => add(scope, args).await?,
            Action::Remove => wish(scope, args.id, Wish::Remove).await?,
            Action::Pause => wish(scope, args.id, Wish::Pause).await?,
            Action::Resume => wish(scope, args.id, Wish::Resume).await?,
        };
        Ok(Output::ok(text))
    }

    /// What a model is asked later is a message: to this conversation, so it needs no owner's approval for its target. Fixed
    /// words are a note, as `/remind` is, and so is what becomes of them.
    async fn target(&self, scope: &Scope, args: &Value) -> Result<Target, ToolError> {
        let args: Args = typed(args.clone())?;
        let is_note = match args.action {
            Action::List => true,
            Action::Add => args.prompt.is_none(),
            Action::Remove | Action::Pause | Action::Resume => {
                match number(scope, args.id, Wish::Pause) {
                    Ok(id) => scope.timetable.is_reminder(id).await?,
                    // It is refused in words.
                    Err(_) => true,
                }
            }
        };
        Ok(match is_note {
            true => Target::default(),
            false => Target { is_excused: true, ..Target::of(Class::Message) },
        })
    }

    fn preview(&self, _roots: &Roots, args: &Value) -> Option<Preview> {
        let action = args.get("action").and_then(Value::as_str).unwrap_or_default();
        (action != "list").then(|| Preview::of(format!("{action} a schedule"), &["action"]))
    }

    fn refuses(&self, scope: &Scope, args: &Value) -> Option<String> {
        let refused = |why: ToolError| Some(why.to_string());
        let args: Args = match typed(args.clone()) {
            Ok(args) => args,
            Err(why) => return refused(why),
        };
        let change = match args.action {
            Action::List => return None,
            Action::Add => {
                return entry(scope, args).map_or_else(refused, |new| scope.timetable.fault(&new));
            }
            Action::Remove => Wish::Remove,
            Action::Pause => Wish::Pause,
            Action::Resume => Wish::Resume,
        };
        number(scope, args.id, change).err().and_then(refused)
    }
}

async fn list(scope: &Scope) -> Result<Output, ToolError> {
    let listed = scope.timetable.list(&scope.conversation).await?;
    let rest = listed.rest();
    let ScheduleList { mut lines, level, .. } = listed;
    lines.extend(rest);
    let text = match lines.is_empty() {
        true => "No schedules here.".to_owned(),
        false => lines.join("\n"),
    };
    Ok(Output { level, ..Output::ok(text) })
}

async fn add(scope: &Scope, args: Args) -> Result<String, ToolError> {
    scope.timetable.add(entry(scope, args)?).await
}

/// Reads what is to be kept; everything that can be refused beforehand is.
fn entry(scope: &Scope, args: Args) -> Result<Entry, ToolError> {
    if scope.trigger != Trigger::Asked {
        let why = "a task that nobody asked for cannot make schedules: tell people what you would \
                   schedule, and why";
        return Err(ToolError::tell(why));
    }
    Ok(Entry {
        key: format!("call:{}:{}", scope.task, scope.call),
        conversation: scope.conversation.clone(),
        when: When::Expression(needed(args.schedule, "schedule")?),
        zone: args.timezone,
        does: match (args.prompt, args.remind) {
            (Some(_), Some(_)) => return Err(ToolError::tell("give prompt or remind, not both")),
            (None, Some(words)) => EntryDoes::Remind(needed(Some(words), "remind")?),
            (prompt, None) => EntryDoes::Prompt(needed(prompt, "prompt")?),
        },
        by: scope.wisher()?,
        taint: scope.taint,
    })
}

async fn wish(scope: &Scope, id: Option<String>, wish: Wish) -> Result<String, ToolError> {
    let id = number(scope, id, wish)?;
    scope.timetable.wish(&scope.conversation, &scope.wisher()?, id, wish).await
}

/// Reads which schedule is to be changed, where it may be.
fn number(scope: &Scope, id: Option<String>, wish: Wish) -> Result<ScheduleId, ToolError> {
    if scope.trigger != Trigger::Asked && wish == Wish::Resume {
        let why = "a task that nobody asked for lets no schedule go on: a budget that it has used up would be \
                   forgiven; tell people what you would resume, and why";
        return Err(ToolError::tell(why));
    }
    let written = needed(id, "id")?;
    let number = written.trim().trim_start_matches('#').parse();
    number.map(ScheduleId).map_err(|_| {
        let shown: String = written.chars().take(40).collect();
        ToolError::tell(format!("id {shown:?} is no schedule's number: the action list shows them"))
    })
}

fn needed(value: Option<String>, name: &str) -> Result<String, ToolError> {
    let given = value.filter(|value| !value.trim().is_empty());
    given.ok_or_else(|| ToolError::tell(format!("{name} is required")))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use selkie_channel_core::{ConversationId, PersonId, locked};
    use serde_json::json;

    use super::*;
    use crate::args::accept;
    use crate::ports::{Timetable, Wisher};
    use crate::testkit::Folders;
    use selkie_domain::taint::Taint;

    /// Writes down what is asked of it.
    #[derive(Default)]
    struct Noted(Mutex<Vec<String>>);

    #[async_trait]
    impl Timetable for Noted {
        async fn add(&self, entry: Entry) -> Result<String, ToolError> {
            let Entry { key, when, zone, does, taint, .. } = entry;
            locked(&self.0).push(format!("{key} {when:?} {zone:?} {does:?} {taint:?}"));
            Ok("kept".to_owned())
        }

        async fn list(&self, _: &ConversationId) -> Result<ScheduleList, ToolError> {
            Ok(ScheduleList {
                lines: vec!["3 · every hour".to_owned()],
                more: 0,
                level: Taint::Derived,
            })
        }

        async fn wish(
            &self,
            _: &ConversationId,
            by: &Wisher,
            id: ScheduleId,
            wish: Wish,
        ) -> Result<String, ToolError> {
            Ok(format!("{id} {wish:?} {}", by.person))
        }
    }

    async fn call(scope: &Scope, args: Value) -> Result<Output, String> {
        let tool = Cron;
        let accepted = accept(&tool.spec().parameters, &args)?;
        tool.call(scope, accepted.args).await.map_err(|error| error.to_string())
    }

    fn scope(folders: &Folders) -> Scope {
        let speaker = Some(PersonId::new("tg:1"));
        Scope { timetable: Arc::new(Noted::default()), speaker, ..folders.scope() }
    }

    #[tokio::test]
    async fn each_action_does_what_it_says() {
        let folders = Folders::new();
        let scope = scope(&folders);
        let text = async |args| call(&scope, args).await.map_or_else(|error| error, |o| o.text);
        let add = json!({"action": "add", "schedule": "every 1h", "prompt": "tell me"});
        assert_eq!(text(add).await, "kept");
        let list = call(&scope, json!({"action": "list"})).await.unwrap();
        assert_eq!((list.text.as_str(), list.level), ("3 · every hour", Taint::Derived));
        for (action, said) in
            [("remove", "3 Remove tg:1"), ("pause", "3 Pause tg:1"), ("resume", "3 Resume tg:1")]
        {
            assert_eq!(text(json!({"action": action, "id": "3"})).await, said);
        }
        insta::assert_snapshot!(
            [
                text(json!({"action": "add", "prompt": "tell me"})).await,
                text(json!({"action": "add", "schedule": "@daily", "prompt": " "})).await,
                text(json!({"action": "add", "schedule": "in 5m", "remind": ""})).await,
                text(json!({"action": "add", "schedule": "in 5m", "prompt": "a", "remind": "b"}))
                    .await,
                text(json!({"action": "remove"})).await,
                text(json!({"action": "remove", "id": "the first"})).await,
                text(json!({"action": "snooze"})).await,
            ]
            .join("\n"),
            @r#"
        schedule is required
        prompt is required
        remind is required
        give prompt or remind, not both
        id is required
        id "the first" is no schedule's number: the action list shows them
        invalid action: snooze (takes list, add, remove, pause, resume)
        "#
        );
    }

    #[tokio::test]
    async fn what_a_schedule_started_makes_no_schedules() {
        let folders = Folders::new();
        let scope = Scope { trigger: Trigger::Scheduled, ..scope(&folders) };
        let add = json!({"action": "add", "schedule": "every 1h", "prompt": "tell me"});
        let said = call(&scope, add).await.unwrap_err();
        assert!(said.starts_with("a task that nobody asked for cannot make schedules"), "{said}");
        assert!(call(&scope, json!({"action": "list"})).await.is_ok());
        let said = call(&scope, json!({"action": "resume", "id": "3"})).await.unwrap_err();
        assert!(said.contains("lets no schedule go on"), "{said}");
        assert!(call(&scope, json!({"action": "pause", "id": "3"})).await.is_ok());
    }

    #[test]
    fn nobody_is_asked_about_what_can_never_be_done() {
        let folders = Folders::new();
        let asked = scope(&folders);
        let unasked = Scope { trigger: Trigger::Scheduled, ..scope(&folders) };
        let add = json!({"action": "add", "schedule": "every 1h", "prompt": "tell me"});
        let resume = json!({"action": "resume", "id": "3"});
        let tool = Cron;
        let why = |scope, args: &Value| tool.refuses(scope, args).unwrap_or_default();
        assert!(why(&unasked, &add).starts_with("a task that nobody asked for cannot make"));
        assert!(why(&unasked, &resume).contains("lets no schedule go on"));
        assert_eq!(why(&asked, &json!({"action": "add", "prompt": "x"})), "schedule is required");
        assert!(
            why(&asked, &json!({"action": "pause", "id": "x"})).contains("no schedule's number")
        );
        for args in [&add, &resume, &json!({"action": "list"})] {
            assert_eq!(why(&asked, args), "", "{args}");
        }
        assert_eq!(why(&unasked, &json!({"action": "remove", "id": "3"})), "");
    }
}
