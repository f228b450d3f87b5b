//! `selkie demo --model strict/<family>`: the stand-in answers behind a server that keeps a family's rules.

use super::ROWS;
use crate::support::demo::Demo;

#[test]
fn the_stand_in_answers_behind_every_family() {
    for row in ROWS {
        let model = format!("strict/{}", row.family.name());
        let said = ["--say", "hi", "--say", "note: buy milk", "--say", "tell me my list"];
        let (code, out, err) = Demo::run(&[&["demo", "--model", &model][..], &said].concat());
        println!("{model}:\n{out}");
        assert_eq!(code, 0, "{model}: {out}{err}");
        assert!(out.contains("I heard: “hi”"), "{model}: {out}");
        assert!(out.contains("Noted: buy milk (1)."), "{model}: {out}");
        assert!(out.trim().ends_with("1. buy milk"), "{model}: {out}");
    }
}

#[test]
fn an_unknown_family_is_told_which_there_are() {
    let (code, out, err) = Demo::run(&["demo", "--model", "strict/clod", "--say", "hi"]);
    assert_eq!((code, &*out), (2, ""));
    let named = ROWS.iter().all(|row| err.contains(row.family.name()));
    assert!(named && err.contains("not \"clod\""), "{err}");
}
