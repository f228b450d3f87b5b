//! `ask_user`: asks the person, one question after the other, and waits for the answers.

use async_trait::async_trait;
use schemars::JsonSchema;
use selkie_channel_core::Choice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::args::typed;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::question::{Ask, QuestionResult};
use selkie_domain::span::Span;
use selkie_domain::tool::{Also, Class, OtherName, Recovery, ToolSpec};

/// Questions of one call.
const MAX_QUESTIONS: usize = 4;
/// Options of one question.
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;
/// A question is shown in one message.
const MAX_CHARACTERS: usize = 2_000;
/// A label stands on a button, whole or shortened.
const MAX_LABEL: usize = 100;

/// Other harnesses' names of it.
const ALSO: &[OtherName] = &[OtherName::plain("ask_user_question")];

/// `tools.ask_user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "AskUser")]
pub struct Settings {
    /// Whether it may be used.
    pub enabled: bool,
    /// How long a question stays open, one for the approval of a plan too.
    pub timeout: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { enabled: true, timeout: Span::seconds(24 * 60 * 60) }
    }
}

/// The tool.
pub(crate) struct AskUser {
    timeout: Span,
}

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// This or `questions`.
    question: Option<String>,
    /// Up to 4, one after the other; same fields.
    questions: Option<Vec<Single>>,
    header: Option<String>,
    /// 2 to 4 answers.
    options: Option<Vec<Choosable>>,
    /// Default false.
    multi_select: Option<bool>,
    /// Take own words too; always so without options.
    allow_free_text: Option<bool>,
    free_text_placeholder: Option<String>,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Single {
    question: String,
    header: Option<String>,
    options: Option<Vec<Choosable>>,
    multi_select: Option<bool>,
    allow_free_text: Option<bool>,
    free_text_placeholder: Option<String>,
}

// Something to choose.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Choosable {
    Label(String),
    Described { label: String, description: Option<String> },
}

impl AskUser {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { timeout: settings.timeout }
    }
}

#[async_trait]
impl Handler for AskUser {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Ask the person who wrote to you and wait: for a decision or a confirmation that you \
                          cannot do without."
                .to_owned(),
            group: "conversation",
            sources: &["S0", "S1", "S2"],
            doing: "asking a question",
            also: Also::called(ALSO),
            stands_alone: true,
            ..spec::<Args>("ask_user", Class::Note, Recovery::CallAgain)
        }
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let asks = self.asks(typed(args)?)?;
        // Who did not answer one question is not asked the next.
        let gone = matches!(
            scope.given.last(),
            Some(QuestionResult::Expired | QuestionResult::NotAsked { .. })
        );
        match asks.get(scope.given.len()).filter(|_| !gone) {
            Some(next) => Err(ToolError::ask(next.clone())),
            None => Ok(answers(&asks, &scope.given)),
        }
    }
}

impl AskUser {
    fn asks(&self, args: Args) -> Result<Vec<Ask>, ToolError> {
        let all = singles(args)?;
        let count = all.len();
        let several = all.len() > 1;
        let place = |n: usize| if several { format!("questions.{n}.") } else { String::new() };
        all.into_iter()
            .enumerate()
            .map(|(n, single)| {
                let number = several.then(|| number(n + 1, count));
                self.ask(&place(n), number, single).map_err(ToolError::Tell)
            })
            .collect()
    }

    fn ask(&self, place: &str, number: Option<String>, single: Single) -> Result<Ask, String> {
        let text = single.question.trim();
        if text.is_empty() {
            return Err(format!("{place}question is required"));
        }
        if text.chars().count() > MAX_CHARACTERS {
            return Err(format!("{place}question must have at most {MAX_CHARACTERS} characters"));
        }
        let choices = choices(place, single.options.as_deref())?;
        let header = single.header.as_deref().map(str::trim).filter(|h| !h.is_empty());
        let above = match (header, number) {
            (Some(header), Some(number)) => format!("**{header}** {number}\n\n"),
            (Some(header), None) => format!("**{header}**\n\n"),
            (None, Some(number)) => format!("{number} "),
            (None, None) => String::new(),
        };
        Ok(Ask {
            v: Ask::VERSION,
            markdown: above + text,
            many: single.multi_select.unwrap_or(false) && !choices.is_empty(),
            free_text: single.allow_free_text.unwrap_or(false) || choices.is_empty(),
            choices,
            placeholder: single.free_text_placeholder.unwrap_or_default().trim().to_owned(),
            within: self.timeout,
        })
    }
}

fn singles(args: Args) -> Result<Vec<Single>, ToolError> {
    let Args { question, questions, header, options, multi_select, .. } = args;
    match (question, questions) {
        (Some(_), Some(_)) => Err(ToolError::tell("give question or questions, not both")),
        (Some(question), None) => Ok(vec![Single {
            question,
            header,
            options,
            multi_select,
            allow_free_text: args.allow_free_text,
            free_text_placeholder: args.free_text_placeholder,
        }]),
        (None, Some(all)) if all.is_empty() => Err(ToolError::tell("questions is required")),
        (None, Some(all)) if all.len() > MAX_QUESTIONS => Err(ToolError::tell(format!(
            "questions must have at most {MAX_QUESTIONS} items, not {}",
            all.len()
        ))),
        (None, Some(all)) => Ok(all),
        (None, None) => Err(ToolError::tell("question is required")),
    }
}

fn choices(place: &str, options: Option<&[Choosable]>) -> Result<Vec<Choice>, String> {
    let Some(options) = options else { return Ok(Vec::new()) };
    if !OPTIONS.contains(&options.len()) {
        return Err(format!("{place}options must have 2-4 items, not {}", options.len()));
    }
    let mut choices: Vec<Choice> = Vec::with_capacity(options.len());
    for (n, option) in options.iter().enumerate() {
        let (label, description) = match option {
            Choosable::Label(label) => (label, ""),
            Choosable::Described { label, description } => {
                (label, description.as_deref().unwrap_or_default())
            }
        };
        let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
        if label.is_empty() {
            return Err(format!("{place}options.{n} is required"));
        }
        if label.chars().count() > MAX_LABEL {
            return Err(format!("{place}options.{n} must have at most {MAX_LABEL} characters"));
        }
        if choices.iter().any(|c| c.label.eq_ignore_ascii_case(&label)) {
            return Err(format!("{place}options: two are called {label}"));
        }
        let id = (n + 1).to_string();
        let description = description.trim().to_owned();
        choices.push(Choice { id, label, description });
    }
    Ok(choices)
}

/// Says which of several questions it is.
fn number(n: usize, count: usize) -> String {
    format!("({n} of {count})")
}

/// One answer as it is, several with their questions.
fn answers(asks: &[Ask], given: &[QuestionResult]) -> Output {
    let says = |(ask, given): (&Ask, &QuestionResult)| match given {
        QuestionResult::Expired => format!("{}.", ask.says(given)),
        _ => ask.says(given),
    };
    let is_error = matches!(given.last(), Some(QuestionResult::NotAsked { .. }));
    let said: Vec<String> = match (asks, given) {
        ([ask], [given]) => vec![says((ask, given))],
        _ => {
            let line = |(n, pair): (usize, (&Ask, &QuestionResult))| {
                // Without what stands above it.
                let asked = pair.0.markdown.lines().last().unwrap_or_default();
                let asked = asked.strip_prefix(&number(n + 1, asks.len())).unwrap_or(asked).trim();
                format!("{}. {asked}\n   → {}", n + 1, says(pair))
            };
            asks.iter().zip(given).enumerate().map(line).collect()
        }
    };
    // A label is the model's own word, whoever taps it.
    let typed = given.iter().filter_map(|given| match given {
        QuestionResult::Words { text } => Some(text.clone()),
        _ => None,
    });
    Output { text: said.join("\n"), is_error, typed: typed.collect(), ..Output::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::args::accept;
    use crate::testkit::Folders;

    /// Calls it as dispatch does, with what was answered so far.
    async fn call(args: Value, given: Vec<QuestionResult>) -> Result<Output, ToolError> {
        let tool = AskUser::new(&Settings::default());
        let args = accept(&tool.spec().parameters, &args).map_err(ToolError::Tell)?.args;
        let scope = Scope { given, ..Folders::new().scope() };
        tool.call(&scope, args).await
    }

    async fn says(args: Value, given: Vec<QuestionResult>) -> String {
        match call(args, given).await {
            Ok(output) => output.text,
            Err(ToolError::Ask(question)) => {
                let ask = question.ask;
                let labels: Vec<_> = ask.choices.iter().map(|c| c.label.as_str()).collect();
                let (many, free) = (ask.many, ask.free_text);
                format!("asks {:?} {labels:?} many={many} free={free}", ask.markdown)
            }
            Err(other) => other.to_string(),
        }
    }

    fn chosen(ids: &[&str]) -> QuestionResult {
        QuestionResult::Chosen { choices: ids.iter().map(|s| (*s).to_owned()).collect() }
    }

    #[tokio::test]
    async fn every_form_of_the_documents_is_asked() {
        let said = [
            says(json!({"question": "Go on?"}), vec![]).await,
            says(json!({"question": "Go on?", "options": ["Yes", "No"]}), vec![]).await,
            says(
                json!({"question": "Which?", "header": "Drinks", "multi_select": true, "allow_free_text": true,
                       "options": [{"label": "Tea", "description": "green"}, "Milk"]}),
                vec![],
            )
            .await,
            says(json!({"questions": [{"question": "A?"}, {"question": "B?"}]}), vec![]).await,
            says(json!({"question": "Go on?", "multi_select": true}), vec![]).await,
        ];
        insta::assert_snapshot!(said.join("\n"), @r#"
        asks "Go on?" [] many=false free=true
        asks "Go on?" ["Yes", "No"] many=false free=false
        asks "**Drinks**\n\nWhich?" ["Tea", "Milk"] many=true free=true
        asks "(1 of 2) A?" [] many=false free=true
        asks "Go on?" [] many=false free=true
        "#);
    }

    #[tokio::test]
    async fn every_fault_is_told() {
        let long = "x".repeat(2_001);
        let mut said = Vec::new();
        for args in [
            json!({}),
            json!({"question": "  "}),
            json!({"question": "a", "questions": [{"question": "b"}]}),
            json!({"questions": []}),
            json!({"questions": [{"question": "1"}, {"question": "2"}, {"question": "3"}, {"question": "4"},
                                 {"question": "5"}]}),
            json!({"questions": [{"question": "1"}, {"question": "2", "options": ["one"]}]}),
            json!({"question": "a", "options": []}),
            json!({"question": "a", "options": ["1", "2", "3", "4", "5"]}),
            json!({"question": "a", "options": ["Tea", "tea"]}),
            json!({"question": "a", "options": ["Tea", " "]}),
            json!({"question": long}),
            json!({"question": "a", "options": "tea"}),
            json!({"question": "a", "options": [1, 2]}),
            json!({"question": "a", "choices": ["a", "b"]}),
        ] {
            said.push(says(args, vec![]).await);
        }
        insta::assert_snapshot!(said.join("\n"), @r"
        question is required
        question is required
        give question or questions, not both
        questions is required
        questions must have at most 4 items, not 5
        questions.1.options must have 2-4 items, not 1
        options must have 2-4 items, not 0
        options must have 2-4 items, not 5
        options: two are called tea
        options.1 is required
        question must have at most 2000 characters
        options must be an array of strings or objects
        options must be an array of strings or objects
        unknown parameter choices (takes question, questions, header, options, multi_select, allow_free_text, free_text_placeholder)
        ");
    }

    #[tokio::test]
    async fn several_are_asked_one_after_the_other() {
        let args =
            json!({"questions": [{"question": "A?", "options": ["x", "y"]}, {"question": "B?"}]});
        let words = QuestionResult::Words { text: "as you like".to_owned() };
        let said = [
            says(args.clone(), vec![chosen(&["2"])]).await,
            says(args.clone(), vec![chosen(&["2"]), words]).await,
            says(args, vec![QuestionResult::Expired]).await,
            says(json!({"question": "A?", "options": ["x", "y"]}), vec![chosen(&["1"])]).await,
            says(json!({"question": "A?"}), vec![QuestionResult::Expired]).await,
            says(
                json!({"question": "A?"}),
                vec![QuestionResult::NotAsked { why: "blocked".to_owned() }],
            )
            .await,
        ];
        insta::assert_snapshot!(said.join("\n"), @r#"
        asks "(2 of 2) B?" [] many=false free=true
        1. A?
           → y
        2. B?
           → as you like
        1. A?
           → No answer within 1d.
        x
        No answer within 1d.
        The question could not be asked: blocked
        "#);
    }

    #[tokio::test]
    async fn words_are_the_persons_and_a_label_is_not() {
        let args =
            || json!({ "question": "where?", "options": ["a", "b"], "allow_free_text": true });
        let words = QuestionResult::Words { text: "https://example.com/x".to_owned() };
        let output = call(args(), vec![words]).await.unwrap();
        assert_eq!(output.typed, ["https://example.com/x"]);
        let chosen = QuestionResult::Chosen { choices: vec!["1".to_owned()] };
        assert!(call(args(), vec![chosen]).await.unwrap().typed.is_empty());
    }
}
