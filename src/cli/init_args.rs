//! What `selkie init` takes.

/// `selkie init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie init                               ask, then write the config
  selkie init --config ~/.config/selkie/config.yaml
  sudo selkie init                          set up the package's bot
  selkie init --yes --owner tg:4711 \\
      --secret-file telegram.bot_token=token.txt \\
      --secret-env llm.api_key=OPENAI_API_KEY \\
      --set llm.provider=openai --set llm.model=gpt-6.2-sol

Before anything is written, each token is tried with its platform, and the model gets one short question. KEY is a key of the \
config (selkie config example). Secrets are copied into files of their own beside the config, and never have to be on a command \
line. What replaces a config belongs to whom that one belonged, and is read by the same; folders that it names stay.

Exit codes: 0 the config is written · 1 it is not · 2 the command line is wrong")]
pub struct Init {
    /// Ask nothing: try what the flags say, and write it
    #[arg(long)]
    pub yes: bool,
    /// Write a new config even if there is one already; the old one is kept as config.yaml.old, or as
    /// config.yaml.old.2, … where that is taken
    #[arg(long)]
    pub force: bool,
    /// An owner's id; may be repeated. Without one, `selkie pair` makes an owner later
    #[arg(long, value_name = "ID")]
    pub owner: Vec<String>,
    /// Take a secret from a file; may be repeated
    #[arg(long, value_name = "KEY=FILE")]
    pub secret_file: Vec<String>,
    /// Take a secret from an environment variable; may be repeated
    #[arg(long, value_name = "KEY=NAME")]
    pub secret_env: Vec<String>,
    /// Set any key that holds no secret; VALUE is JSON or plain text; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// With --yes: do not try the tokens and the model
    #[arg(long, requires = "yes")]
    pub untested: bool,
}
