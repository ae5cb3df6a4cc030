//! Laws that the whole layer obeys.
