#!/usr/bin/env bash
# Other programs beside ours, in one run on one machine: what `frisson bench` can only quote.
#
#   tests/peers/run.sh           the smaller sizes
#   tests/peers/run.sh --full    all of them; some minutes
#
# Needs a Python with Blender's module: `pip install bpy` (a download of some 400 MB), or the one that
# FRISSON_PEERS_PYTHON names. FRISSON names the command; without it, it is built. Where bpy is not
# installed nothing is compared, with a word.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1

python=${FRISSON_PEERS_PYTHON:-}
for candidate in target/interop/venv/bin/python python3.11 python3; do
    [ -n "$python" ] && break
    if command -v "$candidate" >/dev/null && "$candidate" -c "import bpy" 2>/dev/null; then
        python=$candidate
    fi
done
if [ -z "$python" ] || ! "$python" -c "import bpy" 2>/dev/null; then
    echo "peers: SKIPPED: no Python with bpy; pip install bpy, or set FRISSON_PEERS_PYTHON"
    exit 0
fi
frisson=${FRISSON:-}
if [ -z "$frisson" ]; then
    cargo build --quiet --release -p frisson-cli
    frisson=${CARGO_TARGET_DIR:-target}/release/frisson
fi
"$python" tests/peers/compare.py "$frisson" "$python" "$@"
