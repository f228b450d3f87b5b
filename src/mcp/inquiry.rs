//! What a server asks a person in the middle of a call, one question after the other, and what was answered so far.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::elicitation::{Demand, Elicitation, ElicitationQuestion};
use crate::form::{DECLINED, FieldAnswer, button, fields};
use crate::text::begin;
use selkie_domain::question::{Ask, QuestionResult};
use selkie_domain::span::Span;
use selkie_guard::visible::{code, fenced};

/// Fields of all that a server asks at once, and how often it may ask in one call.
const MAX_FIELDS: usize = 8;
const MAX_ROUNDS: u32 = 8;
/// Answers to one question that do not fit.
const MAX_TRIES: u32 = 3;
/// Bytes of a server's words that are shown.
const MAX_SHOWN: usize = 1_500;
/// How long a question stays open: as long as one of `ask_user` usually does.
const WITHIN: Span = Span::seconds(24 * 60 * 60);
/// The choice that says yes where no field is to be filled in.
const ACCEPTED: &str = "yes";

/// What a server asks, and what was answered so far. To be kept until all of it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Inquiry {
    asks: Elicitation,
    /// By the questions' keys, as the protocol writes them.
    answers: Map<String, Value>,
    /// The fields of the question that is open.
    values: Map<String, Value>,
    /// So many of them have their answer.
    fields: usize,
    /// So many answers to the open one did not fit, the last for this reason.
    tries: u32,
    fault: Option<String>,
    /// How often the server has asked in this call.
    rounds: u32,
}

impl Inquiry {
    /// Begins one, after those before it in the same call.
    pub fn begin(asks: Elicitation, before: Option<&Self>) -> Result<Self, String> {
        let rounds = before.map_or(0, |before| before.rounds) + 1;
        if rounds > MAX_ROUNDS {
            return Err(format!("it asks for the {rounds}th time in one call"));
        }
        let mut count = 0;
        for question in &asks.questions {
            if let Demand::Values(schema) = &question.wanted {
                count += fields(schema)?.len();
            }
        }
        if count > MAX_FIELDS {
            return Err(format!("it wants {count} fields filled in, more than {MAX_FIELDS}"));
        }
        Ok(Self { asks, rounds, ..Self::default() })
    }

    /// Returns the question that is open, as it is put to a person; `None` when all are answered.
    pub fn question(&self, server: &str) -> Option<Ask> {
        let open = self.open()?;
        let mut foreign = begin(&open.message, MAX_SHOWN).to_owned();
        let mut choices = vec![button(ACCEPTED, "Yes"), button(DECLINED, "Do not answer")];
        let mut many = false;
        let wants = match &open.wanted {
            Demand::Page { url, host } => {
                choices[0].label = "Done".to_owned();
                format!(
                    "It wants you to open a page of {} yourself, and to say when you are done there. I do not open it:\n\n{}",
                    code(host),
                    code(url)
                )
            }
            Demand::Values(schema) => match fields(schema).ok()?.get(self.fields) {
                None => "It wants a yes.".to_owned(),
                Some(field) => {
                    foreign = [foreign, field.about()].join("\n\n");
                    choices = field.buttons();
                    many = field.is_many();
                    field.wants()
                }
            },
        };
        let server = code(server);
        let fault = self.fault.iter().map(|why| format!("That does not fit: {}.\n\n", code(why)));
        let markdown = format!(
            "{}The MCP server {server} asks; these are its words, not mine:\n\n{}\n\n{wants}\n\nYour answer goes to this \
             server. Never give it a password.",
            fault.collect::<String>(),
            fenced(foreign.trim()),
        );
        Some(Ask {
            v: Ask::VERSION,
            markdown,
            free_text: choices.is_empty(),
            choices,
            many,
            placeholder: String::new(),
            within: WITHIN,
        })
    }

    /// Takes what came of the open question.
    pub fn take(&mut self, given: &QuestionResult) {
        let Some(open) = self.open().cloned() else { return };
        let form = match &open.wanted {
            Demand::Values(schema) => fields(schema).unwrap_or_default(),
            Demand::Page { .. } => Vec::new(),
        };
        let read =
            form.get(self.fields).map_or_else(|| Ok(plain(given)), |field| field.read(given));
        let read = match read {
            Err(why) if self.tries + 1 < MAX_TRIES => {
                self.tries += 1;
                self.fault = Some(why);
                return;
            }
            read => read.unwrap_or(FieldAnswer::Declined),
        };
        self.tries = 0;
        self.fault = None;
        match read {
            FieldAnswer::Declined => return self.end("decline"),
            FieldAnswer::None => return self.close(),
            FieldAnswer::LeftOut => {}
            FieldAnswer::Value(value) => {
                self.values
                    .extend(form.get(self.fields).map(|field| (field.name.to_owned(), value)));
            }
        }
        self.fields += 1;
        if self.fields >= form.len() {
            let values = std::mem::take(&mut self.values);
            let answer = match open.wanted {
                Demand::Page { .. } => json!({ "action": "accept" }),
                Demand::Values(_) => json!({ "action": "accept", "content": values }),
            };
            self.answers.insert(open.key, answer);
            self.fields = 0;
        }
    }

    /// Says of all that is open that nobody has answered.
    pub fn close(&mut self) {
        self.end("cancel");
    }

    fn end(&mut self, action: &str) {
        while let Some(open) = self.open() {
            let key = open.key.clone();
            self.answers.insert(key, json!({ "action": action }));
        }
    }

    /// Returns what goes back to the server, as the call's parameters.
    pub fn answers(&self) -> Map<String, Value> {
        let answers = ("inputResponses".to_owned(), self.answers.clone().into());
        let state = self.asks.request_state.as_ref();
        let state = state.map(|state| ("requestState".to_owned(), json!(state)));
        [answers].into_iter().chain(state).collect()
    }

    /// Says what the server did not get, where it did not get all.
    pub fn outcome(&self) -> Option<&'static str> {
        let has = |action: &str| self.answers.values().any(|given| given["action"] == action);
        match (has("decline"), has("cancel")) {
            (true, _) => Some("the server asked the person something, who declined to answer"),
            (_, true) => Some("the server asked a person something, and nobody answered"),
            _ => None,
        }
    }

    fn open(&self) -> Option<&ElicitationQuestion> {
        self.asks.questions.iter().find(|question| !self.answers.contains_key(&question.key))
    }
}

/// What an answer without a field comes to.
fn plain(given: &QuestionResult) -> FieldAnswer {
    match given {
        QuestionResult::Chosen { choices } if choices.iter().any(|id| id == ACCEPTED) => {
            FieldAnswer::LeftOut
        }
        QuestionResult::Chosen { .. } | QuestionResult::Words { .. } => FieldAnswer::Declined,
        QuestionResult::Expired | QuestionResult::NotAsked { .. } => FieldAnswer::None,
    }
}
