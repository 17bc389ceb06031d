# Queue discipline of a port; of one with several queues (mq), that of its queues.
read_qdisc() {
  text=$(tc qdisc show dev "$1") || return $?
  printf '%s\n' "$text" | awk '$1 == "qdisc" && $2 !~ /^(mq|ingress|clsact)$/ && !seen[$2]++ {
      printf "%s%s", (n++ ? "," : ""), $2
    }'
}
