#!/usr/bin/env bash
# Build the distribution's oneTBB from its source package with the thread sanitizer.
#
#     tests/sanitize/thread_tbb.sh FOLDER     FOLDER/lib and FOLDER/include receive it
set -euo pipefail
folder=${1:?folder}
[[ ! -f $folder/lib/libtbb.so ]] || exit 0
mkdir -p "$folder/source" "$folder/lists/partial"
folder=$(cd "$folder" && pwd)

# The sources of the packages that the machine installs from; its own lists are left alone.
apt=(apt-get -o "Dir::Etc::sourceparts=-" -o "Dir::Etc::sourcelist=$folder/source.sources"
  -o "Dir::State::lists=$folder/lists")
cat /etc/apt/sources.list.d/*.sources | sed 's/^Types: deb$/Types: deb-src/' >"$folder/source.sources"
cd "$folder/source"
"${apt[@]}" update -qq
"${apt[@]}" source -qq --download-only onetbb
tar --strip-components=1 -xf onetbb_*.orig.tar.*
cmake -S . -B build -DTBB_TEST=OFF -DTBB_SANITIZE=thread -DTBB_STRICT=OFF \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib \
  -DTBBMALLOC_BUILD=OFF >build.log
cmake --build build -j "$(nproc)" >>build.log
cmake --install build >>build.log
