//! What is said where no config was found: where it was looked for, so that a wrong folder is noticed.

use super::print;
use selkie_app::Binary;
use selkie_app::build::ConfigChoice;
use selkie_config::paths::{ConfigFile, looked_for};

/// Says it in a line, where none was found.
pub fn told(binary: &Binary, chosen: &ConfigChoice) {
    if chosen.file == ConfigFile::None {
        let says = looked_for(&binary.here, &binary.env);
        print::told(&format!("selkie: no config was found: {says}; --config names another"));
    }
}
