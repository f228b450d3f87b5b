//! `selkie skills`: what is installed, and what its owner has seen of it. It works on the files, and has a running daemon
//! look at them anew.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use serde::Serialize;

use super::confirm::{agreed, unasked};
use super::outcome::{Failure, Outcome};
use super::print;
use super::request::{reloaded, to_ask_silently, told_if_new};
use super::skills_args::Skills;
use selkie_app::build::{AppConfig, ConfigChoice};
use selkie_app::{Binary, http, lifecycle};
use selkie_domain::clock::{Clock as _, SystemClock};
use selkie_domain::count::counted;
use selkie_skills::{
    Catalogue, Finding, MAX_BYTES, Package, Shelf, Skill, Tree, check, open, read, report, unpack,
};
use selkie_tools::web::client::GuardedClient;

const DOWNLOAD: Duration = Duration::from_secs(60);

/// Lists, shows, installs, reviews, removes or checks.
pub fn skills(binary: &Binary, chosen: &ConfigChoice, what: Skills) -> Outcome {
    let plan = to_ask_silently(binary, chosen)?;
    let shelf = Shelf::new(plan.folders.state.clone(), plan.settings.skills.folders.clone());
    match what {
        Skills::List { json } => list(&shelf.catalogue()?, json),
        Skills::Show { name } => {
            let skill = named(&shelf.catalogue()?, &name)?;
            Ok(print::out(&report(&package(&skill)?))?)
        }
        Skills::Install { from, skill, yes } => {
            let package = fetched(binary, &plan, &from, skill.as_deref())?;
            install(&plan, &shelf, &package, yes.as_deref())
        }
        Skills::Remove { name, yes } => {
            let skill = named(&shelf.catalogue()?, &name)?;
            let folder = skill.folder.display();
            print::prose(&format!(
                "{} in {folder} will be removed, with its {}.\n",
                skill.name,
                counted(skill.files as u64, ["file", "files"])
            ))?;
            if !yes {
                agreed("Remove it?", || unasked("selkie skills remove", "add --yes"))?;
            }
            shelf.remove(&skill)?;
            done(&plan, &format!("{} is removed.\n", skill.name))
        }
        Skills::Review { name, yes } => {
            let skill = named(&shelf.catalogue()?, &name)?;
            let package = package(&skill)?;
            print::out(&report(&package))?;
            if skill.is_reviewed && package.hash == skill.hash {
                return Ok(print::out("\nYou have reviewed these very files.\n")?);
            }
            agree("review", "Do these words count as yours?", &package, yes.as_deref())?;
            shelf.review(&skill, &package.hash, SystemClock.now())?;
            done(&plan, &format!("{} is reviewed: tasks follow it from now on.\n", skill.name))
        }
        Skills::Check { folder, json } => checked(binary, &shelf, folder.as_deref(), json),
    }
}

fn list(catalogue: &Catalogue, json: bool) -> Outcome {
    if json {
        return Ok(print::json(catalogue)?);
    }
    let row = |skill: &Skill| {
        let state = if skill.is_reviewed { "reviewed" } else { "not reviewed" };
        vec![skill.name.clone(), state.to_owned(), skill.description.clone()]
    };
    let rows: Vec<Vec<String>> = catalogue.skills.iter().map(row).collect();
    let mut text = match rows.is_empty() {
        true => "No skill is installed yet: selkie skills install FOLDER\n".to_owned(),
        false => print::summaries(&rows, print::width()),
    };
    for one in &catalogue.skipped {
        text.push_str(&format!("\nnot used: {}\n  {}\n", one.folder.display(), one.why));
    }
    if catalogue.skills.iter().any(|skill| !skill.is_reviewed) {
        text.push_str(
            "\nTasks follow a skill when you have reviewed it: selkie skills review NAME\n",
        );
    }
    Ok(print::out(&text)?)
}

fn named(catalogue: &Catalogue, name: &str) -> Result<Skill, Failure> {
    if let Some(skill) = catalogue.find(name) {
        return Ok(skill.clone());
    }
    let names: Vec<&str> = catalogue.skills.iter().map(|skill| skill.name.as_str()).collect();
    let takes = match names.is_empty() {
        true => "none is installed".to_owned(),
        false => format!("takes {}", names.join(", ")),
    };
    Err(anyhow!("no skill is called {name:?} ({takes})").into())
}

/// Reads a skill that is there, all of it.
fn package(skill: &Skill) -> Result<Package, Failure> {
    let source = skill.folder.display().to_string();
    let source = skill.source.clone().unwrap_or(source);
    Ok(Package::of(Tree::of_folder(&skill.folder)?, &source)?)
}

/// Reads a skill that is to be installed.
fn fetched(
    binary: &Binary,
    plan: &AppConfig,
    from: &str,
    skill: Option<&str>,
) -> Result<Package, Failure> {
    if from.contains("://") {
        let tls = plan.tls.clone();
        let factory = move || Ok(http::builder(&tls));
        let client = GuardedClient::new(plan.settings.guard.network.clone(), Box::new(factory));
        let got = lifecycle::runtime()?.block_on(client.download(from, MAX_BYTES, DOWNLOAD));
        let got = got.map_err(|why| anyhow!("{from} cannot be fetched: {why}"))?;
        return Ok(open(&unpack(&got.bytes)?, &got.url, skill)?);
    }
    let path = real(binary, from.as_ref())?;
    Ok(open(&read(&path)?, &path.display().to_string(), skill)?)
}

fn real(binary: &Binary, path: &Path) -> anyhow::Result<PathBuf> {
    let path = binary.here.join(path);
    path.canonicalize().map_err(|why| anyhow!("{} cannot be read: {why}", path.display()))
}

fn install(plan: &AppConfig, shelf: &Shelf, package: &Package, yes: Option<&str>) -> Outcome {
    let before = shelf.judge(package)?;
    told_if_new(plan);
    print::out(&report(package))?;
    if let Some(before) = &before {
        if before.hash == package.hash && before.is_reviewed {
            return Ok(print::out("\nThis very skill is installed already.\n")?);
        }
        print::out("\nIt takes the place of the installed skill of this name.\n")?;
    }
    agree("install", "Install it, and have its words count as yours?", package, yes)?;
    let place = shelf.install(package, SystemClock.now())?;
    done(plan, &format!("{} is installed in {}.\n", package.name, place.display()))
}

/// Asks, unless whoever calls has seen these very files.
fn agree(command: &str, question: &str, package: &Package, yes: Option<&str>) -> Outcome {
    match yes {
        Some(hash) if is_hash(hash.trim(), &package.hash) => Ok(()),
        Some(hash) => Err(anyhow!(
            "--yes names {hash}, and the files have the hash {}: nothing was changed",
            package.hash
        )
        .into()),
        None => agreed(question, || {
            let otherwise = format!("add --yes {}", package.hash);
            unasked(&format!("selkie skills {command}"), &otherwise)
        }),
    }
}

/// Whether it is the beginning of this hash, with what names its kind or without: twelve digits name it.
fn is_hash(written: &str, hash: &str) -> bool {
    let bare = |text: &str| text.strip_prefix("sha256:").unwrap_or(text).to_owned();
    let written = bare(written);
    written.len() >= 12 && bare(hash).starts_with(&written)
}

/// Says what was done, and has a running daemon know of it.
fn done(plan: &AppConfig, said: &str) -> Outcome {
    print::prose(said)?;
    if !matches!(reloaded(plan), Ok(None | Some(Ok(_)))) {
        print::told(
            "selkie: the running daemon did not take it in: run `selkie reload`, which says why",
        );
    }
    Ok(())
}

/// What is wrong with a skill, for programs.
#[derive(Serialize)]
struct CheckJson {
    folder: String,
    findings: Vec<Finding>,
}

fn checked(binary: &Binary, shelf: &Shelf, folder: Option<&Path>, json: bool) -> Outcome {
    let folders = match folder {
        Some(folder) => {
            let folder = real(binary, folder)?;
            let found = Shelf::folders(&folder);
            if found.is_empty() {
                return Err(anyhow!("there is no SKILL.md in {}", folder.display()).into());
            }
            found
        }
        None => {
            let Catalogue { skills, skipped } = shelf.catalogue()?;
            let skills = skills.into_iter().map(|skill| skill.folder);
            skills.chain(skipped.into_iter().map(|one| one.folder)).collect()
        }
    };
    let mut all = Vec::new();
    for folder in folders {
        let findings = match Tree::of_folder(&folder) {
            Ok(tree) => check(&tree),
            Err(why) => vec![Finding { is_error: true, message: why.to_string() }],
        };
        all.push(CheckJson { folder: folder.display().to_string(), findings });
    }
    let has_error = all.iter().flat_map(|one| &one.findings).any(|one| one.is_error);
    match json {
        true => print::json(&all)?,
        false => print::out(&findings(&all))?,
    }
    if has_error { Err(Failure::Told) } else { Ok(()) }
}

fn findings(all: &[CheckJson]) -> String {
    let mut text = String::new();
    for CheckJson { folder, findings } in all {
        let good = if findings.is_empty() { ": good" } else { "" };
        text.push_str(&format!("{folder}{good}\n"));
        for Finding { is_error, message } in findings {
            let kind = if *is_error { "error" } else { "warning" };
            text.push_str(&format!("  {kind}: {message}\n"));
        }
    }
    if text.is_empty() { "No skill is installed yet.\n".to_owned() } else { text }
}
