//! What `selkie completions` and `selkie man` take, and their help.

use std::path::PathBuf;

use clap::ValueEnum;

/// `selkie completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie completions bash > ~/.local/share/bash-completion/completions/selkie
  selkie completions zsh > ~/.zfunc/_selkie
  selkie completions fish > ~/.config/fish/completions/selkie.fish

For zsh, ~/.zshrc needs fpath+=(~/.zfunc) before compinit.")]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

/// A shell that completions are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash, with bash-completion
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}

/// `selkie man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  selkie man ~/.local/share/man/man1      then: man selkie, man selkie-trace
  selkie man > selkie.1")]
pub struct Manual {
    /// The folder to write a page for each command to [default: print the main page]
    pub folder: Option<PathBuf>,
}
