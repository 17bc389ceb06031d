"""Shell scripts for servers: probe, counters, stop and lock; the same for every server.

They need POSIX sh with grep, tr, uname, sleep and flock. They read /sys and /proc below
`ROCEFORT_ROOT`, which is empty except in a lab that keeps its servers in directories.
"""

from __future__ import annotations

from shlex import join

from rocefort.fleet.ssh_exec import RUN_MARK

PROGRAMS = ("numactl", "stdbuf", "iperf3", "fio", "mpirun", "rdma", "ethtool")
BUSY = 75  # EX_TEMPFAIL
HELD = "held"
KUBELETS = "kubelet|k3s-agent|k3s-server"
_KUBELET = f"""echo @kubelet; grep -lsxE '{KUBELETS}' "$R"/proc/[0-9]*/comm"""

_NODE = f"""
R=${{ROCEFORT_ROOT:-}}
echo @host; uname -n
{_KUBELET}
echo @end
"""

_PROBE = f"""
R=${{ROCEFORT_ROOT:-}}
echo @host; uname -n; cat "$R/proc/sys/kernel/random/boot_id" 2>/dev/null
echo @system; (. "$R/etc/os-release" && echo "$NAME $VERSION_ID") 2>/dev/null
{_KUBELET}
echo @gids
for gid in "$R"/sys/class/infiniband/*/ports/*/gids/*; do
  [ -e "$gid" ] || continue
  read -r value 2>/dev/null <"$gid" || continue
  [ "$value" = 0000:0000:0000:0000:0000:0000:0000:0000 ] && continue
  port=${{gid%/gids/*}}; index=${{gid##*/}}; device=${{port%/ports/*}}
  read -r kind 2>/dev/null <"$port/gid_attrs/types/$index" || continue
  read -r net 2>/dev/null <"$port/gid_attrs/ndevs/$index" || net=-
  echo "${{device##*/}} ${{port##*/}} $index $value $kind $net"
done
echo @devices
for device in "$R"/sys/class/infiniband/*; do
  [ -e "$device" ] || continue
  numa=-1; kind=-; version=-
  read -r numa 2>/dev/null <"$device/device/numa_node" || numa=-1
  read -r kind 2>/dev/null <"$device/hca_type" || kind=-
  read -r version 2>/dev/null <"$R/sys/module/mlx5_core/version" || version=-
  echo "${{device##*/}} $numa $kind $version"
done
echo @perftest; ib_write_bw --version 2>&1
echo @programs
for name in {" ".join(PROGRAMS)}; do command -v "$name" >/dev/null && echo "$name"; done
echo @end
"""

_COUNTERS = """
R=${ROCEFORT_ROOT:-}
echo @statistic; rdma statistic show 2>/dev/null
for net in $(cat "$R"/sys/class/infiniband/*/ports/*/gid_attrs/ndevs/* 2>/dev/null); do
  case " $seen " in *" $net "*) continue ;; esac
  seen="$seen $net"
  echo "@ethtool $net"; ethtool -S "$net" 2>/dev/null
done
echo @end
"""

# Processes with another root belong to another server.
_STOP = f"""
ours() {{
  files=$(grep -lsF '{RUN_MARK}=' /proc/[0-9]*/environ)
  [ -z "$files" ] || [ -z "${{ROCEFORT_ROOT:-}}" ] ||
    files=$(grep -lszxF "ROCEFORT_ROOT=$ROCEFORT_ROOT" $files)
  for file in $files; do pid=${{file#/proc/}}; echo "${{pid%/environ}}"; done
}}
ended=
for pid in $(ours); do
  what=$(tr '\\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")
  kill -TERM "$pid" 2>/dev/null && echo "$pid $what" && ended=yes
done
[ -n "$ended" ] || exit 0
for again in 1 2 3 4 5 6 7 8 9 10; do [ -z "$(ours)" ] && exit 0; sleep 0.2; done
for pid in $(ours); do kill -KILL "$pid" 2>/dev/null; done
sleep 0.2
[ -z "$(ours)" ] || {{ echo "left: $(ours)" >&2; exit 1; }}
"""

_HOLD = (
    f'exec flock -n -E {BUSY} "${{ROCEFORT_ROOT:-}}/tmp/rocefort-rdma.lock" '
    f'sh -c "echo {HELD}; exec sleep 86400"'
)

# As command lines, ready for a server's shell.
PROBE, NODE, COUNTERS, STOP, HOLD = (
    join(("sh", "-c", text.strip())) for text in (_PROBE, _NODE, _COUNTERS, _STOP, _HOLD)
)
EVERY = (PROBE, NODE, COUNTERS, STOP, HOLD)
