//! `selkie demo --say … --then +1d`: the clock is moved, and what comes of it is printed as a person sees it.

use anyhow::bail;
use chrono::{DateTime, Utc};

use super::outcome::Failure;
use super::print;
use selkie_app::demo::World;
use selkie_app::travel::{NEXT, Traveller};
use selkie_schedule::travel::destination;
use selkie_schedule::zone::Zone;

/// So many due times are stopped at: in a chat each takes a second or more.
const MAX_STOPS: usize = 500;

/// A place of a demo, and what is looked at there.
pub(super) struct Talk<'a> {
    pub(super) world: &'a dyn World,
    pub(super) place: &'a str,
    /// Everything that came after this message.
    pub(super) since: i64,
}

/// Checks one `--then` before anything is started.
pub(super) fn readable(to: &str, zone: Zone, now: DateTime<Utc>) -> Result<(), Failure> {
    if to.trim() == NEXT {
        return Ok(());
    }
    // It is read again when it is its turn, by the clock as it stands then.
    destination(to, zone, now).map(|_| ()).map_err(|why| Failure::Usage(format!("--then: {why}")))
}

impl Talk<'_> {
    /// Moves the clock to each of these times and prints what is new; `told` stands there already. Returns whether a
    /// task failed.
    pub(super) async fn goes_on(
        &self,
        traveller: &Traveller,
        then: &[String],
        mut told: Vec<String>,
    ) -> anyhow::Result<bool> {
        let mut failed = false;
        let mut stops = 0;
        let mut quiet = Quiet::default();
        for to in then {
            let until = traveller.read(to).await?;
            let mut due = false;
            while traveller.now() < until {
                if stops == MAX_STOPS {
                    let now = traveller.shown(traveller.now());
                    bail!(
                        "the clock has stopped {stops} times on the way and shows {now}: that is enough"
                    );
                }
                stops += 1;
                let stop = traveller.step(until).await?;
                failed |= stop.failed;
                due |= stop.due;
                let news = news(self.world.seen(self.place, self.since), &mut told);
                if !news.is_empty() {
                    quiet.show()?;
                    show(&traveller.shown(stop.at), &news)?;
                } else if stop.due {
                    quiet.add(traveller.shown(stop.at));
                }
            }
            quiet.show()?;
            if !due {
                print::out(&format!("\nAt {}\nnothing came due\n", traveller.shown(until)))?;
            }
        }
        Ok(failed)
    }
}

/// Due times, one after the other, at which nothing was said.
#[derive(Default)]
struct Quiet {
    first: String,
    last: String,
    times: u32,
}

impl Quiet {
    fn add(&mut self, at: String) {
        if self.times == 0 {
            self.first.clone_from(&at);
        }
        self.last = at;
        self.times += 1;
    }

    /// Shows them in one piece, once.
    fn show(&mut self) -> anyhow::Result<()> {
        let Self { first, last, times } = std::mem::take(self);
        match times {
            0 => {}
            1 => print::out(&format!("\nAt {first}\nnothing was said here\n"))?,
            _ => print::out(&format!(
                "\nFrom {first} to {last}\nnothing was said here, {times} times\n"
            ))?,
        }
        Ok(())
    }
}

fn show(at: &str, news: &[String]) -> anyhow::Result<()> {
    print::out(&format!("\nAt {at}\n"))?;
    for line in news {
        print::out(&format!("{}\n", line.trim_end()))?;
    }
    Ok(())
}

/// Returns what is seen and was not told before; it is from then on.
fn news(seen: Vec<String>, told: &mut Vec<String>) -> Vec<String> {
    let mut known = std::mem::replace(told, seen.clone());
    let mut news = seen;
    news.retain(|line| match known.iter().position(|known| known == line) {
        Some(at) => {
            known.swap_remove(at);
            false
        }
        None => true,
    });
    news
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_again_is_new() {
        let lines = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut told = lines("a b");
        assert_eq!(news(lines("r a b a"), &mut told), lines("r a"));
        assert_eq!(news(lines("r a b a"), &mut told), lines(""));
    }
}
