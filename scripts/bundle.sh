#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes a folder that runs on any x86-64 Linux with a glibc as new as this machine's: smeff, and beside it the
# libraries that it is linked with (NVIDIA's are never among them). Also as a tarball for a release.
#   scripts/bundle.sh [FOLDER]     default: bundle/
set -euo pipefail
root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/..
root=$(readlink -f "$root")
out=${1:-$root/bundle}
build=${SMEFF_BUILD:-$root/build/bundle}
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON \
    -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON -DCMAKE_BUILD_RPATH='$ORIGIN/lib' -DCMAKE_EXE_LINKER_FLAGS='-Wl,--disable-new-dtags' >/dev/null
cmake --build "$build" --target smeff >/dev/null
rm -rf "$out" && mkdir -p "$out/lib"
objcopy --strip-debug "$build/smeff" "$out/smeff"
# These are loaded by their names when they are wanted: to ask a server, to serve by HTTP, for its users' passwords.
loaded=()
for name in libcurl.so.4 libmicrohttpd.so.12 libcrypt.so.1; do
    lib=$(gcc -print-file-name="$name")
    [[ -e $lib ]] || lib=$(ldconfig -p | awk -v name="$name" '$1 == name && !n++ { print $NF }')
    [[ -z $lib ]] || loaded+=("$name" "$lib")
done
# Everything but glibc itself, which must be the target's own.
{
    ldd "$build/smeff"
    for ((i = 0; i < ${#loaded[@]}; i += 2)); do
        ldd "${loaded[i + 1]}"
        printf '\t%s => %s\n' "${loaded[i]}" "${loaded[i + 1]}"
    done
} | awk '$2 == "=>" { print $3 }' | sort -u | while read -r lib; do
    case ${lib##*/} in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux*) ;;
    *) cp -L "$lib" "$out/lib/" ;;
    esac
done
cp "$root/LICENSE" "$root/README.md" "$out/"
mkdir -p "$out/man" "$out/data" && cp "$root"/man/* "$out/man/" && cp -r "$root/data/h200" "$out/data/"
tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
"$out/smeff" --version
du -sh "$out" "$out.tar.gz" | awk '{print $2 ": " $1}'
