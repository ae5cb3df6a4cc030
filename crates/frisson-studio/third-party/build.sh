#!/usr/bin/env bash
# Makes page/third-party.js, and the licences of what is in it, from the packages that package-lock.json
# names; the same bytes every time.
#
#   crates/frisson-studio/third-party/build.sh            writes them
#   crates/frisson-studio/third-party/build.sh --check    fails if they would be others
#
# Needs npm and a network. Nothing else does: the file is part of the repository.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json entry.js "$work"
(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --silent)
(cd "$work" && node_modules/.bin/esbuild entry.js --bundle --minify --format=esm --target=es2022 \
    --loader:.css=text --legal-comments=none --charset=utf8 \
    --banner:js='/* Others'"'"' work; licences: third-party/LICENCES. Made by third-party/build.sh. */' \
    --outfile=third-party.js --log-level=warning)
{
    echo "What page/third-party.js is made of."
    for package in three preact @preact/signals @preact/signals-core htm uplot; do
        folder=$work/node_modules/$package
        version=$(sed -n 's/^ *"version": "\(.*\)",\?$/\1/p' "$folder/package.json" | head -1)
        printf '\n%s\n%s %s\n\n' "--------------------------------------------------------------------" "$package" "$version"
        sed 's/[[:space:]]*$//' "$folder"/LICENSE*
    done
} >"$work/LICENCES"
if [ "${1:-}" = "--check" ]; then
    cmp "$work/third-party.js" ../page/third-party.js
    cmp "$work/LICENCES" LICENCES
    echo "third-party.js is what its packages make"
else
    cp "$work/third-party.js" ../page/third-party.js
    cp "$work/LICENCES" LICENCES
fi
