#!/usr/bin/env bash
# Large inputs: a character of a million triangles, and one whose clip lasts an hour.
#
#   tests/large.sh                          a million triangles; a minute and an hour at 30 frames a second
#   TRIANGLES=100000 HOURS=0.1 tests/large.sh
#
# `init` of the first must take less than 3 s of processor time and 300 MB. The hour may need half a kilobyte more
# than the minute for every frame: what is where in the cache, and the numbers of the report; no frame stays in memory.
# Needs GNU time and room for the hour's cache (0.8 GB).
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/command.sh
failed=()
hours=${HOURS:-1}
python3 tests/large_files.py "$work" "${TRIANGLES:-1000000}" "$hours"

# measured COMMAND...: its processor time [s] and peak memory [kB].
measured() {
  /usr/bin/time -o "$work/time" -f '%U %S %M' "$@" >/dev/null
  awk '{ print $1 + $2, $3 }' "$work/time"
}

read -r seconds peak < <(measured "$frisson" init "$work/many.glb" -o "$work/many.toml" --force --quiet)
echo "init: $seconds s of processor time, $((peak / 1024)) MB"
awk "BEGIN { exit !($seconds < 3) }" || failed+=("init takes $seconds s")
[ "$peak" -lt $((300 * 1024)) ] || failed+=("init needs $((peak / 1024)) MB")

bake() { # LAST FRAME
  cat >"$work/long.toml" <<TOML
frisson = 2
fps = 30
frames = [0, $1]

[actors.tube]
source = "long.glb"
clip = "sway"

[[layers]]
flesh = { name = "flesh", on = "tube", from = "joint_2", to = ["joint_4"] }
TOML
  measured "$frisson" bake "$work/long.toml" -o "$work/long.frisson" --force --quiet --no-judge
}

frames=$(awk "BEGIN { print int($hours * 3600 * 30) }")
read -r _ short < <(bake 1800)
read -r seconds long < <(bake "$frames")
echo "bake: 1800 frames $((short / 1024)) MB, $frames frames $((long / 1024)) MB, $seconds s of processor time"
[ $((long - short)) -lt $((frames / 2)) ] || failed+=("$frames frames need $(((long - short) / 1024)) MB more than 1800")
if [ ${#failed[@]} -gt 0 ]; then
  printf 'too much: %s\n' "${failed[@]}"
  exit 1
fi
