#!/usr/bin/env bash
# The eight named hair styles on heads, standing for five seconds.
#
#   tests/presets.sh                        the built-in heads and the figure
#   tests/presets.sh FILE...                characters made elsewhere
#
# Nothing sags by more than a millimetre, no hair goes through the head, straight hairs keep their length. Caches and
# pictures of each are kept in FRISSON_KEEP where that is given: they are there to be looked at.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/command.sh
[ $# -gt 0 ] || set -- builtin:head_a builtin:head_b builtin:figure
failed=()
for character in "$@"; do
  case "$character" in
    builtin:*) ;;
    *)
      cp "$character" "$work/"
      character=$work/$(basename "$character")
      ;;
  esac
  for scene in $(python3 tests/preset_scenes.py "$frisson" "$character" "$work"); do
    name=$(basename "$scene" .toml)
    echo "== $name"
    "$frisson" check "$scene" --bake --keep "$work/$name.baked" || failed+=("$name")
    [ -n "${FRISSON_KEEP:-}" ] || continue
    # The head where it is a mesh of its own, else what grows on it: from the front and from behind.
    body=$(sed -n 's/^on = "\(.*\)"/\1/p' "$scene")
    case "$body" in *[Hh]ead*) on=$body ;; *) on=hair ;; esac
    for cache in "$work/$name.baked"/*.frisson; do
      for yaw in 25 155; do
        "$frisson" render "$cache" --frame 0 --on "$on" --yaw $yaw --pitch 5 --size 240x240 --force --quiet -o "$work/$name-$yaw.png"
      done
    done
  done
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'do not hold: %s\n' "${failed[@]}"
  exit 1
fi
echo "all styles hold"
