//! Where recent content lies in a file, so that equal content is stored once.

use std::collections::{BTreeMap, VecDeque};

/// Older content is forgotten, so that memory does not grow with the shot; finding it makes it young.
const CAPACITY: usize = 4096;

/// Places by digest and size of the content.
pub(crate) struct Remembered<T> {
    places: BTreeMap<(u128, usize), (T, u64)>,
    /// Oldest first; an entry whose stamp is not the place's was touched since.
    order: VecDeque<((u128, usize), u64)>,
    stamp: u64,
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), order: VecDeque::new(), stamp: 0 }
    }
}

impl<T: Copy> Remembered<T> {
    pub(crate) fn find(&mut self, key: u128, size: usize) -> Option<T> {
        let (place, _) = *self.places.get(&(key, size))?;
        self.insert(key, size, place);
        Some(place)
    }

    pub(crate) fn insert(&mut self, key: u128, size: usize, place: T) {
        self.stamp += 1;
        self.places.insert((key, size), (place, self.stamp));
        self.order.push_back(((key, size), self.stamp));
        while self.order.len() > CAPACITY {
            let Some((oldest, stamp)) = self.order.pop_front() else { break };
            if self.places.get(&oldest).is_some_and(|&(_, s)| s == stamp) {
                self.places.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_stays_bounded_and_what_is_used_stays() {
        let mut remembered = Remembered::default();
        remembered.insert(0, 1, 'a');
        for key in 1..20_000 {
            remembered.insert(key, 1, 'b');
            assert_eq!(remembered.find(0, 1), Some('a'));
        }
        assert!(remembered.places.len() <= CAPACITY);
        assert!(remembered.order.len() <= CAPACITY);
        assert_eq!(remembered.find(1, 1), None);
    }
}
