#!/bin/sh
# Installs the frisson command from an archive made by .ci/archive, with manual pages and completions.
#   sh install.sh ARCHIVE            a file, or an address that curl reads
#   PREFIX=/usr/local sh install.sh ARCHIVE
# The checksum is read from ARCHIVE.sha256; without it nothing is installed.
set -eu
archive=${1:?give the archive: a file, or an address of one}
prefix=${PREFIX:-$HOME/.local}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=$(basename "$archive")
for file in "$archive" "$archive.sha256"; do
  if [ -f "$file" ]; then
    cp "$file" "$work/"
  else
    curl --fail --silent --show-error --location "$file" -o "$work/$(basename "$file")"
  fi
done
if command -v sha256sum > /dev/null; then
  (cd "$work" && sha256sum -c "$name.sha256" > /dev/null) || { echo "the checksum is wrong: nothing is installed" >&2; exit 1; }
else
  (cd "$work" && shasum -a 256 -c "$name.sha256" > /dev/null) || { echo "the checksum is wrong: nothing is installed" >&2; exit 1; }
fi
tar -C "$work" -xzf "$work/$name"
from=$work/${name%.tar.gz}
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
  "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
# Beside its place first: a running command is not overwritten.
cp "$from/frisson" "$prefix/bin/.frisson.new"
chmod 755 "$prefix/bin/.frisson.new"
mv "$prefix/bin/.frisson.new" "$prefix/bin/frisson"
cp "$from"/man/*.1 "$prefix/share/man/man1/"
cp "$from/completions/frisson.bash" "$prefix/share/bash-completion/completions/frisson"
cp "$from/completions/_frisson" "$prefix/share/zsh/site-functions/_frisson"
cp "$from/completions/frisson.fish" "$prefix/share/fish/vendor_completions.d/frisson.fish"
"$prefix/bin/frisson" --version
case ":$PATH:" in
  *":$prefix/bin:"*) echo "installed; try: frisson demo" ;;
  *) echo "installed in $prefix/bin, which is not in PATH" ;;
esac
