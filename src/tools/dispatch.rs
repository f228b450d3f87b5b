//! One call, from what the model wrote to what it reads: resolve, check, approve, time-box, call, redact, cut.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use selkie_channel_core::Redactor;
use serde_json::Value;
use tokio::time::Instant;

use crate::paths::of_command;
use crate::refusals::{needs_approval, refusal};
use crate::registry::Registry;
use crate::resolve::{ResolvedCall, resolve};
use crate::scope::Scope;
use crate::{Output, Tool, ToolError};
use selkie_domain::approval::Exposure;
use selkie_domain::taint::Taint;
use selkie_domain::tool::{Class, ToolSpec};
use selkie_domain::transcript::{Answer, Call};

/// An answered call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// For the transcript.
    pub answer: Answer,
    /// Names of pictures that are shown behind the task's last words.
    pub drawn: Vec<String>,
}

impl From<Answer> for CallResult {
    fn from(answer: Answer) -> Self {
        Self { answer, drawn: Vec::new() }
    }
}

/// Calls a tool of this task's registry. Every fault of the model's becomes an answer; only what must
/// end the task is an error. The call is in our words already ([`Registry::canonical`]).
///
/// # Errors
/// [`ToolError::Abort`], [`ToolError::Ask`] and [`ToolError::Spawn`] alone.
pub async fn dispatch(
    registry: &Registry,
    call: &Call,
    scope: &Scope,
    redactor: &Redactor,
) -> Result<CallResult, ToolError> {
    let resolved = resolve(registry, call, scope).await;
    let tool = resolved.as_ref().ok().map(|resolved| Arc::clone(&resolved.tool));
    let most = tool.as_ref().map_or(ToolSpec::MAX_OUTPUT, |tool| tool.spec().max_output);
    let output = match resolved {
        Ok(resolved) => answer(resolved, scope).await,
        Err(why) => Err(why),
    };
    let output = match output {
        Ok(output) => output,
        Err(ToolError::Tell(text)) => Output { text, is_error: true, ..Output::default() },
        Err(ToolError::Quote { text, level }) => {
            Output { text, is_error: true, level, ..Output::default() }
        }
        Err(error @ (ToolError::Abort(_) | ToolError::Ask(_) | ToolError::Spawn(_))) => {
            return Err(error);
        }
    };
    let taint = tool.map_or(Taint::Clean, |tool| level(tool.spec(), call, scope, &output));
    let taint = taint.max(output.level);
    // Cleaned before it is cut: half a secret would not be recognised.
    let text = cut(redactor.clean(&output.text), most);
    let answer = Answer {
        call: call.id.clone(),
        text,
        is_error: output.is_error,
        pictures: output.pictures,
        taint,
        typed: output.typed.into_iter().map(|text| redactor.clean(&text)).collect(),
        of: output.of,
    };
    Ok(CallResult { answer, drawn: output.drawn })
}

/// Whose words an answer holds. Of files those that were read count; of a command those it names, and the
/// network it may have reached; all else from outside is others', and so is what a tool answers that is not selkie's own.
fn level(spec: &ToolSpec, call: &Call, scope: &Scope, output: &Output) -> Taint {
    let roots = &scope.roots;
    if spec.foreign.is_some() {
        return Taint::Raw;
    }
    if spec.group == "files" {
        return roots.level.read();
    }
    let cmd = call.arguments.get("cmd").and_then(Value::as_str);
    match (output.untrusted, cmd) {
        (false, _) => Taint::Clean,
        (true, Some(cmd)) if spec.class == Class::Exec => {
            let home = roots.workspace.as_ref().unwrap_or(&roots.own);
            let folder = call.arguments.get("cwd").and_then(Value::as_str).unwrap_or(".");
            let folder = folder.strip_prefix("file_cache_dir").map_or_else(
                || home.join(folder),
                |below| roots.own.join(below.trim_start_matches('/')),
            );
            of_command(cmd, &folder, roots)
        }
        (true, _) => Taint::Raw,
    }
}

/// A call that somebody has to allow is made when they have.
fn approve(resolved: &ResolvedCall, scope: &Scope) -> Result<(), ToolError> {
    let name = resolved.tool.spec().name;
    match &resolved.exposure {
        Exposure::Ask { reasons, .. } if scope.approved.is_none() => {
            Err(ToolError::Tell(needs_approval(name, reasons)))
        }
        Exposure::Free | Exposure::Ask { .. } => Ok(()),
        Exposure::Hidden(reasons) => Err(ToolError::Tell(refusal(name, reasons))),
    }
}

async fn answer(resolved: ResolvedCall, scope: &Scope) -> Result<Output, ToolError> {
    approve(&resolved, scope)?;
    let mut output = timed(&resolved.tool, resolved.args, scope).await?;
    for note in resolved.notes {
        output.text = format!("{}\n{note}", output.text);
    }
    Ok(output)
}

async fn timed(
    tool: &Arc<Tool>,
    args: serde_json::Value,
    scope: &Scope,
) -> Result<Output, ToolError> {
    let ToolSpec { name, longest, .. } = **tool.spec();
    let began = Instant::now();
    let own = longest.map(|most| began + most).map(|own| own.min(scope.task_deadline));
    let own = own.map(|deadline| Scope { deadline, ..scope.clone() });
    let scope = own.as_ref().unwrap_or(scope);
    let halts = &scope.permissions.halts;
    let stood = halts.total();
    tokio::select! {
        biased;
        () = scope.cancel.cancelled() => Err(ToolError::Abort(format!("stopped while {name} ran"))),
        done = AssertUnwindSafe(tool.handler.call(scope, args)).catch_unwind() => {
            done.unwrap_or_else(|_panic| Err(broken(name)))
        }
        () = halts.until(scope.deadline, stood) => {
            let seconds = scope.deadline.saturating_duration_since(began).as_secs();
            Err(ToolError::Tell(format!("{name} was stopped: not done within {seconds} s")))
        }
    }
}

/// A panic is our defect: the panic hook has logged where, the model learns that it may go on without.
fn broken(name: &str) -> ToolError {
    tracing::error!(tool = name, "a tool panicked; the task continues without its answer");
    ToolError::Tell(format!(
        "{name} failed: a bug in the tool, not in your arguments; go on without it and say so"
    ))
}

/// Keeps the head and says how much is missing.
fn cut(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let at = text.floor_char_boundary(most);
    format!(
        "{}\n[Cut: {at} of {} bytes are shown. To see the rest, ask for a smaller part.]",
        &text[..at],
        text.len()
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::registry::{Base, Hide, Overlay, Selection, ToolEntry};
    use crate::testkit::{Act, Acting, Folders};

    fn registry() -> Registry {
        let tools: Vec<Arc<Tool>> = vec![
            Acting::tool("echo", Class::Read, Act::Echo),
            Acting::tool("shout", Class::Exec, Act::Echo),
            Acting::tool("crash", Class::Read, Act::Panic),
            Acting::tool("hang", Class::Read, Act::Hang),
            Acting::tool("lose", Class::Read, Act::Abort),
        ];
        let off = ToolEntry {
            tool: Acting::tool("off", Class::Read, Act::Echo),
            enabled: false,
            absent: None,
        };
        let tools = tools.into_iter().map(ToolEntry::from).chain([off]);
        let base = Arc::new(Base::build(tools).unwrap());
        let what = Arc::new(Selection::over(&base, &[Class::Exec], &[]));
        let hide = Hide { reason: "hidden in caves: it echoes".into(), what, except: None };
        Registry::view(base, vec![hide], Overlay::default())
    }

    async fn ask(scope: &Scope, name: &str, arguments: Value) -> Result<CallResult, ToolError> {
        let redactor = Redactor::default();
        redactor.learn("hunter2hunter2");
        let call = Call { id: "c1.0".into(), name: name.into(), arguments };
        dispatch(&registry(), &call, scope, &redactor).await
    }

    #[tokio::test]
    async fn every_fault_is_an_answer() {
        let folders = Folders::new();
        let mut said = Vec::new();
        for (name, arguments) in [
            ("echo", json!({"text": "hello hunter2hunter2"})),
            ("echo", json!({"txt": "hello"})),
            ("echo", json!("{\"text\": ")),
            ("shout", json!({"text": "a"})),
            ("off", json!({"text": "a"})),
            ("ecko", json!({"text": "a"})),
            ("xyzzyxyzzyxyzzy", json!({})),
            ("crash", json!({"text": "a"})),
        ] {
            let answer = ask(&folders.scope(), name, arguments).await.unwrap().answer;
            said.push(format!("{} {}", if answer.is_error { "✗" } else { "✓" }, answer.text));
        }
        insta::assert_snapshot!(said.join("\n"), @r#"
        ✓ hello [redacted]
        ✗ unknown parameter txt: did you mean text? (takes text)
        text is required
        ✗ the arguments must be one JSON object like {"text": …}
        ✗ shout is not available here: hidden in caves: it echoes
        ✗ off tool is disabled
        ✗ there is no tool ecko: did you mean echo?
        ✗ there is no tool xyzzyxyzzyxyzzy
        ✗ crash failed: a bug in the tool, not in your arguments; go on without it and say so
        "#);
    }

    #[test]
    fn a_command_brings_what_it_names() {
        let folders = Folders::new();
        folders.put("cache/bird/one/page.html", "x");
        folders.put("work/mine.txt", "x");
        let scope = folders.scope();
        let bash = Acting::tool("bash", Class::Exec, Act::Echo);
        let brings = |args: Value| {
            let call = Call { id: "c1.0".into(), name: "bash".into(), arguments: args };
            level(bash.spec(), &call, &scope, &Output::outside("x"))
        };
        assert_eq!(brings(json!({"cmd": "cat mine.txt; ls"})), Taint::Clean);
        assert_eq!(brings(json!({"cmd": "curl a.example"})), Taint::Raw);
        assert_eq!(brings(json!({"cmd": "cat page.html", "cwd": "file_cache_dir/."})), Taint::Raw);
        assert_eq!(brings(json!({"cmd": "cat *", "cwd": "file_cache_dir/."})), Taint::Raw);
        for hidden in ["X=page; cat $X.html", "ls | while read f; do cat $f; done", "cat `ls`"] {
            let args = json!({"cmd": hidden, "cwd": "file_cache_dir/."});
            assert_eq!(brings(args), Taint::Raw, "{hidden}");
        }
        let page = folders.at("cache/bird/one/page.html");
        assert_eq!(brings(json!({"cmd": format!("head -1 {}", page.display())})), Taint::Raw);
        assert_eq!(brings(json!({"cmd": "echo hi", "cwd": "file_cache_dir/."})), Taint::Clean);
        assert_eq!(brings(json!({"cmd": "ls", "cwd": "file_cache_dir/."})), Taint::Raw);
    }

    #[tokio::test]
    async fn a_stopped_task_and_a_lost_claim_end_the_task() {
        let folders = Folders::new();
        let scope = folders.scope();
        assert!(matches!(
            ask(&scope, "lose", json!({"text": "a"})).await,
            Err(ToolError::Abort(_))
        ));
        scope.cancel.cancel();
        assert!(matches!(
            ask(&scope, "hang", json!({"text": "a"})).await,
            Err(ToolError::Abort(_))
        ));
    }

    #[tokio::test]
    async fn a_call_ends_at_its_deadline() {
        let folders = Folders::new();
        let mut scope = folders.scope();
        scope.deadline = Instant::now() + Duration::from_millis(5);
        let answer = ask(&scope, "hang", json!({"text": "a"})).await.unwrap().answer;
        assert_eq!(answer.text, "hang was stopped: not done within 0 s");
    }

    #[tokio::test]
    async fn a_long_answer_is_cut_and_no_secret_is_cut_in_half() {
        let folders = Folders::new();
        let text = format!("{}hunter2hunter2", "ö".repeat(ToolSpec::MAX_OUTPUT / 2 - 4));
        let answer = ask(&folders.scope(), "echo", json!({"text": text})).await.unwrap().answer;
        assert!(answer.text.ends_with(
            "[Cut: 51200 of 51202 bytes are shown. To see the rest, ask for a smaller part.]"
        ));
        assert!(!answer.text.contains("hunter2"));
    }

    proptest! {
        #[test]
        fn a_cut_keeps_a_head_of_whole_characters(text in "\\PC{0,60}", most in 0_usize..80) {
            let whole = text.clone();
            let kept = cut(text, most);
            if whole.len() <= most {
                prop_assert_eq!(kept, whole);
            } else {
                let (head, _) = kept.rsplit_once("\n[Cut: ").unwrap();
                prop_assert!(head.len() <= most && whole.starts_with(head));
                prop_assert!(most - head.len() < 4);
            }
        }
    }
}
