//! The built-in cast, made by code.
