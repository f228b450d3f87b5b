//! The read API: what is there, live.
