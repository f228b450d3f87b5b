#![doc = include_str!("README.md")]

pub mod domain;

pub mod guard;

pub mod store;

pub mod llm;

pub mod tools;

pub mod agent;

pub mod memory;
pub mod people;
pub mod schedule;
pub mod shape;

pub mod delivery;

pub mod work;

pub mod intake;
pub mod terminal;

pub mod console;

pub mod config;
pub mod daemon;
