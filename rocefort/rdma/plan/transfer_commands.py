"""Command lines of transfers: iperf, lftp with ProFTPD, rsync with its daemon, and scp.

The client sends files of zeros, which take no space, to a directory of the server; each end removes
its own directory, also that of a run that was killed. A daemon needs no login and no key; scp uses
the login and the keys of the user that runs it.

Source: manual pages of iperf 2.1.8, lftp 4.9.2, rsync, OpenSSH 9.2 and ProFTPD 1.3.8.
"""

from __future__ import annotations

from shlex import quote
from typing import Literal

from rocefort.base.errors import BadInput
from rocefort.rdma.rdma_plan import Program, RdmaRun, TransferJob

Side = Literal["client", "server"]
PARALLEL = 8  # connections of lftp for several files; assumed
# No file of the machine is read or written: neither logs, nor lists of users, nor a scoreboard.
PROFTPD = """\
ServerType standalone
DefaultAddress {address}
SocketBindTight on
Port {port}
UseIPv6 off
User $user
Group $group
AuthOrder mod_auth_unix.c
UseFtpUsers off
RequireValidShell off
PidFile $at/pid
ScoreboardFile none
DelayEngine off
WtmpLog off
SystemLog none
UseReverseDNS off
<Anonymous $at/in>
User $user
Group $group
UserAlias anonymous $user
RequireValidShell off
</Anonymous>
"""
RSYNCD = """\
port = {port}
address = {address}
use chroot = no
$identity
[in]
path = $at/in
read only = no
"""
DAEMONS = {
    Program.LFTP: (PROFTPD, 'proftpd -n -c "$at/conf"'),
    Program.RSYNC: (RSYNCD, 'rsync --daemon --no-detach --config="$at/conf"'),
}
# The daemon of root serves as the user without rights (65534), that of a user as the user.
SERVE = """\
PATH=$PATH:/usr/sbin at={at}
rm -rf "$at" && mkdir -m 755 "$at" && mkdir -m 777 "$at/in" || exit 1
trap 'kill "$pid"; rm -rf "$at"' EXIT
trap 'exit 1' HUP INT TERM
user=$(id -un) group=$(id -gn) identity=
if [ "$(id -u)" = 0 ]; then
  user=$(awk -F: '$3 == 65534 {{ print $1; exit }}' /etc/passwd)
  group=$(awk -F: '$3 == 65534 {{ print $1; exit }}' /etc/group)
  identity="uid = $user
gid = $group"
fi
cat >"$at/conf" <<END
{conf}END
{daemon} & pid=$!
wait "$pid"
"""
SEND = """\
at={at}
rm -rf "$at" && mkdir -m 755 "$at" "$at/files" && cd "$at" || exit 1
trap 'rm -rf "$at"' EXIT
trap 'exit 1' HUP INT TERM
n=0
while [ $n -lt {files} ]; do n=$((n + 1)); truncate -s {each} files/$n || exit 1; done
{send}
"""
SCP = """\
to=$(ssh -o BatchMode=yes {address} 'mktemp -d {directory}/rocefort.XXXXXX') || exit 1
scp -v -o BatchMode=yes -r files {address}:"$to"
code=$?
ssh -o BatchMode=yes {address} "rm -rf '$to'"
exit $code"""


def transfer_argv(run: RdmaRun, side: Side) -> tuple[str, ...]:
    """Return the command of one end; raises BadInput for a program that is only read."""
    if run.transfer is None or run.program.is_only_read:
        raise BadInput(
            f"{run.program} is not run",
            how="it is not in Debian: judge outputs that you kept, with `rdma judge`",
        )
    if run.program is Program.IPERF:
        return _iperf(run, run.transfer, side)
    if side == "server":
        conf, daemon = DAEMONS[run.program]
        ends = {"address": run.server_address, "port": run.port}
        text = SERVE.format(at=_own_directory(run, side), conf=conf.format(**ends), daemon=daemon)
    else:
        job = run.transfer
        text = SEND.format(
            at=_own_directory(run, side),
            files=job.files,
            each=job.total_bytes // job.files,
            send=_send(run, job),
        )
    return ("sh", "-c", text)


def _own_directory(run: RdmaRun, side: Side) -> str:
    """Directory of one end; a port has one run."""
    job = run.transfer
    return quote(f"{job.directory if job else ''}/rocefort-{run.program}-{run.port}-{side}")


def _iperf(run: RdmaRun, job: TransferJob, side: Side) -> tuple[str, ...]:
    window = () if job.window_bytes is None else ("-w", str(job.window_bytes))
    ends = ("-p", str(run.port), *window)
    if side == "server":
        return ("iperf", "-s", "-B", run.server_address, *ends, "-P", "1")
    load = ("-t", str(run.duration_s), "-i", "1", "-f", "b")
    return ("iperf", "-c", run.server_address, *ends, *load)


def _send(run: RdmaRun, job: TransferJob) -> str:
    address, port = run.server_address, run.port
    if run.program is Program.LFTP:
        several = f"--parallel={PARALLEL} " if job.files > 1 else ""
        words = (
            "set cmd:verbose yes; set net:max-retries 1; "
            f"open -u anonymous,rocefort -p {port} {address}; mirror -R {several}files ."
        )
        return f"lftp -c {quote(words)}"
    if run.program is Program.RSYNC:
        return f"rsync --stats --whole-file -r files rsync://{address}:{port}/in/"
    return SCP.format(address=address, directory=job.directory)
