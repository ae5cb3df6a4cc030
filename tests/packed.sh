#!/usr/bin/env bash
# Packs all crates as a registry would get them, unpacks them elsewhere, builds the command of these sources
# only and runs the demo.
#   tests/packed.sh
# PROFILE=dev builds without optimising; FEATURES="" leaves all readers out that can be.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

crates=$(sed -n 's/^\(frisson[a-z-]*\) = { path = .*/\1/p' Cargo.toml)
crates=$(for name in $crates frisson-cli; do echo "$name"; done | sort -u)
packages=()
for name in $crates; do packages+=(-p "$name"); done
cargo package --no-verify --allow-dirty --locked "${packages[@]}" --target-dir "$work/target" --quiet

mkdir "$work/unpacked"
for crate in "$work"/target/package/*.crate; do
  tar -C "$work/unpacked" -xzf "$crate"
done
cd "$work/unpacked"
for folder in */; do
  for file in LICENSE-MIT LICENSE-APACHE README.md; do
    [ -s "$folder/$file" ] || { echo "$folder$file is missing"; exit 1; }
  done
done
# One workspace of the unpacked sources; each is found in place of the registry's.
{
  echo '[workspace]'
  echo 'resolver = "3"'
  echo 'members = ["*"]'
  echo 'exclude = ["demo"]'
  echo '[patch.crates-io]'
  for folder in */; do
    folder=${folder%/}
    echo "${folder%-*} = { path = \"$folder\" }"
  done
  sed -n '/^\[profile/,$p' "$OLDPWD/Cargo.toml"
} > Cargo.toml
cp "$OLDPWD/Cargo.lock" .
echo "packed: $(ls -d frisson*/ | wc -l) crates"
cargo build --profile "${PROFILE:-release}" -p frisson-cli --target-dir "$target"
case "${PROFILE:-release}" in dev) kind=debug ;; *) kind=${PROFILE:-release} ;; esac
cp "$target/$kind/frisson" "$work/frisson"
# Only what was packed is left to be read.
mv "$work/unpacked" "$work/moved"
cd "$work"
./frisson demo -o demo
[ -s demo/cat.frisson ] && [ -s demo/cat.abc ] && [ -s demo/cat.png ] || { ls demo; exit 1; }
echo "the demo of the packed sources is whole"
