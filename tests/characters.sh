#!/usr/bin/env bash
# Everything that `frisson init` proposes, switched on, baked and judged.
#
#   tests/characters.sh                     the built-in cast
#   tests/characters.sh FILE...             characters made elsewhere
#
# One line for each: its layers, how long a frame takes, what an animator would complain of (and how much of that is in
# the character's own motion). CLIP names the clip, FRAMES ends the shots earlier. Scenes, caches and contact sheets are kept in
# FRISSON_KEEP where that is given. Ends with 1 where something does not bake; complaints are only counted.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/command.sh
[ $# -gt 0 ] || set -- builtin:figure builtin:cat builtin:mushroom builtin:head_a
failed=()
printf '%-24s %6s %9s %11s %5s  %s\n' character frames s/frame complaints own layers
for character in "$@"; do
  case "$character" in
    builtin:*) name=${character#builtin:} source=$character ;;
    *)
      name=$(basename "${character%.*}")
      cp "$character" "$work/"
      source=$work/$(basename "$character")
      ;;
  esac
  scene=$work/$name.toml
  if ! "$frisson" init "$source" -o "$scene" --with all --force --quiet ${CLIP:+--clip "$CLIP"}; then
    failed+=("$name: init")
    continue
  fi
  [ -z "${FRAMES:-}" ] || sed -i "/^frames = /d; s/^fps = .*/&\nframes = [0, $FRAMES]/" "$scene"
  if ! "$frisson" bake "$scene" --force --quiet --no-judge; then
    failed+=("$name: bake")
    continue
  fi
  cache=${scene%.toml}.frisson
  "$frisson" judge "$cache" --json > "$work/$name.judge.json"
  python3 - "$name" "$work/$name.judge.json" "${scene%.toml}.bake-report.json" <<'PY'
import json, sys

name, judged, report = sys.argv[1], json.load(open(sys.argv[2]))["judgement"], json.load(open(sys.argv[3]))
layers = [f"{layer['kind']} {layer['name']}" if isinstance(layer, dict) else str(layer) for layer in report["layers"]]
frames = report["last_frame"] - report["first_frame"] + 1
print(f"{name:24} {frames:6} {report['seconds'] / frames:9.2f} {len(judged['findings']):11} {len(judged['own']):5}  {', '.join(layers)}")
PY
  [ -z "${FRISSON_KEEP:-}" ] || "$frisson" render "$cache" -o "$work/$name.png" --force --quiet
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'do not bake: %s\n' "${failed[@]}"
  exit 1
fi
