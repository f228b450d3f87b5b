//! `load_skill`: brings in how a kind of work is done.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::port::{LoadedSkill, SkillReader};
use crate::args::typed;
use crate::refusals::NO_SKILL;
use crate::scope::Scope;
use crate::{Handler, Output, ToolError, spec};
use selkie_domain::facts::Trust;
use selkie_domain::tool::{Class, Recovery, ToolSpec};

/// Bytes of an answer: a long skill is cut before that, with how to read on.
const MAX_OUTPUT: usize = 56 * 1024;
/// More names than these, or more bytes of them, are no list that every request could carry.
const MAX_NAMES: usize = 64;
const MAX_BYTES: usize = 1_024;

/// Which skills there were when the registry was built.
#[derive(Clone, Debug, Default)]
pub struct SkillNames {
    /// Those that an owner has reviewed.
    pub reviewed: Vec<String>,
    /// Whether there are others, which an owner can name.
    pub has_others: bool,
    /// Whether skills are switched off.
    pub is_off: bool,
}

impl SkillNames {
    /// Says why no task can load one; nothing where there is one.
    pub(crate) fn absent(&self) -> Option<String> {
        if self.is_off {
            return Some("skills.enabled is false in the config".to_owned());
        }
        let is_none = self.reviewed.is_empty() && !self.has_others;
        is_none.then(|| NO_SKILL.to_owned())
    }

    /// Returns the names, where they are all that can be loaded and a request has room for them.
    fn all(&self) -> Option<&[String]> {
        let size: usize = self.reviewed.iter().map(String::len).sum();
        let fits = self.reviewed.len() <= MAX_NAMES && size <= MAX_BYTES;
        (fits && !self.has_others && !self.reviewed.is_empty()).then_some(&self.reviewed)
    }
}

pub(crate) struct LoadSkill(pub(crate) SkillNames);

#[derive(Deserialize, JsonSchema)]
struct Args {
    name: String,
}

#[async_trait]
impl Handler for LoadSkill {
    fn spec(&self) -> ToolSpec {
        let mut spec = ToolSpec {
            description: "Load a skill: instructions of your owner for a kind of work.".to_owned(),
            group: "skills",
            sources: &["S2"],
            doing: "looking up how that is done",
            max_output: MAX_OUTPUT,
            ..spec::<Args>("load_skill", Class::Read, Recovery::CallAgain)
        };
        if let Some(names) = self.0.all() {
            spec.parameters["properties"]["name"]["enum"] = serde_json::json!(names);
        }
        spec
    }

    async fn call(&self, scope: &Scope, args: Value) -> Result<Output, ToolError> {
        let Args { name } = typed(args)?;
        let reader = SkillReader {
            conversation: scope.conversation.clone(),
            keeps: scope.agent.is_none(),
            typed: (scope.trust == Trust::Owner).then(|| scope.asked.text.clone()),
        };
        let LoadedSkill { text, is_reviewed } = scope.skills.load(&reader, name.trim()).await?;
        Ok(if is_reviewed { Output::ok(text) } else { Output::outside(text) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selkie_channel_core::{AccountId, ConversationId};
    use serde_json::json;

    use super::*;
    use crate::asked::UserText;
    use crate::skills::Skills;
    use crate::testkit::Folders;

    struct Echo;

    #[async_trait]
    impl Skills for Echo {
        async fn load(&self, by: &SkillReader, name: &str) -> Result<LoadedSkill, ToolError> {
            let text = format!("{name} {} {}", by.keeps, by.names(name));
            Ok(LoadedSkill { text, is_reviewed: name == "pdf" })
        }
    }

    #[tokio::test]
    async fn what_nobody_has_reviewed_is_others_words_and_an_owner_alone_names_it() {
        let tool = LoadSkill(SkillNames::default());
        let asked = Arc::new(UserText { text: "use the xlsx, please".to_owned(), people: vec![] });
        let scope = Scope { skills: Arc::new(Echo), asked, ..Folders::new().scope() };
        let call = async |scope: &Scope, name: &str| {
            tool.call(scope, json!({ "name": name })).await.unwrap()
        };
        let clean = call(&scope, " pdf ").await;
        assert_eq!((clean.text.as_str(), clean.untrusted), ("pdf true false", false));
        let raw = call(&scope, "xlsx").await;
        assert_eq!((raw.text.as_str(), raw.untrusted), ("xlsx true true", true));
        let scope = Scope { trust: Trust::Allowed, agent: Some("ada".into()), ..scope };
        assert_eq!(call(&scope, "xlsx").await.text, "xlsx false false");
    }

    #[test]
    fn the_names_stand_in_the_schema_where_they_are_all_there_is() {
        let takes = |names: SkillNames| {
            LoadSkill(names).spec().parameters["properties"]["name"]["enum"].clone()
        };
        let reviewed = vec!["docx".to_owned(), "pdf".to_owned()];
        let names = SkillNames { reviewed: reviewed.clone(), ..SkillNames::default() };
        assert_eq!(takes(names.clone()), json!(["docx", "pdf"]));
        assert_eq!(takes(SkillNames { has_others: true, ..names }), Value::Null);
        let many = SkillNames {
            reviewed: (0..99).map(|n| format!("s{n}")).collect(),
            ..SkillNames::default()
        };
        assert_eq!(takes(many), Value::Null);
        assert!(SkillNames::default().absent().unwrap().contains("selkie skills install"));
        assert!(SkillNames { is_off: true, reviewed, ..SkillNames::default() }.absent().is_some());
    }

    #[test]
    fn a_name_counts_as_a_whole_word() {
        let conversation = ConversationId::new(AccountId::new("bird:1"), "bird:42");
        let reader = |typed: &str| SkillReader {
            conversation: conversation.clone(),
            keeps: true,
            typed: Some(typed.into()),
        };
        assert!(reader("load (PDF)!").names("pdf") && reader("$pdf-tools").names("pdf-tools"));
        assert!(!reader("pdf-tools").names("pdf") && !reader("pdfs").names("pdf"));
    }
}
