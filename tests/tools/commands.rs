//! A program of the operator's as a tool, as the page of the book has it.

use serde_json::json;

use crate::desk::Desk;

const CONFIG: &str = r#"
tools:
  commands:
    stock:
      about: Says how many of an item are left in the shop.
      parameters:
        item: { type: string, description: "The item's name" }
      command: sh
      args: [stock.sh]
"#;

/// The program on the page.
fn script() -> String {
    let page = include_str!("../../src/docs/own-programs.md");
    let begins = page.split_once("#!/bin/sh").unwrap().1;
    begins.split_once("```").unwrap().0.to_owned()
}

#[test]
fn a_program_of_ones_own_is_called_like_any_tool() {
    let desk = Desk::with(CONFIG);
    desk.put("stock.sh", script());
    assert_eq!(desk.call("stock", json!({ "item": "teapots" })), "teapots: 12 left\n");
    assert_eq!(desk.call("stock", json!({})), "✗ item is required");
    let said = desk.said(&[
        ("stock", json!({ "item": "teapots" })),
        ("bash", json!({ "cmd": "echo hi" })),
        ("stock", json!({ "item": "cups" })),
    ]);
    let refused = said.matches("while the task holds other people's words").count();
    assert_eq!(refused, 2, "what it prints are others' words: {said}");
}

#[test]
fn who_may_use_it_where_is_told() {
    let desk = Desk::with(CONFIG);
    let why = |words: &[&str]| {
        let mut command = desk.command();
        let output = command.args(["tools", "why", "stock"]).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let said = [why(&[]), why(&["--in", "telegram:group"]), why(&["--as", "allowed"])].join("--\n");
    insta::assert_snapshot!(said, @r"
    stock is available here (cli · owner · asked · normal)
      no rule hides it
    --
    stock is not available here (telegram:group · owner · asked · normal)
      hidden in groups: other people read along; an owner can open it with places.<id>.allow
      an owner who writes $stock is asked whether that one task may use it, unless it holds other people's words
    --
    stock is not available here (cli · allowed · asked · normal)
      hidden for allowed people: it is not selkie's own, and only owners use it; `who: allowed` beside it in the config opens it
    ");
}
