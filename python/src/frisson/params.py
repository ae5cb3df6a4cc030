"""A class for every layer and everything else that a scene file has, with all that can be set.

Generated from the schema by `python/tools/params.py`: do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ._params import Params


@dataclass(kw_only=True)
class Actor(Params):
    """Something whose motion is given."""

    source: str
    """Where it comes from: `builtin:cat`; a character in a .glb, .gltf, .vrm, .fbx or USD file; meshes given
    frame by frame in an .abc or USD file, in numbered files (`cat.####.obj`) or in a .frisson cache, which
    then play as they are; one .obj file, which stands still. Files are looked for beside the scene file."""
    points: str | None = None
    """Point cache (.pc2 or .mdd) that moves the source's vertices instead of its own motion. The joints of a
    character go on playing its clip."""
    clip_from: str | None = None
    """File that the clip comes from, if not the source: .bvh, .fbx, .glb, .gltf, .vrm or USD. Joints are matched
    by name, with or without namespaces, marks and case."""
    joints: Mapping[str, Any] | None = None
    """Names of joints in `clip_from` where they differ: `{ arm_l = "LeftArm" }`, ours first."""
    clip: int | str | None = None
    """Clip to play, by name or by index from 0. Without it: the first; see `static`."""
    offset: float | None = None
    """Clip time at scene time 0 [s]. Default: 0.0."""
    speed: float | None = None
    """Clip seconds per scene second [-]. Default: 1.0."""
    loop: bool | None = None
    """Whether the clip starts again when it ends. Default: false."""
    placement: Placement | Mapping[str, Any] | None = None
    """Where it stands in the world. Default: see the book."""
    static: bool | None = None
    """Play no clip: the actor stays in its rest pose. Default: false."""
    path: Sequence[Sequence[float]] | None = None
    """Carry the whole actor along keys `[frame, x, y, z, rx, ry, rz]`: position [m] and rotation about x, then
    y, then z [degrees]. It stands in its rest pose unless `clip` names what it plays."""
    path_keys: Literal["smooth"] | Literal["linear"] | None = None
    """How the path runs between its keys: `smooth` (the default) or `linear`."""


@dataclass(kw_only=True)
class Placement(Params):
    """Where an actor stands in the world."""

    translate: Sequence[float] | None = None
    """Position of the actor's origin [m]. Default: [0.0, 0.0, 0.0]."""
    rotate_deg: Sequence[float] | None = None
    """Rotation about x, then y, then z [degrees]. Default: [0.0, 0.0, 0.0]."""
    scale: float | None = None
    """Uniform scale [-]: 0.01 brings a character modelled in centimetres to metres. From 1e-06 to 1e+06.
    Default: 1.0."""


@dataclass(kw_only=True)
class Collider(Params):
    """One collider of the scene."""

    name: str
    """Name that layers refer to."""
    shape: Mapping[str, Any]
    """Its shape."""
    actor: str | None = None
    """Actor that carries it along: where it is placed, along its path. With `joint`, that joint carries it, and
    the shape is given in the joint's space."""
    joint: str | None = None
    """Joint of `actor` that carries it."""
    path: Sequence[Sequence[float]] | None = None
    """Carry it along keys `[frame, x, y, z, rx, ry, rz]`: position [m] and rotation about x, then y, then z
    [degrees], about its own origin."""
    path_keys: Literal["smooth"] | Literal["linear"] | None = None
    """How the path runs between its keys: `smooth` (the default) or `linear`. Default: "smooth"."""
    friction: float | None = None
    """Coulomb friction coefficient [-]. From 0 to 10. Default: 0.3."""
    color: Sequence[float] | None = None
    """Linear RGB. Given, it is also written as a mesh of its name, which pictures and exported files show;
    without, layers feel it and nobody sees it."""
    move_x: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement, x [m]. Default: 0.0."""
    move_y: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement, y [m]. Default: 0.0."""
    move_z: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement, z [m]. Default: 0.0."""


@dataclass(kw_only=True)
class Flesh(Params):
    """Flesh that lags, swings and settles on a skinned, animated character."""

    _kind: ClassVar[str | None] = "flesh"
    _keys: ClassVar[dict[str, str]] = {"from_": "from"}
    name: str
    """Name of the layer, unique in the scene. A change while it runs: rebuild."""
    on: str
    """Actor, or one of its meshes (`actor/mesh`), that carries the flesh. A change while it runs: restart."""
    from_: str
    """Dominant joint: the flesh is carried by it. A change while it runs: restart."""
    to: Sequence[str | OffsetEnd | Mapping[str, Any]]
    """Joints below `from`; the virtual bone runs from `from` to their middle. A change while it runs: restart."""
    chain: bool | None = None
    """A chain: every joint from `from` to the one of `to` swings, each carried by its parent as that has moved,
    so that tails, ears and antennae whip. Links keep their lengths; `limit` is how far a link may leave the
    place it is carried to, as a share of its length [-]; nothing is taken from the depth of flesh. Default:
    false. A change while it runs: restart."""
    frequency_hz: float | None = None
    """Natural frequency of the swing [Hz]. A belly swings at 2 to 3, a cheek at 6. From 0.001 to 100000. A
    change while it runs: live."""
    damping_ratio: float | None = None
    """Damping ratio [-]: 0 swings for ever, 1 comes back without overshoot. From 0 to 10000. A change while it
    runs: live."""
    mass: float | None = None
    """Mass of the flesh [kg]; with `stiffness` and `damping`, instead of the frequency. From 1e-09 to 1e+09. A
    change while it runs: live."""
    stiffness: float | None = None
    """Spring stiffness [N/m]. From 1e-06 to 1e+12. A change while it runs: live."""
    damping: float | None = None
    """Damping [N s/m]. From 0 to 1e+12. A change while it runs: live."""
    thickness: float | None = None
    """Radius of the bone inside the flesh [m]: nothing moves nearer to it than that. At least 0. Default: 0.0. A
    change while it runs: rebuild."""
    bone_mesh: str | None = None
    """Mesh of the frame that models the bones; where it is met, it replaces `thickness`. A change while it runs:
    rebuild."""
    shape_curve: Literal["constant"] | Literal["linear"] | Mapping[str, Any] | None = None
    """How the swing grows with the depth of flesh. Default: "constant". A change while it runs: rebuild."""
    attenuation: Literal["bell"] | Literal["parabola"] | Mapping[str, Any] | None = None
    """How the swing fades towards both ends of the bone. Default: "bell". A change while it runs: rebuild."""
    selection: Selection | Mapping[str, Any] | None = None
    """Which vertices are flesh. By default, those skinned to the joints between `from` and `to`. A change while
    it runs: rebuild."""
    edge_falloff: float | None = None
    """Distance over which the selection's edge fades in, along the surface [m]. At least 0. Default: 0.0. A
    change while it runs: rebuild."""
    mask: Selection | Mapping[str, Any] | None = None
    """Painted mask that multiplies the weights. A change while it runs: rebuild."""
    limit: float | None = None
    """Greatest swing as a fraction of the deepest flesh [-]. Below 1 there is room for the flesh around the
    deepest to go along with it, and the swing has a round end instead of a pointed one. From 0.001 to 1.
    Default: 1.0. A change while it runs: rebuild."""
    limit_kind: Literal["soft"] | Literal["hard"] | None = None
    """How the limit is kept. Default: "soft". A change while it runs: live."""
    volume: float | None = None
    """Share of the volume that is kept by sideways motion [-]: flesh that swings out becomes narrower, flesh
    that is pressed in becomes wider. 0 not at all, 1 fully. From 0 to 1. Default: 0.0. A change while it
    runs: live."""
    gravity: float | Sequence[Sequence[Any]] | None = None
    """Share of the scene's gravity, relative to the modelled pose: what hangs when the character turns, without
    sagging twice what the sculptor already let hang [-]. Default: 1.0. A change while it runs: live."""
    pseudo_gravity: Sequence[float] | None = None
    """Constant extra acceleration, world axes [m/s²]. Default: [0.0, 0.0, 0.0]. A change while it runs: live."""
    rotation: float | None = None
    """How much the flesh also lags in rotation [-]: 0 not at all, 1 fully. From 0 to 1. Default: 0.0. A change
    while it runs: live."""
    amount: float | Sequence[Sequence[Any]] | None = None
    """Strength of the whole effect [-]; may be key-framed to fade it in and out. Default: 1.0. A change while it
    runs: live."""
    loop: bool | None = None
    """The clip loops: start in the state it will come back to after one cycle. Default: false. A change while it
    runs: restart."""
    cuts: Sequence[int] | None = None
    """Frames at which the character jumps (camera cuts): the swing starts anew there. A change while it runs:
    live."""
    teleport: float | None = None
    """A jump of more than this many bone lengths within 1/120 s is taken for a cut [-]. At least 0.001. Default:
    1.0. A change while it runs: live."""
    show_weights: bool | None = None
    """Also write the weights as a vertex attribute `flesh:<name>`, to look at. Default: false. A change while it
    runs: live."""
    show_offsets: bool | None = None
    """Also write how far flesh moved each vertex as a vertex attribute `flesh_offset` [m], to look at (`frisson
    render --overlay displacement:flesh_offset`). Default: false. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class OffsetEnd(Params):
    """A joint and a point in its space."""

    joint: str
    """Joint name."""
    offset: Sequence[float]
    """Offset in the joint's axes [m]."""


@dataclass(kw_only=True)
class Selection(Params):
    """A set of vertices of one mesh, in the reference pose: metres, in the scene's axes, as `inspect` shows the
    mesh. All that is given must hold (weights multiply): an empty list selects nothing; where nothing at all
    is given, everything is selected."""

    region: str | None = None
    """Named region of the mesh."""
    material: str | None = None
    """Name of a material of the mesh."""
    joints: Sequence[str] | None = None
    """Joints whose skin influence selects; a vertex counts with the sum of their weights."""
    sphere: Sequence[float] | None = None
    """Ball: centre x, y, z and radius [m]."""
    capsule: Sequence[float] | None = None
    """Capsule: ends and radius, x y z x y z r [m]."""
    box: Sequence[float] | None = None
    """Box: lowest and highest corner, x y z x y z [m]."""
    color: str | None = None
    """Vertex-colour channel used as a weight: `r`, `g`, `b` or `a`."""
    vertices: Sequence[int] | None = None
    """Explicit vertex indices."""
    weights: Sequence[float] | None = None
    """How much each of `vertices` is selected, 0 to 1, in their order [-]; not given: all of them wholly."""
    vertices_file: str | None = None
    """File of vertex indices, beside the scene file: numbers between spaces, commas or line ends; the rest of a
    line after `#` is a remark."""
    primitive: int | None = None
    """Number of a primitive, a part of a glTF mesh, from 0. At least 0."""
    image: MaskImage | Mapping[str, Any] | None = None
    """Image, laid over the mesh by its texture coordinates, whose brightness is the weight."""
    falloff: float | None = None
    """Distance over which sphere, capsule and box fade out beyond their surface [m]. At least 0. Default: 0.0."""
    invert: bool | None = None
    """Select everything else instead. Default: false."""


@dataclass(kw_only=True)
class MaskImage(Params):
    """A painted mask."""

    file: str
    """Name of a PNG or JPEG file beside the scene file."""
    channel: str | None = None
    """Channel: `r` (the default), `g`, `b` or `a`."""


@dataclass(kw_only=True)
class Wrinkles(Params):
    """Skin and tight clothes that fold where the animation compresses them."""

    _kind: ClassVar[str | None] = "wrinkles"
    name: str
    """Name of the layer, unique in the scene. A change while it runs: rebuild."""
    on: str
    """Mesh that wrinkles: an actor with one mesh, or `actor/mesh`. A change while it runs: restart."""
    tools: Sequence[WrinkleTool | Mapping[str, Any]]
    """The lines drawn on it."""
    max_level: int | None = None
    """Finest refinement: each level cuts a triangle in four [-]. From 0 to 5. Default: 3. A change while it
    runs: rebuild."""
    emit: Literal["static"] | Literal["adaptive"] | None = None
    """Whether the refined triangles stay the same over the shot, or follow the active tools. Default: "static".
    A change while it runs: rebuild."""
    guard: bool | None = None
    """Keep folds from passing through the skin that faces them in deep creases. Default: true. A change while it
    runs: live."""
    attributes: bool | None = None
    """Also write `compression`, `wrinkle_region`, `wrinkle_height` and `wrinkle_direction` as vertex attributes;
    normal and height maps are made from them. Default: false. A change while it runs: live."""


@dataclass(kw_only=True)
class WrinkleTool(Params):
    """One line drawn on the mesh, and the folds across it."""

    name: str
    """Name for messages. A change while it runs: live."""
    a: int | Sequence[float] | Mapping[str, Any]
    """First end: a vertex index, or a place near one in the reference pose [m]. A change while it runs: rebuild."""
    b: int | Sequence[float] | Mapping[str, Any]
    """Second end. A change while it runs: rebuild."""
    through: Sequence[int | Sequence[float] | Mapping[str, Any]] | None = None
    """Points in between, for a line that follows the surface. A change while it runs: rebuild."""
    width: float
    """Half-width of the folded region, across the line [m]. At least 1e-06. A change while it runs: rebuild."""
    folds: int | None = None
    """Number of folds of the coarsest level [-]. From 1 to 500. Default: 5. A change while it runs: rebuild."""
    spacing: int | None = None
    """Flat segments between two folds [-]. From 0 to 100. Default: 1. A change while it runs: rebuild."""
    crest: int | None = None
    """Control points on each crest [-]: 1 is sharp, more is flat-topped. From 1 to 100. Default: 1. A change
    while it runs: rebuild."""
    strategy: Literal["from_a"] | Literal["from_both"] | Literal["together"] | None = None
    """Which folds grow first. Default: "together". A change while it runs: rebuild."""
    levels: Sequence[WrinkleLevel | Mapping[str, Any]] | None = None
    """Levels of detail: each has twice as many folds as the one before. One level by default. A change while it
    runs: rebuild."""
    max_height: float | None = None
    """Height at which a fold hands over to the next [m]. Default: one segment of the line. At least 0. A change
    while it runs: rebuild."""
    rest: Literal["longest"] | Literal["bind"] | Mapping[str, Any] | None = None
    """Full length of the line, at which folds just vanish. Default: "longest". A change while it runs: rebuild."""
    profile: Literal["smooth"] | Literal["linear"] | None = None
    """Shape of a fold's flanks. Default: "smooth". A change while it runs: rebuild."""
    attenuation: Literal["none"] | Literal["linear"] | Literal["bell"] | None = None
    """How folds fade towards the sides of the region. Default: "bell". A change while it runs: rebuild."""
    direction: Literal["out"] | Literal["in"] | Literal["both"] | None = None
    """Where folds go. Default: "out". A change while it runs: rebuild."""
    jitter: Jitter | Mapping[str, Any] | None = None
    """Irregularity, so that folds don't look machined. Default: see the book."""
    mask: Selection | Mapping[str, Any] | None = None
    """Painted mask that multiplies the height. A change while it runs: rebuild."""
    live: bool | None = None
    """Find the region anew every frame instead of once. Vertices may pop in and out. Default: false. A change
    while it runs: rebuild."""
    amount: float | Sequence[Sequence[Any]] | None = None
    """Strength [-]; below 1 the length is no longer kept. May be key-framed. Default: 1.0. A change while it
    runs: live."""


@dataclass(kw_only=True)
class WrinkleLevel(Params):
    """One level of detail."""

    share: float
    """Share of the missing length that this level takes [-]; shares sum to 1. From 0 to 1. A change while it
    runs: rebuild."""
    max_height: float | None = None
    """Height at which a fold hands over to the next [m]. Default: one segment of the level. At least 0. A change
    while it runs: rebuild."""


@dataclass(kw_only=True)
class Jitter(Params):
    """Irregularity of folds, from a seed."""

    spacing: float | None = None
    """Of the spacing, as a fraction of a segment [-]. From 0 to 0.9. Default: 0.0. A change while it runs:
    rebuild."""
    height: float | None = None
    """Of the heights [-]. From 0 to 0.9. Default: 0.0. A change while it runs: rebuild."""
    angle_deg: float | None = None
    """Of the folds' direction across the line [degrees]. From 0 to 60. Default: 0.0. A change while it runs:
    rebuild."""
    seed: int | None = None
    """Seed. At least 0. Default: 0. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class Cloth(Params):
    """Simulated garments: position-based, small steps."""

    _kind: ClassVar[str | None] = "cloth"
    _keys: ClassVar[dict[str, str]] = {"with_": "with"}
    name: str
    """Name of the layer, unique in the scene. A change while it runs: live."""
    on: str
    """Mesh to simulate: `actor`, or `actor/mesh` when the actor has several. A change while it runs: restart."""
    with_: Sequence[ClothCompanion | Mapping[str, Any]] | None = None
    """Other meshes that are cloth of the same fabric and are simulated with it: garments that feel each other
    both ways. All of them collide with each other and with themselves."""
    subdivide: int | None = None
    """How many times every triangle is cut into four, smoothly, before it is simulated: the mesh comes out
    finer. For game models whose cape has a few dozen vertices: it cannot lie on a shoulder else. From 0 to 3.
    Default: 0. A change while it runs: restart."""
    material: Literal["silk"] | Literal["cotton"] | Literal["denim"] | Literal["wool"] | Literal["leather"] | Literal["rubber"] | None = None
    """Fabric whose numbers are the defaults of `density`, `stretch`, `bend`, `friction` and `thickness`.
    Default: "cotton". A change while it runs: rebuild."""
    density: float | None = None
    """Mass per area [kg/m²]; the material's by default. From 0.0001 to 1000. A change while it runs: rebuild."""
    stretch: float | None = None
    """Tensile stiffness, along the warp when `threads` says where it is [N/m]; the material's by default. From 1
    to 1e+09. A change while it runs: rebuild."""
    threads: Literal["none"] | Literal["uv"] | None = None
    """Where the threads run: `none` (as stiff in every direction) or `uv` (warp along u, weft along v, soft in
    shear as woven cloth is). Default: "none". A change while it runs: rebuild."""
    weft: float | None = None
    """Tensile stiffness along the weft, with `threads = "uv"` [N/m]. From 1 to 1e+09. A change while it runs:
    rebuild."""
    shear: float | None = None
    """Shear stiffness between warp and weft, with `threads = "uv"` [N/m]. From 0 to 1e+09. A change while it
    runs: rebuild."""
    bend: float | None = None
    """Bending rigidity [N·m]; the material's by default. From 0 to 1000. A change while it runs: rebuild."""
    rest_angles: Literal["flat"] | Literal["as_modelled"] | None = None
    """Angle at which the cloth is at rest along every edge: `flat`, or `as_modelled` so that sculpted folds are
    kept. Default: "flat". A change while it runs: rebuild."""
    crease_radius: float | None = None
    """Radius of the tightest bend that springs back [m]; what is bent more keeps a crease. None by default: all
    bends spring back. Paper about 0.05, linen 0.005. From 1e-05 to 100. A change while it runs: live."""
    crease_seconds: float | None = None
    """Time in which cloth that is bent more takes most of the bend on as a crease [s]. From 0 to 1000. Default:
    0.2. A change while it runs: live."""
    tension_only: bool | None = None
    """Cloth that resists stretching only: when compressed it gives way and buckles. Default: false. A change
    while it runs: live."""
    stretch_limit: float | None = None
    """Greatest stretch of an edge, as a fraction of its rest length [-]. By default 1.2 % and four times what
    the fabric stretches under its own weight. From 0 to 10. A change while it runs: live."""
    compression_limit: float | None = None
    """Greatest compression of an edge, as a fraction of its rest length [-]. From 0 to 1. Default: 1.0. A change
    while it runs: live."""
    thickness: float | None = None
    """Thickness: layers and bodies stay that far from each other [m]. By default the material's, or a quarter of
    the mean edge where the mesh is too coarse for that. From 1e-05 to 1. A change while it runs: rebuild."""
    friction: float | None = None
    """Friction coefficient [-]; the material's by default. Combined with a collider's own as the geometric mean.
    From 0 to 10. A change while it runs: live."""
    pins: Selection | Mapping[str, Any] | None = None
    """Vertices that follow the mesh as it comes in (skinned, or where the actor puts it); the mesh's region
    `pins` by default, if it has one. An empty list of `vertices` lets all of it go. A change while it runs:
    rebuild."""
    attachments: Sequence[ClothAttachment | Mapping[str, Any]] | None = None
    """Vertices held by something else: a surface, a joint, a path; or that stick when they touch."""
    tear: float | None = None
    """How many times as long as it is an edge may be drawn before the cloth rips there [-]: 1.1 lets cloth tear
    that is drawn out by a tenth. Without it, cloth never tears. Torn cloth has more vertices than it had;
    neither what is blown up nor a `cycle` nor what keeps creases can tear. From 1.001 to 100. A change while
    it runs: restart."""
    seams: Sequence[ClothSeam | Mapping[str, Any]] | None = None
    """Seams, hems and waistbands: vertices along a line, where the cloth is thicker."""
    sewing: Sequence[ClothSewing | Mapping[str, Any]] | None = None
    """Seams that are sewn when the shot starts: flat panels become a garment. In the time of `dressing` where
    there are bodies, so that the first frame has them closed; else before one's eyes. Until all are closed,
    nothing falls."""
    regions: Sequence[ClothRegion | Mapping[str, Any]] | None = None
    """Parts that are stiffer, heavier, larger or thicker than the rest of the cloth, by painted weight."""
    soft_pins: Selection | Mapping[str, Any] | None = None
    """Vertices that are drawn to where the mesh comes in, each as strongly as its painted weight says: cloth
    that follows a character loosely. A change while it runs: rebuild."""
    soft_pins_hz: float | None = None
    """How fast a vertex of full weight follows [Hz]; others in proportion to their weight. From 0 to 1000.
    Default: 4.0. A change while it runs: live."""
    pressure: float | Sequence[Sequence[Any]] | None = None
    """Volume that the enclosed air wants to have, as a multiple of the volume at rest [-]. Closed meshes only. A
    change while it runs: live."""
    overpressure: float | Sequence[Sequence[Any]] | None = None
    """Overpressure of the enclosed air [Pa], instead of a volume: a cushion has some hundred, a toy balloon two
    to three thousand. Closed meshes only. A change while it runs: live."""
    colliders: Sequence[str] | None = None
    """Simple colliders to collide with; all of the scene's by default. A change while it runs: rebuild."""
    bodies: Sequence[str] | None = None
    """Meshes to collide with: the body under the garment. A change while it runs: rebuild."""
    bodies_except: Selection | Mapping[str, Any] | None = None
    """Parts of the bodies that the cloth does not feel: arms that would wipe over a skirt, say. What all three
    corners of a triangle belong to is left out. A change while it runs: rebuild."""
    beside: Sequence[ClothBeside | Mapping[str, Any]] | None = None
    """Bodies, or parts of them, that stay outside of the garment, as arms beside a skirt do. Near what the cloth
    is worn on they press it only towards that and do not drag it along; where they leave it no room they pass
    through it. A change while it runs: rebuild."""
    body_depth: float | None = None
    """Depth from which a vertex inside a body is brought out; deeper ones are taken to be beyond the other side
    [m]. From 0.001 to 10. Default: 0.1. A change while it runs: live."""
    self_collision: bool | None = None
    """Whether the cloth collides with itself. Default: false. A change while it runs: rebuild."""
    drag: float | None = None
    """Air drag coefficient of the surface, head-on [-]: 1 to 1.2 for plates and cloth. From 0 to 100. Default:
    1.0. A change while it runs: live."""
    lift: float | None = None
    """How the air's push grows with the slant of the surface to the wind [-]: 1 to 2 for cloth. Flags flutter by
    it. From 0 to 100. Default: 1.0. A change while it runs: live."""
    air_mass: float | None = None
    """Mass of the air that has to move with the cloth, per area [kg/m²]. Air is heavier than thin cloth: a flag
    of length L carries about a fifth of a cube of air along, 0.2 · 1.2 kg/m³ · L, and beats the slower for
    it. Garments that lie on a body carry none. From 0 to 1000. Default: 0.0. A change while it runs: rebuild."""
    damping: float | None = None
    """Rate at which all motion decays [1/s]. From 0 to 1000. Default: 0.1. A change while it runs: live."""
    settle: float | None = None
    """Deceleration by which held cloth comes to rest, however fast it swings [m/s²]: fibres that rub on each
    other, and air that clings to them. It fades away with the motion, so nothing hangs askew for it. From 0
    to 100. Default: 0.3. A change while it runs: live."""
    cycle: ClothCycle | Mapping[str, Any] | None = None
    """Makes a part of the shot a cycle: its last frame is its first. None by default."""
    dressing: float | None = None
    """How long the cloth is simulated before the first frame [s], while characters move from their source pose,
    in which the garment was modelled, into their first pose. With 0 the garment starts as it is skinned at
    the first frame, limbs through it or not. Cloth without `bodies` starts so always. From 0 to 60. Default:
    1.0. A change while it runs: restart."""
    quality: float | None = None
    """Multiplies the number of sub-steps that the mesh's fineness asks for [-]. From 0.1 to 100. Default: 1.0. A
    change while it runs: live."""
    substeps: int | None = None
    """Sub-steps per tick of 1/120 s; chosen from the mesh by default. From 1 to 1000. A change while it runs:
    live."""
    tethers: bool | None = None
    """Whether vertices are tethered to the pins over the cloth's own length: keeps fine meshes from sagging like
    rubber. Default: true. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class ClothCompanion(Params):
    """Another mesh in the same cloth."""

    on: str
    """Mesh that is simulated with it: `actor`, or `actor/mesh` when the actor has several. A change while it
    runs: restart."""
    pins: Selection | Mapping[str, Any] | None = None
    """Vertices of it that follow it as it comes in; its own region `pins` by default, if it has one. A change
    while it runs: restart."""


@dataclass(kw_only=True)
class ClothAttachment(Params):
    """Vertices held by something. Give one of `surface`, `joint` or `path`."""

    vertices: Selection | Mapping[str, Any] | None = None
    """Which vertices of the cloth. Default: see the book. A change while it runs: rebuild."""
    surface: str | None = None
    """Mesh that carries them: each stays at its place over the nearest triangle. A change while it runs:
    rebuild."""
    joint: str | None = None
    """Joint that carries them, as `actor/joint`. A change while it runs: rebuild."""
    path: Sequence[float | Sequence[Sequence[Any]]] | None = None
    """Key-framed displacement from where they start, x, y and z [m]. A change while it runs: rebuild."""
    from_frame: float | None = None
    """Frame from which they are held. A change while it runs: rebuild."""
    until_frame: float | None = None
    """Frame at which they are let go. A change while it runs: rebuild."""
    stick_within: float | None = None
    """Makes a `surface` sticky: a vertex is caught when it comes this near [m]. From 0 to 10. A change while it
    runs: rebuild."""
    release_beyond: float | None = None
    """… and let go when it is pulled this far from where it was caught [m]. From 0 to 10. A change while it
    runs: rebuild."""


@dataclass(kw_only=True)
class ClothSeam(Params):
    """A line along which the cloth is doubled: heavier and stiffer in bending."""

    vertices: Selection | Mapping[str, Any]
    """Vertices along the seam. A change while it runs: rebuild."""
    bend: float | None = None
    """How many times stiffer in bending the cloth is there [-]. Two layers sewn together have eight times the
    rigidity of one. From 0 to 1e+06. Default: 8.0. A change while it runs: rebuild."""
    weight: float | None = None
    """How many times heavier the cloth is there [-]. From 0.001 to 1000. Default: 2.0. A change while it runs:
    rebuild."""


@dataclass(kw_only=True)
class ClothSewing(Params):
    """Two borders of the cloth that are sewn together. They may have different numbers of vertices; the way
    round is that in which they lie nearer."""

    _keys: ClassVar[dict[str, str]] = {"from_": "from"}
    from_: Selection | Mapping[str, Any]
    """Vertices along the one border. A change while it runs: rebuild."""
    to: Selection | Mapping[str, Any]
    """Vertices along the other. A change while it runs: rebuild."""
    close: float | None = None
    """Time in which the seam closes, from the start of the simulation on [s]. From 0 to 60. Default: 0.5. A
    change while it runs: rebuild."""


@dataclass(kw_only=True)
class ClothRegion(Params):
    """A part of the cloth with another fabric. Where the weight of a vertex is between 0 and 1, so is the
    change."""

    vertices: Selection | Mapping[str, Any]
    """Vertices of the part, by painted weight. A change while it runs: rebuild."""
    stretch: float | None = None
    """How many times stiffer in stretch [-]. From 1e-06 to 1e+06. Default: 1.0. A change while it runs: rebuild."""
    bend: float | None = None
    """How many times stiffer in bending [-]. From 1e-06 to 1e+06. Default: 1.0. A change while it runs: rebuild."""
    weight: float | None = None
    """How many times heavier [-]. From 0.001 to 1000. Default: 1.0. A change while it runs: rebuild."""
    size: float | None = None
    """How many times as long its threads are at rest [-]: less than 1 and it shrinks (an elastic waist, wool in
    the wash), more and it lies in folds (ruffles). From 0.05 to 10. Default: 1.0. A change while it runs:
    rebuild."""
    thickness: float | None = None
    """How many times thicker, for what it touches [-]: padding, a hem, fur. From 0.01 to 100. Default: 1.0. A
    change while it runs: rebuild."""


@dataclass(kw_only=True)
class ClothBeside(Params):
    """A body, or part of one, that is beside the garment and never between it and what it is worn on: arms
    beside a skirt."""

    body: str
    """Which of `bodies`. A change while it runs: rebuild."""
    vertices: Selection | Mapping[str, Any] | None = None
    """Vertices of it; all of them by default. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class ClothCycle(Params):
    """Frames that are played over and over. Towards the end of the cycle the cloth is led over to how it moved
    one cycle before, so the motion under it must be a cycle of the same length."""

    from_frame: float
    """First frame of the cycle; the shot begins at least `blend` frames before it, better a whole cycle. A
    change while it runs: restart."""
    until_frame: float
    """Frame that is the first one again. A change while it runs: restart."""
    blend: float | None = None
    """Frames in which the cloth is led over. From 1 to 10000. Default: 10.0. A change while it runs: restart."""


@dataclass(kw_only=True)
class Folds(Params):
    """Drawn folds laid over any moving mesh."""

    _kind: ClassVar[str | None] = "folds"
    name: str
    """Name of the layer, unique in the scene. A change while it runs: live."""
    on: str
    """Mesh that carries the folds: an actor with one mesh, or `actor/mesh`. A change while it runs: restart."""
    folds: Sequence[Fold | Mapping[str, Any]] | None = None
    """The folds drawn on it."""
    buckling: Sequence[Buckling | Mapping[str, Any]] | None = None
    """Ready-made diamond buckling on tube-like parts (sleeves, trouser legs)."""
    blend: float | None = None
    """Exponent of the mean where folds cross [-]: 0 is the plain mean, which jumps at a fold's border; 1 weighs
    each fold by its own height. From 0 to 8. Default: 1.0. A change while it runs: live."""
    guard: bool | None = None
    """Keep folds from passing through each other where the mesh faces itself. Default: true. A change while it
    runs: live."""
    collide: Sequence[str] | None = None
    """Meshes of the frame that folds must stay outside of (the body under a sleeve). A change while it runs:
    rebuild."""
    gap: float | None = None
    """Gap kept to those meshes [m]. At least 0. Default: 0.002. A change while it runs: live."""
    feedback: float | None = None
    """Share of the folds' own bending stiffness that a `cloth` layer before this one, on the same mesh, gets
    along them [-]: a fold as drawn makes the cloth as hard to bend along it as its profile does corrugated
    iron. 0 lets the folds lie on the cloth without being felt. Creases, which have no height, are not felt.
    From 0 to 1. Default: 0.0. A change while it runs: rebuild."""
    attributes: bool | None = None
    """Also write `fold_height` and `fold_direction` as vertex attributes; normal and height maps are made from
    them. Default: false. A change while it runs: live."""


@dataclass(kw_only=True)
class Fold(Params):
    """One fold."""

    name: str
    """Name for messages. A change while it runs: rebuild."""
    points: Sequence[int | Sequence[float] | Mapping[str, Any]]
    """Points of the mesh that the curve passes through: vertices, or positions in the source pose. A change
    while it runs: rebuild."""
    amplitude: float
    """Height of the crest [m]; negative for a groove. A change while it runs: rebuild."""
    width: float
    """Half-width of the fold [m]. At least 1e-06. A change while it runs: rebuild."""
    subdivision: int | None = None
    """Refinement under the fold: each level cuts a triangle in four [-]. From 0 to 5. Default: 2. A change while
    it runs: rebuild."""
    attenuation: Literal["implicit"] | Literal["bell"] | Literal["sharp"] | None = None
    """Shape of the cross-section. Default: "implicit". A change while it runs: rebuild."""
    k_flat: float | None = None
    """How fast the fold flattens when the mesh is stretched [-]. From 0 to 100. Default: 1.0. A change while it
    runs: live."""
    k_rise: float | None = None
    """How fast it deepens when the mesh is compressed [-]. From 0 to 100. Default: 1.0. A change while it runs:
    live."""
    factor: Literal["vertex"] | Literal["mean"] | None = None
    """How the height follows the stretch. Default: "vertex". A change while it runs: live."""
    conserve: Literal["nothing"] | Literal["length"] | None = None
    """Keep the length of every cross-section instead of using `k_flat` and `k_rise`. Default: "nothing". A
    change while it runs: live."""
    r0_on: Literal["base"] | Literal["flat"] | None = None
    """Where the drawn fold's own stretch is measured. Default: "base". A change while it runs: rebuild."""
    curvature: float | None = None
    """Share of the fold's height at which the mesh's bending counts as stretch [-]: a fold over a rounded edge
    opens. 0 turns it off. From 0 to 1. Default: 0.5. A change while it runs: rebuild."""
    crease: bool | None = None
    """A fine crease: only the shading normals fold, the surface stays. Default: false. A change while it runs:
    rebuild."""
    stiff: bool | None = None
    """A starting fold that ignores stretch: it keeps its drawn height. Default: false. A change while it runs:
    live."""
    amount: float | Sequence[Sequence[Any]] | None = None
    """Strength [-]; key-frame it to fade a fold in or out. Default: 1.0. A change while it runs: live."""
    mask: Selection | Mapping[str, Any] | None = None
    """Painted mask that multiplies the height. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class Buckling(Params):
    """Diamond buckling of a tube that is pressed along its axis."""

    _keys: ClassVar[dict[str, str]] = {"from_": "from"}
    name: str
    """Name for messages; its folds are numbered after it. A change while it runs: rebuild."""
    from_: Sequence[float]
    """One end of the tube's axis, source pose [m]. A change while it runs: rebuild."""
    to: Sequence[float]
    """The other end [m]. A change while it runs: rebuild."""
    rows: int | None = None
    """Diamonds along the axis [-]. From 1 to 50. Default: 3. A change while it runs: rebuild."""
    columns: int | None = None
    """Diamonds around the tube [-]. From 2 to 50. Default: 5. A change while it runs: rebuild."""
    jitter: float | None = None
    """How far the corners of the diamonds are out of place [-]: 0 looks machined. From 0 to 1. Default: 0.25. A
    change while it runs: rebuild."""
    seed: int | None = None
    """Seed of that. At least 0. Default: 0. A change while it runs: rebuild."""
    fold: BucklingFold | Mapping[str, Any]
    """Settings of every ridge; its name and points are not used."""


@dataclass(kw_only=True)
class BucklingFold(Params):
    """What all ridges of a buckling pattern share."""

    amplitude: float
    """Height of the ridges [m]. A change while it runs: rebuild."""
    width: float
    """Half-width of the ridges [m]: where it reaches the middle of a diamond, its sides are facets. At least
    1e-06. A change while it runs: rebuild."""
    attenuation: Literal["implicit"] | Literal["bell"] | Literal["sharp"] | None = None
    """Shape of the cross-section. Default: "sharp". A change while it runs: rebuild."""
    subdivision: int | None = None
    """Refinement under the ridges [-]. From 0 to 5. Default: 2. A change while it runs: rebuild."""
    conserve: Literal["nothing"] | Literal["length"] | None = None
    """What the height follows. Keeping the length of every cross-section, ridges rise at once when the tube is
    compressed, then more and more slowly, and vanish when it is pulled by what they take up. Default:
    "length". A change while it runs: rebuild."""
    k_flat: float | None = None
    """How fast ridges flatten when the tube is stretched [-], where nothing is conserved. Default: 1.0. A change
    while it runs: rebuild."""
    k_rise: float | None = None
    """How fast they rise when it is compressed [-], where nothing is conserved. Default: 1.0. A change while it
    runs: rebuild."""


@dataclass(kw_only=True)
class Hair(Params):
    """Deformable wisps that lean, rub, tangle and split."""

    _kind: ClassVar[str | None] = "hair"
    name: str | None = None
    """Name of the layer, unique in the scene; the strands carry it too. Default: "hair". A change while it runs:
    rebuild."""
    on: str | None = None
    """Mesh the hair grows on: `actor` or `actor/mesh`. Default: "". A change while it runs: restart."""
    scalp: Selection | Mapping[str, Any] | None = None
    """Where on that mesh; nothing given: everywhere. Default: see the book. A change while it runs: restart."""
    wisps: int | None = None
    """Number of wisps, spread evenly over the scalp. From 1 to 100000. Default: 100. A change while it runs:
    restart."""
    at: Sequence[int | Sequence[float] | Mapping[str, Any]] | None = None
    """Roots at these places instead: points [m], vertices, places on triangles, at joints or markers, each moved
    to the nearest point of the scalp. A change while it runs: restart."""
    direction: Sequence[float] | None = None
    """Direction in which hair leaves the skin; not given: along the skin's normal. A change while it runs:
    rebuild."""
    particles: int | None = None
    """Particles of a wisp's chain, the two carried by the scalp included. From 4 to 48. Default: 12. A change
    while it runs: restart."""
    length: float | None = None
    """Length from the skin to the tip [m]. From 0 to 10. Default: 0.3. A change while it runs: rebuild."""
    length_variation: float | None = None
    """How much the wisps' lengths differ: 0.2 is plus or minus 20% [-]. From 0 to 0.9. Default: 0.1. A change
    while it runs: rebuild."""
    length_map: str | None = None
    """Vertex-colour channel (`r`, `g`, `b`, `a`) that multiplies the length. A change while it runs: rebuild."""
    radius: float | None = None
    """Radius of a wisp where it is thickest [m]. From 0.0001 to 1. Default: 0.015. A change while it runs:
    rebuild."""
    radius_map: str | None = None
    """Vertex-colour channel that multiplies the radius. A change while it runs: rebuild."""
    density_map: str | None = None
    """Vertex-colour channel that multiplies the density of roots. A change while it runs: restart."""
    profile: Sequence[Sequence[Any]] | None = None
    """Radius along the wisp as `[fraction of the length, fraction of the radius]` pairs. Default: [[0.0, 0.8],
    [0.25, 1.0], [0.7, 0.9], [1.0, 0.45]]. A change while it runs: rebuild."""
    root_radius: float | None = None
    """Radius of a wisp at the skin [m]; not given: so that the roots cover the scalp. From 0 to 1. A change
    while it runs: rebuild."""
    mass_per_length: float | None = None
    """Mass of a wisp per metre [kg/m]; a thousand hairs weigh about 0.005. From 1e-06 to 10. Default: 0.005. A
    change while it runs: rebuild."""
    stretch: float | None = None
    """By how much a wisp hanging by its root lengthens under its own weight [-]. 0: not at all (straight hair);
    0.05 to 0.3: springy curls. From 0 to 100. Default: 0.0. A change while it runs: rebuild."""
    bending_length: float | None = None
    """Bending stiffness, as the length a wisp can hold out sideways before it droops [m]. 0: limp; 0.05:
    natural; 0.15: wiry. From 0 to 2. Default: 0.05. A change while it runs: rebuild."""
    stiffness_map: str | None = None
    """Vertex-colour channel that multiplies the bending stiffness. A change while it runs: rebuild."""
    bending_damping: float | None = None
    """Rate at which bending motion dies inside a wisp [1/s]. From 0 to 1000. Default: 6.0. A change while it
    runs: live."""
    torsion_hz: float | None = None
    """Torsion: frequency at which a wisp twisted about its own axis swings back [Hz]. From 0 to 60. Default:
    4.0. A change while it runs: live."""
    torsion_damping_ratio: float | None = None
    """Damping of torsion, as a fraction of critical [-]. From 0 to 2. Default: 0.4. A change while it runs:
    live."""
    drag: float | None = None
    """Rate at which hair takes on the speed of the air [1/s]. From 0 to 1000. Default: 4.0. A change while it
    runs: live."""
    wind_shadow: float | None = None
    """How well hair and body shield what is behind them from the wind: 0 not at all, 1 naturally [-]. From 0 to
    10. Default: 1.0. A change while it runs: live."""
    goal_hz: float | Sequence[Sequence[Any]] | None = None
    """Pull of every particle towards its styled place on the head, as a frequency [Hz]. 0: none. Default: 0.0. A
    change while it runs: live."""
    goal_map: str | None = None
    """Vertex-colour channel that multiplies the pull towards the styled place. A change while it runs: rebuild."""
    substeps: int | None = None
    """Chain steps in one tick of 1/120 s. From 1 to 60. Default: 1. A change while it runs: live."""
    wetness: float | Sequence[Sequence[Any]] | None = None
    """Wetness of all hair, 0 to 1 [-]; a vertex attribute `wetness` of the scalp adds to it. Default: 0.0. A
    change while it runs: live."""
    seed: int | None = None
    """Seed of everything random in this layer. At least 0. Default: 0. A change while it runs: restart."""
    envelope: Envelope | Mapping[str, Any] | None = None
    """The elastic envelope that gives a wisp its thickness. Default: see the book."""
    body: Body | Mapping[str, Any] | None = None
    """What the hair collides with. Default: see the book."""
    interaction: Interaction | Mapping[str, Any] | None = None
    """How wisps act on each other. Default: see the book."""
    split: Split | Mapping[str, Any] | None = None
    """Splitting and merging. Default: see the book."""
    style: Style | Mapping[str, Any] | None = None
    """The hair style: initial shape, ties. Default: see the book."""
    strands: Strand | Mapping[str, Any] | None = None
    """The visible hairs. Default: see the book."""


@dataclass(kw_only=True)
class Envelope(Params):
    """The elastic envelope of a wisp."""

    samples: int | None = None
    """Samples around each particle. From 3 to 8. Default: 4. A change while it runs: restart."""
    frequency_hz: float | None = None
    """Frequency at which a sample swings about its rest radius [Hz]; higher is harder. From 0.1 to 200. Default:
    10.0. A change while it runs: live."""
    damping_ratio: float | None = None
    """Damping of that swing, as a fraction of critical [-]. From 0 to 5. Default: 0.4. A change while it runs:
    live."""
    mass_share: float | None = None
    """Share of a wisp's mass that its samples carry [-]. From 0.01 to 0.9. Default: 0.5. A change while it runs:
    live."""


@dataclass(kw_only=True)
class Body(Params):
    """What the hair collides with."""

    fit_ellipsoids: bool | None = None
    """Fit ellipsoids to the character that carries the scalp, one per limb, and collide with them. Default:
    false. A change while it runs: rebuild."""
    max_ellipsoids: int | None = None
    """Largest number of fitted ellipsoids. From 1 to 64. Default: 16. A change while it runs: rebuild."""
    colliders: Sequence[str] | None = None
    """Names of the scene's colliders that stop the hair; not given: all of them. A change while it runs:
    rebuild."""
    meshes: Sequence[str] | None = None
    """Meshes of the frame that stop the hair with their real, animated triangles. A change while it runs:
    rebuild."""
    friction: float | None = None
    """Coulomb friction with fitted ellipsoids and meshes [-]; the scene's colliders have their own. From 0 to
    10. Default: 0.3. A change while it runs: live."""
    restitution: float | None = None
    """Share of the normal speed that bounces back [-]. From 0 to 1. Default: 0.0. A change while it runs: live."""
    margin: float | None = None
    """Height above the surface at which hair rests [m]. From 0 to 0.1. Default: 0.001. A change while it runs:
    live."""


@dataclass(kw_only=True)
class Interaction(Params):
    """How wisps act on each other."""

    friction: bool | None = None
    """Whether interpenetrating wisps rub. Default: true. A change while it runs: live."""
    collisions: bool | None = None
    """Whether wisps that meet across collide. Default: true. A change while it runs: live."""
    viscosity: float | None = None
    """Viscous friction of interpenetrating wisps [1/s]: 0.5 slips apart at once, 50 sticks. From 0 to 10000.
    Default: 5.0. A change while it runs: live."""
    stick: float | None = None
    """Dry friction of interpenetrating wisps, as the acceleration against each other that they withstand without
    slipping [m/s²]; not given: a hundredth of the viscosity squared (0.25 at a viscosity of 5, 25 at 50).
    From 0 to 1000. A change while it runs: live."""
    threshold: float | None = None
    """Two wisps interpenetrate while the cosine between their relative velocity and the normal of both is below
    this, and collide above it [-]. From 0 to 1. Default: 0.9. A change while it runs: live."""
    full: bool | None = None
    """Collisions stop all relative motion, not only the approach. Default: false. A change while it runs: live."""
    rate_hz: float | None = None
    """How often interactions are treated [Hz]. From 1 to 1000. Default: 30.0. A change while it runs: live."""
    most_partners: int | None = None
    """Partners of a section that are treated in one pass; where there are more they take turns, each with the
    time since its last one. More is smoother and slower. From 1 to 1000. Default: 6. A change while it runs:
    live."""
    with_itself: bool | None = None
    """Whether a wisp also meets itself. Default: true. A change while it runs: live."""


@dataclass(kw_only=True)
class Split(Params):
    """Splitting and merging of wisps."""

    max_growth: float | None = None
    """Largest number of wisps as a multiple of the initial one; 1: never split. From 1 to 16. Default: 1.0. A
    change while it runs: live."""
    ratio: float | None = None
    """A wisp splits where its largest diameter exceeds its smallest this many times [-]. From 1.05 to 100.
    Default: 2.0. A change while it runs: live."""
    radius_scale: float | None = None
    """Rest radius of the halves, as a fraction of the whole's [-]; 0.7071 shares the cross-section. From 0.25 to
    1. Default: 0.7071068. A change while it runs: live."""
    speed: float | None = None
    """Speed at which the halves part, as a fraction of the wisp's own [-]. From 0 to 1. Default: 0.2. A change
    while it runs: live."""
    min_speed: float | None = None
    """Least speed that counts for that [m/s]. From 0 to 10. Default: 0.1. A change while it runs: live."""
    apart: float | None = None
    """Halves may split again, and rub, once they are this many radii apart [-]. From 0 to 10. Default: 1.0. A
    change while it runs: live."""
    merge_distance: float | None = None
    """Halves that stay closer than this many radii are drawn together again [-]; 0: never merge. From 0 to 10.
    Default: 0.5. A change while it runs: live."""
    merge_after: float | None = None
    """How long they must stay close before that [s]. From 0 to 60. Default: 0.5. A change while it runs: live."""


@dataclass(kw_only=True)
class Style(Params):
    """The hair style: how the initial shape comes about."""

    preset: Literal["long_straight"] | Literal["bob"] | Literal["ponytail"] | Literal["curly"] | Literal["braid"] | Literal["short"] | Literal["afro"] | Literal["fringe"] | None = None
    """A named style that adapts to the head, for all that is left at its usual value here and in the hair's own
    parameters. A change while it runs: restart."""
    fields: Sequence[Mapping[str, Any]] | None = None
    """Fields that comb the hair, one after another or together. A change while it runs: rebuild."""
    cuts: Sequence[Cut | Mapping[str, Any]] | None = None
    """Cuts: hair rooted beyond a plane has another length, as in a fringe; the last that holds counts."""
    comb_roots: float | None = None
    """How much the fields also tilt the hair where it leaves the skin: 0 not at all, 1 nearly flat [-]. From 0
    to 1. Default: 0.6. A change while it runs: rebuild."""
    settle_secs: float | None = None
    """How long hair settles under gravity once the fields are over [s]. From 0 to 60. Default: 2.0. A change
    while it runs: rebuild."""
    guides: Sequence[Sequence[Sequence[float]]] | None = None
    """Guide curves to start from instead, root first [m]; between them wisps take the mean of the nearest, but
    for those that lead to the other side of a parting. A change while it runs: rebuild."""
    guides_file: str | None = None
    """File whose curves are guides, too (`.abc`, `.usd`, `.obj`), in metres, where the head is in the first
    frame. A change while it runs: rebuild."""
    cards: str | None = None
    """Mesh of the scene made of hair cards or tubes, each of which is a guide along its middle: `actor` or
    `actor/mesh`. A change while it runs: rebuild."""
    balance: bool | None = None
    """Solve rest angles so that the style holds under gravity; false: hair is straight at rest, and falls from
    the pose it was given. Default: true. A change while it runs: rebuild."""
    memory_hz: float | Sequence[Sequence[Any]] | None = None
    """How hair remembers its style, as the frequency of a soft pull back to it [Hz]; it grows where the head and
    the air are still. Only where `balance` holds the style; 0: none. Default: 0.5. A change while it runs:
    live."""
    ties: Sequence[Tie | Mapping[str, Any]] | None = None
    """Ties: ponytails, bunches, hair pins."""
    braids: Sequence[Braid | Mapping[str, Any]] | None = None
    """Braids below a tie."""


@dataclass(kw_only=True)
class Cut(Params):
    """Another length for the hair rooted on one side of a plane."""

    point: Sequence[float]
    """A point of the plane, in the pose of the start frame [m]. A change while it runs: rebuild."""
    normal: Sequence[float]
    """Normal of the plane, to the side that is cut; need not be unit. A change while it runs: rebuild."""
    length: float
    """Length of the hair there [m]. From 0.0001 to 10. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class Tie(Params):
    """A tie, or a pin: hair held near a point that moves with the head."""

    point: Sequence[float]
    """Where, in the pose of the start frame [m]. A change while it runs: rebuild."""
    reach: float | None = None
    """Only wisps rooted within this distance are held [m]. At least 0. Default: 1000.0. A change while it runs:
    rebuild."""
    radius: float | None = None
    """Thickness of the bunch in the tie [m]. From 0 to 1. Default: 0.02. A change while it runs: rebuild."""
    hold_hz: float | Sequence[Sequence[Any]] | None = None
    """How firmly it holds, as a frequency [Hz]; 0 lets go. Default: 10.0. A change while it runs: live."""


@dataclass(kw_only=True)
class Braid(Params):
    """A braid of three strands, hanging from a tie."""

    tie: int | None = None
    """Which tie it hangs from, from 0. At least 0. Default: 0. A change while it runs: rebuild."""
    direction: Sequence[float] | None = None
    """Where it hangs to; need not be unit. Default: [0.0, -1.0, 0.0]. A change while it runs: rebuild."""
    radius: float | None = None
    """Half width of the braid [m]. From 0 to 1. Default: 0.02. A change while it runs: rebuild."""
    pitch: float | None = None
    """Length of one full turn of a strand [m]. From 0.001 to 10. Default: 0.08. A change while it runs: rebuild."""
    hold_hz: float | Sequence[Sequence[Any]] | None = None
    """How firmly the strands hold together, as a frequency [Hz]. Default: 10.0. A change while it runs: live."""


@dataclass(kw_only=True)
class Strand(Params):
    """The visible hairs."""

    per_wisp: int | None = None
    """Hairs in one wisp. From 0 to 100000. Default: 100. A change while it runs: rebuild."""
    points: int | None = None
    """Points of one hair. From 2 to 256. Default: 16. A change while it runs: live."""
    width: float | None = None
    """Diameter at the root [m]. From 1e-06 to 0.1. Default: 0.00012. A change while it runs: live."""
    tip: float | None = None
    """Diameter at the tip, as a fraction of the root's [-]. From 0 to 1. Default: 0.3. A change while it runs:
    live."""
    length_variation: float | None = None
    """How much the hairs' lengths differ: 0.15 makes some up to 15% shorter [-]. From 0 to 0.9. Default: 0.15. A
    change while it runs: rebuild."""
    wander: float | None = None
    """How much a hair wanders inside its wisp from plane to plane, as a fraction of the radius [-]. From 0 to 1.
    Default: 0.15. A change while it runs: rebuild."""
    color: Sequence[float] | None = None
    """Linear RGB of the hair; not given: that of the hair which the wearer has already (a mesh, material or
    joint called so, or another colour painted where hair grows), else brown. A change while it runs: live."""
    curl_radius: float | None = None
    """Radius of curls [m]. From 0 to 0.1. Default: 0.0. A change while it runs: live."""
    curl_pitch: float | None = None
    """Length of one turn of a curl [m]. From 0.001 to 1. Default: 0.03. A change while it runs: live."""
    curl_together: float | None = None
    """How alike the curls of one wisp are: 1 all together, 0 each for itself [-]. From 0 to 1. Default: 0.8. A
    change while it runs: live."""
    frizz: float | None = None
    """Random waviness of each hair [m]. From 0 to 0.05. Default: 0.0. A change while it runs: live."""
    clump: float | None = None
    """How much hairs draw together towards the tip [-]. From 0 to 1. Default: 0.0. A change while it runs:
    rebuild."""
    strays: float | None = None
    """Share of hairs that stand away from their wisp [-]. From 0 to 1. Default: 0.0. A change while it runs:
    rebuild."""
    stray_distance: float | None = None
    """How far strays stand away, in radii [-]. From 0 to 5. Default: 1.0. A change while it runs: rebuild."""
    seen_from: Sequence[float] | None = None
    """Where hair is seen from [m]: the farther away, the fewer hairs are shown, and the thicker ones, so that
    they cover as much; not given: all are shown. A change while it runs: live."""
    full_within: float | None = None
    """Distance up to which all hairs are shown [m]; twice as far away half of them are. From 0.001 to 10000.
    Default: 2.0. A change while it runs: live."""
    fewest: float | None = None
    """Share of the hairs that is shown however far away they are [-]. From 0.001 to 1. Default: 0.05. A change
    while it runs: live."""
    root_normals: bool | None = None
    """Whether every hair gets the normal of the skin at its root, as the attribute `root_normal`. Default:
    false. A change while it runs: live."""
    velocities: bool | None = None
    """Whether every point of a hair gets its velocity, for motion blur. Default: false. A change while it runs:
    restart."""


@dataclass(kw_only=True)
class Drops(Params):
    """Liquid that runs on surfaces, merges, leaves trails and falls."""

    _kind: ClassVar[str | None] = "drops"
    name: str
    """Name of the layer, unique in the scene. A change while it runs: restart."""
    on: str | Sequence[str]
    """Meshes or actors that drops run on; one name or a list. A change while it runs: restart."""
    shown_on: str | None = None
    """A finer mesh to show the drops on; they run on `on` and are carried to the nearest place of this one. A
    change while it runs: rebuild."""
    liquid: Liquid | Mapping[str, Any] | None = None
    """The liquid. Default: see the book."""
    sources: Sequence[Mapping[str, Any]] | None = None
    """Where drops come from."""
    ground: Sequence[Ground | Mapping[str, Any]] | None = None
    """What the surface is made of; later entries override earlier ones where their selection holds."""
    merging: Merging | Mapping[str, Any] | None = None
    """Drops that touch become one. Default: {"enabled": true, "reach": 1.0, "in_air": true}."""
    trails: Trail | Mapping[str, Any] | None = None
    """What a running drop leaves behind. Default: see the book."""
    sinks: Sink | Mapping[str, Any] | None = None
    """Drying, soaking in, vanishing. Default: {"evaporation": null, "least_mass": 1e-10}."""
    deposit: Deposit | Mapping[str, Any] | None = None
    """Substance carried, laid down and dissolved again. Default: see the book."""
    air: Air | Mapping[str, Any] | None = None
    """Letting go, falling, landing. Default: see the book."""
    pools: Sequence[Pool | Mapping[str, Any]] | None = None
    """Ground where what lands gathers, levels and spills over."""
    shape: Shape | Mapping[str, Any] | None = None
    """What drops look like. Default: see the book."""
    guides: Sequence[Guide | Mapping[str, Any]] | None = None
    """Curves that pull drops along."""
    tracks: bool | None = None
    """Writes the tracks as closed-form pieces (`<name>.tracks`): points with velocity, acceleration, drag, start
    and duration, which give the place at any time between frames. Default: false. A change while it runs:
    live."""
    seed: int | None = None
    """Seed of everything random. At least 0. Default: 0. A change while it runs: restart."""
    max_drops: int | None = None
    """Most drops at any time; sources pause above it. From 1 to 1e+07. A change while it runs: live."""


@dataclass(kw_only=True)
class Liquid(Params):
    """The liquid: a preset, and what differs from it."""

    preset: Literal["water"] | Literal["tear"] | Literal["sweat"] | Literal["blood"] | Literal["paint"] | Literal["honey"] | Literal["milk"] | Literal["oil"] | None = None
    """Starting point for all that is not given. Default: "water". A change while it runs: live."""
    density: float | None = None
    """Density [kg/m³]. From 1 to 30000. A change while it runs: live."""
    tension: float | None = None
    """Surface tension [N/m]. From 0.0001 to 10. A change while it runs: live."""
    viscosity_pa_s: float | None = None
    """Dynamic viscosity [Pa s]: water 0.001, blood 0.004, oil 0.08, honey 10. The drag of a drop grows with its
    size and with how far it spreads. From 0 to 1e+06. A change while it runs: live."""
    viscosity: float | None = None
    """Drag of a drop on the surface, proportional to its speed, the same for all sizes [kg/s]; instead of
    `viscosity_pa_s`. Then only bumps hold drops, unless `hysteresis_deg` is given too. From 0 to 1e+06. A
    change while it runs: live."""
    contact_angle_deg: float | None = None
    """Contact angle on ground that does not say otherwise: wetting (small) to beading [degrees]. From 10 to 160.
    A change while it runs: live."""
    hysteresis_deg: float | None = None
    """How far the contact angle may differ between the front and the rear of a drop before it moves, on ground
    that does not say otherwise [degrees]: what pins drops to the place where they are. From 0 to 120. A
    change while it runs: live."""
    color: Sequence[float] | None = None
    """Colour, linear RGB. A change while it runs: live."""
    clear: float | None = None
    """Fraction of light let through, 0 (opaque) to 1 (clear). From 0 to 1. A change while it runs: live."""


@dataclass(kw_only=True)
class SingleSource(Params):
    """Drops at one place."""

    at: int | Sequence[float] | Mapping[str, Any] | None = None
    """Place: a point [m] in the reference pose, a vertex, a joint, a marker. On the surface when nearer than
    `snap`, and then it moves along with it; else the drop starts in the air. Default: [0.0, 0.0, 0.0]. A
    change while it runs: rebuild."""
    mass: float | None = None
    """Mass [kg]. From 1e-12 to 10. Default: 2e-05. A change while it runs: live."""
    velocity: Sequence[float] | None = None
    """Starting velocity [m/s]. Default: [0.0, 0.0, 0.0]. A change while it runs: live."""
    frame: float | None = None
    """Frame of the first drop. Default: 0.0. A change while it runs: restart."""
    count: int | None = None
    """Number of drops. From 1 to 1e+07. Default: 1. A change while it runs: live."""
    every: float | None = None
    """Frames between drops. At least 0. Default: 10.0. A change while it runs: restart."""
    snap: float | None = None
    """Farthest the place may be from the surface to be taken to it [m]. At least 0. Default: 0.05. A change
    while it runs: rebuild."""
    arrive: Sequence[float] | None = None
    """Where the drop must be, and at which frame: x, y, z [m], frame. A change while it runs: restart."""
    solve: Literal["start"] | Literal["viscosity"] | None = None
    """What is changed so that it arrives in time. Default: "start". A change while it runs: restart."""


@dataclass(kw_only=True)
class RegionSource(Params):
    """Drops scattered over part of the surface."""

    select: Selection | Mapping[str, Any] | None = None
    """Where; nothing given: everywhere. Default: see the book. A change while it runs: rebuild."""
    count: int | None = None
    """Number of drops. From 1 to 1e+07. Default: 100. A change while it runs: restart."""
    frame: float | None = None
    """Frame of the first. Default: 0.0. A change while it runs: restart."""
    over: float | None = None
    """Frames over which they appear; 0: all at once. At least 0. Default: 0.0. A change while it runs: restart."""
    mass: Sequence[float] | None = None
    """Least and largest mass [kg]; uniform between. Default: [1e-05, 4e-05]. A change while it runs: live."""
    covered: bool | None = None
    """Whether they form also where another closed mesh lies over the place at the start: within a sleeve, below
    a coat. Default: false. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class RainSource(Params):
    """Drops falling from above."""

    _keys: ClassVar[dict[str, str]] = {"from_": "from"}
    rate: float | None = None
    """Drops per second. From 0 to 1e+06. Default: 50.0. A change while it runs: live."""
    frame: float | None = None
    """Frame it starts. Default: 0.0. A change while it runs: live."""
    until: float | None = None
    """Frame it stops. Default: 1000000000.0. A change while it runs: live."""
    direction: Sequence[float] | None = None
    """Direction it falls. Default: [0.0, -1.0, 0.0]. A change while it runs: live."""
    speed: float | None = None
    """Speed [m/s]. From 0 to 100. Default: 5.0. A change while it runs: live."""
    mass: Sequence[float] | None = None
    """Least and largest mass [kg]. Default: [4e-06, 3e-05]. A change while it runs: live."""
    from_: Sequence[float] | None = None
    """Box it falls from: lowest and highest corner [m]; by default, above the surfaces. A change while it runs:
    rebuild."""


@dataclass(kw_only=True)
class CondensationSource(Params):
    """Drops that appear and grow."""

    select: Selection | Mapping[str, Any] | None = None
    """Where; nothing given: everywhere. Default: see the book. A change while it runs: rebuild."""
    count: int | None = None
    """Number of places where drops form. From 1 to 1e+07. Default: 200. A change while it runs: restart."""
    mass: float | None = None
    """Mass at which they appear [kg]. From 1e-12 to 10. Default: 2e-07. A change while it runs: live."""
    growth: float | None = None
    """Growth of each [kg/s]. The growth of a drop that has left its place goes on with it. From 0 to 1. Default:
    4e-06. A change while it runs: live."""
    frame: float | None = None
    """Frame it starts. Default: 0.0. A change while it runs: restart."""
    over: float | None = None
    """Frames over which the places come up. At least 0. Default: 60.0. A change while it runs: restart."""
    until: float | None = None
    """Frame at which growth stops. Default: 1000000000.0. A change while it runs: live."""
    covered: bool | None = None
    """Whether they form also where another closed mesh lies over the place at the start: within a sleeve, below
    a coat. Default: false. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class ListSource(Params):
    """Drops from a table."""

    rows: Sequence[Sequence[float]] | None = None
    """Rows: frame, x, y, z [m], mass [kg], and optionally vx, vy, vz [m/s]. A change while it runs: rebuild."""
    rows_file: str | None = None
    """File of such rows beside the scene file (CSV; a first line of words is skipped), after the rows given
    here; or a file of points (.abc, .usd), each of which becomes a drop where it first appears, as heavy as
    water of its width. A change while it runs: rebuild."""
    snap: float | None = None
    """Farthest a place may be from the surface to be taken to it [m]. Default: 0.0. A change while it runs:
    live."""


@dataclass(kw_only=True)
class Ground(Params):
    """What part of the surface is made of."""

    select: Selection | Mapping[str, Any] | None = None
    """Which triangles: those with a corner of weight above one half. Nothing given: all. Default: see the book.
    A change while it runs: rebuild."""
    roughness: Sequence[float] | None = None
    """Bump heights along the two axes of the surface [m]. A drop less than `hold_factor` times as high is held.
    Default: [0.0, 0.0]. A change while it runs: live."""
    roughness_attribute: str | None = None
    """Vertex attribute that multiplies the roughness. A change while it runs: rebuild."""
    roughness_from_texture: bool | None = None
    """Multiply the roughness by the luminance of the material's texture. Default: false. A change while it runs:
    rebuild."""
    hold_factor: float | None = None
    """How many times its height a bump must be below the drop's to let it pass [-]. From 0 to 100. Default: 2.0.
    A change while it runs: live."""
    grip: float | None = None
    """Largest acceleration the bumps hold a drop against [m/s²]; blown or shaken harder, it moves. At least 0.
    Default: 60.0. A change while it runs: live."""
    axis: Literal["trail"] | Literal["uv"] | Mapping[str, Any] | None = None
    """Direction of the first axis: `trail` (the first one that crosses; the first edge until then), `uv` (along
    u), or `{ direction = [x, y, z] }`, projected on the surface. Default: "trail". A change while it runs:
    rebuild."""
    adhesion: float | None = None
    """Adhesion `D` [N/m²]: a drop lets go when the outward pull exceeds `D pi r²`. Not given: what the liquid's
    tension carries, `1.12 sqrt(tension density g)`; 50 mg of water hang on, 22 mg of tears. From 0 to 1e+09.
    A change while it runs: live."""
    adhesion_attribute: str | None = None
    """Vertex attribute that multiplies the adhesion. A change while it runs: rebuild."""
    contact_angle_deg: float | None = None
    """Contact angle here [degrees]. A change while it runs: live."""
    hysteresis_deg: float | None = None
    """How far the contact angle may differ between front and rear before a drop moves, here [degrees]. From 0 to
    120. A change while it runs: live."""
    meander: float | None = None
    """How much what pins a drop pulls it sideways, 0 (runs straight) to 1 [-]. Not given: as the liquid's preset
    says of the ground where one meets it. From 0 to 1. A change while it runs: live."""
    meander_size: float | None = None
    """Size of the spots that pull it to one side [m]. From 1e-06 to 10. Default: 0.012. A change while it runs:
    live."""
    film: float | None = None
    """Thickness of the film a running drop leaves [m]. Not given: as the liquid's preset says. From 0 to 0.01. A
    change while it runs: live."""
    smoothing: Sequence[float] | None = None
    """How fast a trail smooths the surface along each axis, `T2` and `T3` [-]. Default: [1.0, 1.0]. A change
    while it runs: live."""
    absorption: float | None = None
    """Liquid soaked up per wet area and time [kg/m²/s]. From 0 to 100. Default: 0.0. A change while it runs:
    live."""
    heat_attribute: str | None = None
    """Vertex attribute that multiplies evaporation (heat, light). A change while it runs: rebuild."""


@dataclass(kw_only=True)
class Merging(Params):
    """Drops that touch become one."""

    enabled: bool | None = None
    """Whether drops merge. Default: true. A change while it runs: live."""
    reach: float | None = None
    """Reach of a drop, in widths of its contact [-]. From 0 to 10. Default: 1.0. A change while it runs: live."""
    in_air: bool | None = None
    """Whether those that meet in the air merge too. Default: true. A change while it runs: live."""


@dataclass(kw_only=True)
class Trail(Params):
    """What a running drop leaves behind."""

    enabled: bool | None = None
    """Whether running drops wet the surface: film, smoothing, `wetness` attribute. Default: true. A change while
    it runs: live."""
    mesh: bool | None = None
    """Writes the trails as a mesh (`<name>.trails`). Default: true. A change while it runs: live."""
    image: int | None = None
    """Side of the wetness image in the mesh's uv, in pixels; 0 for none. From 0 to 8192. Default: 0. A change
    while it runs: restart."""
    drying: float | None = None
    """Time in which a film and the wetness dry to a third [s]. From 0.001 to 1e+09. Default: 6.0. A change while
    it runs: live."""
    unevenness: float | None = None
    """How unevenly they dry, 0 to 1 [-]. From 0 to 1. Default: 0.5. A change while it runs: live."""
    width: float | None = None
    """Width of a strip, in contact widths of the drop [-]. From 0.01 to 10. Default: 0.8. A change while it
    runs: live."""
    max_strips: int | None = None
    """Most strips kept; the oldest go first. From 0 to 1e+07. Default: 200000. A change while it runs: live."""
    beads: Bead | Mapping[str, Any] | None = None
    """Small drops left behind on water-repelling ground."""


@dataclass(kw_only=True)
class Bead(Params):
    """A trail that breaks into beads."""

    spacing: float | None = None
    """Distance between beads, in radii of the drop [-]. From 0.5 to 1000. Default: 6.0. A change while it runs:
    live."""
    share: float | None = None
    """Part of the drop's mass that each takes [-]. From 1e-06 to 0.5. Default: 0.01. A change while it runs:
    live."""
    above_deg: float | None = None
    """Beads only where the contact angle is above this [degrees]. Default: 90.0. A change while it runs: live."""


@dataclass(kw_only=True)
class Sink(Params):
    """Drying, soaking in, vanishing."""

    evaporation: float | Sequence[Sequence[Any]] | None = None
    """Liquid that goes into the air per exposed area and time [kg/m²/s]. Not given: none, but paint dries within
    a shot. A change while it runs: live."""
    least_mass: float | None = None
    """Drops lighter than this dry at once [kg]. From 0 to 1. Default: 1e-10. A change while it runs: live."""


@dataclass(kw_only=True)
class Deposit(Params):
    """Substance carried by the liquid."""

    concentration: float | None = None
    """Dissolved fraction of the mass of new drops [-]. Not given, here and below: as the liquid's preset says
    (paint, blood and milk leave stains). From 0 to 0.95. A change while it runs: live."""
    thickening: float | None = None
    """How strongly the drag grows as a drop dries: `exp(thickening (c - concentration))` with `c` its dissolved
    fraction by now [-]. From 0 to 100. A change while it runs: live."""
    dissolving: float | None = None
    """Rate at which a drop takes up dried substance under it [1/s]. From 0 to 1e+06. A change while it runs:
    live."""


@dataclass(kw_only=True)
class Air(Params):
    """Letting go, falling, landing."""

    least_time: float | None = None
    """Least time before a drop may touch again what it let go of [s]. From 0 to 10. Default: 0.02. A change
    while it runs: live."""
    hysteresis: float | None = None
    """A drop must be this much inside what adhesion can hold to land on an overhang [-]. From 0 to 1. Default:
    0.2. A change while it runs: live."""
    remainder: float | None = None
    """Part of a drop that stays when it drips from an edge or a vertex [-]. From 0 to 0.95. Default: 0.1. A
    change while it runs: live."""
    drag: float | None = None
    """Rate at which the air slows a falling drop [1/s]. From 0 to 10000. Default: 0.1. A change while it runs:
    live."""
    splash: Splash | Mapping[str, Any] | None = None
    """Droplets on landing."""
    margin: float | None = None
    """How far outside the surfaces' box a drop is gone [m]. From 0 to 1e+06. Default: 1.0. A change while it
    runs: live."""
    response: float | None = None
    """Time over which a drop feels the surface's acceleration [s]; shorter jerks do not throw it. From 0 to 10.
    Default: 0.02. A change while it runs: live."""
    teleport_speed: float | None = None
    """A surface that moves faster than this has been cut, not moved [m/s]. At least 0. Default: 40.0. A change
    while it runs: live."""


@dataclass(kw_only=True)
class Splash(Params):
    """Droplets on landing."""

    speed: float | None = None
    """Least speed against the surface [m/s]. From 0 to 10000. Default: 1.5. A change while it runs: live."""
    droplets: int | None = None
    """Number of droplets. From 1 to 64. Default: 5. A change while it runs: live."""
    share: float | None = None
    """Part of the drop's mass they take together [-]. From 0 to 0.9. Default: 0.2. A change while it runs: live."""
    bounce: float | None = None
    """Their speed, as a part of the landing speed [-]. From 0 to 1. Default: 0.25. A change while it runs: live."""


@dataclass(kw_only=True)
class Pool(Params):
    """A patch of ground where liquid gathers."""

    center: Sequence[float]
    """Middle of the patch: x and z [m]. A change while it runs: restart."""
    size: Sequence[float]
    """Its extent along x and z [m]. A change while it runs: restart."""
    heights: Sequence[float]
    """Heights between which its bed is looked for [m]. A change while it runs: restart."""
    cell: float | None = None
    """Size of its cells [m]. From 0.0001 to 10. Default: 0.008. A change while it runs: restart."""
    calming: float | None = None
    """Rate at which waves die away [1/s], besides what viscosity does: what a film on the surface and the pinned
    edge take from them. From 0 to 10000. Default: 3.0. A change while it runs: live."""


@dataclass(kw_only=True)
class Shape(Params):
    """What drops look like."""

    mesh: bool | None = None
    """Writes the drops as a mesh (`<name>`). Default: true. A change while it runs: live."""
    points: bool | None = None
    """Writes the drops as points too (`<name>.points`), with id, velocity and mass. Beside the mesh they have no
    width, so that a drop is drawn once; their size is the attribute `drop_radius`. Default: false. A change
    while it runs: live."""
    detail: Literal["fine"] | Literal["coarse"] | Literal["card"] | None = None
    """How finely a drop is modelled where nothing says otherwise. Default: "fine". A change while it runs: live."""
    camera: Sequence[float] | None = None
    """Where the camera stands [m]; with it, far drops are modelled more coarsely. A change while it runs: live."""
    fine_within: float | None = None
    """Within this many radii from the camera drops are modelled finely [-]. At least 0. Default: 150.0. A change
    while it runs: live."""
    card_beyond: float | None = None
    """Beyond this many radii they are cards [-]. At least 0. Default: 2000.0. A change while it runs: live."""
    wobble: float | None = None
    """Amplitude of the wobble of slow drops, in radii [-]. From 0 to 1. Default: 0.08. A change while it runs:
    live."""
    wobble_speed: float | None = None
    """Speed of strongest wobble; none at rest nor above twice this [m/s]. From 1e-06 to 100. Default: 0.05. A
    change while it runs: live."""
    falling_stretch: float | None = None
    """Stretch of falling drops per m/s [s/m]. From 0 to 1. Default: 0.08. A change while it runs: live."""
    blend: float | None = None
    """Time to take a new shape after merging, landing or letting go [s]. From 0 to 10. Default: 0.12. A change
    while it runs: live."""


@dataclass(kw_only=True)
class Guide(Params):
    """A curve that pulls drops."""

    points: Sequence[Sequence[float]] | None = None
    """Points of the curve, in its direction [m]. A change while it runs: live."""
    pull: float | None = None
    """Acceleration towards the curve at `range` and beyond [m/s²]. From 0 to 1000. Default: 0.0. A change while
    it runs: live."""
    along: float | None = None
    """Acceleration along it [m/s²]. From -1000 to 1000. Default: 0.0. A change while it runs: live."""
    range: float | None = None
    """Distance at which the pull is full [m]. From 1e-06 to 1000. Default: 0.0. A change while it runs: live."""
    source: int | None = None
    """Index of the only source whose drops follow it. At least 0. A change while it runs: live."""


@dataclass(kw_only=True)
class Soft(Params):
    """Soft bodies: internal structures in an implicit coat."""

    _kind: ClassVar[str | None] = "soft"
    name: str
    """Name of the layer, unique in the scene. Its meshes are named `name/object`, or `name` when there is only
    one. A change while it runs: rebuild."""
    objects: Sequence[SoftObject | Mapping[str, Any]]
    """The soft objects."""
    surface: Literal["extracted"] | Literal["seeds"] | None = None
    """What is written: the `extracted` surface, smooth and watertight, or the `seeds`, one closed piece per
    primitive: a preview that costs next to nothing and whose triangles stay the same. Default: "extracted". A
    change while it runs: live."""
    cell: float | None = None
    """Size of the triangles of the surface [m]; by default a fifth of the smallest thickness. At least 1e-06. A
    change while it runs: rebuild."""
    level: float | None = None
    """Pressure at which the surface is [Pa]; by default the softest object's stiffness times the width of its
    support. Fields of a stiffness above three times that fall faster. At least 1e-09. A change while it runs:
    rebuild."""
    tools: Sequence[str] | None = None
    """Colliders of the scene, and closed meshes made before this layer, that are tools here; all colliders if
    not given. A change while it runs: rebuild."""
    seeds: int | None = None
    """Samples per primitive [-]. From 16 to 10000. Default: 162. A change while it runs: restart."""
    volume_time: float | None = None
    """Time constant of the volume controllers [s]; 0 turns them off. At least 0. Default: 0.05. A change while
    it runs: live."""
    volume_damping: float | None = None
    """Derivative gain of the volume controllers as a share of the stable limit [-]. From 0 to 0.9. Default: 0.2.
    A change while it runs: live."""
    friction: float | None = None
    """Coulomb friction between objects [-]; with a tool, the tool's own. From 0 to 10. Default: 0.4. A change
    while it runs: live."""
    damping: float | None = None
    """Damping of contacts as a share of the critical one [-]. From 0 to 10. Default: 0.5. A change while it
    runs: live."""
    bulge: float | None = None
    """How far the coat bulges beside a contact with another object or a tool, as a share of the depth of the
    contact [-]. From 0 to 2. Default: 0.0. A change while it runs: live."""
    contacts: bool | None = None
    """Also write the contact surfaces as a mesh `name/contacts`, with the attribute `pressure`. Default: false.
    A change while it runs: live."""


@dataclass(kw_only=True)
class SoftObject(Params):
    """One soft object: a coat, and what is inside. Give exactly one of `primitives`, `dough`, `bones` and
    `coat`."""

    name: str
    """Name, unique in the layer. A change while it runs: rebuild."""
    thickness: float
    """Distance from the skeleton to the surface of a lone primitive [m]. At least 1e-06. A change while it runs:
    restart."""
    support: float | None = None
    """Distance over which the coat reaches out to blend [m]; by default twice the thickness. At least 1e-06. A
    change while it runs: restart."""
    stiffness: float | None = None
    """Stiffness: pressure per metre of compression [N/m³]. Dough 3e5, flesh 1e6, rubber 1e7. At least 0.001.
    Default: 1000000.0. A change while it runs: rebuild."""
    hardening: float | None = None
    """How much stiffer the coat gets when it is compressed to nothing [-]. From 0 to 100. Default: 0.0. A change
    while it runs: rebuild."""
    density: float | None = None
    """Density [kg/m³]. At least 0.001. Default: 1000.0. A change while it runs: rebuild."""
    color: Sequence[float] | None = None
    """Linear RGB. By default a coat that is fitted to a skin has the skin's colours, anything else that of
    flesh. A change while it runs: rebuild."""
    volume: float | Sequence[Sequence[Any]] | None = None
    """Volume, as a factor of the one at the start [-]; may be key-framed. From 0.01 to 100. Default: 1.0. A
    change while it runs: live."""
    blend: Sequence[Sequence[Any]] | None = None
    """Pairs of primitives that blend; by default all do (bones: with their parents). A change while it runs:
    restart."""
    fuse: float | None = None
    """Contact force between two primitives above which they fuse, there and nowhere else [N]; both objects must
    have one. By default they never do. Below 0.3 times stiffness times thickness cubed a dough's own cohesion
    presses that hard, and what is fused at one place zips together. At least 0. A change while it runs:
    rebuild."""
    fuse_time: float | None = None
    """Time for which they must be pressed until they are one [s]. At least 0. Default: 0.3. A change while it
    runs: live."""
    primitives: Sequence[Primitive | Mapping[str, Any]] | None = None
    """Points, segments, triangles and polylines that stand still, follow keys, or (`free`) fall."""
    free: bool | None = None
    """The primitives together are one rigid body that falls and bounces. Default: false. A change while it runs:
    restart."""
    move_x: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement of the primitives, x [m]. Default: 0.0. A change while it runs: rebuild."""
    move_y: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement of the primitives, y [m]. Default: 0.0. A change while it runs: rebuild."""
    move_z: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement of the primitives, z [m]. Default: 0.0. A change while it runs: rebuild."""
    dough: Dough | Mapping[str, Any] | None = None
    """A substance that flows, tears and fuses."""
    bones: Sequence[Bone | Mapping[str, Any]] | None = None
    """Rigid bones joined to each other: a figure that falls."""
    coat: Coat | Mapping[str, Any] | None = None
    """Coats carried by the joints of an animated character."""


@dataclass(kw_only=True)
class Primitive(Params):
    """One primitive. Give exactly one of `point`, `segment`, `triangle`, `polyline`."""

    name: str | None = None
    """Name, for `blend`. Default: "". A change while it runs: restart."""
    point: Sequence[float] | None = None
    """A point [m]. A change while it runs: restart."""
    segment: Sequence[Sequence[float]] | None = None
    """Two ends [m]. A change while it runs: restart."""
    triangle: Sequence[Sequence[float]] | None = None
    """Three corners [m]. A change while it runs: restart."""
    polyline: Sequence[Sequence[float]] | None = None
    """2 to 32 points [m]. A change while it runs: restart."""
    thickness: float | None = None
    """Own thickness [m]. At least 1e-06. A change while it runs: restart."""
    stiffness: float | None = None
    """Own stiffness [N/m³]. At least 0.001. A change while it runs: rebuild."""
    uv: Sequence[Sequence[float]] | None = None
    """Texture coordinates at its two ends [-]; vertices get those of the primitives around them, blended as
    colours are. A change while it runs: rebuild."""
    color: Sequence[float] | None = None
    """Own colour, linear RGB. A change while it runs: rebuild."""
    volume: float | Sequence[Sequence[Any]] | None = None
    """Own volume factor [-]; may be key-framed: a muscle. From 0.01 to 100. A change while it runs: live."""
    move_x: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement, x [m]. Default: 0.0. A change while it runs: rebuild."""
    move_y: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement, y [m]. Default: 0.0. A change while it runs: rebuild."""
    move_z: float | Sequence[Sequence[Any]] | None = None
    """Key-framed displacement, z [m]. Default: 0.0. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class Dough(Params):
    """Particles that repel when close, rub, and are held together by bonds that flow and tear: dough, clay,
    jelly."""

    _keys: ClassVar[dict[str, str]] = {"yield_": "yield"}
    box: Sequence[Sequence[float]] | None = None
    """A box to fill: centre and half sizes [m]. A change while it runs: restart."""
    ball: Sequence[float] | None = None
    """A ball to fill: centre [m]. A change while it runs: restart."""
    radius: float | None = None
    """Radius of the ball [m]. At least 1e-06. A change while it runs: restart."""
    points: Sequence[Sequence[float]] | None = None
    """Particles one by one [m]. A change while it runs: restart."""
    spacing: float | None = None
    """Rest distance between particles [m]; by default 1.3 thicknesses. At least 1e-06. A change while it runs:
    restart."""
    firmness: float | Sequence[Sequence[Any]] | None = None
    """Strength of the forces between particles, as a factor of the coat's stiffness [-]; may be key-framed: heat
    softens. From 0 to 1000. Default: 1.0. A change while it runs: live."""
    cohesion: float | None = None
    """Greatest pull of a bond between particles, as a share of the repulsion at half the rest distance [-]. From
    0 to 10. Default: 0.3. A change while it runs: live."""
    yield_: float | None = None
    """Strain at which a bond gives way and flows [-]: small for clay, large for jelly. From 0.005 to 10.
    Default: 0.08. A change while it runs: live."""
    range: float | None = None
    """Distance at which a bond is torn, in rest distances [-]. From 1.05 to 4. Default: 1.5. A change while it
    runs: live."""
    viscosity: float | Sequence[Sequence[Any]] | None = None
    """Viscosity as a share of the critical damping of a pair [-]; may be key-framed. From 0 to 20. Default: 0.6.
    A change while it runs: live."""


@dataclass(kw_only=True)
class Bone(Params):
    """A rigid bone with a coat, hinged or balled to its parent at `from`."""

    _keys: ClassVar[dict[str, str]] = {"from_": "from"}
    name: str | None = None
    """Name, unique in the object. Default: "". A change while it runs: restart."""
    parent: str | None = None
    """Bone it hangs on; none for the root. A change while it runs: restart."""
    from_: Sequence[float] | None = None
    """End at the parent [m]. Default: [0.0, 0.0, 0.0]. A change while it runs: restart."""
    to: Sequence[float] | None = None
    """Other end [m]; the same for a ball. Default: [0.0, 0.0, 0.0]. A change while it runs: restart."""
    thickness: float | None = None
    """Own thickness [m]. At least 1e-06. A change while it runs: restart."""
    uv: Sequence[Sequence[float]] | None = None
    """Texture coordinates at its two ends [-]; vertices get those of the primitives around them, blended as
    colours are. A change while it runs: rebuild."""
    color: Sequence[float] | None = None
    """Own colour, linear RGB. A change while it runs: rebuild."""
    volume: float | Sequence[Sequence[Any]] | None = None
    """Own volume factor [-]; may be key-framed: a muscle. From 0.01 to 100. A change while it runs: live."""
    hinge: Sequence[float] | None = None
    """Axis of a hinge, in the world at the start; a ball joint without. A change while it runs: rebuild."""
    angles_deg: Sequence[float] | None = None
    """Least and greatest angle of a hinge [degrees], 0 as given. A change while it runs: rebuild."""
    swing_deg: float | None = None
    """Greatest swing of a ball joint [degrees]. From 0 to 180. A change while it runs: rebuild."""
    damping: float | None = None
    """Rate at which its turning against its parent dies away [1/s]; by default 4, as for flesh. At least 0. A
    change while it runs: live."""
    fixed: bool | None = None
    """Held where it is. Default: false. A change while it runs: rebuild."""


@dataclass(kw_only=True)
class Coat(Params):
    """Coats on a character's joints."""

    on: str | None = None
    """Actor that carries them: a character, or closed meshes however they move. Default: "". A change while it
    runs: restart."""
    meshes: Sequence[str] | None = None
    """Meshes of the actor whose skin is coated; if none is given, all: also what it wears and holds. A change
    while it runs: restart."""
    bones: Sequence[CoatBone | Mapping[str, Any]] | None = None
    """Bones to coat; if none is given, balls are fitted to fill its skin, each carried by the joints that move
    the skin around it, with its weights."""
    muscles: Sequence[CoatBone | Mapping[str, Any]] | None = None
    """Coats besides those of the bones: muscles, which blend with the bones they touch."""
    balls: int | None = None
    """Most balls that are fitted [-]. From 1 to 1000. Default: 300. A change while it runs: restart."""


@dataclass(kw_only=True)
class CoatBone(Params):
    """A coat between two joints."""

    _keys: ClassVar[dict[str, str]] = {"from_": "from"}
    from_: str | None = None
    """Joint at one end. Default: "". A change while it runs: restart."""
    to: str | None = None
    """Joint at the other end; none for a ball. A change while it runs: restart."""
    span: Sequence[float] | None = None
    """Part of the bone that is coated, from 0 to 1 [-]. A change while it runs: rebuild."""
    offset: Sequence[float] | None = None
    """Displacement in the first joint's axes [m]. Default: [0.0, 0.0, 0.0]. A change while it runs: rebuild."""
    tip: Sequence[float] | None = None
    """Displacement of the other end in the same axes [m], for a coat of one joint alone. A change while it runs:
    rebuild."""
    thickness: float | None = None
    """Own thickness [m]; by default that of the skin around, or the object's. At least 1e-06. A change while it
    runs: restart."""
    uv: Sequence[Sequence[float]] | None = None
    """Texture coordinates at its two ends [-]; vertices get those of the primitives around them, blended as
    colours are. A change while it runs: rebuild."""
    color: Sequence[float] | None = None
    """Own colour, linear RGB. A change while it runs: rebuild."""
    volume: float | Sequence[Sequence[Any]] | None = None
    """Own volume factor [-]; may be key-framed: a muscle. From 0.01 to 100. A change while it runs: live."""


@dataclass(kw_only=True)
class Export(Params):
    """One export of a scene: a format with its file, and what to write. Exactly one of the format fields must be
    given."""

    alembic: str | None = None
    """Alembic file to write (`.abc`): meshes, curves, points, changing topology."""
    usd: str | None = None
    """USD file to write: `.usdc` or `.usd` (binary), `.usda` (text, for small shots)."""
    pc2: str | None = None
    """PC2 point cache to write (`.pc2`), one file per mesh; constant topology only."""
    mdd: str | None = None
    """MDD point cache to write (`.mdd`), one file per mesh; constant topology only."""
    obj: str | None = None
    """OBJ sequence to write: `cat.obj` becomes `cat.0001.obj`, `cat.0002.obj`, …"""
    glb: str | None = None
    """GLB file to write (`.glb`) with one morph target per frame; constant topology only."""
    png: str | None = None
    """PNG sequence to write of the images over meshes (wetness, stains): `wet.png` becomes `wet.0001.png`, …
    (`wet.NAME.0001.png` if there are several)."""
    meshes: Sequence[str] | None = None
    """Names of the shapes to write; empty: all."""
    normals: bool | None = None
    """Whether shading normals are written; if absent, in every format but GLB, where they double the size."""
    velocities: bool | None = None
    """Whether velocities [m/s] are written, for motion blur. Default: true."""
    morphs: Literal["dense"] | Literal["sparse"] | Literal["quantised"] | None = None
    """How morph targets are stored (GLB only). Default: "dense"."""
    keep_rig: bool | None = None
    """Keep the rig alive (GLB only, of one character from a file): what the layers did becomes morph targets
    before the skin; joints, clips, facial morphs and VRM data stay as they were. Default: false."""
    max_shapes: int | None = None
    """Most shapes that a mesh gets with `keep_rig`; longer shots share them. Viewers of the web take about 200.
    From 1 to 2000. Default: 200."""
    shape_error: float | None = None
    """Distance from the bake that fewer shapes may leave with `keep_rig` [m]; 0: one shape a frame where there
    are no more than `max_shapes`. From 0 to 1. Default: 0.0."""
    strands: Tube | Mapping[str, Any] | None = None
    """How strands become triangles (GLB only, which has no curves). Default: {"sides": 3, "most_vertices":
    60000}."""
    scale: float | None = None
    """Units of the file per metre: 100 writes centimetres. From 1e-06 to 1e+06. Default: 1.0."""
    frames: Sequence[int] | None = None
    """First and last frame to write; all if absent."""


@dataclass(kw_only=True)
class Tube(Params):
    """How strands become triangles, where a format has no curves."""

    sides: int | None = None
    """Corners of a strand's cross-section: 2 is a flat ribbon seen from both sides. From 2 to 12. Default: 3."""
    most_vertices: int | None = None
    """Vertices that all strands of a shape may take; beyond it only every second, third, … strand is written,
    twice, three times, … as thick. From 12 to 1e+08. Default: 60000."""


@dataclass(kw_only=True)
class Camera(Params):
    """How pictures look at the shot. The camera keeps everything in view; these are its habits."""

    yaw_deg: float | None = None
    """Angle around the vertical [degrees]; 0 sees the front of a character that faces +z. Without it, the side
    from which most of what the layers do is seen. From -360 to 360."""
    pitch_deg: float | None = None
    """Height of the camera above the horizon [degrees]. From -89 to 89. Default: 12.0."""
    fov_deg: float | None = None
    """Vertical field of view [degrees]. From 1 to 120. Default: 28.0."""
    margin: float | None = None
    """Room around the subject, as a fraction of the picture [-]. From 0 to 0.9. Default: 0.08."""
    aperture: float | None = None
    """Aperture diameter [m]; 0 has everything sharp. From 0 to 1. Default: 0.0."""
    eye: Sequence[float] | None = None
    """Place of the camera [m], together with `target`; without both it frames the shot by itself."""
    target: Sequence[float] | None = None
    """What the camera looks at [m]."""
    follow: bool | None = None
    """Whether the camera goes along with the subject instead of seeing its whole way. Without it, it does where
    the subject goes farther than its own size."""
    frame_on: Sequence[str] | None = None
    """Meshes, curves and points that the automatic camera frames, by name or the beginning of it; empty: all but
    drops, closer where the layers change only a small part of them."""
    hide: Sequence[str] | None = None
    """Meshes, curves and points left out of the picture, by name or the beginning of it."""
    look: Literal["studio"] | Literal["outdoor"] | Literal["dark"] | None = None
    """Light and backdrop."""
    ground: float | None = None
    """Height of the ground [m]; without it, under the lowest point of all but drops."""
    no_ground: bool | None = None
    """Show no ground. Default: false."""


@dataclass(kw_only=True)
class Gallery(Params):
    """What the gallery says about the scene: `[gallery]`."""

    _keys: ClassVar[dict[str, str]] = {"from_": "from"}
    title: str | None = None
    """Title of the experiment. Default: ""."""
    look_for: str | None = None
    """What to look for in the pictures. Default: ""."""
    from_: str | None = None
    """Where the experiment comes from: chapter, figure."""
    source: Sequence[Sequence[str]] | None = None
    """The source's table, row by row; the first row is its heading."""
    ours: Sequence[Sequence[str]] | None = None
    """Our own rows, each a label and what to measure: `seconds`, `seconds_per_frame`, `frames_per_second`,
    `frames`, `layer_seconds:NAME` (per frame) or `measure:LAYER/NAME:HOW` where HOW is `first`, `last`,
    `min`, `max` or `mean`."""
    frames: Sequence[int] | None = None
    """Frames of the strip; empty: six, spread over the shot, where the layers show most."""
    compare: bool | None = None
    """Whether every frame of the strip is also shown without any layer, to its left."""
    animate: bool | None = None
    """Whether an animation is made too; it is, unless this says no."""
    overlay: Sequence[str] | None = None
    """Overlays as for `frisson render --overlay`."""
    plots: Sequence[str] | None = None
    """Measures to plot over time, as `LAYER/NAME`; empty: none."""


@dataclass(kw_only=True)
class Expect(Params):
    """A promise about the baked shot, measured from its geometry alone: `[[expect]]`. Unknown keys are refused
    by the schema: `serde` cannot refuse them beside a flattened part."""

    measure: Literal["rest"] | Literal["reversals"] | Literal["swings"] | Literal["pop"] | Literal["kick"] | Literal["stretch"] | Literal["inside"] | Literal["gap"] | Literal["crossings"] | Literal["components"] | Literal["volume"] | Literal["area"] | Literal["count"] | Literal["travel"] | Literal["place"] | Literal["loop"] | Literal["effect"] | Literal["visible"] | Literal["rates"]
    """What is measured."""
    shape: str | None = None
    """Shape that is measured: a mesh, curves or points, by the name it has in the cache (see `frisson inspect
    CACHE`)."""
    body: str | None = None
    """The other shape: the body for `inside` and `gap`, what is crossed for `crossings` (without it: the shape
    itself)."""
    worn_on: Sequence[str] | None = None
    """Parts of the body that a garment is worn on, for `crossings`: where they go through each other nothing can
    be outside of both, and what crosses within a mean edge of the garment from there does not count."""
    layer: str | None = None
    """Layer whose effect is measured, for `effect`, `visible` and `rates`: the scene is baked again without it."""
    without: str | None = None
    """Measure the bake without this layer; of use in `relative_to`."""
    frames: Sequence[int] | None = None
    """First and last frame that count; without it, all."""
    reference: int | None = None
    """Frame that `stretch` and `travel` compare with; without it, the first of the shot."""
    of: Literal["min"] | Literal["p1"] | Literal["p50"] | Literal["p99"] | Literal["max"] | Literal["mean"] | Literal["rms"] | Literal["range"] | Literal["evenness"] | None = None
    """Which of the elements of a frame speaks for it; without it, the measure's own (see each)."""
    over: Literal["every"] | Literal["max"] | Literal["min"] | Literal["mean"] | Literal["first"] | Literal["last"] | Literal["range"] | None = None
    """Which of the frames speaks for the shot; without it, every one must keep the promise."""
    axis: Sequence[float] | None = None
    """Direction of `place` [-]; without it, up."""
    within: Sequence[float] | None = None
    """Only elements in this box count, [x, y, z, x, y, z] from the lowest to the highest corner [m]: of meshes
    and curves those that are in it at the first frame of the shot, of points, crossings and meshes whose
    number of vertices changes those that are in it at the frame itself."""
    part: Literal["points"] | Literal["midpoints"] | Literal["segments"] | Literal["curves"] | None = None
    """What of a shape counts for `inside` and `stretch`."""
    above: float | None = None
    """What counts [mm]: way back for `reversals` and `swings` (without it 1), depth of `crossings` (without it
    0.05: what only touches does not cross). At least 0."""
    rates: Sequence[float | str] | None = None
    """Rates that `rates` compares with [frames/s]."""
    chaotic: bool | None = None
    """For `rates`: contact makes the motion chaotic, so a difference of twice what a change of gravity by a
    millionth makes counts as 0.02."""
    fps: float | str | None = None
    """Measure a bake at this rate instead of the scene's [frames/s]; frames are still given at the scene's. From
    0.01 to 100000."""
    bake_to: int | None = None
    """Bake on to this frame, beyond the scene's own range."""
    relative_to: Subject | Mapping[str, Any] | None = None
    """Divides the value by the same measure with these words replaced: other frames, another shape."""
    at_least: float | None = None
    """Least the value may be."""
    at_most: float | None = None
    """Most the value may be."""
    between: Sequence[float] | None = None
    """Least and most the value may be."""
    why: str
    """The claim in words: the sentence under the picture."""
    known: str | None = None
    """Why it does not hold yet. It may then fail without failing the run, and fails the run as soon as it holds,
    so that the mark goes away."""


@dataclass(kw_only=True)
class Subject(Params):
    """What a measure looks at."""

    shape: str | None = None
    """Shape that is measured: a mesh, curves or points, by the name it has in the cache (see `frisson inspect
    CACHE`)."""
    body: str | None = None
    """The other shape: the body for `inside` and `gap`, what is crossed for `crossings` (without it: the shape
    itself)."""
    worn_on: Sequence[str] | None = None
    """Parts of the body that a garment is worn on, for `crossings`: where they go through each other nothing can
    be outside of both, and what crosses within a mean edge of the garment from there does not count."""
    layer: str | None = None
    """Layer whose effect is measured, for `effect`, `visible` and `rates`: the scene is baked again without it."""
    without: str | None = None
    """Measure the bake without this layer; of use in `relative_to`."""
    frames: Sequence[int] | None = None
    """First and last frame that count; without it, all."""
    reference: int | None = None
    """Frame that `stretch` and `travel` compare with; without it, the first of the shot."""
    of: Literal["min"] | Literal["p1"] | Literal["p50"] | Literal["p99"] | Literal["max"] | Literal["mean"] | Literal["rms"] | Literal["range"] | Literal["evenness"] | None = None
    """Which of the elements of a frame speaks for it; without it, the measure's own (see each)."""
    over: Literal["every"] | Literal["max"] | Literal["min"] | Literal["mean"] | Literal["first"] | Literal["last"] | Literal["range"] | None = None
    """Which of the frames speaks for the shot; without it, every one must keep the promise."""
    axis: Sequence[float] | None = None
    """Direction of `place` [-]; without it, up."""
    within: Sequence[float] | None = None
    """Only elements in this box count, [x, y, z, x, y, z] from the lowest to the highest corner [m]: of meshes
    and curves those that are in it at the first frame of the shot, of points, crossings and meshes whose
    number of vertices changes those that are in it at the frame itself."""
    part: Literal["points"] | Literal["midpoints"] | Literal["segments"] | Literal["curves"] | None = None
    """What of a shape counts for `inside` and `stretch`."""
    above: float | None = None
    """What counts [mm]: way back for `reversals` and `swings` (without it 1), depth of `crossings` (without it
    0.05: what only touches does not cross). At least 0."""
    rates: Sequence[float | str] | None = None
    """Rates that `rates` compares with [frames/s]."""
    chaotic: bool | None = None
    """For `rates`: contact makes the motion chaotic, so a difference of twice what a change of gravity by a
    millionth makes counts as 0.02."""
    fps: float | str | None = None
    """Measure a bake at this rate instead of the scene's [frames/s]; frames are still given at the scene's. From
    0.01 to 100000."""
    bake_to: int | None = None
    """Bake on to this frame, beyond the scene's own range."""


_KINDS: dict[str, type[Params]] = {"flesh": Flesh, "wrinkles": Wrinkles, "cloth": Cloth, "folds": Folds, "hair": Hair, "drops": Drops, "soft": Soft}


def kinds() -> dict[str, type[Params]]:
    """The layers' classes, by the name of their kind in a scene file."""
    return _KINDS


__all__ = [
    "Params",
    "Actor",
    "Air",
    "Bead",
    "Body",
    "Bone",
    "Braid",
    "Buckling",
    "BucklingFold",
    "Camera",
    "Cloth",
    "ClothAttachment",
    "ClothBeside",
    "ClothCompanion",
    "ClothCycle",
    "ClothRegion",
    "ClothSeam",
    "ClothSewing",
    "Coat",
    "CoatBone",
    "Collider",
    "CondensationSource",
    "Cut",
    "Deposit",
    "Dough",
    "Drops",
    "Envelope",
    "Expect",
    "Export",
    "Flesh",
    "Fold",
    "Folds",
    "Gallery",
    "Ground",
    "Guide",
    "Hair",
    "Interaction",
    "Jitter",
    "Liquid",
    "ListSource",
    "MaskImage",
    "Merging",
    "OffsetEnd",
    "Placement",
    "Pool",
    "Primitive",
    "RainSource",
    "RegionSource",
    "Selection",
    "Shape",
    "SingleSource",
    "Sink",
    "Soft",
    "SoftObject",
    "Splash",
    "Split",
    "Strand",
    "Style",
    "Subject",
    "Tie",
    "Trail",
    "Tube",
    "WrinkleLevel",
    "WrinkleTool",
    "Wrinkles",
    "kinds",
]
