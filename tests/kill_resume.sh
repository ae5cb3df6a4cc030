#!/usr/bin/env bash
# Kills bakes with SIGKILL at random moments, resumes them, and compares the caches with those of
# straight runs, byte by byte.
#   tests/kill_resume.sh [KILLS [SCENE...]]
# Without scenes: some with moving bodies, contacts, splits and welds, and one that is killed in its
# pre-roll. FRISSON names the binary; default: target/release/frisson. SEED chooses the moments.
set -euo pipefail
cd "$(dirname "$0")/.."
frisson=${FRISSON:-$PWD/target/release/frisson}
kills=${1:-20}
shift || true
RANDOM=${SEED:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Cloth on moving bodies, hair in contact and splitting, soft bodies that weld and tear, drops that
# merge, flesh.
scenes=("$@")
if [ ${#scenes[@]} -eq 0 ]; then
  for name in cloth-cape cloth-skirt hair-interactions hair-splitting soft-contact-close \
    soft-dough-pincers drops-window demo-cat; do
    scenes+=("scenes/$name.toml")
  done
fi

milliseconds() { echo $(( $(date +%s%N) / 1000000 )); }

# Bakes SCENE again and again, killed at random moments, and compares with a straight run.
storm() {
  local scene=$1 name=$2 flag="" late=0 start whole child wait_ms
  start=$(milliseconds)
  "$frisson" bake "$scene" -o "$folder/straight.frisson" --quiet --force || return 1
  whole=$(( $(milliseconds) - start ))
  rm -f "$folder"/killed.*
  for _ in $(seq "$kills"); do
    "$frisson" bake "$scene" -o "$folder/killed.frisson" --quiet $flag &
    child=$!
    # Anywhere within the time of a straight run.
    wait_ms=$(( (RANDOM * 32768 + RANDOM) % (whole + 1) ))
    sleep "$(printf '%d.%03d' $((wait_ms / 1000)) $((wait_ms % 1000)))"
    kill -9 "$child" 2>/dev/null || late=$((late + 1))
    wait "$child" 2>/dev/null || true
    flag="--resume"
    if [ -e "$folder/killed.frisson" ]; then
      # It had finished: compare, and start over.
      cmp "$folder/straight.frisson" "$folder/killed.frisson" || return 1
      rm "$folder"/killed.*
      flag=""
    fi
  done
  "$frisson" bake "$scene" -o "$folder/killed.frisson" --quiet $flag || return 1
  cmp "$folder/straight.frisson" "$folder/killed.frisson" || return 1
  echo "$name: $kills kills ($late came after the end) in runs of $whole ms: same bytes"
}

failed=()
for scene in "${scenes[@]}"; do
  name=$(basename "$scene" .toml)
  # Exports would be in the way of being resumed again and again: bake the motion only.
  sed '/^\[\[exports\]\]/,$d' "$scene" > "$folder/$name.toml"
  storm "$folder/$name.toml" "$name" || failed+=("$name")
done
if [ $# -eq 0 ]; then
  sed 's/^frames = .*/frames = [0, 3]\npreroll = 8/; /^\[\[exports\]\]/,$d' scenes/cloth-sheet.toml \
    > "$folder/preroll.toml"
  storm "$folder/preroll.toml" "pre-roll of cloth-sheet" || failed+=("pre-roll")
fi
if [ ${#failed[@]} -gt 0 ]; then
  echo "other bytes after a kill: ${failed[*]}"
  exit 1
fi
