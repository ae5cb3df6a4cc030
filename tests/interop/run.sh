#!/usr/bin/env bash
# Reads what Frisson writes with programs nobody here wrote.
#
#   tests/interop/run.sh              the light readers: OpenUSD, the Alembic library, gltf-validator
#   tests/interop/run.sh --blender    Blender too (bpy, a download of some 400 MB) and three.js
#
# The Blender extension is tried in both, where its wheel and bpy are there.
#
# Packages go into target/interop. FRISSON_INTEROP_PYTHON names an interpreter that has them already;
# FRISSON_INTEROP_NODE_MODULES a folder with gltf-validator and three. What cannot be installed is skipped with
# a word, unless FRISSON_INTEROP_REQUIRED is set.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/interop
work=target/interop
mkdir -p "$work"
export PYTHONDONTWRITEBYTECODE=1

skip() {
    echo "interop: SKIPPED: $1"
    [ -z "${FRISSON_INTEROP_REQUIRED:-}" ] || exit 1
}

packages="numpy usd-core==26.11 alembic3d==1.8.12.1"
[ "${1:-}" != "--blender" ] || packages="$packages bpy==5.0.1"

python=${FRISSON_INTEROP_PYTHON:-}
if [ -z "$python" ]; then
    # bpy's wheels are for one version of Python only.
    base=$(command -v python3.11 || command -v python3 || true)
    if [ -z "$base" ] || ! { [ -x "$work/venv/bin/python" ] || "$base" -m venv "$work/venv"; }; then
        skip "no Python with venv"
        exit 0
    fi
    python=$work/venv/bin/python
    stamp=$work/venv/installed
    if [ "$(cat "$stamp" 2>/dev/null)" != "$packages" ]; then
        # shellcheck disable=SC2086
        if ! "$python" -m pip install --quiet --disable-pip-version-check $packages; then
            skip "cannot install $packages"
            exit 0
        fi
        echo "$packages" >"$stamp"
    fi
fi

# As the tests build them: with one package alone, engine and files would be built again.
cargo build --quiet --workspace --locked --example interop_shot --example write_gltf_samples \
    --example dump_positions
examples=${CARGO_TARGET_DIR:-target}/debug/examples
"$examples/interop_shot" "$work/shot" >/dev/null
"$python" "$here/check_usd.py" "$work/shot"
"$python" "$here/check_alembic.py" "$work/shot"
# What we read of USD beside what OpenUSD reads: files of its own making, and ours.
"$python" "$here/usd_files.py" "$work/usd"
"$python" "$here/compare_usd.py" "$examples/dump_positions" "$work/usd" 1e-5
"$python" "$here/compare_usd.py" "$examples/dump_positions" "$work/shot" 1e-5

modules=${FRISSON_INTEROP_NODE_MODULES:-$work/node_modules}
if ! command -v node >/dev/null; then
    skip "no Node.js for gltf-validator and three.js"
elif { [ ! -d "$modules/gltf-validator" ] || [ ! -d "$modules/three" ]; } &&
    ! npm install --silent --no-fund --no-audit --prefix "$work" gltf-validator@2.0.0-dev.3.10 three@0.187.0; then
    skip "cannot install gltf-validator and three"
else
    NODE_PATH=$modules node "$here/check_gltf.cjs" "$work/shot"
    # Written back into packed input: every kind of bake, and those that keep the rig alive.
    mkdir -p "$work/samples"
    "$examples/write_gltf_samples" "$work/samples" crates/frisson-io/tests/data/grid_draco.glb >/dev/null
    NODE_PATH=$modules node "$here/check_gltf.cjs" "$work/samples"
fi

# The extension, where its wheel is there already (tests/wheel.sh makes it): a few seconds.
wheel=${FRISSON_WHEEL:-$(find target/wheel/dist -name '*.whl' 2>/dev/null | head -1 || true)}
blender=${FRISSON_BPY_PYTHON:-$([ "${1:-}" = "--blender" ] && echo "$python" || echo target/wheel/blender/bin/python)}
if [ -z "$wheel" ]; then
    skip "the Blender extension: no wheel (tests/wheel.sh builds one; or FRISSON_WHEEL)"
elif ! "$blender" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("bpy") is None)' 2>/dev/null; then
    skip "the Blender extension: no bpy in $blender (FRISSON_BPY_PYTHON)"
else
    python3 blender/build.py "$wheel" -o "$work/extension" >/dev/null
    "$blender" "$here/extension.py" "$(ls "$work"/extension/*.zip)" | grep '^the extension'
fi

if [ "${1:-}" = "--blender" ]; then
    "$python" "$here/blender.py" "$work/shot"
    # A figure with a skirt and a skin, whose rig a bake keeps alive.
    frisson="cargo run --quiet --locked -p frisson-cli --"
    living=$work/living
    mkdir -p "$living"
    $frisson garment builtin:figure skirt -o "$living/figure.glb" --force --quiet
    $frisson init "$living/figure.glb" --force --quiet
    sed -i 's/^fps = .*/&\nframes = [0, 12]/; /^\[\[exports\]\]/,$d' "$living/figure.toml"
    $frisson bake "$living/figure.toml" --force --quiet --no-judge
    $frisson export "$living/figure.frisson" --to "$living/living.glb" --keep-rig --force --quiet
    $frisson export "$living/figure.frisson" --to "$living/baked.glb" --to "$living/baked.usdc" --force --quiet
    if [ -d "$modules/three" ]; then
        NODE_PATH=$modules node "$here/check_gltf.cjs" "$living"
        (cd "$modules/.." && node "$OLDPWD/$here/check_living.mjs" \
            "$OLDPWD/$living/figure.glb" "$OLDPWD/$living/living.glb" "$OLDPWD/$living/baked.glb")
    fi
    # What we read of FBX and Alembic beside what Blender and the Alembic library read.
    dump=$examples/dump_positions
    "$python" "$here/compare_readers.py" "$dump" crates/frisson-io/tests/data/strip.fbx
    # The same of a character that Blender writes, and a rig that is still alive there.
    "$python" "$here/blender_files.py" "$work/blender" "$living/figure.glb" | grep '^written'
    "$python" "$here/compare_readers.py" "$dump" "$work/blender"
    "$python" "$here/compare_usd.py" "$dump" "$work/blender" 1e-5
    "$python" "$here/living.py" "$living/figure.glb" "$living/living.glb" "$living/baked.usdc" | grep '^ok'
    for cache in "$work"/shot/*.abc; do
        "$python" "$here/compare_readers.py" "$dump" "$cache"
    done
    # A surface whose topology changes, with colours: watertight in every frame.
    cargo run --quiet -p frisson-cli -- bake scenes/soft-muscles.toml -o "$work/soft.frisson" --force
    cargo run --quiet -p frisson-cli -- export "$work/soft.frisson" --to "$work/soft.abc" \
        --to "$work/soft.usdc" --force
    "$python" "$here/check_soft.py" "$work/soft.abc" "$work/soft.usdc"
    $frisson bake scenes/drops-roughness.toml -o "$work/drops.frisson" --force --quiet
    $frisson export "$work/drops.frisson" --to "$work/drops.usdc" --to "$work/drops.abc" --force --quiet
    "$python" "$here/drops.py" "$work/drops.usdc"
    "$python" "$here/drops.py" "$work/drops.abc"
    # Hair as tubes for engines: valid glTF, and in Blender where its curves are.
    mkdir -p "$work/hair"
    sed 's/^frames = .*/frames = [0, 10]/; s/per_wisp = 300/per_wisp = 40, root_normals = true/' scenes/hair-viscosity.toml >"$work/hair.toml"
    $frisson bake "$work/hair.toml" -o "$work/hair.frisson" --force --quiet
    $frisson export "$work/hair.frisson" --to "$work/hair/hair.glb" --to "$work/hair.usdc" --force --quiet
    [ ! -d "$modules/gltf-validator" ] || NODE_PATH=$modules node "$here/check_gltf.cjs" "$work/hair"
    "$python" "$here/hair.py" "$work/hair/hair.glb" "$work/hair.usdc"
    # As hair curves: widths, ids, texture coordinates and normals of the roots.
    "$python" "$here/curves.py" "$work/hair.usdc"
fi
echo "interop: passed"
