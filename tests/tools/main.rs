//! One story per tool, told to the built binary with `selkie tools call`.

mod acp_example;
mod apply_patch;
mod bash;
mod desk;
mod edit_file;
mod examples;
mod git_status;
mod glob;
mod grep;
mod isolated;
mod list_files;
mod notebook_edit;
mod patch;
mod powershell;
mod process;
mod read_file;
mod read_schema;
mod sandbox;
mod server;
mod think;
mod todo;
mod trouble;
mod url_fetch;
mod web_fetch;
mod web_search;
mod write_file;
