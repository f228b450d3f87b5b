//! `selkie init`: asks what a config needs, tries it, and writes it; the same by flags.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::init_args::Init;
use super::outcome::{Failure, Outcome};
use super::{init_flags, print, run, service};
use crate::config::paths::ConfigFile;
use crate::config::problem::one_of;
use crate::daemon::build::{Chosen, plan};
use crate::daemon::init::{Answers, Prompter, Stopped, Target, Trial, Tried, Written, ask, render};
use crate::daemon::{Binary, lifecycle};

/// What a thread that reads a terminal may hold up at the end.
const FAREWELL: Duration = Duration::from_millis(100);

/// Asks or takes the flags, and writes.
pub fn init(binary: &Binary, chosen: &Chosen, init: Init) -> Outcome {
    let answers = init_flags::read(binary, &init)?;
    let config = match &chosen.file {
        ConfigFile::Named(path) => binary.here.join(path),
        ConfigFile::Found(_) | ConfigFile::None => binary.here.join("config.yaml"),
    };
    let target = Target { path: config, replaces: init.force };
    let nothing = Chosen { file: ConfigFile::None, ..chosen.clone() };
    let work = Work { binary, chosen: &nothing, target };
    if init.yes {
        return work.by_flags(answers, !init.untested);
    }
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let says =
            "selkie init asks at a terminal; in a script use --yes with flags (selkie init --help)";
        return Err(Failure::Usage(says.to_owned()));
    }
    let runtime = lifecycle::runtime()?;
    let asked = runtime.block_on(work.by_asking(answers));
    runtime.shutdown_timeout(FAREWELL);
    match asked? {
        Some(written) => run::run(binary, &Chosen { file: ConfigFile::Named(written), ..nothing }),
        None => Ok(()),
    }
}

/// What a config is written with.
struct Work<'a> {
    binary: &'a Binary,
    /// Without a file.
    chosen: &'a Chosen,
    target: Target,
}

impl Work<'_> {
    fn by_flags(&self, answers: Answers, tries: bool) -> Outcome {
        if self.target.is_there() && !self.target.replaces {
            return Err(self.is_there());
        }
        // A key that is none, or a value that is not taken, was mistyped.
        let plan = self.trial().plan(&answers);
        let plan = plan.map_err(|problems| Failure::Usage(problems.to_string()))?;
        if plan.channels.is_empty() && !answers.has_section("llm") {
            return Err(self.names_nothing());
        }
        if tries {
            let runtime = lifecycle::runtime()?;
            let tried = runtime.block_on(self.try_all(&answers));
            runtime.shutdown_timeout(FAREWELL);
            tried?;
        }
        let written = self.write(&answers)?;
        print::prose(&self.told(&written, &answers, tries))?;
        Ok(())
    }

    /// Asks everybody whom the flags name, and tells what they say.
    async fn try_all(&self, answers: &Answers) -> Outcome {
        let mut all = Vec::new();
        for kit in self.binary.kits.iter().filter(|kit| answers.has_section(kit.name)) {
            all.push(self.trial().channel(answers, kit.name).await);
        }
        if answers.has_section("llm") {
            all.push(self.trial().model(answers).await);
        }
        for line in all.iter().flat_map(Tried::lines) {
            print::told(line.trim());
        }
        match all.iter().any(Tried::is_refused) {
            true => Err(Failure::Failed(anyhow::anyhow!(
                "nothing was written: correct what was rejected, or write it untested (--untested)"
            ))),
            false => Ok(()),
        }
    }

    /// Returns the config where the bot is to be started at once.
    async fn by_asking(&self, mut answers: Answers) -> Result<Option<PathBuf>, Failure> {
        let mut prompter = Prompter::at_terminal()?;
        match self.asked(&mut prompter, &mut answers).await {
            Ok(wanted) => wanted,
            Err(Stopped) => {
                prompter.say("\nStopped: no config was written.");
                Err(Failure::Told)
            }
        }
    }

    async fn asked(
        &self,
        prompter: &mut Prompter,
        answers: &mut Answers,
    ) -> Result<Result<Option<PathBuf>, Failure>, Stopped> {
        let path = self.target.path.display();
        prompter.say(&format!("This sets selkie up and writes {path}."));
        prompter.say("Press Enter to accept what is in brackets, Ctrl-C to stop. The config is written at the end.");
        let mut target = self.target.clone();
        if target.is_there() && !target.replaces {
            let question = format!(
                "{path} already exists. Write a new one, and keep the old one as {}?",
                target.old().display()
            );
            if !prompter.agrees(&question, false).await? {
                prompter.say("It stays as it is.");
                return Ok(Err(Failure::Told));
            }
            target.replaces = true;
        }
        ask(prompter, self.trial(), answers).await?;
        prompter.say("");
        let work = Self { target, ..*self };
        let written = match work.write(answers) {
            Ok(written) => written,
            Err(failure) => return Ok(Err(failure)),
        };
        prompter.say(&work.told(&written, answers, true));
        let hears = self.binary.kits.iter().any(|kit| answers.has_section(kit.name));
        if hears && service::offered(self.binary, self.chosen, &written.config, prompter).await {
            return Ok(Ok(None));
        }
        let starts = hears && prompter.agrees("Start the bot now?", true).await.unwrap_or(false);
        Ok(Ok(starts.then_some(written.config)))
    }

    fn trial(&self) -> Trial<'_> {
        Trial { binary: self.binary, chosen: self.chosen }
    }

    fn write(&self, answers: &Answers) -> Result<Written, Failure> {
        let check = |file: &Path| {
            let file = ConfigFile::Named(file.to_owned());
            let read = plan(self.binary, &Chosen { file, ..self.chosen.clone() });
            read.map(|_| ()).map_err(|problems| problems.to_string())
        };
        let render = |files: &_| render(answers, files, &self.binary.kits);
        Ok(self.target.write(answers, render, check)?)
    }

    /// Says what was written, and what to run next; `tries`: whoever is named was asked before.
    fn told(&self, written: &Written, answers: &Answers, tries: bool) -> String {
        let mut text = format!("Written: {}", written.config.display());
        text.push_str(&match written.secrets.len() {
            0 => ". Only you can read it.\n".to_owned(),
            1 => ", with one secret in a file beside it. Only you can read them.\n".to_owned(),
            several => {
                format!(", with {several} secrets in files beside it. Only you can read them.\n")
            }
        });
        if let Some(old) = &written.old {
            text.push_str(&format!("The old one is {}.\n", old.display()));
        }
        let variables = self.trial().variables(answers);
        if !variables.is_empty() {
            let names = variables.into_iter().collect::<Vec<_>>().join(", ");
            text.push_str(&format!(
                "Used from your environment, and not in the file: {names}. Wherever selkie runs, it needs them too.\n"
            ));
        }
        let is_here = self.binary.here.join("config.yaml") == written.config;
        let mut config = match is_here {
            true => String::new(),
            false => format!(" --config {}", written.config.display()),
        };
        if let Some(state) = &self.chosen.state {
            config.push_str(&format!(" --state {}", state.display()));
        }
        let hears = self.binary.kits.iter().any(|kit| answers.has_section(kit.name));
        text.push_str(&match hears {
            true => format!("\nNext:\n  selkie run{config}       starts the bot\n"),
            false => format!(
                "\nNo channel is set up yet: selkie ask{config} works, but selkie run needs one. selkie init --force asks again.\n\nNext:\n"
            ),
        });
        if answers.owners().is_empty() && hears {
            text.push_str(&format!(
                "  selkie pair{config}      prints a code that makes you its owner\n"
            ));
        }
        // Whoever was asked about nothing has nothing that could be asked again.
        let again = if tries && (hears || answers.has_section("llm")) { " again" } else { "" };
        text.push_str(&format!("  selkie doctor{config}    checks everything{again}\n"));
        text
    }

    fn names_nothing(&self) -> Failure {
        let channels: Vec<_> = self.binary.kits.iter().map(|kit| kit.name.to_owned()).collect();
        Failure::Usage(format!(
            "selkie init --yes takes flags for a channel ({}), as selkie init --help shows; for selkie ask alone, name its \
             model (--set llm.provider=…)",
            one_of(&channels)
        ))
    }

    fn is_there(&self) -> Failure {
        self.target.there().into()
    }
}
