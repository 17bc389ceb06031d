{% if plan.governor %}
set_governor() {
  local file seen=0
  for file in "$ROOT"/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do
    if [ -e "$file" ]; then
      seen=1
      ensure_file "governor of $(basename "${file%/cpufreq/*}")" "$file" "$1"
    fi
  done
  [ "$seen" -eq 1 ] || say 'this machine does not let Linux set CPU frequencies; left as they are'
}

{% endif %}
{% if plan.rings %}
# ring_of SECTION PORT rx|tx, as ethtool prints it
ring_of() {
  ethtool -g "$2" | awk -v s="$1" -v r="$3" '
    /^Pre-set maximums:/ { at = "maximum" } /^Current hardware settings:/ { at = "now" }
    at == s && tolower($1) == r ":" && $2 ~ /^[0-9]+$/ { print $2; found = 1; exit }
    END { exit !found }'
}
ring_now() { ring_of now "$@"; }
put_ring() { ethtool -G "$1" "$2" "$3"; }

# set_ring PORT rx|tx SIZE
set_ring() {
  local wanted=$3 most
  if ! has_tool ethtool; then
    fail "ethtool is not there: the $2 ring of $1 is left as it is"
    return 0
  fi
  if ! most=$(ring_of maximum "$1" "$2" 2>/dev/null); then
    fail "ethtool does not show the $2 ring of $1"
    return 0
  fi
  [ "$most" -ge "$wanted" ] || wanted=$most
  ensure "$2 ring of $1" "$wanted" ring_now put_ring "$1" "$2"
}

{% endif %}
{% if plan.interrupts %}
# read_affinity FILE CPUS: its CPUs, or CPUS where all of them are among those.
read_affinity() {
  local has
  has=$(read_file "$1") || return 1
  awk -v has="$has" -v node="$2" '
    function add(list, set,   n, i, part, ends, cpu, last) {
      n = split(list, part, ",")
      for (i = 1; i <= n; i++) {
        last = split(part[i], ends, "-") > 1 ? ends[2] : ends[1]
        for (cpu = ends[1] + 0; cpu <= last + 0; cpu++) set[cpu] = 1
      }
    }
    BEGIN {
      add(has, all)
      add(node, near)
      for (cpu in all) if (!(cpu in near)) far = 1
      print far ? has : node
    }'
}
put_affinity() { write_file "$1" "$3"; }

set_interrupts() {
  local at=$NET/$1/device node cpus irq
  if ! node=$(read_file "$at/numa_node") || [ "$node" -lt 0 ]; then
    say "$1 belongs to no NUMA node; its interrupts are left as they are"
    return 0
  fi
  if ! cpus=$(read_file "$ROOT/sys/devices/system/node/node$node/cpulist"); then
    fail "the CPUs of node $node cannot be read: the interrupts of $1 are left as they are"
    return 0
  fi
  for irq in "$at"/msi_irqs/*; do
    irq=${irq##*/}
    if [ -e "$ROOT/proc/irq/$irq/smp_affinity_list" ]; then
      ensure "CPUs of interrupt $irq of $1" "$cpus" read_affinity put_affinity \
        "$ROOT/proc/irq/$irq/smp_affinity_list" "$cpus"
    fi
  done
}
{% endif %}
{% if plan.qdisc %}
{% include "qdisc.sh" %}

# The queues of mq take net.core.default_qdisc when it is added; a port of one queue has no mq.
put_qdisc() {
  tc qdisc del dev "$1" root 2>/dev/null || true # fails where the kernel's own is in place
  tc qdisc add dev "$1" root mq 2>/dev/null || tc qdisc add dev "$1" root "$2"
}
set_qdisc() {
  if has_tool tc; then
    ensure "queue discipline of $1" "$2" read_qdisc put_qdisc "$1"
  else
    fail "tc is not there: the queue discipline of $1 is left as it is"
  fi
}
{% endif %}
