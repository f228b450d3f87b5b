//! `selkie init`: asks what a config needs, tries it, and writes it; the same by flags.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::init_args::Init;
use super::outcome::{Failure, Outcome};
use super::owned::RootCommand;
use super::service::Keeper;
use super::{init_flags, print, run, service};
use selkie_app::Binary;
use selkie_app::build::{ConfigChoice, plan};
use selkie_app::lifecycle;
use selkie_config::paths::ConfigFile;
use selkie_config::problem::one_of;
use selkie_ops::init::{
    Answers, PromptClosed, Prompter, Target, Trial, TrialResult, WrittenFiles, ask, earlier, render,
};
use selkie_ops::service::Machine;

/// What a thread that reads a terminal may hold up at the end.
const FAREWELL: Duration = Duration::from_millis(100);

/// Asks or takes the flags, and writes.
pub fn init(binary: &Binary, chosen: &ConfigChoice, init: Init) -> Outcome {
    let mut answers = init_flags::read(binary, &init)?;
    // What commands read here is what is set up.
    let config = binary.here.join(chosen.file.path().unwrap_or(Path::new("config.yaml")));
    let is_fresh = earlier::is_as_packaged(&config);
    let target = Target { path: config, replaces: init.force || is_fresh };
    if let Some(says) = target.unwritable() {
        return Err(Failure::Failed(anyhow::anyhow!(says)));
    }
    earlier::keep_folders(binary, &target.path, &mut answers);
    let nothing = ConfigChoice { file: ConfigFile::None, ..chosen.clone() };
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
    let owned = RootCommand::of(binary, chosen)?;
    let asked = runtime.block_on(work.by_asking(answers));
    runtime.shutdown_timeout(FAREWELL);
    // A service runs as somebody else than root, and has to get what the bot has stored meanwhile.
    owned.map_or(Ok(()), |owned| owned.hand_over())?;
    match asked? {
        Next::Run(written) => {
            run::run(binary, &ConfigChoice { file: ConfigFile::Named(written), ..nothing })
        }
        Next::Keep(machine) => service::keep_running(&machine),
        Next::Nothing => Ok(()),
    }
}

/// What comes after the last question.
enum Next {
    /// The bot runs in this very process.
    Run(PathBuf),
    /// A package's service starts.
    Keep(Machine),
    Nothing,
}

/// What a config is written with.
struct Work<'a> {
    binary: &'a Binary,
    /// Without a file.
    chosen: &'a ConfigChoice,
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
        for line in all.iter().flat_map(TrialResult::lines) {
            print::told(line.trim());
        }
        match all.iter().any(TrialResult::is_refused) {
            true => Err(Failure::Failed(anyhow::anyhow!(
                "nothing was written: correct what was rejected, or write it untested (--untested)"
            ))),
            false => Ok(()),
        }
    }

    async fn by_asking(&self, mut answers: Answers) -> Result<Next, Failure> {
        let mut prompter = Prompter::at_terminal(crate::print::prose)?;
        match self.asked(&mut prompter, &mut answers).await {
            Ok(wanted) => wanted,
            Err(PromptClosed) => {
                prompter.say("\nStopped: no config was written.");
                Err(Failure::Told)
            }
        }
    }

    async fn asked(
        &self,
        prompter: &mut Prompter,
        answers: &mut Answers,
    ) -> Result<Result<Next, Failure>, PromptClosed> {
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
        match self.hears(answers) {
            true => Ok(Ok(work.next(prompter, written.config).await)),
            false => Ok(Ok(Next::Nothing)),
        }
    }

    /// Asks how the bot goes on; who breaks off here has a config already.
    async fn next(&self, prompter: &mut Prompter, config: PathBuf) -> Next {
        const KEEP: &str = "Keep it running?";
        match Keeper::of(self.binary, &config) {
            Keeper::Packaged(machine) if machine.runs => {
                match prompter.agrees(KEEP, true).await.unwrap_or(false) {
                    true => Next::Keep(machine),
                    false => Next::Nothing,
                }
            }
            // What was said last names what does it.
            Keeper::Packaged(_) | Keeper::Container => Next::Nothing,
            Keeper::Own(machine) => {
                let agrees = prompter.agrees(KEEP, true).await.unwrap_or(false);
                let binary = self.binary;
                let chosen = self.chosen;
                match agrees && service::installed_own(binary, chosen, &config, &machine, prompter)
                {
                    true => Next::Nothing,
                    false => Self::now(prompter, config).await,
                }
            }
            Keeper::Nobody => Self::now(prompter, config).await,
        }
    }

    async fn now(prompter: &mut Prompter, config: PathBuf) -> Next {
        match prompter.agrees("Start the bot now?", true).await.unwrap_or(false) {
            true => Next::Run(config),
            false => Next::Nothing,
        }
    }

    /// Whether a channel is set up.
    fn hears(&self, answers: &Answers) -> bool {
        self.binary.kits.iter().any(|kit| answers.has_section(kit.name))
    }

    fn trial(&self) -> Trial<'_> {
        Trial { binary: self.binary, chosen: self.chosen }
    }

    fn write(&self, answers: &Answers) -> Result<WrittenFiles, Failure> {
        let check = |file: &Path| {
            let file = ConfigFile::Named(file.to_owned());
            let read = plan(self.binary, &ConfigChoice { file, ..self.chosen.clone() });
            read.map(|_| ()).map_err(|problems| problems.to_string())
        };
        let render = |files: &_| render(answers, files, &self.binary.kits);
        let is_fresh = earlier::is_as_packaged(&self.target.path);
        let mut written = self.target.write(answers, render, check)?;
        if let Some(old) = written.old.take_if(|_| is_fresh) {
            // Nobody has written a word of it, and the next package brings it again.
            std::fs::remove_file(old)?;
        }
        Ok(written)
    }

    /// Says what was written, and what to run next; `tries`: whoever is named was asked before.
    fn told(&self, written: &WrittenFiles, answers: &Answers, tries: bool) -> String {
        let mut text = format!("Written: {}", written.config.display());
        let readers = written.readers.in_words();
        text.push_str(&match written.secrets.len() {
            0 => format!(". {readers} can read it.\n"),
            1 => format!(", with one secret in a file beside it. {readers} can read them.\n"),
            several => {
                format!(", with {several} secrets in files beside it. {readers} can read them.\n")
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
        let hears = self.hears(answers);
        text.push_str(&match (hears, Keeper::of(self.binary, &written.config)) {
            (true, Keeper::Packaged(_)) => {
                "\nNext:\n  systemctl enable --now selkie    keeps it running\n".to_owned()
            }
            (true, Keeper::Container) => {
                "\nNext:\n  docker compose up -d    keeps it running; without compose, start the image with the same volumes\n"
                    .to_owned()
            }
            (true, _) => format!("\nNext:\n  selkie run{config}       starts the bot\n"),
            (false, _) => format!(
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
