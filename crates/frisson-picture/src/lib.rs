//! Ray-traced pictures, contact sheets and plots; no GPU needed.
