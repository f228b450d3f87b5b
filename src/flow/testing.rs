//! A small ledger and channel in memory, for the tests of flow.
