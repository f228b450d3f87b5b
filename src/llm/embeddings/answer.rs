//! Reads what a server of embeddings answers: one vector for each text, or words why not.

use serde::Deserialize;

use selkie_domain::vector::UnitVector;

/// The answer; what else stands in it is passed over.
#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    embedding: Vec<f32>,
}

/// Reads the vectors of so many texts, in their order.
///
/// # Errors
/// In words: it is no such answer, has other rows than were asked for, or a vector is none.
pub fn read(bytes: &[u8], texts: usize) -> Result<Vec<UnitVector>, String> {
    let Answer { data } = serde_json::from_slice(bytes).map_err(|error| format!("{error}"))?;
    let rows = data.len();
    if rows != texts {
        return Err(format!("it has {rows} vectors for {texts} texts"));
    }
    let mut all: Vec<Option<UnitVector>> = (0..texts).map(|_| None).collect();
    for Row { index, embedding } in data {
        let place = all.get_mut(index).ok_or_else(|| format!("there is no text {index}"))?;
        let vector = UnitVector::of(embedding).map_err(|why| format!("vector {index} {why}"))?;
        if place.replace(vector).is_some() {
            return Err(format!("there are two vectors of text {index}"));
        }
    }
    // As many as there are texts, and none of them twice: no text has none.
    let all: Vec<UnitVector> = all.into_iter().flatten().collect();
    let width = all.first().map(UnitVector::width);
    match all.iter().map(UnitVector::width).find(|other| Some(*other) != width) {
        Some(other) => {
            let width = width.unwrap_or_default();
            Err(format!("its vectors differ in size: {width} numbers and {other}"))
        }
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(answer: &str) -> String {
        match read(answer.as_bytes(), 2) {
            Ok(vectors) => format!("{} of {}", vectors.len(), vectors[0].width()),
            Err(why) => why,
        }
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer = r#"{"object": "list", "model": "m", "usage": {}, "data": [
            {"object": "embedding", "index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [1, 0.0]}]}"#;
        let read = read(answer.as_bytes(), 2).unwrap();
        let wanted = [vec![1.0, 0.0], vec![0.0, 1.0]].map(|n| UnitVector::of(n).unwrap());
        assert_eq!(read, wanted);
    }

    #[test]
    fn what_is_no_answer_is_said() {
        for (answer, why) in [
            ("", "EOF"),
            ("[]", "expected"),
            (r#"{"error": {"message": "no"}}"#, "missing field `data`"),
            (r#"{"data": []}"#, "it has 0 vectors for 2 texts"),
            (r#"{"data": [{"index": 0, "embedding": [1]}]}"#, "it has 1 vectors for 2 texts"),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"embedding": [1]}]}"#,
                "missing field `index`",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#,
                "there are two vectors of text 0",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [1]}]}"#,
                "there is no text 2",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}"#,
                "its vectors differ in size: 1 numbers and 2",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": []}]}"#,
                "vector 1 has 0 numbers",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1e39]}]}"#,
                "vector 1 holds a number that is none",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [NaN]}]}"#,
                "expected value",
            ),
            (
                r#"{"data": [{"index": 0, "embedding": "AACAPw=="}, {"index": 1, "embedding": [1]}]}"#,
                "invalid type: string",
            ),
            (
                r#"{"data": [{"index": -1, "embedding": [1]}, {"index": 1, "embedding": [1]}]}"#,
                "invalid value",
            ),
        ] {
            assert!(said(answer).contains(why), "{answer}: {}", said(answer));
        }
        assert_eq!(
            said(r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [-1]}]}"#),
            "2 of 1"
        );
    }
}
