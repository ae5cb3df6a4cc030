#!/usr/bin/env bash
# Packs all crates as a registry would get them, unpacks them elsewhere, builds the command of these sources
# only and runs the demo.
#   tests/packed.sh
# PROFILE=dev builds without optimising; FEATURES="" leaves out all that can be (FEATURES="studio fbx": all but these);
# QUICK=1 only lets the packed sources pass the compiler.
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
# The page and the gallery travel with the studio.
studio=$(ls -d frisson-studio-*)
for file in page/index.html page/third-party.js scenes/demo-cat.toml; do
  [ -s "$studio/$file" ] || { echo "$studio/$file is missing"; exit 1; }
done
features=()
[ -z "${FEATURES+given}" ] || features=(--no-default-features --features "$FEATURES")
if [ -n "${QUICK:-}" ]; then
  cargo check -p frisson-cli --target-dir "$target" ${features[@]+"${features[@]}"}
  echo "the packed sources pass the compiler"
  exit 0
fi
cargo build --profile "${PROFILE:-release}" -p frisson-cli --target-dir "$target" ${features[@]+"${features[@]}"}
case "${PROFILE:-release}" in dev) kind=debug ;; *) kind=${PROFILE:-release} ;; esac
cp "$target/$kind/frisson" "$work/frisson"
# Only what was packed is left to be read.
mv "$work/unpacked" "$work/moved"
cd "$work"
./frisson demo -o demo
[ -s demo/cat.frisson ] && [ -s demo/cat.abc ] && [ -s demo/cat.png ] || { ls demo; exit 1; }
echo "the demo of the packed sources is whole"
case " ${FEATURES-studio} " in
  *" studio "*) ;;
  *) exit 0 ;;
esac
# The studio of them: its page, and all scenes of the gallery.
mkdir empty
(cd empty && exec ../frisson studio --no-open --json) > studio.json &
studio=$!
trap 'kill "$studio" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  [ -s studio.json ] && break
  sleep 0.2
done
url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' studio.json)
curl --fail --silent "$url" | grep -q '<script'
curl --fail --silent "${url}third-party.js" -o page.js && [ "$(wc -c < page.js)" -gt 100000 ]
scenes=$(curl --fail --silent "${url}choices" | grep -o '"look_for"' | wc -l)
[ "$scenes" = "$(ls moved/frisson-studio-*/scenes/*.toml | wc -l)" ] || { echo "$scenes scenes in the gallery"; exit 1; }
echo "the studio of the packed sources serves its page and $scenes scenes"
