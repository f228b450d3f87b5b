//! `selkie demo --story approval`: somebody asks for what needs the owner's approval, the owner approves it, and it is
//! done once. Told line by line, as the people in it read it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use tokio::time::timeout;

use super::print;
use selkie_app::demo::{Cast, Fits, Line, Manner, SeenMessage, World};

/// How long one step may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The file that is asked for.
const FILE: &str = "plan.txt";
/// What is to stand in it.
const WORDS: &str = "tea at four";

/// The owner gives the group a folder to work in: what others change there needs the owner's approval. Returns what
/// the bot says to it.
pub(super) async fn give_folder(world: &dyn World, folder: &Path) -> anyhow::Result<String> {
    let Cast { owner, group, .. } = world.cast();
    let text = set_folder(folder);
    let line = Line { place: group, by: owner, text: &text, manner: Manner::ToTheBot };
    let said = world.say(&line)?;
    Ok(wait(world, group, said, &|_| true).await?.text)
}

/// Plays the story and prints it.
pub(super) async fn approval(world: &dyn World, folder: &Path) -> anyhow::Result<()> {
    let Cast { owner, alone, allowed, group } = world.cast();
    let answer = give_folder(world, folder).await?;
    heading(&format!("{group}, where others read along"))?;
    line(owner, &set_folder(folder))?;
    line("selkie", &answer)?;
    let text = format!("add to {FILE}: {WORDS}");
    let asked =
        world.say(&Line { place: group, by: allowed, text: &text, manner: Manner::ToTheBot })?;
    line(allowed, &text)?;
    let told = wait(world, group, asked, &|seen| seen.text.contains("I asked")).await?;
    line("selkie", &told.text)?;

    let request = wait(world, alone, 0, &|seen| !seen.buttons.is_empty()).await?;
    heading(&format!("{alone}, where {owner} is alone with the bot"))?;
    line("selkie", &request.text)?;
    let labels: Vec<String> = request.buttons.iter().map(|b| format!("[{}]", b.label)).collect();
    print::prose(&format!("    {}\n", labels.join(" ")))?;
    let button = request.buttons.first().ok_or_else(|| anyhow!("a request without buttons"))?;
    let told = world.press(alone, owner, request.message, &button.data).await?;
    line(&format!("{owner} presses {} and reads", button.label), &told)?;

    let ended = wait(world, group, asked, &|seen| seen.text.contains(FILE)).await?;
    heading(group)?;
    line("selkie", &ended.text)?;

    let again = world.press(alone, owner, request.message, &button.data).await?;
    heading(alone)?;
    line(&format!("{owner} presses {} once more and reads", button.label), &again)?;
    let holds = std::fs::read_to_string(folder.join(FILE))
        .with_context(|| format!("{FILE} was not written"))?;
    print::prose(&format!("\n{FILE} holds: {}\n", holds.trim_end()))?;
    Ok(())
}

fn set_folder(folder: &Path) -> String {
    format!("/workspace {}", folder.display())
}

async fn wait(
    world: &dyn World,
    place: &str,
    since: i64,
    fits: Fits<'_>,
) -> anyhow::Result<SeenMessage> {
    let waited = timeout(TIMEOUT, world.wait_for(place, since, fits)).await;
    waited.map_err(|_| anyhow!("nothing came in {place} for {} s", TIMEOUT.as_secs()))?
}

fn heading(place: &str) -> anyhow::Result<()> {
    Ok(print::prose(&format!("\nIn {place}\n"))?)
}

/// Prints who says what; further lines stand below the first.
fn line(who: &str, text: &str) -> anyhow::Result<()> {
    Ok(print::prose(&format!("  {who}: {}\n", text.trim_end().replace('\n', "\n    ")))?)
}
