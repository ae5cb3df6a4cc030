#!/usr/bin/env bash
# Coats that `frisson init` proposes stay whole: one piece per connected body in every frame of every clip, and the
# volume of the first frame within 2 %.
#   tests/coats.sh [CHARACTER[:PIECES]...]     files (.glb, .gltf, .vrm, .fbx) or builtin:NAME; default: the cast
# PIECES: connected bodies that the character has [1]. FRISSON is the command; FRISSON_COAT_FRAMES how many frames of a
# clip are baked [all]; FRISSON_COAT_EVERY every which of them: 4 is a quarter [1]; FRISSON_COAT_KEEP a folder for the
# scenes and caches.
set -euo pipefail
frisson=${FRISSON:-frisson}
work=${FRISSON_COAT_KEEP:-$(mktemp -d)}
[ -n "${FRISSON_COAT_KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
characters=("$@")
[ ${#characters[@]} -gt 0 ] || characters=(builtin:cat builtin:figure builtin:mushroom)

clips_of() {
  "$frisson" inspect "$1" --json | python3 -c '
import json, sys
found = []
def look(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "clips" and isinstance(inner, list):
                found.extend(c["name"] if isinstance(c, dict) else c for c in inner)
            look(inner)
    elif isinstance(value, list):
        for inner in value:
            look(inner)
look(json.load(sys.stdin))
print("\n".join(dict.fromkeys(found)))'
}

failed=()
for character in "${characters[@]}"; do
  pieces=1
  if [[ $character =~ ^(.*[^:]):([0-9]+)$ ]]; then
    character=${BASH_REMATCH[1]} pieces=${BASH_REMATCH[2]}
  fi
  mapfile -t clips < <(clips_of "$character")
  for clip in "${clips[@]}"; do
    scene=$work/$(basename "${character#builtin:}" | tr -c 'A-Za-z0-9\n' _)-$(tr -c 'A-Za-z0-9\n' _ <<< "$clip").toml
    # Hard parts get no coat: one that `init` does not propose cannot fail.
    if ! "$frisson" init "$character" --clip "$clip" --with coat --force -o "$scene" > /dev/null 2> "$work/refused"; then
      grep -q 'no layer named "coat"' "$work/refused" || { cat "$work/refused"; exit 1; }
      echo "-- $character: no coat is proposed"
      continue 2
    fi
    python3 - "$scene" "$pieces" "${FRISSON_COAT_FRAMES:-0}" "${FRISSON_COAT_EVERY:-1}" <<'PY'
import re, sys
path, pieces, most, every = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
text = open(path).read()
# Ticks are the same at every rate: fewer frames of the same motion.
text = re.sub(r"(?m)^fps = (.*)$", lambda m: f"fps = {float(m[1]) / every:g}", text, count=1)
if most > 0:
    text = re.sub(r"(?m)^frames = .*\n", "", text)
    text = re.sub(r"(?m)^fps = .*$", lambda m: f"{m[0]}\nframes = [0, {most - 1}]", text, count=1)
text += f"""
[[expect]]
measure = "components"
shape = "coat"
between = [{pieces}, {pieces}]
why = "One piece per connected body."

[[expect]]
measure = "volume"
shape = "coat"
relative_to = {{ frames = [0, 0], over = "first" }}
between = [0.98, 1.02]
why = "The coat keeps its volume."
"""
open(path, "w").write(text)
PY
    echo "-- $character, $clip"
    "$frisson" check "$scene" --bake --fast ${FRISSON_COAT_KEEP:+--keep "$work/$(basename "$scene" .toml)"} || failed+=("$character $clip")
  done
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'not whole: %s\n' "${failed[@]}"
  exit 1
fi
