#!/usr/bin/env bash
# Other systems: the command for Windows, the engine for the web, the tests of the engine for ARM under emulation.
# What is not installed is skipped, with a word.
#   tests/targets.sh [windows] [wasm] [arm]
set -euo pipefail
cd "$(dirname "$0")/.."
subjects=" ${*:-windows wasm arm} "
wanted() { case "$subjects" in *" $1 "*) ;; *) return 1 ;; esac }
has() { rustup target list --installed 2>/dev/null | grep -qx "$1"; }

if wanted windows; then
  if has x86_64-pc-windows-gnu && command -v x86_64-w64-mingw32-g++ > /dev/null; then
    cargo check --locked -p frisson-cli --target x86_64-pc-windows-gnu
    echo "windows: the command passes the compiler"
  else
    echo "windows: SKIPPED: no target x86_64-pc-windows-gnu, or no mingw"
  fi
fi
if wanted wasm; then
  if has wasm32-unknown-unknown; then
    cargo check --locked -p frisson --target wasm32-unknown-unknown
    echo "web: the engine passes the compiler"
  else
    echo "web: SKIPPED: no target wasm32-unknown-unknown"
  fi
fi
if wanted arm; then
  emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
  if has aarch64-unknown-linux-gnu && [ -n "$emulator" ] && command -v aarch64-linux-gnu-gcc > /dev/null; then
    # Numbers first, what everything else rests on, and one whole layer. FRISSON_ARM_TESTS names others.
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
      CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator -L /usr/aarch64-linux-gnu" \
      cargo test --locked -p frisson --lib --target aarch64-unknown-linux-gnu -- ${FRISSON_ARM_TESTS:-math:: geometry:: layers::flesh stage::clock}
    echo "arm: tests pass under emulation"
  else
    echo "arm: SKIPPED: no target aarch64-unknown-linux-gnu, no linker or no emulator"
  fi
fi
