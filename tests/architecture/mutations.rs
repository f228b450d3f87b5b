//! Small offences, each of which a wall has to see: a wall that does not fail is none.

use crate::source::Tree;
use crate::walls;

/// What is done to which file, and a part of what has to be said of it.
const OFFENCES: &[(&str, &str, &str)] = &[
    ("src/engine/work/mod.rs", "use crate::{intake, flow};", "work imports intake"),
    ("src/engine/work/mod.rs", "use crate::{delivery::{say}, flow::{Flow}};", "work imports flow"),
    (
        "src/engine/delivery/say.rs",
        "use super::super::intake::receive::Intake;",
        "delivery imports intake",
    ),
    ("src/engine/delivery/say.rs", "fn f() { super::super::flow::f() }", "delivery imports flow"),
    (
        "src/engine/delivery/mod.rs",
        "fn f() { println!(\"{}\", crate::work::NAME); }",
        "delivery imports work",
    ),
    (
        "src/engine/intake/policy.rs",
        "#[cfg(test)]\nmod below {}\nuse crate::flow::Flow;",
        "intake imports flow",
    ),
    ("src/engine/attic/mod.rs", "//! A folder nobody knows.\n", "named for the folder attic"),
    ("src/engine/intake/mod.rs", "const A: &str = \"Slack\";", "names a platform"),
    ("src/tools/lib.rs", "struct SLACKTeam;", "names a platform"),
    ("src/engine/intake/mod.rs", "const A: &str = \"on LINE alone\";", "names a platform"),
    ("src/engine/intake/mod.rs", "const A: &str = \"tg:1\";", "names a platform"),
    ("src/llm/lib.rs", "const A: &str = \"https://api.example.com/bot\";", "holds an address"),
    ("src/domain/ids.rs", "use super::task::Task;", "a circle: src/domain/ids.rs"),
    ("src/domain/ids.rs", "fn pair((a, b): (u8, u8)) {}", "pair takes a tuple"),
    (
        "src/domain/ids.rs",
        "struct A; impl A { fn pair(&self, ab: &(u8, u8)) {} }",
        "pair takes a tuple",
    ),
    ("src/domain/ids.rs", "trait A { fn pair(&self, ab: (u8, u8)); }", "pair takes a tuple"),
    ("src/domain/ids.rs", "fn f() { unsafe { g() } }", "is unsafe"),
    ("src/domain/ids.rs", "unsafe impl Send for Ids {}", "is unsafe"),
    ("channels/x/src/lib.rs", "unsafe fn f() {}", "is unsafe"),
    ("channels/x/src/lib.rs", "use selkie_slack::Thing;", "imports selkie_slack"),
    ("channels/x/src/lib.rs", "use teloxide_reqwest::Url;", "names another HTTP client"),
    ("channels/telegram/src/lib.rs", "use teloxide::{Bot, types};", "names another HTTP client"),
    (
        "channels/telegram/src/lib.rs",
        "fn f() { teloxide::net::client_from_env(); }",
        "names another HTTP client",
    ),
    ("src/app/http.rs", "use hyper_util::client::legacy;", "names another HTTP client"),
    ("channels/core/src/lib.rs", "use selkie_telegram::Thing;", "imports selkie_telegram"),
    ("channels/playground/src/lib.rs", "fn f() { selkie_line::f() }", "imports selkie_line"),
];

#[test]
fn every_small_offence_is_seen() {
    let clean = walls::all(&Tree::read());
    for (file, offence, said) in OFFENCES {
        let tree = Tree::read().with(file, |text| format!("{text}\n{offence}\n"));
        let new: Vec<String> =
            walls::all(&tree).into_iter().filter(|o| !clean.contains(o)).collect();
        assert!(new.iter().any(|o| o.contains(said)), "{file} with {offence:?} gave {new:?}");
    }
}

/// A circle of inline modules is none of files.
#[test]
fn what_a_module_inside_imports_is_found_there() {
    let inner = "mod one { use super::two; fn f() { two::f() } }\nmod two { pub fn f() {} }";
    let tree = Tree::read().with("src/channels.rs", |text| format!("{text}\n{inner}\n"));
    assert!(walls::circles(&tree).iter().all(|o| !o.contains("src/channels.rs")));
}

#[test]
fn what_a_lock_file_must_not_hold_is_seen() {
    let older = "[[package]]\nname = \"new\"\ndependencies = [\n \"reqwest 0.12.28\",\n]\n";
    let two = "[[package]]\nname = \"h2\"\nversion = \"0.4.1\"\n";
    let seen = walls::lock(&format!("version = 4\n{older}\n{two}"));
    let wanted = ["Cargo.lock: new takes the older reqwest", "Cargo.lock: h2 is in the tree"];
    assert_eq!(seen, wanted);
}

#[test]
fn a_file_that_is_too_long_or_says_nothing_of_itself_is_seen() {
    let long = Tree::read()
        .with("src/engine/intake/mod.rs", |text| text + &"\nconst _: u8 = 1;".repeat(500));
    assert!(walls::files(&long).iter().any(|o| o.contains("lines of production code")));
    let mute = Tree::read().with("src/engine/intake/mod.rs", |text| {
        format!("use std::fmt;\n{}", text.replace("//!", "//"))
    });
    assert!(walls::files(&mute).iter().any(|o| o.contains("its first line does not say")));
}
