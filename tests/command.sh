# Sourced by scripts that try the command on characters, in the folder of the sources: `frisson` becomes the command
# that FRISSON names, `work` a folder that is gone afterwards, or FRISSON_KEEP where that is given.
frisson=${FRISSON:-${CARGO_TARGET_DIR:-target}/release/frisson}
[ -x "$frisson" ] || { echo "no command at $frisson: FRISSON names it"; exit 2; }
frisson=$(realpath "$frisson")
if [ -n "${FRISSON_KEEP:-}" ]; then
  mkdir -p "$FRISSON_KEEP"
  work=$(realpath "$FRISSON_KEEP")
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
