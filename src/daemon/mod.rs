//! The composition root: builds everything, starts it, stops it; the command line.
