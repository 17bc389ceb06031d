"""Words of what is judged by answers, not by one text: of an engine, of failures, of two versions.

Their titles stand beside the code that finds them. What each asks for, why and how to mend it
stands here, for `rocefort explain`, docs/rules.md and the help in SARIF.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from rocefort.models.finding import Severity

ENGINE, SERVERS, ROLES = "the answers of a routing engine", "servers", "roles"
EXITS, POLICY, BATFISH = "exits", "security.policy", "a Batfish service"
FAILURES, LINKS, TWO = "a study of failures", "links", "two versions of the fabric"
ANSWERED_FAMILIES = {"CHG": "what a change does"}  # beside those of the rules on one network


@dataclass(frozen=True, slots=True)
class Words:
    """What a finding of such an id means. severity: of most of its findings."""

    severity: Severity
    explanation: str
    source: str
    needs: tuple[str, ...]


def _words(severity: Severity, source: str, needs: tuple[str, ...], text: str) -> Words:
    return Words(severity, inspect.cleandoc(text), source, needs)


def _error(source: str, needs: tuple[str, ...], text: str) -> Words:
    return _words(Severity.ERROR, source, needs, text)


BGP, MULTIPATH = "RFC 4271, 8 (when a session is established)", "RFC 7938, 6.1 (ECMP of a Clos)"
ROUTING: Mapping[str, Words] = {
    "BGP101": _error(
        BGP,
        (ENGINE,),
        """
        A session that stays down carries no route, and what it was for goes over the others or is
        lost. Compare addresses, AS numbers, passwords and «use of peer» at both ends. Where the
        engine knows the cause, the finding stands at the line that has it. If both ends match, an
        interface between them is down or in another subnet.
        """,
    ),
    "BGP102": _error(
        MULTIPATH,
        (ENGINE, ROLES),
        """
        A leaf that has a path less than it has spines and cables sends its share over the others,
        which are crowded the sooner. Look at sessions that are down, at «equal paths of BGP»,
        at AS numbers where spines have one each («equal paths over unlike ASNs»), and at the
        policies on the way. Where the far leaf keeps the prefix to itself, its «network» line, its
        interface or its policy is named.
        """,
    ),
    "BGP103": _error(
        MULTIPATH,
        (ENGINE, SERVERS),
        """
        RDMA of a server pair has to arrive by every equal path: a flow stays on the one that its
        hash chose, so one bad path of several stops some connections for good. Follow the path hop
        by hop: `rocefort trace FABRIC SOURCE DESTINATION`. Pairs that the policy denies are not
        meant. What stops many pairs is one finding, with how many there are.
        """,
    ),
    "BGP104": _error(
        "a choice: two engines that share no code check each other",
        (ENGINE, BATFISH),
        """
        The embedded engine and Batfish answer the same question differently, so one of the two is
        wrong about this fabric, and the answers of neither are to be trusted until it is known
        which. Report it with both answers. Where a tie between equal routes is broken arbitrarily,
        only how many routes are chosen is compared.
        """,
    ),
    "BGP105": _error(
        f"{MULTIPATH}; intent (exits)",
        (ENGINE, EXITS),
        """
        What intent lets in at an exit has to be known on every switch, over every border leaf that
        has it, and what it announces has to arrive outside. Otherwise traffic to the outside
        crowds one border leaf, or is lost. Look at the sessions of the exits, at import and export
        policies, at «network» lines and at «equal paths over unlike ASNs».
        """,
    ),
    "BGP106": _error(
        "RFC 7454 (BGP operations and security), 6; intent (exits)",
        (ENGINE, EXITS),
        """
        A route that comes in by mistake draws the fabric's traffic out, and one that goes out by
        mistake lets others in. The engine was shown a switch behind each exit that offers what is
        accepted and what must not be. Let in what `accepts` and `default` of the exit say, and out
        what `announces` says, by the policies of its session.
        """,
    ),
    "BGP107": _error(
        "a choice: one border leaf may fail; intent (exits)",
        (ENGINE, EXITS),
        """
        Where several border leaves give the fabric its default route, it has to outlive each one of
        them. If it does not, the others give it only as long as that one does, or not to all. Look
        at what they announce, and at the policies towards the spines.
        """,
    ),
    "SEC101": _error(
        "the fabric's security.policy",
        (ENGINE, SERVERS, POLICY),
        """
        Traffic between segments is asked of the engine as the policy names it, ACLs included: what
        is denied must not be delivered, and what is allowed must be. Compare the ACL of the
        sender's gateway with `security.policy`. RDMA that is allowed and does not arrive is
        BGP103's, whatever stops it.
        """,
    ),
}
FAILING: Mapping[str, Words] = {
    "BGP108": _error(
        "a choice: routing has to use what cabling leaves",
        (FAILURES, ROLES, SERVERS),
        """
        After one failure a leaf loses servers to which a cable still leads. So routing wastes the
        redundancy that was paid for: a session on the way that is left is missing, a policy stops
        the prefix, or an AS number is met twice. The first such failure is named, and how many
        others do the same.
        """,
    ),
    "BGP109": _error(
        f"{MULTIPATH}; a choice: as many paths as cabling leaves",
        (FAILURES, ROLES),
        """
        After one failure a leaf should keep every equal path that the cables still give. With
        fewer, the links that are left are crowded more than the failure makes necessary. Look for
        a session that is down, for «equal paths over unlike ASNs» and «equal paths of BGP».
        """,
    ),
    "DLK101": _error(
        "Hu et al., HotNets 2016 (deadlocks need a cyclic buffer dependency)",
        (FAILURES, LINKS),
        """
        After a failure packets may take a way up again after they came down. Then lossless buffers
        can wait for each other in a circle, and PFC stops them all for good. DLK001 asks the same
        of the whole fabric. Let leaves announce only their own prefixes, by an export policy, or
        let all spines share one AS.
        """,
    ),
}
ASKED_OF_BATFISH: Mapping[str, Words] = {
    "TXT101": _error(
        "Batfish, questions `fileParseStatus` and `initIssues`",
        (BATFISH,),
        """
        Batfish reads a translation of the text. A line of it that Batfish does not understand is
        missing from all of its answers, so they are about less than what ships. The finding stands
        at what the line was made from. It is a defect of the translation: report it.
        """,
    ),
    "TXT102": _error(
        "Batfish, question `undefinedReferences`",
        (BATFISH,),
        """
        A line names a policy, a list or an interface that is not defined. What a switch makes of
        that is not what was meant: an unknown policy may let everything through, or nothing.
        Define it, or remove the reference.
        """,
    ),
    "BGP110": _words(
        Severity.INFO,
        f"Batfish, question `bgpSessionCompatibility`; {BGP}",
        (BATFISH,),
        """
        Why a session cannot come up, in Batfish's view: no address or AS number of one end, or no
        session back. That it is down is BGP101's error. Compare addresses and AS numbers of both
        ends.
        """,
    ),
    "BGP111": _error(
        "Batfish, question `detectLoops`",
        (BATFISH,),
        """
        A packet that goes round ends when its TTL does; until then it takes the room of many, and
        in a lossless queue it can stop the switches that it goes round. Look at the static and
        default routes of the switches in the circle.
        """,
    ),
    "ADR101": _error(
        "Batfish, question `ipOwners`; RFC 791 (an address names one interface)",
        (BATFISH,),
        """
        Packets for an address that two interfaces have go now to one and now to the other. Give
        one of them another address. ADR001 asks the same of the intent and of servers.
        """,
    ),
    "SEC102": _error(
        "Batfish, question `filterLineReachability`",
        (BATFISH,),
        """
        A rule that no packet reaches does nothing, because earlier ones take all that it is for. It
        is an error where they do the opposite, and a warning where they do the same. Remove it, or
        put it before them.
        """,
    ),
    "TOP101": _error(
        "Batfish, question `layer3Edges`; «the vendor's reference», «MTU of a port»",
        (BATFISH,),
        """
        A packet that one end sends and the other is too small for is dropped without a word, and
        routers of the fabric do not fragment RoCE. Batfish tells which ends meet; the MTUs are
        ours, for it does not model them. Set one MTU at both ends.
        """,
    ),
}
CHANGING: Mapping[str, Words] = {
    "CHG101": _error(
        "a choice: a change loses no server pair by mistake",
        (ENGINE, SERVERS, TWO),
        """
        A pair that was delivered before the change no longer is. What stops it now is named where
        the engine knows. Undo that, or deny the pair by the policy: then the loss is meant, and is
        only told (info).
        """,
    ),
    "CHG102": _words(
        Severity.WARNING,
        "a choice: a change withdraws no route by mistake",
        (ENGINE, TWO),
        """
        A switch that both versions have loses a route, or has fewer equal paths to it than before.
        That may be meant, as where a leaf goes; otherwise look at the sessions, policies and
        «network» lines that the change touches.
        """,
    ),
    "CHG103": _words(
        Severity.INFO,
        "a choice: who reads a change is told what it opens",
        (ENGINE, SERVERS, TWO),
        """
        A pair is delivered that was not. That is told to who reads the change, for nothing else
        shows that an ACL was opened. See whether it is meant.
        """,
    ),
    "CHG201": _error(
        "a choice: growth changes a running switch only by added lines",
        (TWO,),
        """
        A line of a switch that was there goes, or moves, and growth must not do that: what runs
        would be taken away and set again under traffic. Something in the intent was changed beside
        the growth, or cannot grow as it is. Make that change first, by itself. No waiver covers it.
        """,
    ),
    "CHG202": _error(
        "a choice: the allow-list of growth",
        (TWO,),
        """
        A switch that is there may get interfaces, BGP peers, announced prefixes and members of
        prefix lists because others come, and nothing else. What else changes is named with its
        old and new value. Make that change first, by itself. No waiver covers it.
        """,
    ),
    "CHG203": _error(
        "a choice: addresses, names and ports are functions of permanent ids",
        (TWO,),
        """
        A cable, a server, a segment, an exit or a fact of a switch (its id, role, hardware, rack,
        release, management address) is not what it was. Growth moves nothing: keep ids, and pin
        what has to stay. No waiver covers it.
        """,
    ),
}
ANSWERS: Mapping[str, Words] = {**ROUTING, **FAILING, **ASKED_OF_BATFISH, **CHANGING}
