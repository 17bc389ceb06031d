# The driver shows `Global tclass=138`; a plain file, in a trial, the number that was written.
read_tclass() { sed -n 's/^Global tclass=//; /^[0-9]/ { p; q; }' "$1"; }

# set_roce DEVICE|- CLASS: RoCE v2 as default, and the traffic class of connections that set none.
set_roce() {
  local device=$1 class=$2 first at
  first=${members%% *}
  if [ "$device" = - ]; then
    device=$(cd "$NET/${first:-?}/device/infiniband" 2>/dev/null && set -- * && printf '%s' "$1") || device=''
    for at in "$ROOT"/sys/class/infiniband/*/parent; do # Soft-RoCE is below no port, and names it
      if [ -z "$device" ] && [ "$(cat "$at" 2>/dev/null)" = "${first:-?}" ]; then
        at=${at%/parent}
        device=${at##*/}
      fi
    done
  fi
  if [ -z "$device" ] || [ ! -d "$ROOT/sys/class/infiniband/$device" ]; then
    fail "there is no RDMA device ${device:-of ${first:-any port}}: load the NIC's RDMA driver"
    return 0
  fi
  at=$ROOT/sys/kernel/config/rdma_cm
  if [ ! -d "$at" ]; then
    fail "no $at: load rdma_cm, and mount configfs; the RoCE mode is left as it is"
  elif [ ! -d "$at/$device" ] && [ "$apply" -eq 0 ]; then
    # The kernel shows the two only in a directory that a user creates; a dry run creates nothing.
    differing=$((differing + 1))
    say "RoCE mode and class of $device: not shown -> RoCE v2, $class"
  elif [ ! -d "$at/$device" ] && ! mkdir "$at/$device" 2>/dev/null; then
    fail "$at/$device cannot be made: the RoCE mode is left as it is"
  else
    at=$at/$device/ports/1
    ensure_file "RoCE mode of $device" "$at/default_roce_mode" 'RoCE v2'
    ensure_file "connection class of $device (cma_roce_tos)" "$at/default_roce_tos" "$class"
  fi
{% if plan.nic is not none %}
  at=$ROOT/sys/class/infiniband/$device/tc/1/traffic_class
  if [ -e "$at" ]; then # mlx5 of MLNX_OFED and DOCA alone
    ensure "traffic class of $device" "$class" read_tclass write_file "$at"
  else
    fail "$device has no tc/1/traffic_class (the maker's mlx5 driver has): applications must name $class"
  fi
{% endif %}
}
