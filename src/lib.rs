#![doc = include_str!("README.md")]

pub use selkie_agent as agent;
pub use selkie_app as app;
pub use selkie_cli as cli;
pub use selkie_config as config;
pub use selkie_console as console;
pub use selkie_domain as domain;
pub use selkie_engine as engine;
pub use selkie_guard as guard;
pub use selkie_llm as llm;
pub use selkie_memory as memory;
pub use selkie_ops as ops;
pub use selkie_people as people;
pub use selkie_sandbox as sandbox;
pub use selkie_schedule as schedule;
pub use selkie_shape as shape;
pub use selkie_skills as skills;
pub use selkie_store as store;
pub use selkie_tools as tools;
