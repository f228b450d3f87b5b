//! `think`: the words of its reference document.

use serde_json::json;

use crate::desk::Desk;

#[test]
fn a_thought_is_recorded() {
    let desk = Desk::new();
    let said = desk
        .said(&[("think", json!({"thought": "tests first"})), ("think", json!({"thought": ""}))]);
    assert_eq!(said, "Thought recorded. Continue with your plan.\n--\n✗ thought is required");
}
