//! Who is mentioned by a text: people whom the conversation has met, by a name that is theirs alone there.

use std::collections::BTreeMap;

use selkie_channel_core::{Mention, PersonId};

use super::forms::Form;
use super::visibility::VisiblePerson;

/// Names that mean everybody somewhere: nobody is mentioned by one.
const EVERYBODY: [&str; 8] =
    ["all", "channel", "everyone", "everybody", "group", "here", "room", "team"];
/// So many people one text mentions.
const MAX: usize = 20;

/// Lists who is mentioned, on the platform that these forms are of.
pub fn mentions(known: &[VisiblePerson], form: &Form, text: &str) -> Vec<Mention> {
    let text = text.to_lowercase();
    // A name that two people have is nobody's.
    let mut whose: BTreeMap<String, Option<&str>> = BTreeMap::new();
    for one in known {
        let Some(person) = one.ids.iter().find(|id| (form.people.fit)(id)) else { continue };
        for name in names(one).into_iter().filter(|name| text.contains(&format!("@{name}"))) {
            let is_other =
                |other: &mut Option<&str>| *other = other.filter(|other| other == person);
            whose.entry(name).and_modify(is_other).or_insert(Some(person));
        }
    }
    let found = whose.into_iter().filter_map(|(name, person)| {
        let person = PersonId::new(person?);
        (!EVERYBODY.contains(&name.as_str())).then_some(Mention { name, person })
    });
    found.take(MAX).collect()
}

/// What people may write for somebody, in small letters: names, first names, `@names`.
fn names(known: &VisiblePerson) -> Vec<String> {
    let handles = known.ids.iter().filter_map(|id| id.rsplit(':').next()?.strip_prefix('@'));
    let firsts = known.names.iter().filter_map(|name| name.split_whitespace().next());
    let all = known.names.iter().map(String::as_str).chain(handles).chain(firsts);
    let mut all: Vec<String> =
        all.map(|name| name.trim().trim_start_matches('@').to_lowercase()).collect();
    all.retain(|name| !name.is_empty());
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::testing::birds;

    fn known(names: &[&str], ids: &[&str]) -> VisiblePerson {
        let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        VisiblePerson { names: all(names), ids: all(ids), last: None }
    }

    fn found(text: &str) -> Vec<String> {
        let people = [
            known(&["Mei Lin"], &["bird:@mei", "bird:7"]),
            known(&["Bo"], &["bird:8"]),
            known(&["Bo Two", "Here"], &["bird:9"]),
            known(&["Kea"], &["fish:1"]),
        ];
        let forms = birds();
        let all = mentions(&people, forms.of_channel("birds").unwrap(), text);
        all.into_iter().map(|mention| format!("{}={}", mention.name, mention.person)).collect()
    }

    #[test]
    fn a_name_of_one_person_mentions_them() {
        assert_eq!(found("@Mei Lin, @mei!"), ["mei=bird:7", "mei lin=bird:7"]);
        assert_eq!(
            found("@Bo Two"),
            ["bo two=bird:9"],
            "of two people called Bo the one who is meant"
        );
        assert!(found("@Bo").is_empty() && found("Mei").is_empty());
    }

    #[test]
    fn nobody_is_everybody_or_somewhere_else() {
        assert!(found("@here @everyone @channel @all @kea").is_empty());
    }
}
