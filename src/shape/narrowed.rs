//! What lists of tools leave of a shape: a tool is there that each of them names, by its name or by its class. They take
//! away after all that gives, so that nothing gives it back.

use std::borrow::Cow;
use std::sync::Arc;

use crate::Shaper;
use selkie_domain::narrowing::Narrowing;
use selkie_domain::tool::{Class, ToolSpec};
use selkie_tools::registry::{Hide, Selection};

impl Shaper {
    /// Returns our word for a tool or a class, as `places.<id>.allow` takes them; nothing for a name that no tool has.
    pub fn tool_word<'w>(&'w self, word: &'w str) -> Option<&'w str> {
        if Class::parse(word).is_some() || self.base.contains(word) {
            return Some(word);
        }
        let ours = self.base.our_name(word);
        if self.base.contains(ours) {
            return Some(ours);
        }
        let specs: Vec<&ToolSpec> = self.on_top().collect();
        let ours = selkie_tools::aliases::our_name(word, &specs);
        specs.iter().any(|spec| spec.name == ours).then_some(ours)
    }

    /// Narrowings in our words without those that no tool has: no more of them are kept with a view than there are tools.
    pub(super) fn known_narrowings<'n>(&self, all: &'n [Narrowing]) -> Cow<'n, [Narrowing]> {
        let is_known = |narrowing: &Narrowing| {
            let words = &narrowing.tools;
            words.is_sorted_by(|a, b| a < b)
                && words.iter().all(|word| self.tool_word(word) == Some(word.as_str()))
        };
        if all.iter().all(is_known) {
            return Cow::Borrowed(all);
        }
        let known = |narrowing: &Narrowing| {
            let words = narrowing.tools.iter().filter_map(|word| self.tool_word(word));
            let mut tools: Vec<String> = words.map(str::to_owned).collect();
            tools.sort_unstable();
            tools.dedup();
            Narrowing { by: narrowing.by.clone(), tools }
        };
        Cow::Owned(all.iter().map(known).collect())
    }

    /// Hides every tool that a narrowing does not name, whatever a call of it does.
    pub(super) fn narrow(&self, narrowing: &Narrowing) -> Hide {
        let classes: Vec<Class> =
            narrowing.tools.iter().filter_map(|word| Class::parse(word)).collect();
        let names: Vec<&str> = narrowing.tools.iter().map(String::as_str).collect();
        Hide {
            reason: narrowing.reason().into(),
            what: Arc::new(Selection::over(&self.base, &Class::ALL, &[])),
            except: Some(Arc::new(Selection::over(&self.base, &classes, &names))),
        }
    }

    /// The tools that lie over the base, here or elsewhere.
    fn on_top(&self) -> impl Iterator<Item = &ToolSpec> {
        let runtime = self.runtime.iter().map(|runtime| &**runtime.tool.spec());
        runtime.chain(self.speaking.iter().map(|speaking| &**speaking.tool.spec()))
    }
}
