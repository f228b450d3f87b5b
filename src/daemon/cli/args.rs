//! What the command line takes, and its help.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "Examples:
  selkie demo                                 a chat with emulated platforms; no key, no account
  selkie demo --say 'note: buy milk'          one message in, the visible answers out
  selkie config example > config.yaml         a config to begin with
  selkie config check                         everything that is wrong with it, at once
  selkie run                                  the daemon
  selkie ask 'what is in this folder?'        one task in the terminal
  selkie say --to tg:4711 'tea is ready'      your own words, through the bot
  selkie tools why write_file --in cli        why a tool is there, or is not

Exit codes: 0 done · 1 it did not work · 2 the command line or the config is wrong";

/// A multi-channel chat-bot daemon: one base tool registry, reshaped for every task.
#[derive(Debug, Parser)]
#[command(name = "selkie", version, after_help = EXAMPLES)]
pub struct Args {
    /// The config file [default: ./config.yaml, else /etc/selkie/config.yaml; none is fine]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The state folder; ranks above config and environment
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the daemon
    Run,
    /// Run the same daemon against emulated platforms, with a page to chat in
    Demo(Demo),
    /// Ask one thing in the terminal: progress to standard error, the answer to standard output
    Ask(Ask),
    /// Say something in a conversation, as the bot: stored first, then sent, with the platform's receipt
    Say(Say),
    /// List, explain and call tools
    #[command(subcommand)]
    Tools(Tools),
    /// Check and show the config
    #[command(subcommand)]
    Config(Config),
    /// What a platform needs to know of the bot
    #[command(subcommand)]
    Channel(Channel),
    /// Show a message's whole chain, from the platform's event to the receipts
    Trace(Trace),
}

/// `selkie channel`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie slack manifest")]
pub enum Channel {
    /// Print what a person pastes at the platform to make the bot
    Manifest {
        /// The channel
        name: String,
    },
}

/// `selkie demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie demo                               a page to chat in; prints its address
  selkie demo --say 'note: buy milk'        one message in, the answer out
  selkie demo --say hello --in slack:channel")]
pub struct Demo {
    /// Say this, print the visible answers, end
    #[arg(long, value_name = "TEXT")]
    pub say: Option<String>,
    /// Where to say it [default: the first place there is, a private chat]
    #[arg(long = "in", value_name = "PLACE")]
    pub place: Option<String>,
    /// In a group: say it to the room, not to the bot by its name
    #[arg(long, requires = "say")]
    pub unnamed: bool,
    /// The model to use, `<provider>/<model>` or `offline` [default: by OPENAI_API_KEY or ANTHROPIC_API_KEY, else offline]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The page's port [default: a free one]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub port: u16,
}

/// `selkie ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie ask what is in this folder
  selkie ask 'why does the build fail?' --json
  git diff | selkie ask -

Exit codes: 0 answered · 1 not answered · 2 the command line or the configuration is wrong")]
pub struct Ask {
    /// What to ask; - reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// One JSON object a line: progress, answer, end
    #[arg(long)]
    pub json: bool,
}

/// `selkie say`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie say --to tg:4711 'tea is ready'
  selkie say --to x:main 'Good morning!'")]
pub struct Say {
    /// The conversation, e.g. x:main or tg:-100123; /id in a chat tells its id
    #[arg(long, value_name = "CONVERSATION")]
    pub to: String,
    /// What to say, in Markdown
    pub text: String,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `selkie tools`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie tools list --in telegram:group
  selkie tools why bash --in telegram:group
  selkie tools call todo_read '{}'
  selkie tools call --preview write_file '{\"path\":\"a.txt\",\"content\":\"hello\"}'")]
pub enum Tools {
    /// List the base, the runtime tools and each channel's; or one setting's shape
    List {
        #[command(flatten)]
        setting: Setting,
        /// JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print the page of all tools in markdown, as src/docs/tools.md has it
    Docs,
    /// Show a tool as the model sees it
    Show {
        /// The tool
        name: String,
    },
    /// Call tools without an agent, one after the other in one process
    Call {
        /// The setting whose rules apply
        #[arg(long = "in", value_name = "SETTING", default_value = "cli")]
        setting: String,
        /// The folder they work in [default: the current one]
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// JSON instead of text
        #[arg(long)]
        json: bool,
        /// Do nothing; print what a person who has to approve the calls would read
        #[arg(long)]
        preview: bool,
        /// NAME JSON [NAME JSON …]
        #[arg(required = true, num_args = 2.., value_name = "NAME JSON")]
        calls: Vec<String>,
    },
    /// Say why a tool is there in a setting, or is not
    Why {
        /// The tool
        name: String,
        #[command(flatten)]
        setting: Setting,
        /// JSON instead of text
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
    /// Who asks: the least trusted of them [default: owner]
    #[arg(long = "as", value_name = "WHO", value_parser = ["owner", "allowed", "stranger"])]
    pub who: Option<String>,
    /// What for [default: asked]
    #[arg(long, value_parser = ["asked", "scheduled", "heartbeat", "child"])]
    pub occasion: Option<String>,
    /// What the conversation is in [default: normal]
    #[arg(long, value_parser = ["normal", "plan"])]
    pub mode: Option<String>,
    /// Words of others are in play: a quote, a file, a web page
    #[arg(long)]
    pub tainted: bool,
}

impl Setting {
    /// Whether anything of it is named.
    pub fn is_named(&self) -> bool {
        let Self { place, who, occasion, mode, tainted } = self;
        [place, who, occasion, mode].into_iter().any(Option::is_some) || *tainted
    }
}

/// `selkie config`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  selkie config example > config.yaml
  selkie config check
  selkie config show")]
pub enum Config {
    /// Tell everything that is wrong, at once
    Check,
    /// Show every key as it takes effect and where its value comes from
    Show {
        /// JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema, for editors
    Schema,
    /// Print a config with every key, commented
    Example,
}

/// `selkie trace`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie trace 17
  selkie trace tg:4711:203 --json")]
pub struct Trace {
    /// A task's number, an inbox key, or a platform's message id
    pub message: String,
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        super::Args::command().debug_assert();
    }
}
