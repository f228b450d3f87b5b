//! Laws of what is remembered: found by its words in its own subject alone, made again of its file, and gone for good.

use super::*;
use crate::store::{FileNote, IndexedFile, Piece, SoughtWords};

laws![
    a_piece_is_found_by_its_words_in_its_own_subject,
    subjects_that_look_alike_stay_apart,
    a_file_is_indexed_anew_as_a_whole,
    what_is_dropped_is_found_no_more,
    words_of_any_script_are_found,
    more_words_are_found_first_and_fewer_not_at_all,
    nothing_is_found_by_no_words,
];

fn piece(path: &str, line: u32, words: &str) -> Piece {
    Piece {
        path: path.to_owned(),
        first: line,
        last: line,
        section: "Notes".to_owned(),
        text: format!("- {words}"),
        trust: Trust::Allowed,
        level: Taint::Derived,
        words: words.to_owned(),
    }
}

fn file(subject: &str, look: &str, texts: &[&str]) -> IndexedFile {
    let path = format!("memory/{subject}/MEMORY.md");
    let pieces = (1..).zip(texts).map(|(line, words)| piece(&path, line, words)).collect();
    let note = FileNote { path, look: look.to_owned() };
    IndexedFile { subject: subject.to_owned(), note, pieces }
}

async fn search(ledger: &dyn Ledger, subjects: &[&str], words: &[&str]) -> Vec<Piece> {
    let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
    let sought =
        SoughtWords { subjects: owned(subjects), words: owned(words), least: 1, enough: 10 };
    ledger.search_memory(sought).await.unwrap()
}

async fn words(ledger: &dyn Ledger, subjects: &[&str], sought: &[&str]) -> Vec<String> {
    let found = search(ledger, subjects, sought).await;
    found.into_iter().map(|piece| piece.words).collect()
}

async fn a_piece_is_found_by_its_words_in_its_own_subject(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let own = file("tg.1", "a", &["likes green tea", "lives in oslo"]);
    ledger.index_memory(own.clone()).await.unwrap();
    ledger.index_memory(file("tg.2", "a", &["drinks tea at night"])).await.unwrap();
    assert_eq!(search(ledger, &["tg.1"], &["tea", "cake"]).await, [own.pieces[0].clone()]);
    assert_eq!(search(ledger, &["tg.1"], &["night"]).await, []);
    let both = words(ledger, &["tg.2", "tg.1"], &["tea", "green"]).await;
    assert_eq!(both, ["drinks tea at night", "likes green tea"], "subject by subject");
    assert_eq!(ledger.memory_subjects().await.unwrap(), ["tg.1", "tg.2"]);
    let other = ledger.search_memory(SoughtWords {
        subjects: vec!["tg.3".to_owned()],
        words: vec!["tea".to_owned()],
        least: 1,
        enough: 9,
    });
    assert_eq!(other.await.unwrap(), []);
}

async fn subjects_that_look_alike_stay_apart(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    for subject in ["tg.1", "tg.-1", "TG.1", "tg", "tg.1.1"] {
        ledger.index_memory(file(subject, "a", &["tea"])).await.unwrap();
        let found = search(ledger, &[subject], &["tea"]).await;
        let path = format!("memory/{subject}/MEMORY.md");
        assert_eq!(found.into_iter().map(|piece| piece.path).collect::<Vec<_>>(), [path]);
    }
}

async fn a_file_is_indexed_anew_as_a_whole(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    ledger.index_memory(file("tg.1", "a", &["green tea", "black tea"])).await.unwrap();
    ledger.index_memory(file("tg.1", "b", &["black coffee"])).await.unwrap();
    assert_eq!(words(ledger, &["tg.1"], &["tea", "black"]).await, ["black coffee"]);
    let note = FileNote { path: "memory/tg.1/MEMORY.md".to_owned(), look: "b".to_owned() };
    assert_eq!(ledger.memory_files("tg.1").await.unwrap(), [note]);
    assert_eq!(ledger.memory_files("tg.2").await.unwrap(), []);
}

async fn what_is_dropped_is_found_no_more(bed: &dyn Fixture) {
    {
        let ledger = bed.open();
        ledger.index_memory(file("tg.1", "a", &["green tea"])).await.unwrap();
        ledger.index_memory(file("tg.2", "a", &["green tea"])).await.unwrap();
        ledger.drop_memory("memory/tg.1/MEMORY.md").await.unwrap();
        ledger.drop_memory("memory/tg.9/MEMORY.md").await.unwrap();
        ledger.close().await;
    }
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    assert_eq!(words(ledger, &["tg.1"], &["tea"]).await, [] as [String; 0]);
    assert_eq!(words(ledger, &["tg.2"], &["tea"]).await, ["green tea"]);
    assert_eq!(ledger.memory_subjects().await.unwrap(), ["tg.2"]);
}

async fn words_of_any_script_are_found(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let texts = ["好き きな", "straße", "พ่อ", "чай", "a1b2", "ïle", "i\u{307}x", "한국 국어"];
    ledger.index_memory(file("line.U1", "a", &texts)).await.unwrap();
    for text in texts {
        let last = text.rsplit(' ').next().unwrap();
        if last.chars().all(char::is_alphanumeric) {
            assert_eq!(words(ledger, &["line.U1"], &[last]).await, [text], "{last}");
        }
    }
}

async fn more_words_are_found_first_and_fewer_not_at_all(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    let texts = ["green tea cup", "green tea", "tea cup", "tea", "green"];
    ledger.index_memory(file("tg.1", "a", &texts)).await.unwrap();
    let found = async |least: usize, enough: usize| {
        let words = ["green", "tea", "cup", "none"].map(str::to_owned).to_vec();
        let sought = SoughtWords { subjects: vec!["tg.1".to_owned()], words, least, enough };
        let found = ledger.search_memory(sought).await.unwrap();
        found.into_iter().map(|piece| piece.words).collect::<Vec<_>>()
    };
    assert_eq!(found(3, 9).await, ["green tea cup"]);
    assert_eq!(found(1, 1).await, ["green tea cup"]);
    let two = found(2, 9).await;
    assert_eq!((two[0].as_str(), two.len()), ("green tea cup", 3), "{two:?}");
    assert_eq!(found(1, 9).await.len(), 5);
    assert_eq!(found(4, 9).await, [] as [String; 0], "one of them stands nowhere");
}

async fn nothing_is_found_by_no_words(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    ledger.index_memory(file("tg.1", "a", &["tea", "", "not or near"])).await.unwrap();
    let none: [String; 0] = [];
    assert_eq!(words(ledger, &["tg.1"], &[]).await, none);
    assert_eq!(words(ledger, &[], &["tea"]).await, none);
    assert_eq!(words(ledger, &["tg.1"], &["", "\"", "'", "a b", "te*", "x'|'tea"]).await, none);
    assert_eq!(words(ledger, &["tg.1"], &["not"]).await, ["not or near"], "it is no operator");
}
