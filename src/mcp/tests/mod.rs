//! Servers of our own, from hostile to slow, and what becomes of calls to them.

mod asked;
mod desk;
mod foreign;
mod form;
mod http;
mod login;
mod login_lies;
mod login_server;
mod real;
mod speed;
mod stdio;
mod watched;
mod web;
