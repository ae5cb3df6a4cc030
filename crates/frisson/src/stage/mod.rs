//! Where a frame is made: clock, actors, colliders, forces, the layer contract, the frame, snapshots.

mod actor;
mod actor_set;
mod animated;
mod change;
mod clock;
mod collider;
mod forces;
mod frame;
mod layer;
mod live;
mod motion;
mod path;
mod poses;
mod reference;
mod report;
mod running;
mod selection;
mod simulator;
mod snapshot;
mod solid;
mod surface;

pub use actor::{Actor, ActorContent, ClipPlay, JointPath, MeshSequence, Motion, Placement};
pub use actor_set::ActorSet;
pub use animated::Animated;
pub use change::{Change, Declarations};
pub use clock::{Clock, Rate};
pub(crate) use collider::cuboid;
pub use collider::{Collider, ColliderParams, ColliderSet, ColliderShape, Contact};
pub use forces::{ForceParams, Forces};
pub use frame::{Caught, CaughtDrop, Curves, Falling, FallingDrop, Frame, Image, Points};
pub use layer::{
    BuildContext, Layer, LayerError, Ridge, RidgeCourse, StepContext, View, Work, nearest_name,
};
pub use live::LiveTrack;
pub use motion::{Anchor, PrimaryMotion, check_vertices, polyline_length};
pub use path::{KeyedTransform, Keys};
pub use poses::PoseScratch;
pub use reference::{Reference, ReferencePose};
pub use report::{LayerReport, Measure};
pub use running::{Running, RunningLayer};
pub use selection::{MaskImage, MaskPixels, Selection, SelectionError};
pub use simulator::{EARTH_GRAVITY, NoObserver, Observer, Setup, Simulator, SimulatorError};
pub use snapshot::{SnapshotError, from_snapshot, to_snapshot};
pub use solid::solid_mesh;
pub use surface::SurfaceMotion;
