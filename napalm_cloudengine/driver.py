"""NAPALM driver for Huawei CloudEngine: candidate, trial commit, confirm, and getters.

Steps of a change: `load_merge_candidate` -> `compare_config` (the device's own diff) ->
`commit_config(revert_in=600)` (`commit trial`) -> checks -> `confirm_commit` or `abort_commit` ->
`save_config`. The state of a change is on the switch, not in this class: every step reads it from
there. Nothing is saved unless `save_config` is called.

`dialogue.py` exchanges lines with the switch, `changing.py` has the candidate and its commit,
`trials.py` confirms and aborts trials, `reading.py` has the getters.
"""

from napalm.base.base import NetworkDriver

from napalm_cloudengine.reading import StateReader
from napalm_cloudengine.trials import Trials


class CloudEngineDriver(Trials, StateReader, NetworkDriver):  # type: ignore[misc]  # napalm is untyped
    """A CloudEngine switch (VRP8 V200, YunShan OS V300) in two-stage configuration mode.

    `timeout`: longest silence of the switch, in seconds. ValueError on wrong options.

    `optional_args`, besides the options of Netmiko's connection (`port`, `key_file`, `keepalive`,
    ..):

    - `name`: name of the switch in messages; the default is its address. A failed connection is
      always reported with address and port, because these have to be checked.
    - `ssh_known_hosts` (or `alt_key_file`): the known_hosts file; the default is the user's own. An
      unknown or changed host key is always refused; `ssh_strict` cannot be turned off.
    - `answers`: mapping of regular expression -> answer, before the default table of questions (see
      `answers.py`). A question that matches no row is answered no, and fails the call.
    - `commit_timeout_s`: longest silence during a commit, a rollback or a save (180).
    - `reply_timeout_s`: longest time of a whole reply (600); `timeout` bounds the whole login.
    - `persist_id`: id of the trials, so that a later session with the same id confirms or aborts
      them. Where the release does not support `persist`, the trial has no id; `trial_status` shows
      it.
    - `patcher`: a function of the running and the intended configuration, or its name
      `module:function`, which returns the commands between them; `load_replace_candidate` needs it.
    """

    platform = "cloudengine"  # as in NAPALM's own drivers; its tests require it
