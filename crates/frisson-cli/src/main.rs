//! The `frisson` command.

fn main() {}
