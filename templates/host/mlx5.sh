# mlx5 only: mlnx_qos and the ecn directory come with NVIDIA's MLNX_OFED and DOCA.
read_dcbx() { mlnx_qos -i "$1" | sed -n 's/^DCBX mode: *//p'; }
read_trust() { mlnx_qos -i "$1" | sed -n 's/^Priority trust state: *//p'; }
read_paused() {
  mlnx_qos -i "$1" | awk '/^PFC configuration/ { on = 1 }
    on && $1 == "enabled" { for (i = 2; i <= NF; i++) printf "%s%s", (i > 2 ? "," : ""), $i; exit }'
}
read_priority() {
  mlnx_qos -i "$1" | awk -v d="$2" '$1 ~ /^prio:/ && $2 ~ /^dscp:/ {
      n = split(substr($2, 6), list, ",")
      for (i = 1; i <= n; i++) if (list[i] != "" && list[i] + 0 == d) print substr($1, 6)
    }'
}
put_dcbx() { mlnx_qos -i "$1" --dcbx os; }
put_trust() { mlnx_qos -i "$1" --trust "$2"; }
put_paused() { mlnx_qos -i "$1" --pfc "$2"; }
put_priority() { mlnx_qos -i "$1" --dscp2prio "set,$2,$3"; }

set_priorities() {
  if ! has_tool mlnx_qos; then
    fail "mlnx_qos is not there: trust, dscp2prio and PFC of $1 are left as they are"
    return 0
  fi
  if ! mlnx_qos -i "$1" >/dev/null 2>&1; then
    fail "mlnx_qos knows nothing of $1: trust, dscp2prio and PFC are left as they are"
    return 0
  fi
  if [ -n "$(read_dcbx "$1")" ]; then # else firmware may take PFC from the switch's DCBX
    ensure "DCBX of $1" 'OS controlled' read_dcbx put_dcbx "$1"
  fi
  ensure "trust of $1" dscp read_trust put_trust "$1"
{% for dscp, priority in plan.nic.priorities | dictsort %}
  ensure "priority of DSCP {{ dscp }} on $1" {{ priority }} read_priority put_priority "$1" {{ dscp }}
{% endfor %}
  ensure "PFC of $1" {{ plan.nic.paused | eight }} read_paused put_paused "$1"
}

set_dcqcn() {
  local at=$NET/$1/ecn
{% set files = plan.nic.switches + plan.nic.parameters %}
  if [ ! -d "$at" ]; then
    fail "$1 has no $at (the maker's mlx5 driver has): DCQCN and CNPs are left as they are"
    return 0
  fi
{% for file in files %}
  ensure_file "{{ file.path }} of $1" "$at"/{{ file.path }} {{ file.value }}
{% endfor %}
}
