#!/usr/bin/env bash
# Opens the gallery's page in a browser: every picture and animation must be shown.
#
#   tests/gallery_browser.sh [FOLDER]     a finished gallery; without it one scene is done, roughly
#
# Needs chromium; without it nothing is checked, with a word. FRISSON names the command.
set -euo pipefail
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo "gallery in a browser: SKIPPED: no chromium"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=${1:-}
if [ -z "$folder" ]; then
    folder=$work/gallery
    ${FRISSON:-cargo run --quiet --release -p frisson-cli --} gallery scenes -o "$folder" \
        --quick --only wrinkles-wrist --quiet
fi
# The page itself tells what it shows: pictures are lazy, so they are asked for first.
{
    cat "$folder/index.html"
    cat <<'PAGE'
<script>
addEventListener("load", async () => {
  const images = [...document.images];
  images.forEach(image => { image.loading = "eager"; });
  await Promise.allSettled(images.map(image => image.decode()));
  const broken = images.filter(image => image.naturalWidth === 0).length;
  const wide = document.documentElement.scrollWidth > innerWidth + 1;
  document.body.setAttribute("data-seen", `${images.length} pictures, ${broken} broken, ${wide ? "too wide" : "fits"}`);
});
</script>
PAGE
} >"$folder/seen.html"
seen=$("$browser" --headless --no-sandbox --disable-gpu --window-size=1400,1000 \
    --virtual-time-budget=20000 --dump-dom "file://$(realpath "$folder/seen.html")" 2>/dev/null |
    grep -o 'data-seen="[^"]*"' | cut -d'"' -f2 || true)
rm -f "$folder/seen.html"
echo "gallery in a browser: ${seen:-the page did not load}"
case "$seen" in
"0 pictures"*) exit 1 ;;
*"pictures, 0 broken, fits") ;;
*) exit 1 ;;
esac
