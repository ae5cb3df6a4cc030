//! Rows of the solver, for small steps of one length.

use super::bend::{self, Hinge, HingePack};
use super::rest::ClothRest;
use super::shear::{self, ShearRow};
use super::stiff::StiffBending;
use super::stretch::{self, StretchPack};
use super::strips::Grouped;

/// What rows are made for: the length of a small step [s], and whether stiff hinges are solved together.
pub type MadeFor = (f64, bool);

/// All rows, as inverse masses and the length of a step make them.
#[derive(Default)]
pub struct SolverRows {
    /// Edges.
    pub stretch: Grouped<StretchPack>,
    /// Hinges that are swept.
    pub hinges: Grouped<HingePack>,
    /// Hinges that are solved together.
    pub stiff: StiffBending,
    /// Shear of triangles.
    pub shears: Grouped<ShearRow>,
    made_for: MadeFor,
    /// Whether limits give by some of what pulled pins ask.
    are_raised: bool,
}

impl SolverRows {
    /// Room for them; nothing is made yet.
    pub fn new(rest: &ClothRest) -> Self {
        Self { shears: rest.shears.like(), ..Self::default() }
    }

    /// Other nodes are held: they have to be made anew.
    pub fn forget(&mut self) {
        self.made_for = MadeFor::default();
    }

    /// Whether they are made for that.
    pub fn are_for(&self, wanted: MadeFor) -> bool {
        self.made_for == wanted
    }

    /// Makes them; hinges and shears are solved once for `every` small steps.
    pub fn compile(&mut self, rest: &ClothRest, w: &[f64], (made_for, every): (MadeFor, u32)) {
        let (step, together) = made_for;
        let start = |node: u32| rest.strips.start(rest.strips.of(node));
        self.stretch = stretch::compile(&rest.edges, &rest.strips, w, step);
        self.are_raised = false;
        let span = step * f64::from(every);
        let hinges = if together { rest.hinges.rows.as_slice() } else { &[] };
        let (stiff, bound) = StiffBending::build(hinges, w, span);
        let is_stiff = |h: &Hinge| StiffBending::takes(h, w, span, bound);
        self.hinges = bend::compile(&rest.hinges, &rest.strips, w, span, is_stiff);
        self.stiff = stiff;
        shear::compile(&rest.shears, start, w, span, &mut self.shears);
        self.made_for = made_for;
    }

    /// Lets limits give by what pulled pins ask of every node, and take it back where `needs` is empty.
    pub fn raise_limits(&mut self, rest: &ClothRest, needs: &[f32]) {
        if self.are_raised || !needs.is_empty() {
            stretch::raise_limits(&mut self.stretch, &rest.strips, needs);
            bend::tighten(&mut self.hinges, &rest.strips, needs);
            self.are_raised = !needs.is_empty();
        }
    }
}
