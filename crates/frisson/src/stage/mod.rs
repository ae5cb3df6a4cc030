//! Where a frame is made: clock, actors, colliders, forces, the layer contract, the frame, snapshots.

mod actor;
mod animated;
mod clock;
mod collider;
mod forces;
mod frame;
mod layer;
mod motion;
mod report;
mod run;
mod selection;
mod snapshot;
mod solid;
mod surface;

pub use actor::{Actor, ActorMotion, ActorSet, KeyedTransform, MeshSequence, Placement};
pub use animated::Animated;
pub use clock::{Clock, Rate};
pub(crate) use collider::cuboid;
pub use collider::{Collider, ColliderParams, ColliderSet, ColliderShape, Contact};
pub use forces::{ForceParams, Forces};
pub use frame::{Curves, Frame, Image, Points};
pub use layer::{BuildContext, Layer, LayerError, StepContext, nearest_name};
pub use motion::{Anchor, PrimaryMotion, check_vertices, polyline_length};
pub use report::{LayerReport, Measure};
pub use run::{EARTH_GRAVITY, NoObserver, Observer, PoseScratch, Stage, StageError};
pub use selection::{Selection, SelectionError};
pub use snapshot::{SnapshotError, from_snapshot, to_snapshot};
pub use surface::SurfaceMotion;
