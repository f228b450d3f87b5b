//! What a reading comes to: its settings, and everything that is wrong.

use crate::Reading;
use crate::problem::Problems;
use crate::settings::Settings;

impl Reading {
    /// Returns the settings when nothing is wrong.
    ///
    /// # Errors
    /// Every problem, by place.
    pub fn finish(self) -> Result<Settings, Problems> {
        match self.finish_sound() {
            (Some(settings), problems) if problems.0.is_empty() => Ok(settings),
            (_, problems) => Err(problems),
        }
    }

    /// Returns the settings without what is wrong, where that leaves any, and every problem by place.
    pub fn finish_sound(mut self) -> (Option<Settings>, Problems) {
        self.problems.sort();
        self.problems.dedup();
        (self.settings, Problems(self.problems))
    }
}
