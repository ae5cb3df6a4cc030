#!/usr/bin/env bash
# Bakes onto a disk that is too small (a tmpfs; needs the right to mount), then makes room and
# resumes: the frames that were finished must still be there and the result the same.
#   tests/disk_full.sh [SCENE]
set -euo pipefail
cd "$(dirname "$0")/.."
frisson=${FRISSON:-$PWD/target/release/frisson}
scene=${1:-$PWD/scenes/demo-cat.toml}
folder=$(mktemp -d)
trap 'umount "$folder/small" 2>/dev/null || true; rm -rf "$folder"' EXIT
sed '/^\[\[exports\]\]/,$d' "$scene" > "$folder/shot.toml"
"$frisson" bake "$folder/shot.toml" -o "$folder/straight.frisson" --quiet
size=$(stat -c %s "$folder/straight.frisson")
mkdir "$folder/small"
if ! mount -t tmpfs -o size=$((size / 2)) tmpfs "$folder/small" 2>/dev/null; then
  echo "skipped: no right to mount a tmpfs here"
  exit 0
fi
if "$frisson" bake "$folder/shot.toml" -o "$folder/small/shot.frisson" --quiet 2> "$folder/said"; then
  echo "the bake should have run out of room"
  exit 1
fi
cat "$folder/said"
grep -q -- "--resume" "$folder/said"
"$frisson" inspect "$folder/small/shot.frisson" | head -3
mount -o remount,size=$((size * 2)) "$folder/small"
"$frisson" bake "$folder/shot.toml" -o "$folder/small/shot.frisson" --quiet --resume
cmp "$folder/straight.frisson" "$folder/small/shot.frisson"
echo "resumed after the disk was full: same bytes"
