#!/bin/sh
# First and only process of a Soft-RoCE guest. Its parameters come from the kernel's
# command line: rocefort.name, .address, .gateway, .mtu, .nic (all of the fabric), .management.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for place in /dev/shm /tmp /run /var/run; do mount -t tmpfs tmpfs "$place"; done
ulimit -l unlimited

given() {
  for word in $(cat /proc/cmdline); do
    case $word in "rocefort.$1="*) echo "${word#*=}" ;; esac
  done
}
failed() {
  echo "ROCEFORT-FAILED $1"
  while :; do sleep 3600; done
}
needed() { "$@" || failed "$*"; }

needed modprobe -a virtio_pci virtio_net virtio_rng crc32_generic rdma_rxe ib_uverbs rdma_ucm
mount -t configfs configfs /sys/kernel/config
hostname "$(given name)"
needed ip link set lo up

# The lab's own access, outside the fabric: a fault there causes no lockout.
needed ip link set eth1 name management
needed ip address add "$(given management)" dev management
needed ip link set management up

nic=$(given nic)
[ "$nic" = eth0 ] || needed ip link set eth0 name "$nic"
needed ip link set "$nic" mtu "$(given mtu)" up
needed ip address add "$(given address)" dev "$nic"
[ -z "$(given gateway)" ] || needed ip route add default via "$(given gateway)"
needed rdma link add rxe0 type rxe netdev "$nic"

at=$(given management)
fabric=$(given address)
[ -x /usr/bin/scp ] || fabric= # only scp logs in over the fabric
needed dropbear -E -s -j -k -p "${at%/*}:22" ${fabric:+-p "${fabric%/*}:22"} 2>/run/dropbear.log
echo "ROCEFORT-READY $(cut -d' ' -f1 /proc/uptime)"
while :; do sleep 3600; done
