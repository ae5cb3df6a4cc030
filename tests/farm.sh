#!/usr/bin/env bash
# A farm's job, run here: openjd-cli runs the bundle, OpenUSD reads the export that was stitched of parts, a bake
# that was killed goes on in another folder.
#   tests/farm.sh
# FRISSON names the command. openjd-cli, usd-core and numpy are installed into a folder of the cache; where that cannot be
# done, their part is skipped with a word.
set -euo pipefail
cd "$(dirname "$0")/.."
frisson=$(realpath "${FRISSON:-${CARGO_TARGET_DIR:-target}/release/frisson}")
scripts=$PWD/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Two shots in two folders, short.
mkdir -p "$work/film/one" "$work/film/two"
sed '/^\[\[exports\]\]/,$d; s/^fps = 30/fps = 30\nframes = [0, 23]/' scenes/demo-cat.toml > "$work/film/one/cat.toml"
sed '/^\[\[exports\]\]/,/^$/d; s/^frames = .*/frames = [0, 9]/' scenes/cloth-cape.toml > "$work/film/two/cape.toml"
grep -q '^frames' "$work/film/two/cape.toml" || sed -i '0,/^fps.*/s//&\nframes = [0, 9]/' "$work/film/two/cape.toml"
cd "$work"

# A bake that is killed goes on elsewhere: another folder for the scene, another for the cache.
"$frisson" bake film/one/cat.toml -o straight.frisson --no-judge --no-exports --quiet
size=$(wc -c < straight.frisson)
killed=no
for _ in $(seq 20); do
  rm -rf first && mkdir first
  "$frisson" bake film/one/cat.toml -o first/cat.frisson --resume --no-judge --no-exports --quiet &
  child=$!
  until [ "$(wc -c 2>/dev/null < first/cat.frisson.part || echo 0)" -gt $((size / 3)) ] || [ -e first/cat.frisson ]; do
    sleep 0.002
  done
  kill -9 "$child" 2>/dev/null || true
  wait "$child" 2>/dev/null || true
  if [ -e first/cat.frisson.part ]; then killed=yes; break; fi
done
[ "$killed" = yes ] || { echo "the bake was always faster than the kill"; exit 1; }
mkdir -p second moved
cp first/cat.frisson.part second/
cp film/one/cat.toml moved/
"$frisson" bake moved/cat.toml -o second/cat.frisson --resume --no-judge --no-exports --farm > resumed.log
cmp straight.frisson second/cat.frisson
grep -q '^openjd_progress: ' resumed.log && grep -q '^openjd_status: baking' resumed.log
echo "killed and resumed in another folder: same bytes"

"$frisson" job film/one/cat.toml film/two/cape.toml --to bundle --parts 3 --chunk 8

venv=${XDG_CACHE_HOME:-$HOME/.cache}/frisson-farm-venv
if ! "$venv/bin/python" -c 'import openjd.cli, numpy, pxr' 2>/dev/null; then
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet openjd-cli usd-core numpy; } > pip.log 2>&1; then
    echo "the farm itself: SKIPPED: openjd-cli, usd-core and numpy cannot be installed"
    exit 0
  fi
fi
openjd=$venv/bin/openjd
"$openjd" check bundle/template.json
"$openjd" summary bundle/template.json --job-param file://bundle/parameters.json
for step in Sheet Judge Stitch Render; do
  "$openjd" run bundle/template.json --step "$step" --run-dependencies \
    --job-param file://bundle/parameters.json --job-param "Frisson=$frisson" > "run-$step.log" 2>&1 ||
    { tail -40 "run-$step.log"; exit 1; }
done
grep -h 'openjd_progress: 100' run-Sheet.log | head -1
cd bundle/output
for file in cat.frisson cape.frisson cat.judge.json cape.judge.json cat.usda cat.0003.usdc cape.usda cat.png cape.png; do
  [ -s "$file" ] || { ls -la; echo "$file is missing"; exit 1; }
done
[ "$(ls cat.frames | wc -l)" = 24 ] && [ "$(ls cape.frames | wc -l)" = 10 ] || { ls cat.frames cape.frames; exit 1; }
cmp "$work/straight.frisson" cat.frisson
echo "the job is whole, and its bake has the bytes of one made by hand"

for shot in cat cape; do
  "$frisson" export $shot.frisson --to whole-$shot.usdc --quiet
  "$venv/bin/python" "$scripts/interop/check_clips.py" whole-$shot.usdc $shot.usda
done
