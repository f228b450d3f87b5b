//! The command line: one file per command. Exit codes: 0 done, 1 it did not work, 2 usage or config.

mod approvals;
mod args;
mod ask;
mod backup;
mod banner;
mod built;
mod channel;
mod config;
mod confirm;
mod contacts;
mod demo;
mod demo_model;
mod doctor;
mod errand;
mod errors;
mod forget;
mod help;
mod init;
mod init_args;
mod init_flags;
mod input;
mod later;
mod live;
mod logs;
mod manual;
mod manual_args;
mod mcp;
mod memory;
mod memory_args;
mod misspelled;
mod number;
mod outcome;
mod owned;
mod pair;
mod posts;
pub mod print;
mod reload;
mod request;
mod run;
mod running_config;
mod say;
mod schedule_args;
mod schedules;
mod service;
mod service_args;
mod sessions;
mod setting;
mod skills;
mod skills_args;
mod status;
mod store;
mod story;
mod streamed;
mod support;
mod table;
mod todos;
mod todos_trust;
mod tools;
mod trace;
mod unconfigured;
mod webhooks;
mod wrap;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Args, Command};
use channel::Channel;
use outcome::{Failure, Outcome};
use owned::RootCommand;
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_app::process;
use selkie_app::telemetry;
use selkie_config::paths::ConfigFile;

/// Carries out a command line and returns the process's exit code.
pub fn main(binary: &Binary, line: impl IntoIterator<Item = OsString>) -> ExitCode {
    process::close_to_others();
    let line = errors::spelled_out(channel::spelled_out(binary, line));
    let parsed = manual::with_version(binary).try_get_matches_from(&line);
    let args = match parsed.and_then(|found| Args::from_arg_matches(&found)) {
        Ok(args) => args,
        Err(error) => {
            return told_by_clap(&misspelled::with_similar(error, &line, &help::whole()));
        }
    };
    let carried_out = carry_out(binary, args);
    telemetry::flush();
    match carried_out {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Failed(error)) => {
            print::told(&format!("selkie: {error:#}"));
            ExitCode::from(1)
        }
        Err(Failure::Told) => ExitCode::from(1),
        Err(Failure::Usage(says)) => {
            if !says.is_empty() {
                print::told(&says);
            }
            ExitCode::from(2)
        }
    }
}

/// Prints a help text, the version or what is wrong with the line: clap knows which it is.
fn told_by_clap(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(unwritten) if !error.use_stderr() && unwritten.kind() != io::ErrorKind::BrokenPipe => {
            print::told(&format!("selkie: {unwritten}"));
            ExitCode::from(1)
        }
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    }
}

fn carry_out(binary: &Binary, args: Args) -> Outcome {
    let Args { config, state, command } = args;
    let file = ConfigFile::choose(config, &binary.here, &binary.env);
    let chosen = ConfigChoice { file, state, flags: Vec::new() };
    let owned = RootCommand::before(binary, &chosen, &command)?;
    let carried_out = carry_out_in(binary, chosen, command);
    let given = owned.map_or(Ok(()), |owned| owned.hand_over());
    // What went wrong before is what its reader wants to know.
    carried_out.and_then(|()| Ok(given?))
}

fn carry_out_in(binary: &Binary, chosen: ConfigChoice, command: Command) -> Outcome {
    match command {
        Command::Run => run::run(binary, &chosen),
        Command::Init(init) => init::init(binary, &chosen, init),
        Command::Demo(demo) => demo::demo(binary, chosen, demo),
        Command::Ask(ask) => ask::ask(binary, &chosen, ask),
        Command::Say(say) => say::say(binary, &chosen, say),
        Command::Tweets(what) => posts::tweets(binary, &chosen, what),
        Command::Schedules(what) => schedules::schedules(binary, &chosen, what),
        Command::Webhooks(what) => webhooks::webhooks(binary, &chosen, what),
        Command::Sessions(what) => sessions::sessions(binary, &chosen, what),
        Command::Export(what) => {
            sessions::sessions(binary, &chosen, sessions::Sessions::Export(what))
        }
        Command::Memory(what) => memory::memory(binary, &chosen, what),
        Command::Skills(what) => skills::skills(binary, &chosen, what),
        Command::Approvals(what) => approvals::approvals(binary, &chosen, what),
        Command::Reload(args) => reload::reload(binary, &chosen, &args),
        Command::Pair(what) => pair::pair(binary, &chosen, what),
        Command::Todos(what) => todos::todos(binary, &chosen, &what),
        Command::Contacts(what) => contacts::contacts(binary, &chosen, what),
        Command::Forget(args) => forget::forget(binary, &chosen, &args),
        Command::Undo(undo) => contacts::undo(binary, &chosen, undo),
        Command::Tools(tools) => tools::tools(binary, &chosen, tools),
        Command::Mcp(what) => mcp::mcp(binary, &chosen, what),
        Command::Config(config) => config::config(binary, &chosen, config),
        Command::Channel(Channel::Manifest { name }) => channel::manifest(binary, &name),
        Command::Store(what) => store::store(binary, &chosen, what),
        Command::Status(what) => status::status(binary, &chosen, &what),
        Command::Service(what) => service::service(binary, &chosen, what),
        Command::Logs(wanted) => logs::logs(binary, wanted),
        Command::Doctor(doctor) => doctor::doctor(binary, &chosen, &doctor),
        Command::Errors(wanted) => errors::errors(&wanted),
        Command::Trace(trace) => trace::trace(binary, &chosen, &trace),
        Command::Backup(args) => backup::backup(binary, &chosen, &args),
        Command::Restore(args) => backup::restore(binary, &chosen, &args),
        Command::Resume(args) => backup::resume(binary, &chosen, &args),
        Command::SupportBundle(args) => support::support(binary, &chosen, &args),
        Command::Completions(completions) => manual::completions(&completions),
        Command::Man(wanted) => manual::manual(&wanted),
    }
}
