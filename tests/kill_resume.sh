#!/usr/bin/env bash
# Kills a bake with SIGKILL at random moments, resumes it, and compares the cache with a straight
# run's, byte by byte.
#   tests/kill_resume.sh [SCENE] [KILLS]
# FRISSON names the binary; default: target/release/frisson.
set -euo pipefail
cd "$(dirname "$0")/.."
frisson=${FRISSON:-$PWD/target/release/frisson}
scene=${1:-$PWD/scenes/demo-cat.toml}
kills=${2:-20}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Exports would be in the way of being resumed again and again: bake the motion only.
sed '/^\[\[exports\]\]/,$d' "$scene" > "$folder/shot.toml"

start=$(date +%s%N)
"$frisson" bake "$folder/shot.toml" -o "$folder/straight.frisson" --quiet
whole=$(( ($(date +%s%N) - start) / 1000000 ))
echo "straight run: $whole ms, $(stat -c %s "$folder/straight.frisson") bytes"

flag=""
done_early=0
for kill in $(seq "$kills"); do
  "$frisson" bake "$folder/shot.toml" -o "$folder/killed.frisson" --quiet $flag &
  child=$!
  # Anywhere within the time of a straight run.
  wait_ms=$(( (RANDOM * 32768 + RANDOM) % (whole + 1) ))
  sleep "$(printf '%d.%03d' $((wait_ms / 1000)) $((wait_ms % 1000)))"
  kill -9 "$child" 2>/dev/null || done_early=$((done_early + 1))
  wait "$child" 2>/dev/null || true
  flag="--resume"
  if [ -e "$folder/killed.frisson" ]; then
    # It had finished: compare, and start over.
    cmp "$folder/straight.frisson" "$folder/killed.frisson"
    rm "$folder/killed.frisson"
    flag=""
  fi
done
"$frisson" bake "$folder/shot.toml" -o "$folder/killed.frisson" --quiet $flag
cmp "$folder/straight.frisson" "$folder/killed.frisson"
echo "$kills kills ($done_early came after the end): same bytes"
