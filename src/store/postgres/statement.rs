//! The text of a statement as PostgreSQL reads it, made once for each connection.

/// What a statement is asked to give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReturnKind {
    /// Its rows, or their count.
    AsWritten,
    /// The `id` of the row that it inserts.
    Id,
}

/// Names a statement: the place of its text, which never changes while the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    at: usize,
    length: usize,
    asked: ReturnKind,
}

impl Name {
    /// Names a text.
    pub fn of(sql: &'static str, asked: ReturnKind) -> Self {
        Self { at: sql.as_ptr() as usize, length: sql.len(), asked }
    }
}

/// Whether a statement changes nothing: it needs no proof that the database is still ours.
pub fn only_reads(sql: &str) -> bool {
    let first = sql.trim_start().get(..6).unwrap_or_default();
    first.eq_ignore_ascii_case("SELECT")
}

/// Writes `?1` as `$1`, takes out the hints of the other engine's planner, and asks for the id.
pub fn spelled(sql: &str, asked: ReturnKind) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let mut rest = sql;
    while let Some(at) = rest.find(['?', '\'', 'I', 'C']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let begins = out.chars().next_back().is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
        let taken = match rest.as_bytes()[0] {
            b'?' => {
                out.push('$');
                1
            }
            b'\'' => {
                let end = rest[1..].find('\'').map_or(rest.len(), |end| end + 2);
                out.push_str(&rest[..end]);
                end
            }
            _ if begins => hint(rest),
            _ => 0,
        };
        if taken == 0 {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        } else {
            rest = &rest[taken..];
        }
    }
    out.push_str(rest);
    if asked == ReturnKind::Id {
        out.push_str(" RETURNING id");
    }
    out
}

/// Returns how long the hint is that the text begins with; 0 when it begins with none.
fn hint(text: &str) -> usize {
    if let Some(after) = text.strip_prefix("INDEXED BY ") {
        let name = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        return text.len() - after.len() + name.unwrap_or(after.len());
    }
    if text.starts_with("CROSS JOIN ") { "CROSS ".len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_and_hints_taken_out() {
        for (sql, wanted) in [
            ("SELECT ?1, '?2 it''s' || ?12", "SELECT $1, '?2 it''s' || $12"),
            (
                "SELECT id FROM task INDEXED BY task_start WHERE lane = ?1",
                "SELECT id FROM task  WHERE lane = $1",
            ),
            ("SELECT 1 FROM a CROSS JOIN b ON a.x = b.y", "SELECT 1 FROM a JOIN b ON a.x = b.y"),
            (
                "SELECT ID, COUNT(*) FROM t WHERE x = 'INDEXED BY y'",
                "SELECT ID, COUNT(*) FROM t WHERE x = 'INDEXED BY y'",
            ),
        ] {
            assert_eq!(spelled(sql, ReturnKind::AsWritten), wanted);
        }
        assert_eq!(
            spelled("INSERT INTO a (b) VALUES (?1)", ReturnKind::Id),
            "INSERT INTO a (b) VALUES ($1) RETURNING id"
        );
    }

    #[test]
    fn what_writes_is_known() {
        assert!(only_reads("  select 1"));
        assert!(!only_reads("WITH a AS (DELETE FROM b RETURNING c) SELECT c FROM a"));
        assert!(!only_reads("INSERT INTO a SELECT 1"));
    }
}
