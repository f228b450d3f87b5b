//! Puts hunks where they fit: exactly, and in one place only. A line number decides between places that
//! are alike, and is otherwise nothing but a hint.

use super::hunk::{Hunk, Line};
use super::lines::Lines;
use super::patch_error::PatchError;

/// Lines of the file, for each hunk, that are looked through at most.
const MAX_STEPS: usize = 100_000_000;

/// Applies all hunks to a text.
///
/// # Errors
/// Which hunk does not fit and why, for the model.
pub(super) fn apply(text: &str, hunks: &[Hunk]) -> Result<String, PatchError> {
    let file = Lines::of(text);
    exactly(&file, hunks).or_else(|why| match same_line_ends(&file, hunks) {
        Some(hunks) => exactly(&file, &hunks),
        None => Err(why),
    })
}

fn exactly(file: &Lines<'_>, hunks: &[Hunk]) -> Result<String, PatchError> {
    if file.all.len().saturating_mul(hunks.len()) > MAX_STEPS {
        let lines = file.all.len();
        let hunks = hunks.len();
        return Err(PatchError::TooLarge { hunks, lines });
    }
    let mut placed: Vec<(usize, usize)> = Vec::new();
    for (number, hunk) in hunks.iter().enumerate() {
        let misfit = |why| PatchError::Misfit { hunk: number + 1, why };
        let place = place(file, hunk).map_err(misfit)?;
        placed.push((place, number));
    }
    placed.sort_unstable();
    let mut after = Lines { all: Vec::new(), ends_with_break: file.ends_with_break };
    let mut from = 0;
    for (start, number) in placed {
        let hunk = &hunks[number];
        if start < from {
            let why = "it overlaps another one".to_owned();
            return Err(PatchError::Misfit { hunk: number + 1, why });
        }
        let end = start + hunk.before().len();
        after.all.extend_from_slice(&file.all[from..start]);
        after.all.extend(hunk.after());
        if let Some(ends) = hunk.ends_with_break.filter(|_| end == file.all.len()) {
            after.ends_with_break = ends;
        }
        from = end;
    }
    after.all.extend_from_slice(&file.all[from..]);
    if file.all.is_empty() && hunks.iter().all(|h| h.ends_with_break.is_none()) {
        after.ends_with_break = true;
    }
    Ok(after.text())
}

/// `\r` cannot be seen where models read files: hunks take the file's way to end a line when they have
/// the other one throughout. `None` when they have not.
fn same_line_ends(file: &Lines<'_>, hunks: &[Hunk]) -> Option<Vec<Hunk>> {
    let of_hunks = || hunks.iter().flat_map(|h| &h.lines).map(Line::text);
    let windows = file.are_windows();
    let differs = if windows {
        of_hunks().all(|l| !l.ends_with('\r'))
    } else {
        of_hunks().all(|l| l.ends_with('\r')) && file.all.iter().all(|l| !l.ends_with('\r'))
    };
    if !differs {
        return None;
    }
    let change = |line: &Line| match windows {
        true => line.with(format!("{}\r", line.text())),
        false => line.with(line.text().trim_end_matches('\r').to_owned()),
    };
    let hunk = |h: &Hunk| Hunk { lines: h.lines.iter().map(change).collect(), ..h.clone() };
    Some(hunks.iter().map(hunk).collect())
}

fn place(file: &Lines<'_>, hunk: &Hunk) -> Result<usize, String> {
    let old = hunk.before();
    if old.is_empty() {
        return place_of_nothing(file, hunk);
    }
    let fits: Vec<usize> = fits(file, &old, hunk.at_end);
    let fits = after_anchors(file, hunk, fits)?;
    match fits.as_slice() {
        [] => Err(misfit(file, &old)),
        [one] => Ok(*one),
        many => match hunk.hint.filter(|hint| many.contains(hint)) {
            Some(hint) => Ok(hint),
            None => Err(format!(
                "its lines fit in {} places (lines {}): add lines around them until they fit in one",
                many.len(),
                many.iter().take(5).map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(", ")
            )),
        },
    }
}

/// Lines that only come, with nothing around them, need another way to say where.
fn place_of_nothing(file: &Lines<'_>, hunk: &Hunk) -> Result<usize, String> {
    let len = file.all.len();
    if len == 0 || hunk.at_end {
        return Ok(len);
    }
    if !hunk.anchors.is_empty() {
        return match anchored(file, &hunk.anchors)?.as_slice() {
            [one] => Ok(one + 1),
            many => Err(format!("its @@ line occurs in {} places: add context lines", many.len())),
        };
    }
    match hunk.hint {
        Some(hint) if hint <= len => Ok(hint),
        Some(hint) => Err(format!("it goes behind line {hint}, the file has {len} lines")),
        None => Err("it has no lines of the file: add context lines that say where".to_owned()),
    }
}

fn fits(file: &Lines<'_>, old: &[&str], at_end: bool) -> Vec<usize> {
    let Some(last) = file.all.len().checked_sub(old.len()) else { return Vec::new() };
    let first = if at_end { last } else { 0 };
    let ends = matched(&file.all[first..], old).into_iter().enumerate();
    ends.filter(|(_, length)| *length == old.len())
        .map(|(end, length)| first + end + 1 - length)
        .collect()
}

/// For each line of `all`, how many of the first lines of `old` end there at most. One pass (Knuth, Morris,
/// Pratt): lines that are all alike take no longer than others.
fn matched(all: &[&str], old: &[&str]) -> Vec<usize> {
    // How many of the first lines end at this line of `old` itself, short of all up to it.
    let mut back = vec![0; old.len()];
    let grow = |mut length: usize, line: &str, back: &[usize]| {
        while length > 0 && (length == old.len() || old[length] != line) {
            length = back[length - 1];
        }
        length + usize::from(old.get(length) == Some(&line))
    };
    for at in 1..old.len() {
        back[at] = grow(back[at - 1], old[at], &back);
    }
    let mut length = 0;
    let next = |line: &&str| {
        length = grow(length, line, &back);
        length
    };
    all.iter().map(next).collect()
}

/// For each place where the anchors stand, the next place where the hunk fits.
fn after_anchors(file: &Lines<'_>, hunk: &Hunk, fits: Vec<usize>) -> Result<Vec<usize>, String> {
    if hunk.anchors.is_empty() || fits.is_empty() {
        return Ok(fits);
    }
    let mut next: Vec<usize> = anchored(file, &hunk.anchors)?
        .into_iter()
        .filter_map(|anchor| fits.get(fits.partition_point(|at| *at < anchor)).copied())
        .collect();
    next.dedup();
    Ok(next)
}

/// Where the last anchor stands, after the ones before it.
fn anchored(file: &Lines<'_>, anchors: &[String]) -> Result<Vec<usize>, String> {
    let mut from: Option<Vec<usize>> = None;
    for anchor in anchors {
        let exact: Vec<usize> = standing(file, |line| line.trim() == anchor.trim());
        let all =
            if exact.is_empty() { standing(file, |l| l.contains(anchor.trim())) } else { exact };
        let after = |before: usize| all.get(all.partition_point(|at| *at <= before)).copied();
        // The first anchor may stand anywhere; each further one is the next after the one before.
        let mut now: Vec<usize> = match from {
            None => all,
            Some(many) => many.into_iter().filter_map(after).collect(),
        };
        now.dedup();
        if now.is_empty() {
            return Err(format!("its @@ line was not found: {anchor}"));
        }
        from = Some(now);
    }
    Ok(from.unwrap_or_default())
}

fn standing(file: &Lines<'_>, is: impl Fn(&str) -> bool) -> Vec<usize> {
    file.all.iter().enumerate().filter(|(_, line)| is(line)).map(|(at, _)| at).collect()
}

/// Says which line is the first that is not there, at the place that fits best.
fn misfit(file: &Lines<'_>, old: &[&str]) -> String {
    // The longest beginning of it that stands somewhere; of several the first.
    let ends = matched(&file.all, old).into_iter().enumerate();
    let best = ends.map(|(end, n)| (n, end + 1 - n)).max_by_key(|(n, at)| (*n, usize::MAX - at));
    match best {
        Some((n @ 1.., at)) if n < old.len() => {
            let there =
                file.all.get(at + n).map_or("the end of the file".to_owned(), |l| format!("{l:?}"));
            format!(
                "line {} is {there}, the patch has {:?}: read the file again",
                at + n + 1,
                old[n]
            )
        }
        Some((1.., _)) => "its lines are there, but not at the end of the file".to_owned(),
        _ => format!("its first line was not found: {:?}: read the file again", old[0]),
    }
}
