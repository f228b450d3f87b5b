//! Laws of what is remembered: found by its words in its own subject alone, made again of its file, and gone for good.

use super::*;
use crate::{
    FileNote, IndexedFile, NearPiece, Piece, PieceVector, SoughtPieces, SoughtVector, SoughtWords,
};
use selkie_domain::vector::UnitVector;

laws![
    a_piece_is_found_by_its_words_in_its_own_subject,
    subjects_that_look_alike_stay_apart,
    a_file_is_indexed_anew_as_a_whole,
    what_is_dropped_is_found_no_more,
    words_of_any_script_are_found,
    more_words_are_found_first_and_fewer_not_at_all,
    nothing_is_found_by_no_words,
    a_piece_is_found_by_what_it_means,
    a_vector_goes_with_its_line_its_file_and_its_model,
    pieces_without_a_vector_are_listed_the_newest_first,
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
        digest: format!("d {words}"),
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

const MODEL: &str = "small";

fn vector(subject: &str, words: &str, numbers: &[f32]) -> PieceVector {
    PieceVector {
        path: format!("memory/{subject}/MEMORY.md"),
        digest: format!("d {words}"),
        vector: UnitVector::of(numbers.to_vec()).unwrap(),
    }
}

async fn near(ledger: &dyn Ledger, subjects: &[&str], numbers: &[f32]) -> Vec<NearPiece> {
    let sought = SoughtVector {
        subjects: subjects.iter().map(|one| (*one).to_owned()).collect(),
        model: MODEL.to_owned(),
        vector: UnitVector::of(numbers.to_vec()).unwrap(),
        most: 2,
    };
    ledger.near_memory(sought).await.unwrap()
}

fn said(near: &[NearPiece]) -> Vec<String> {
    near.iter().map(|one| format!("{} {:.1}", one.piece.words, one.cosine)).collect()
}

async fn bare(ledger: &dyn Ledger, model: &str, before: i64, most: usize) -> Vec<(i64, String)> {
    let sought = SoughtPieces { model: model.to_owned(), before, most };
    let found = ledger.pieces_without_vector(sought).await.unwrap();
    found.into_iter().map(|piece| (piece.id, piece.digest)).collect()
}

async fn a_piece_is_found_by_what_it_means(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    ledger.index_memory(file("tg.1", "a", &["tea", "cake", "boat"])).await.unwrap();
    ledger.index_memory(file("tg.2", "a", &["tea"])).await.unwrap();
    assert_eq!(ledger.vector_width(MODEL).await.unwrap(), None);
    let vectors = vec![
        vector("tg.1", "tea", &[1.0, 0.0, 0.0]),
        vector("tg.1", "cake", &[0.6, 0.8, 0.0]),
        vector("tg.1", "boat", &[0.0, 0.0, 3.0]),
        vector("tg.1", "nowhere", &[1.0, 0.0, 0.0]),
        vector("tg.2", "tea", &[1.0, 0.0, 0.0]),
    ];
    assert_eq!(ledger.keep_vectors(MODEL, vectors).await.unwrap(), 4, "one is of no piece");
    assert_eq!(ledger.vector_width(MODEL).await.unwrap(), Some(3));
    let found = near(ledger, &["tg.1"], &[2.0, 0.0, 0.0]).await;
    assert_eq!(said(&found), ["tea 1.0", "cake 0.6"]);
    assert_eq!(found[0].piece, piece("memory/tg.1/MEMORY.md", 1, "tea"));
    let both = near(ledger, &["tg.2", "tg.1"], &[2.0, 0.0, 0.0]).await;
    assert_eq!(said(&both), ["tea 1.0", "tea 1.0"]);
    assert_eq!(said(&near(ledger, &["tg.3"], &[1.0, 0.0, 0.0]).await), [""; 0]);
    assert_eq!(said(&near(ledger, &["tg.1"], &[1.0, 0.0]).await), [""; 0], "of another width");
}

async fn a_vector_goes_with_its_line_its_file_and_its_model(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    ledger.index_memory(file("tg.1", "a", &["tea", "cake"])).await.unwrap();
    let both = [vector("tg.1", "tea", &[1.0, 0.0]), vector("tg.1", "cake", &[0.0, 1.0])];
    ledger.keep_vectors(MODEL, both.to_vec()).await.unwrap();
    ledger.index_memory(file("tg.1", "b", &["boat", "cake"])).await.unwrap();
    assert_eq!(said(&near(ledger, &["tg.1"], &[1.0, 1.0]).await), ["cake 0.7"]);
    assert_eq!(bare(ledger, MODEL, i64::MAX, 9).await.len(), 1, "what stayed keeps its vector");
    ledger.index_memory(file("tg.1", "c", &["boat", "cake", "tea"])).await.unwrap();
    assert_eq!(bare(ledger, MODEL, i64::MAX, 9).await.len(), 2, "it was gone");
    assert_eq!(bare(ledger, "large", i64::MAX, 9).await.len(), 3);
    let anew = vector("tg.1", "cake", &[1.0, 1.0, 1.0]);
    assert_eq!(ledger.keep_vectors("large", vec![anew]).await.unwrap(), 1);
    assert_eq!(said(&near(ledger, &["tg.1"], &[1.0, 1.0]).await), [""; 0], "of another model");
    assert_eq!(ledger.vector_width("large").await.unwrap(), Some(3));
    ledger.drop_memory("memory/tg.1/MEMORY.md").await.unwrap();
    assert_eq!(ledger.vector_width("large").await.unwrap(), None);
    let late = vector("tg.1", "cake", &[1.0, 1.0, 1.0]);
    assert_eq!(ledger.keep_vectors("large", vec![late]).await.unwrap(), 0, "it was forgotten");
}

async fn pieces_without_a_vector_are_listed_the_newest_first(bed: &dyn Fixture) {
    let ledger = bed.open();
    let ledger = ledger.as_ref();
    ledger.index_memory(file("tg.1", "a", &["tea", "cake", "boat"])).await.unwrap();
    let first = bare(ledger, MODEL, i64::MAX, 2).await;
    let digests = |some: &[(i64, String)]| some.iter().map(|one| one.1.clone()).collect::<Vec<_>>();
    assert_eq!(digests(&first), ["d boat", "d cake"]);
    let rest = bare(ledger, MODEL, first[1].0, 2).await;
    assert_eq!(digests(&rest), ["d tea"]);
    assert_eq!(bare(ledger, MODEL, rest[0].0, 2).await, []);
}
