//! What operators do with an installation: set it up, look it over, run it as a service, collect what a report needs.

pub mod doctor;
pub mod init;
pub mod service;
pub mod support;
