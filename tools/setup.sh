#!/usr/bin/env bash
# Install what the build and the tests need on a Debian or Ubuntu machine.
#
# System libraries come from the distribution; Arrow, LibTorch, Meson and the checkers come
# from wheels in .venv beside the build, and what the report is drawn with from npm into
# .venv/node. Nothing else is written. A second call finds everything in place and installs
# nothing.
#
#     tools/setup.sh            takes no arguments
#     tools/setup.sh --help     this text
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($#)); then
  if [[ $1 == -h || $1 == --help ]]; then
    sed -n '2,/^set /{s/^# \{0,1\}//p}' tools/setup.sh
    exit 0
  fi
  echo "setup: unknown argument '$1'; tools/setup.sh takes none" >&2
  exit 2
fi

packages=(
  g++ pkg-config ninja-build python3 python3-venv
  libtbb-dev libboost-program-options-dev nlohmann-json3-dev libxxhash-dev robin-map-dev
  libgtest-dev librapidcheck-dev libbenchmark-dev libgloo-dev
  chromium chromium-driver
)
# An npm from elsewhere than the distribution will do.
command -v npm >/dev/null || packages+=(nodejs npm)
requirements=tools/requirements.txt
stamp=.venv/.installed-requirements

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $state == ii* ]] || missing+=("$package")
done
# A python3 from elsewhere than the distribution brings its own venv module.
if python3 -m venv --help >/dev/null 2>&1 && python3 -m ensurepip --version >/dev/null 2>&1; then
  kept=()
  for package in "${missing[@]}"; do
    [[ $package == python3 || $package == python3-venv ]] || kept+=("$package")
  done
  missing=("${kept[@]}")
fi

if ((${#missing[@]})); then
  echo "setup: installing system packages: ${missing[*]}" >&2
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
else
  echo "setup: system packages are in place" >&2
fi

if [[ -f $stamp ]] && cmp -s "$requirements" "$stamp"; then
  echo "setup: .venv is in place" >&2
else
  echo "setup: installing into .venv: $(grep -v '^#' "$requirements" | tr '\n' ' ')" >&2
  [[ -x .venv/bin/python ]] || python3 -m venv .venv
  .venv/bin/python -m pip install -qq --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$stamp"
fi

node=.venv/node
if cmp -s tools/package.json "$node/package.json" &&
  cmp -s tools/package-lock.json "$node/package-lock.json" && [[ -f $node/.installed ]]; then
  echo "setup: .venv/node is in place" >&2
else
  echo "setup: installing into .venv/node: $(sed -n 's/.*"dependencies": { \(.*\) }.*/\1/p' tools/package.json)" >&2
  mkdir -p "$node"
  rm -f "$node/.installed"
  cp tools/package.json tools/package-lock.json "$node"
  (cd "$node" && npm ci --cache .cache --ignore-scripts --no-audit --no-fund \
    --no-update-notifier --loglevel=error >/dev/null)
  rm -rf "$node/.cache"
  touch "$node/.installed"
fi
