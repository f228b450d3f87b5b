//! The walls: who may import whom, where a platform may be named, what a file may be, that no function takes a
//! tuple, and that no two files need each other. The table in `walls.rs` is house law; a room that has to break it shows that the wall is
//! wrong, and then the table changes first. `mutations.rs` proves that each wall stands.

mod circles;
mod count;
mod facts;
mod mutations;
mod resolve;
mod source;
mod tail;
mod walls;

use source::Tree;

fn holds(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

#[test]
fn every_room_is_known_and_imports_lower_floors_only() {
    holds(&walls::floors(&Tree::read()));
}

#[test]
fn a_channel_knows_core_and_nothing_else_of_ours() {
    holds(&walls::crates(&Tree::read()));
}

#[test]
fn calls_leave_over_one_http_client() {
    holds(&walls::clients(&Tree::read()));
    holds(&walls::lock(include_str!("../../Cargo.lock")));
}

#[test]
fn no_platform_is_named_outside_its_home() {
    holds(&walls::platforms(&Tree::read()));
}

#[test]
fn a_file_does_one_thing_and_its_first_line_says_which() {
    holds(&walls::files(&Tree::read()));
}

#[test]
fn no_function_takes_a_tuple() {
    holds(&walls::tuples(&Tree::read()));
}

#[test]
fn no_two_files_need_each_other() {
    holds(&walls::circles(&Tree::read()));
}

#[test]
fn what_the_compiler_cannot_check_stands_in_one_file() {
    holds(&walls::unchecked(&Tree::read()));
}
