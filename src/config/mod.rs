//! YAML, environment and flags to settings; all problems at once.
