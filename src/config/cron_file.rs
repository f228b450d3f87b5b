//! A `cron.yaml` as morph writes it, read for `selkie schedules import`: what each task says, and on which line.

use std::path::Path;

use serde_json::{Map, Value};

use crate::lines::Lines;
use crate::problem::{Place, Problem, Problems};
use crate::{read, yaml};
use selkie_domain::spelling::nearest;

/// Tasks that one file may hold.
const MAX: usize = 1_000;
/// What a task may say.
const KEYS: [&str; 8] = ["id", "title", "at", "cron", "tz", "content", "chat_id", "llm_profile"];
/// What a task may say to morph that has no meaning here.
const NOT_TAKEN: &str = "bash_env";

/// One task of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronTask {
    /// Where it stands in the file, from 0.
    pub index: usize,
    /// What people call it; may be empty.
    pub title: String,
    /// When, as `selkie schedules add` takes it.
    pub when: String,
    /// The zone of that.
    pub tz: Option<String>,
    /// What the model is to do.
    pub content: String,
    /// Where.
    pub chat_id: Option<String>,
    /// Which model.
    pub llm_profile: Option<String>,
}

/// A file that was read.
#[derive(Debug)]
pub struct CronFile {
    /// Its tasks.
    pub tasks: Vec<CronTask>,
    name: String,
    lines: Lines,
}

impl CronFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read; as [`Problems`] everything that is wrong with its form, each with its line.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let text = read::text(path, read::CONFIG, read::Pipes::Own);
        let text = text.map_err(|why| anyhow::anyhow!("{name} {why}"))?;
        Ok(Self::parse(&name, &text)?)
    }

    fn parse(name: &str, text: &str) -> Result<Self, Problems> {
        let document = yaml::list(name, text).map_err(|problem| Problems(vec![problem]))?;
        let mut file = Self { tasks: Vec::new(), name: name.to_owned(), lines: document.lines };
        let items = document.value.as_array().cloned().unwrap_or_default();
        let repeated = document.repeated.into_iter();
        let mut problems: Vec<Problem> = repeated.map(|repeated| repeated.problem).collect();
        if items.len() > MAX {
            let message = format!("holds {} tasks: at most {MAX} are taken", items.len());
            problems.push(Problem { place: Place::of(name), key: String::new(), message });
            return Err(Problems(problems));
        }
        for (index, item) in items.iter().enumerate() {
            let found = problems.len();
            match item.as_object() {
                Some(map) => problems.extend(file.wrong_keys(index, map)),
                None => {
                    problems.push(file.problem(index, "", "takes keys with values (content: …)"))
                }
            }
            match item.as_object() {
                Some(map) if found == problems.len() => match file.task(index, map) {
                    Ok(task) => file.tasks.push(task),
                    Err(problem) => problems.push(problem),
                },
                _ => {}
            }
        }
        if problems.is_empty() { Ok(file) } else { Err(Problems(problems)) }
    }

    /// Says what is wrong with a task's key, with its line; the whole task where the key is empty.
    pub fn problem(&self, index: usize, key: &str, message: impl Into<String>) -> Problem {
        let mut path = vec![index.to_string()];
        path.extend((!key.is_empty()).then(|| key.to_owned()));
        let place = Place { name: self.name.clone(), line: self.lines.of_path(&path) };
        Problem { place, key: key.to_owned(), message: message.into() }
    }

    fn wrong_keys(&self, index: usize, map: &Map<String, Value>) -> Vec<Problem> {
        let unknown = map.iter().filter(|(key, _)| !KEYS.contains(&key.as_str()));
        let wrong = unknown.filter_map(|(key, value)| {
            if key == NOT_TAKEN {
                let says_nothing = value.is_null() || value.as_object().is_some_and(Map::is_empty);
                let message = "has no meaning here: commands get their variables from the config; take it out";
                return (!says_nothing).then(|| self.problem(index, key, message));
            }
            let hint = nearest(key, KEYS).map(|near| format!("did you mean {near}? "));
            let hint = hint.unwrap_or_default();
            let message = format!("is not a key ({hint}takes {})", KEYS.join(", "));
            Some(self.problem(index, key, message))
        });
        wrong.collect()
    }

    fn task(&self, index: usize, map: &Map<String, Value>) -> Result<CronTask, Problem> {
        let text = |key: &str| match map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(self.problem(index, key, "takes a text")),
        };
        let when = match (text("at")?, text("cron")?) {
            (Some(at), None) => format!("at {at}"),
            (None, Some(cron)) => cron,
            _ => return Err(self.problem(index, "", "takes one of at and cron, which says when")),
        };
        let missing = || self.problem(index, "content", "is missing: it says what is to be done");
        Ok(CronTask {
            index,
            title: text("title")?.unwrap_or_default(),
            when,
            tz: text("tz")?,
            content: text("content")?.ok_or_else(missing)?,
            chat_id: text("chat_id")?,
            llm_profile: text("llm_profile")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_with_their_lines() {
        let text = "- id: a\n  title: Tea\n  at: 2030-12-24 18:00\n  content: make tea\n\
                    - {cron: '0 8 * * *', tz: Asia/Tokyo, content: news, chat_id: -100123, llm_profile: small}\n";
        let file = CronFile::parse("cron.yaml", text).unwrap();
        assert_eq!(file.tasks[0].when, "at 2030-12-24 18:00");
        let second = &file.tasks[1];
        assert_eq!(
            (second.chat_id.as_deref(), second.llm_profile.as_deref()),
            (Some("-100123"), Some("small"))
        );
        assert_eq!(file.problem(1, "tz", "x").to_string(), "cron.yaml:5: tz x");
        assert!(CronFile::parse("cron.yaml", "").unwrap().tasks.is_empty());
    }

    #[test]
    fn everything_wrong_is_told_with_its_line() {
        let text = "- title: both\n  at: 2030-12-24 18:00\n  cron: '@daily'\n  content: x\n\
                    - content: never\n- cron: '@daily'\n  contnet: x\n- 7\n\
                    - cron: '@daily'\n  content: x\n  bash_env: {A: b}\n- {cron: '@daily', content: [a]}\n";
        let said = CronFile::parse("cron.yaml", text).unwrap_err().to_string();
        insta::assert_snapshot!(said, @r#"
        cron.yaml:1: takes one of at and cron, which says when
        cron.yaml:5: takes one of at and cron, which says when
        cron.yaml:7: contnet is not a key (did you mean content? takes id, title, at, cron, tz, content, chat_id, llm_profile)
        cron.yaml:8: takes keys with values (content: …)
        cron.yaml:11: bash_env has no meaning here: commands get their variables from the config; take it out
        cron.yaml:12: content takes a text
        "#);
        let said = CronFile::parse("cron.yaml", "tasks: []").unwrap_err().to_string();
        insta::assert_snapshot!(said, @r#"
        cron.yaml: the file takes a list of tasks (- content: …)
        "#);
    }
}
