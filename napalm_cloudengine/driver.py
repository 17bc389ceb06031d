"""The NAPALM driver for Huawei CloudEngine: candidate, trial commit, confirm, and what it reads.

A change goes: `load_merge_candidate` -> `compare_config` (the device's own diff) ->
`commit_config(revert_in=600)` (`commit trial`) -> checks -> `confirm_commit` or `abort_commit` ->
`save_config`. The switch, not this class, knows where a change stands: every step asks it.
Nothing is saved unless `save_config` is called.

`dialogue.py` talks, `changing.py` has the candidate and its commit, `trials.py` what becomes of a
trial, `reading.py` the getters.
"""

from napalm.base.base import NetworkDriver

from napalm_cloudengine.reading import StateReader
from napalm_cloudengine.trials import Trials


class CloudEngineDriver(Trials, StateReader, NetworkDriver):  # type: ignore[misc]  # napalm is untyped
    """A CloudEngine switch (VRP8 V200, YunShan OS V300) in two-stage configuration mode.

    `timeout`: longest silence of the switch, in seconds. ValueError on wrong options.

    `optional_args`, besides what Netmiko's connection takes (`port`, `key_file`, `keepalive`, ..):

    - `name`: what messages call the switch; without it its address. A connection that fails is
      always told with address and port, which are what to look at then.
    - `ssh_known_hosts` (or `alt_key_file`): the known_hosts file; without it the user's own. An
      unknown or changed host key is always refused; `ssh_strict` cannot be turned off.
    - `answers`: mapping of regular expression -> answer, before the default table of questions
      (see `answers.py`). A question that no row fits is answered no, and fails the call.
    - `commit_timeout_s`: longest silence during a commit, a rollback or a save (180).
    - `persist_id`: trials carry this id, so that a later session with the same id confirms or
      aborts them. Where the release does not know `persist`, the trial is a plain one;
      `trial_status` tells.
    - `patcher`: a function of running and wanted configuration, or its name `module:function`,
      which returns the commands that lead from one to the other; `load_replace_candidate` needs it.
    """

    platform = "cloudengine"  # as NAPALM's own drivers have it, and its tests ask for
