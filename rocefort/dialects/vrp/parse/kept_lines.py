"""Lines that no model has, as they are kept and as messages show them.

A kept line is compared and written again, so only the forms of secrets that VRP has are masked in
it. A line of no known command may contain a secret in any form: a message shows it in part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from napalm_cloudengine.masking import ENDS_IN_FORM, REST, cut_at_secret_word, ends_before_secret
from rocefort.dialects.vrp.commands.unmodelled import command_of
from rocefort.dialects.vrp.text.secrets import masked_text
from rocefort.models.device.secret import PLACEHOLDER
from rocefort.models.network.network import TextLine

Path = tuple[str, ...]


def kept_lines(seen: Mapping[int, tuple[Path, str]], numbers: Iterable[int]) -> Iterator[TextLine]:
    """Yield lines by their numbers; seen: every line of the text with the views around it."""
    rests: set[Path] = set()  # of wrapped lines
    for number in sorted(numbers):
        whole = _whole(*seen[number])
        kept = tuple(map(masked_text, whole))
        if number - 1 in seen and _is_wrapped(_whole(*seen[number - 1])):
            rests.add(whole)
        heads = [whole[: depth + 1] for depth in range(len(whole))]
        shown = tuple(REST if head in rests else _shown(head) for head in heads)
        yield TextLine(kept[:-1], kept[-1], number, shown=() if shown == kept else shown)


def _whole(path: Path, line: str) -> Path:
    return (*path, line)


def _shown(whole: Path) -> str:
    """Return a line, given as its views and itself, without what may be a secret."""
    if len(whole) > 1 and _is_wrapped(whole[:-1]):
        return REST
    kept = masked_text(whole[-1])
    cut = kept if PLACEHOLDER.search(kept) else cut_at_secret_word(kept)
    return cut if cut != kept and _is_unknown(whole) else kept


def _is_wrapped(whole: Path) -> bool:
    """Whether a line ends before its secret, so that the next line may be that."""
    if ENDS_IN_FORM.search(whole[-1]):  # `password simple` alone has the password `simple`
        return True
    return ends_before_secret(whole[-1]) and _is_unknown(whole)


def _is_unknown(whole: Path) -> bool:
    return not command_of(TextLine(whole[:-1], whole[-1], 0))
