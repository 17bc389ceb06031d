address_of() { ip -o -4 addr show | awk -v i="$1" '$2 == i && !n++ { print $4 }'; }
add_address() { ip address add "$2" dev "$1"; }

interface='' # that has the address
members=''   # the ports below it: itself, or those of a bond

# find_interface ADDRESS/LENGTH NAME|-: the named one, otherwise the one that has the address.
find_interface() {
  local wanted=$1 found other
  if ! has_tool ip; then
    fail 'ip is not there: no interface can be found; install iproute2'
    return 1
  fi
  interface=$2
  found=$(ip -o -4 addr show | awk -v a="${wanted%/*}" '{ split($4, p, "/"); if (p[1] == a) print $2, $4 }')
  if [ "$interface" = - ]; then
    interface=${found%% *}
    if [ -z "$interface" ]; then
      fail "no interface has ${wanted%/*}: give it to one, or name it (servers.host.interfaces)"
      return 1
    fi
  elif [ ! -d "$NET/$interface" ]; then
    fail "there is no interface $interface: correct servers.host.interfaces"
    return 1
  elif [ -z "$found" ]; then
    other=$(address_of "$interface")
    if [ -n "$other" ]; then # other hosts may use that address
      fail "$interface has $other, and not $wanted: give it that, or correct servers.host.interfaces"
      return 1
    fi
    ensure "address of $interface" "$wanted" address_of add_address "$interface"
  elif [ "${found%% *}" != "$interface" ]; then
    fail "${found%% *} has $wanted, which belongs to $interface: move it"
    return 1
  fi
  if [ -n "$found" ] && [ "${found##* }" != "$wanted" ]; then
    fail "$interface has ${found##* }, and its segment needs $wanted"
  fi
  members=$interface
  if [ -d "$NET/$interface/bonding" ]; then
    members=$(read_file "$NET/$interface/bonding/slaves") || members=''
  fi
}

read_option() { # the word without the number behind it: `802.3ad 4`
  local text
  text=$(read_file "$1") || return 1
  printf '%s' "${text%% *}"
}

ensure_option() { ensure "$1" "$3" read_option write_file "$2"; }

is_bond() { # NAME MODE
  local mode
  if ! mode=$(read_option "$NET/$1/bonding/mode"); then
    fail "$1 is no bond: name the ports of one (servers.host.interfaces)"
    return 1
  fi
  if [ "$mode" != "$2" ]; then
    fail "$1 is a bond of mode $mode, not $2: a bond keeps its mode while it has ports"
    return 1
  fi
}

# set_bond MODE HASH RATE|- LINKS MILLISECONDS
set_bond() {
  local at=$NET/$interface/bonding
  is_bond "$interface" "$1" || return 1
  ensure_option "hash of $interface" "$at/xmit_hash_policy" "$2"
  if [ "$3" != - ]; then
    ensure_option "LACP rate of $interface (Linux sets it while the bond is down)" "$at/lacp_rate" "$3"
  fi
  ensure_option "least links of $interface" "$at/min_links" "$4"
  ensure_option "link check of $interface, ms" "$at/miimon" "$5"
}

bond_mode() { [ ! -d "$NET/$1/bonding" ] || read_option "$NET/$1/bonding/mode"; }
add_bond() { # NAME RATE|- MODE
  if [ "$2" = - ]; then
    ip link add "$1" type bond mode "$3" || return 1
  else
    ip link add "$1" type bond mode "$3" lacp_rate "$2" || return 1
  fi
  ip link set dev "$1" up
}

bond_of() { # the bond that a port belongs to
  if [ ! -d "$NET/$1" ]; then return 1; fi
  [ ! -L "$NET/$1/master" ] || basename "$(readlink "$NET/$1/master")"
}
enslave() { ip link set dev "$1" down && ip link set dev "$1" master "$2" && ip link set dev "$1" up; }

users_of() { # users of a port: a bond, a bridge, a VLAN
  local link
  for link in "$NET/$1/master" "$NET/$1"/upper_*; do
    [ ! -L "$link" ] || basename "$(readlink "$link")"
  done
}

# may_join PORT BOND: not where the port is in use, because a port of a bond carries nothing else.
may_join() {
  local user address
  for user in $(users_of "$1"); do
    [ "$user" != "$2" ] || return 0
    fail "$1 belongs to $user, and cannot join $2: take it out of $user first"
    return 1
  done
  address=$(address_of "$1")
  if [ -n "$address" ]; then
    fail "$1 has $address, which would be cut off in $2: take it off the port first"
    return 1
  fi
}

# make_bond NAME MODE RATE|- PORT...: all of it, or none where one of the ports is in use
make_bond() {
  local name=$1 mode=$2 rate=$3 port
  shift 3
  if ! has_tool ip; then return 0; fi
  for port in "$@"; do
    may_join "$port" "$name" || return 1
  done
  if [ -d "$NET/$name" ]; then
    is_bond "$name" "$mode" || return 1
  else
    ensure "bond $name" "$mode" bond_mode add_bond "$name" "$rate"
    if [ "$apply" -eq 1 ] && [ ! -d "$NET/$name" ]; then return 1; fi
  fi
  for port in "$@"; do
    if [ -d "$NET/$port" ]; then
      ensure "bond of $port" "$name" bond_of enslave "$port"
    else
      fail "there is no interface $port: correct servers.host.interfaces"
    fi
  done
}
