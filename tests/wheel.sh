#!/usr/bin/env bash
# The Python wheel and the Blender extension, built, installed and tested as a user would have them.
#
#   tests/wheel.sh               the wheel, in an environment of its own; its tests, its examples
#   tests/wheel.sh --blender     the extension too, in Blender without a window (bpy, a download of some 400 MB)
#   tests/wheel.sh --quick       what needs no build: the sources are whole and agree with each other
#
# Packages go into target/wheel. FRISSON_WHEEL names a wheel that is there already. What cannot be installed is
# skipped with a word, unless FRISSON_WHEEL_REQUIRED is set.
set -euo pipefail
cd "$(dirname "$0")/.."
work=target/wheel
mkdir -p "$work"
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

skip() {
    echo "wheel: SKIPPED: $1"
    [ -z "${FRISSON_WHEEL_REQUIRED:-}" ] || exit 1
    exit 0
}

# bpy's wheels are for one version of Python only.
base=$(command -v python3.11 || command -v python3 || true)
[ -n "$base" ] || skip "no Python"
"$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "Python is older than 3.11"

if [ "${1:-}" = "--quick" ]; then
    "$base" tests/wheel_sources.py
    # The command is there where the tests have run.
    frisson=${CARGO_TARGET_DIR:-target}/debug/frisson
    if [ -x "$frisson" ]; then
        "$frisson" schema >"$work/schema.json"
        "$base" python/tools/params.py --check --schema "$work/schema.json"
    else
        echo "wheel: SKIPPED: the parameter classes against the schema (no $frisson)"
    fi
    echo "wheel: SKIPPED: building and testing it (.ci/long wheel)"
    exit 0
fi

# venv NAME PACKAGE...
venv() {
    local folder=$work/$1 stamp=$work/$1/installed
    shift
    [ -x "$folder/bin/python" ] || "$base" -m venv "$folder" || return 1
    [ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && return 0
    "$folder/bin/python" -m pip install --quiet "$@" && echo "$*" >"$stamp"
}

venv test numpy "pytest>=8" "maturin>=1.9,<2" || skip "cannot install numpy, pytest and maturin"
wheel=${FRISSON_WHEEL:-}
if [ -z "$wheel" ]; then
    rm -rf "$work/dist"
    (cd python && "../$work/test/bin/maturin" build --release --out "../$work/dist")
    wheel=$(ls "$work"/dist/*.whl)
fi
"$work/test/bin/python" -m pip install --quiet --force-reinstall --no-deps "$wheel"
"$work/test/bin/python" -m pytest -q python/tests
for example in python/examples/*.py; do
    echo "-- $example"
    (cd "$work" && "test/bin/python" "../../$example" --quick >/dev/null)
done

if [ "${1:-}" = "--blender" ]; then
    venv blender bpy==5.0.1 "pytest>=8" || skip "cannot install bpy 5.0.1"
    zip=$("$base" blender/build.py "$wheel" -o "$work/dist")
    FRISSON_EXTENSION=$PWD/$zip "$work/blender/bin/python" -m pytest -q blender/tests
fi
