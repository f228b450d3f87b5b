//! What the command line takes, and its help.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::approvals::Approvals;
use super::ask::AskArgs;
use super::backup::{BackupArgs, RestoreArgs, ResumeArgs};
use super::channel::Channel;
use super::doctor::Doctor;
use super::errors::Errors;
use super::forget::ForgetArgs;
use super::init_args::Init;
use super::manual_args::{Completions, Manual};
use super::mcp::Mcp;
use super::memory_args::Memory;
use super::number::number_in;
use super::pair::Pair;
use super::posts::Tweets;
use super::reload::ReloadArgs;
use super::schedule_args::Schedules;
use super::service_args::{Logs, Service};
use super::sessions::{Export, Sessions};
use super::skills_args::Skills;
use super::status::StatusArgs;
use super::support::SupportArgs;
use super::todos::Todos;
use super::trace::Trace;
use super::webhooks::Webhooks;

const EXAMPLES: &str = "Examples:
  selkie demo                             try it: needs no key and no account
  selkie demo --say 'note: buy milk'      send one message, print the answers
  selkie init                             set it up and write config.yaml
  selkie config check                     list every mistake in the config
  selkie run                              run the daemon
  selkie ask 'what is in this folder?'    ask something in the terminal
  selkie say --to tg:4711 'tea is ready'  send your own words through the bot
  selkie tools why write_file --in cli    why a tool is available, or is not
  selkie schedules list                   what is scheduled
  selkie status                           how the running daemon is doing
  selkie help errors token                what messages mean, and what to do

Exit codes: 0 success · 1 failure · 2 the command line or the config is wrong";

/// A multi-channel chat-bot daemon: one base tool registry, reshaped for every task.
#[derive(Debug, Parser)]
#[command(name = "selkie", version, after_help = EXAMPLES)]
pub struct Args {
    /// The config file, if there is one [default: ./config.yaml, else ~/.config/selkie/config.yaml, else
    /// /etc/selkie/config.yaml]. `demo` reads none unless you name it here
    #[arg(long, global = true, value_name = "FILE", display_order = 900)]
    pub config: Option<PathBuf>,
    /// The state folder; overrides the config and the environment
    #[arg(long, global = true, value_name = "DIR", display_order = 901)]
    pub state: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Set selkie up step by step: asks for each token, tries it, and writes config.yaml
    Init(Init),
    /// Run the daemon
    #[command(after_help = "Examples:
  selkie run
  selkie run --config /etc/selkie/config.yaml --state /var/lib/selkie

Exit codes: 0 it was told to stop · 1 it cannot start, or no channel that is configured works · 2 the command line or the config \
is wrong")]
    Run,
    /// Run the daemon with emulated platforms and a web page to chat on. Its tools are real: they run commands on this
    /// machine
    Demo(Demo),
    /// Ask one thing in the terminal: the answer goes to standard output, progress to standard error
    Ask(AskArgs),
    /// Send your own words to a conversation, as the bot, and print the platform's receipt
    Say(Say),
    /// Show how the running daemon is doing: channels, tasks, today's cost, what comes next
    Status(StatusArgs),
    /// Make the running daemon read its config again; a config with mistakes is rejected and changes nothing
    Reload(ReloadArgs),
    /// Make somebody an owner: they send a code to the bot
    Pair(Pair),
    /// List what is waiting for approval, approve it or deny it
    #[command(subcommand)]
    Approvals(Approvals),
    /// List, add and change schedules: what selkie does later, or regularly
    #[command(subcommand)]
    Schedules(Schedules),
    /// List the webhooks of the config; try one
    #[command(subcommand)]
    Webhooks(Webhooks),
    /// List conversations; show or export what was said in them
    #[command(subcommand)]
    Sessions(Sessions),
    /// Print everything that selkie has stored of one conversation
    Export(Export),
    /// List, change and retry posts on X
    #[command(subcommand)]
    Tweets(Tweets),
    /// List the to-do items that people gave the bot (TODO.md)
    #[command(subcommand)]
    Todos(Todos),
    /// List, show and merge contacts: the people the bot knows
    #[command(subcommand)]
    Contacts(Contacts),
    /// Forget a person for good: their private chats, what the bot remembers from them, and their contact
    Forget(ForgetArgs),
    /// Restore an earlier version of the to-do list or the contacts
    Undo(Undo),
    /// Show, search and export what the bot remembers in each chat
    #[command(subcommand)]
    Memory(Memory),
    /// Install, review, check and list skills: how kinds of work are done
    #[command(subcommand)]
    Skills(Skills),
    /// List, explain and call tools
    #[command(subcommand)]
    Tools(Tools),
    /// List, look at and agree to other servers' tools (Model Context Protocol)
    #[command(subcommand)]
    Mcp(Mcp),
    /// Check and show the config
    #[command(subcommand)]
    Config(Config),
    /// Print what a platform needs to set up the bot; `selkie slack manifest` is short for `selkie channel manifest slack`
    #[command(subcommand)]
    Channel(Channel),
    /// Check config, tokens, model, store, disk, clock and more, and say what to do about each problem
    Doctor(Doctor),
    /// Install selkie as a systemd service, remove it, or show how it is doing
    #[command(subcommand)]
    Service(Service),
    /// Show the log of the installed service
    Logs(Logs),
    /// Explain selkie's messages and what to do about them; `selkie help errors` is the same
    Errors(Errors),
    /// Show what happened to a message, from its arrival to the receipts of the answer; lists the newest tasks without one
    Trace(Trace),
    /// Copy everything that is stored into another database
    #[command(subcommand)]
    Store(Store),
    /// Back up everything into one file, while selkie runs or not
    Backup(BackupArgs),
    /// Restore a backup; `selkie resume` then puts selkie back to work
    Restore(RestoreArgs),
    /// Put a restored selkie back to work: until then it receives, starts and sends nothing
    Resume(ResumeArgs),
    /// Collect what somebody needs to help you in one file: versions, config, findings and status, without secrets or
    /// messages
    #[command(visible_alias = "support")]
    SupportBundle(SupportArgs),
    /// Print the completion script for your shell
    Completions(Completions),
    /// Write the manual pages
    Man(Manual),
}

/// `selkie contacts`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie contacts list
  selkie contacts show Grace
  selkie contacts merge slack:T0123456:U0123456 tg:4711
  selkie undo contacts/ACTIVE.md            undo the last change")]
pub enum Contacts {
    /// List everybody, the most recently seen first
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show everything known about one person
    Show {
        /// Their name or one of their ids
        who: String,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Merge two contacts that are one person
    Merge {
        /// The contact that is merged into the other one and disappears
        from: String,
        /// The contact that stays; where the two differ, it wins
        into: String,
    },
}

/// `selkie undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie undo TODO.md                       undo the last change; twice: redo it
  selkie undo contacts/ACTIVE.md --list
  selkie undo contacts/ACTIVE.md --to 20260306T070809.000Z-000000

Only the file that you name is restored: an item that had moved from TODO.md to TODO.DONE.md is in both afterwards.")]
pub struct Undo {
    /// TODO.md, TODO.DONE.md, contacts/ACTIVE.md or contacts/INACTIVE.md
    pub file: String,
    /// List the versions that are kept (at most ten), the newest first
    #[arg(long, conflicts_with = "to")]
    pub list: bool,
    /// Restore this version [default: the newest]
    #[arg(long, value_name = "VERSION")]
    pub to: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `selkie store`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie store copy --to postgres://selkie@db/selkie --password-file db-password
  selkie store copy --to /var/lib/selkie/selkie.db
  selkie store unseal                       go back to the old store")]
pub enum Store {
    /// Copy the configured store into an empty one, and seal the old one, so that selkie does not start on it until it is
    /// unsealed. In the copy, messages that were being sent are marked unclear, running tasks are stopped, and open
    /// questions have expired
    Copy {
        /// A database, postgres://user@host/database, or a file that does not exist yet
        #[arg(long, value_name = "DATABASE")]
        to: String,
        /// The file with its password, if the URL has none
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
        /// Print how many rows each table has
        #[arg(long)]
        verbose: bool,
    },
    /// Unseal the configured store after a copy; only if you do not use the copy
    Unseal,
}

/// `selkie demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie demo                               prints the address of its page
  selkie demo --say 'note: buy milk'        send one message, print the answers
  selkie demo --say hello --in slack:channel
  selkie demo --say 'remember that I like tea' --in telegram:private --as grace
  selkie demo --say 'note: buy milk' --say 'tell me my list'
  selkie demo --say 'every day at 08:00 tell me my list' --then +1d
  selkie demo --model strict/claude-bound --say 'note: buy milk'
  selkie demo --story approval              someone asks, the owner approves")]
pub struct Demo {
    /// Send this message, print the answers and exit; may be repeated: each is sent after the answer to the one before
    #[arg(long, value_name = "TEXT")]
    pub say: Vec<String>,
    /// Where to send it, e.g. telegram:group; an unknown name lists all [default: a private chat]
    #[arg(long = "in", value_name = "PLACE", requires = "say")]
    pub place: Option<String>,
    /// Who sends it: Ada (the owner), Grace (allowed) or Linus; in `telegram:private` Ada or Grace, each in their own chat
    /// [default: the owner]
    #[arg(long = "as", value_name = "NAME", requires = "say")]
    pub who: Option<String>,
    /// After all --say, move the clock forward, stopping whenever something is due, and print the answers; may be repeated.
    /// Takes +1d, 08:00, tomorrow 08:00, or next (the next due time)
    #[arg(long, value_name = "TIME", requires = "say", allow_hyphen_values = true)]
    pub then: Vec<String>,
    /// In a group: do not mention the bot
    #[arg(long, requires = "say")]
    pub unnamed: bool,
    /// Play this story with the built-in stand-in for a model, print what everybody reads, and exit
    #[arg(long, value_name = "NAME", value_parser = ["approval"], num_args = 0..=1, default_missing_value = "approval", conflicts_with_all = ["say", "model", "port"])]
    pub story: Option<String>,
    /// The model to use: `<provider>/<model>` (such as ollama/qwen3:8b), `offline`, or `strict/<family>`, the stand-in
    /// behind a server that keeps the rules of openai, claude, claude-bound, gemini, deepseek or local-4096
    /// [default: by OPENAI_API_KEY or ANTHROPIC_API_KEY, else offline]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Keep the made-up chats in the database that store.url names; without this flag the demo does not touch it
    #[arg(long)]
    pub use_store: bool,
    /// The page's port [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = number_in(0..=u16::MAX), conflicts_with = "say")]
    pub port: u16,
}

/// `selkie say`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie say --to tg:4711 'tea is ready'
  selkie say --to x:main 'Good morning!'")]
pub struct Say {
    /// The conversation, e.g. x:main or tg:-100123; /id in a chat shows its id
    #[arg(long, value_name = "CONVERSATION")]
    pub to: String,
    /// What to say, in Markdown; - reads it from standard input
    pub text: String,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `selkie tools`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie tools list --in telegram:group
  selkie tools why bash --in telegram:group
  selkie tools show write_file              what the model sees of a tool
  selkie tools docs > tools.md
  selkie tools call todo_read '{}'
  selkie tools call --preview write_file '{\"path\":\"a.txt\",\"content\":\"hello\"}'")]
pub enum Tools {
    /// List all tools, or those of one setting
    List {
        #[command(flatten)]
        setting: Setting,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print the reference for all tools, in Markdown
    Docs,
    /// Show a tool as the model sees it
    Show {
        /// The tool
        name: String,
    },
    /// Call tools by hand, without a model, one after the other. At a terminal, a call that needs approval counts as
    /// approved; in a pipe it is refused. Nothing is sent to a platform (`selkie say` does that)
    Call {
        /// The setting whose rules apply
        #[arg(long = "in", value_name = "SETTING", default_value = "cli")]
        setting: String,
        /// The folder they work in [default: the current one]
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
        /// Print what each call would do, or why it would be refused, and call nothing
        #[arg(long)]
        preview: bool,
        /// NAME JSON [NAME JSON …]
        #[arg(required = true, num_args = 1.., value_name = "NAME JSON")]
        calls: Vec<String>,
    },
    /// Say why a tool is available in a setting, or why not
    Why {
        /// The tool
        name: String,
        #[command(flatten)]
        setting: Setting,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
}

/// A setting: where, whose trust, what for, in which mode.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Setting {
    /// Where: cli, or `<channel>:<kind>` [default: cli]
    #[arg(long = "in", value_name = "WHERE")]
    pub place: Option<String>,
    /// Who asks; if several people do, the least trusted of them [default: owner]
    #[arg(long = "as", value_name = "WHO", value_parser = ["owner", "allowed", "stranger"])]
    pub who: Option<String>,
    /// What started the task [default: asked]
    #[arg(long, visible_alias = "occasion", value_parser = ["asked", "scheduled", "heartbeat", "child", "relayed", "webhook"])]
    pub trigger: Option<String>,
    /// The conversation's mode [default: normal]
    #[arg(long, value_parser = ["normal", "plan"])]
    pub mode: Option<String>,
    /// The task contains other people's words: a quote, a file, a web page
    #[arg(long)]
    pub tainted: bool,
    /// The agent of the config that answers
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
}

impl Setting {
    /// Whether anything of it is named.
    pub fn is_named(&self) -> bool {
        let Self { place, who, trigger, mode, tainted, agent } = self;
        [place, who, trigger, mode, agent].into_iter().any(Option::is_some) || *tainted
    }
}

/// `selkie config`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie config example > config.yaml
  selkie config check
  selkie config show
  selkie config schema > schema.json        for your editor")]
pub enum Config {
    /// Report every mistake at once
    Check {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show every key with the value in effect and where it comes from
    Show {
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema, for editors
    Schema,
    /// Print a commented config with every key
    Example,
}
