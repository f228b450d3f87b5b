//! Servers of our own, from hostile to slow, and what becomes of calls to them.

mod desk;
mod foreign;
mod http;
mod real;
mod speed;
mod stdio;
mod watched;
mod web;
