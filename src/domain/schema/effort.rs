//! What a check may take: so many steps, so deep, whoever wrote the schema and the value.

use std::cell::Cell;

use serde_json::Value;

/// Steps of one check. Our own config takes a few thousand.
const STEPS: usize = 2_000_000;
/// Schemas and values together may nest so deep: a parser takes 128 levels of values, and each may pass
/// through a choice.
const LEVELS: usize = 300;
/// Bytes that are copied or compared in the time of one step.
const BYTES: usize = 16;

/// There is no end to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EffortExhausted;

/// What is left of it.
pub(super) struct Effort {
    steps: Cell<usize>,
    levels: Cell<usize>,
}

/// One level, until it is dropped.
pub(super) struct Level<'a>(&'a Cell<usize>);

impl Drop for Level<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

impl Effort {
    /// As much as one check may take.
    pub(super) fn of_a_check() -> Self {
        Self { steps: Cell::new(STEPS), levels: Cell::new(LEVELS) }
    }

    /// As much as words for one key may take.
    pub(super) fn of_words() -> Self {
        Self { steps: Cell::new(STEPS / 1_000), levels: Cell::new(LEVELS / 4) }
    }

    /// Goes one level down.
    pub(super) fn level(&self) -> Result<Level<'_>, EffortExhausted> {
        self.copy(0)?;
        let left = self.levels.get().checked_sub(1).ok_or(EffortExhausted)?;
        self.levels.set(left);
        Ok(Level(&self.levels))
    }

    /// Pays for one step that touches so many bytes.
    pub(super) fn copy(&self, bytes: usize) -> Result<(), EffortExhausted> {
        let left = self.steps.get().checked_sub(1 + bytes / BYTES).ok_or(EffortExhausted)?;
        self.steps.set(left);
        Ok(())
    }

    /// Compares two values, and pays for it.
    pub(super) fn same(&self, one: &Value, other: &Value) -> Result<bool, EffortExhausted> {
        let _level = self.level()?;
        match (one, other) {
            (Value::String(a), Value::String(b)) => {
                self.copy(a.len().min(b.len()))?;
                Ok(a == b)
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (a, b) in a.iter().zip(b) {
                    if !self.same(a, b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
                for (key, a) in a {
                    self.copy(key.len())?;
                    let Some(b) = b.get(key) else { return Ok(false) };
                    if !self.same(a, b)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => {
                Ok(false)
            }
            (one, other) => Ok(one == other),
        }
    }
}
