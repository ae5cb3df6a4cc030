#!/usr/bin/env bash
# Garments on bodies that were not made for them: a skirt, a shirt and a cape around each character, standing and
# in its clips.
#
#   tests/garments.sh                       the built-in figure
#   tests/garments.sh FILE...               characters made elsewhere
#
# Standing, they must be below 1 cm/s after two seconds and 3 mm/s after four; standing and in the clips 99 of 100
# edges stretch by at most 2.5 % and nothing crosses the body. CLIPS=2 takes only the first two clips of each
# character, KINDS="skirt cape" only those garments. Caches are kept in FRISSON_KEEP where that is given.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/command.sh
[ $# -gt 0 ] || set -- builtin:figure
failed=()
for character in "$@"; do
  case "$character" in builtin:*) name=${character#builtin:} ;; *) name=$(basename "${character%.*}") ;; esac
  for kind in ${KINDS:-skirt shirt cape}; do
    dressed=$work/$name-$kind.glb
    if ! "$frisson" garment "$character" "$kind" -o "$dressed" --force --quiet; then
      failed+=("$name: no $kind")
      continue
    fi
    for scene in $(python3 tests/garment_scenes.py "$frisson" "$dressed" "$kind" "${CLIPS:-99}"); do
      echo "== $(basename "$scene" .toml)"
      "$frisson" check "$scene" --bake --keep "${scene%.toml}.baked" || failed+=("$(basename "$scene" .toml)")
    done
  done
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'do not hold: %s\n' "${failed[@]}"
  exit 1
fi
echo "all garments hold"
