"""Hardware: optical modules with their power, fans, power supplies and temperatures.

A display of V200 has fewer columns than that of V300; both are read by the names of their columns.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from napalm_cloudengine.displays.lines import DisplayAnswer, Rows, UnreadLine, is_interface
from napalm_cloudengine.displays.table import REFERENCE, DisplayTable, Form, Row

_V200_SOURCE = "outputs of V200 switches that the public driver napalm-ce is tested with"

OPTICS_COMMAND = "display interface transceiver brief"
OPTICS_SOURCE = REFERENCE.format("display interface transceiver")
_MODULE = "{} transceiver diagnostic information:"
_MODULE_LINE = re.compile(r"(\S+) transceiver diagnostic information:?")
_OPTICS_RULE = "-" * 67
_LABELS = {
    "Temperature (Celsius)": "temperature",
    "Voltage (V)": "voltage",
    "Bias Current (mA)": "bias",
    "Current RX Power (dBm)": "rx_power",
    "Current TX Power (dBm)": "tx_power",
}
LANES = ("bias", "rx_power", "tx_power")
_NUMBER_OR_NONE = re.compile(r"--?|-?\d+(?:\.\d+)?", re.ASCII)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_LANES_OF = re.compile(r"\(Lane\d+(?:\|Lane\d+)*\)", re.ASCII | re.IGNORECASE)


def read_optics(shown: DisplayAnswer) -> Rows[Row]:
    """Read each optical module: `interface`, and values by lane; none where `-` is shown.

    Raises UnreadableError for a module without power, which may be cut off, and for a power that is
    no number.
    """
    modules: list[Row] = []
    unread: list[UnreadLine] = []
    name = ""
    for line in shown.lines:
        text = line.text.strip(" \t")
        label, colon, value = text.partition(":")
        if (match := _MODULE_LINE.fullmatch(text)) and is_interface(match[1]):
            modules.append({"interface": match[1], "line": line.number})
        elif not modules:
            unread.append(shown.unread(line, f"{text!r} is of no optical module"))
        elif colon and (label := label.rstrip(" \t")) in _LABELS:
            name = _LABELS[label]
            modules[-1][name] = _values(shown, line.number, value)
        elif name in LANES and not colon and _LANES_OF.search(text):
            modules[-1][name] += _values(shown, line.number, text)
        else:
            unread.append(shown.unread(line, f"{text!r} is no value of an optical module"))
    for module in modules:
        number = module.pop("line")
        if lacking := next((each for each in LANES if each not in module), None):
            what = f"{module['interface']} shows no {lacking.replace('_', ' ')}"
            raise shown.wrong(number, what)
    _require_end(shown, modules)
    return Rows(modules, unread)


def _require_end(shown: DisplayAnswer, rows: Sequence[Row]) -> None:
    """Raise UnreadableError where no ruler is below the last row: each form here has one.

    Without rows, the one below the names of columns is above it.
    """
    last = shown.lines[-1].number if shown.lines else 0
    if last and shown.rulers_after(last) < (1 if rows else 2):
        raise shown.wrong(last, "the line below the last row is missing: it is cut off")


def _values(shown: DisplayAnswer, number: int, text: str) -> list[float]:
    values = _LANES_OF.sub("", text).strip(" \t")
    if values in ("", "-", "--"):
        return []
    texts = [value.strip(" \t") for value in values.split("|")]
    if odd := next((each for each in texts if not _NUMBER.fullmatch(each)), None):
        raise shown.wrong(number, f"{odd!r} is no value of an optical module")
    return [float(each) for each in texts]


def write_optics(modules: Iterable[Mapping[str, Any]]) -> str:
    """Write the display of modules, each with the values of `read_optics`."""
    return "\n\n".join(map(_module, modules))


def _module(module: Mapping[str, Any]) -> str:
    lines = [_MODULE.format(module["interface"]), _OPTICS_RULE]
    for label, name in _LABELS.items():
        texts = [f"{value:.2f}" for value in module[name]]
        if len(texts) < 2:
            lines.append(f"   {label:<38}:{'|'.join(texts) or '-'}")
            continue
        for lane in range(0, len(texts), 2):
            pair = "|".join(texts[lane : lane + 2])
            lanes = "|".join(f"Lane{lane + n}" for n in range(len(texts[lane : lane + 2])))
            begin = f"   {label:<38}:" if not lane else " " * 42
            lines.append(f"{begin}{pair:<13}({lanes})")
    return "\n".join([*lines, _OPTICS_RULE])


_FAN_RULE = "-" * 113
FANS = DisplayTable(
    "display device fan",
    {
        "": Form(
            source=REFERENCE.format("display device fan"),
            head=f"""\
Fan module:
{_FAN_RULE}
Slot       FanID      FanNum      Present      Register      Status      Speed        Mode      \
Airflow Direction
{_FAN_RULE}""",
            row="   {slot:<7} {fan:<10} {number:<11} {present:<12} {register:<13} {status:<11} "
            "{speed:<12} {mode:<9} {airflow}",
            foot=_FAN_RULE,
        ),
        "v200": Form(
            source=_V200_SOURCE,
            confirmed=False,
            head=f"""\
fan module:
{_FAN_RULE[:81]}
Slot   FanID    FanNum    Status       Speed         Mode    Airflow Direction
{_FAN_RULE[:81]}""",
            row="{slot:<6} {fan:<8} {number:<9} {status:<12} {speed:<13} {mode:<7} {airflow}",
            foot=_FAN_RULE[:81],
        ),
    },
)
_POWER_RULE = "-" * 84
POWER = DisplayTable(
    "display device power",
    {
        "": Form(
            source=REFERENCE.format("display device power"),
            head=f"""\
{_POWER_RULE}
Slot   PowerNo  Present Mode State     Current    Voltage   ActualPower   RatedPower
                                       (Ampere)   (Volt)    (Watts)       (Watts)
{_POWER_RULE}""",
            row="{slot:<6} {name:<8} {present:<7} {mode:<4} {state:<9} {ampere:>7} {volt:>10} "
            "{actual:>13} {rated:>12}",
            foot=_POWER_RULE,
        ),
        "v200": Form(
            source=_V200_SOURCE,
            confirmed=False,
            head=f"""\
{_POWER_RULE[:79]}
Slot PowerNo Present Mode State     Current   Voltage   ActualPower RatedPower
                                    (Ampere)  (Volt)      (Watts)     (Watts)
{_POWER_RULE[:79]}""",
            row="{slot:<4} {name:<7} {present:<7} {mode:<4} {state:<9} {ampere:<9} {volt:<9} "
            "{actual:<11} {rated}",
            foot=_POWER_RULE[:79],
        ),
    },
    cells=dict.fromkeys(("ampere", "volt", "actual", "rated"), _NUMBER_OR_NONE),
)
_TEMPERATURE_RULE = "-" * 102
TEMPERATURE_COMMANDS = ("display device temperature", "display device temperature all")
TEMPERATURES = DisplayTable(
    TEMPERATURE_COMMANDS[0],
    {
        "": Form(
            source=REFERENCE.format("display device temperature"),
            head=f"""\
  Base-Board, Unit: celsius, Slot {{slot}}, Fru {{fru}}
{_TEMPERATURE_RULE}
BoardType          SensorID  SensorName       Status      Minor  Major  Fatal  FanTMin  FanTMax  \
Temp
{_TEMPERATURE_RULE}""",
            row="{board:<18} {sensor:>9}  {name:<16} {status:<11} {minor:>5} {major:>6} {fatal:>6} "
            "{fan_low:>8} {fan_high:>8} {celsius:>5}",
            foot=_TEMPERATURE_RULE,
        ),
        "v200": Form(
            source=_V200_SOURCE,
            confirmed=False,
            head=f"""\
{_TEMPERATURE_RULE[:81]}
Slot    Card    SensorName    Status         Major        Fatal        Current
                                           (Celsius)    (Celsius)     (Celsius)
{_TEMPERATURE_RULE[:81]}""",
            row="{slot:<7} {card:<7} {name:<13} {status:<12} {major:>4} {fatal:>12} {celsius:>13}",
            foot=_TEMPERATURE_RULE[:81],
        ),
    },
    cells={"celsius": _NUMBER, **dict.fromkeys(("major", "fatal"), _NUMBER_OR_NONE)},
)
_FAN_NAME = re.compile(r"FAN\d+", re.IGNORECASE | re.ASCII)
_POWER_NAME = re.compile(r"PWR\d+", re.IGNORECASE | re.ASCII)


def _below(table: DisplayTable, shown: DisplayAnswer, name: re.Pattern[str]) -> list[Row]:
    """Read rows whose first cell, the slot, is shown once; lines of other kinds are left out.

    name: of the row, in its first or second cell. Raises UnreadableError.
    """
    form = next((x for line in shown.lines if (x := table.form_of(line))), None)
    if form is None:
        raise shown.wrong(1, "0 headings of its table instead of one")
    rows, slot = [], "-"
    for line in table.below(shown):
        words = line.words
        own = next((n for n, word in enumerate(words[:2]) if name.fullmatch(word)), None)
        if own is None:
            continue
        slot = words[0] if own else slot
        values = _joined(form, words[own:])
        if values is None:
            raise shown.wrong(line.number, f"{line.text.strip()!r} is no row of its table")
        rows.append({"slot": slot, **_checked(table, shown, line.number, values)})
    _require_end(shown, rows)
    return rows


def _checked(table: DisplayTable, shown: DisplayAnswer, number: int, row: Row) -> Row:
    """Return the row of a line; raises UnreadableError where a cell has not its form."""
    for name, pattern in table.cells.items():
        if name in row and not pattern.fullmatch(row[name]):
            raise shown.wrong(number, f"{row[name]!r} is no {name}")
    return row


def _joined(form: Form, words: Sequence[str]) -> Row | None:
    """Return the cells of a row without its slot; `[ 1 ]` is one cell."""
    cells = [cell.name for cell in form.lines[0].cells[1:]]
    joined = re.sub(r"\[ *([^\s\[\]]+) *\]", r"[\1]", " ".join(words)).split()
    return dict(zip(cells, joined, strict=True)) if len(joined) == len(cells) else None


def read_fans(shown: DisplayAnswer) -> list[Row]:
    """Read fans with slot and status; rows of single rotors are left out."""
    return _below(FANS, shown, _FAN_NAME)


def read_power(shown: DisplayAnswer) -> list[Row]:
    """Read power supplies; the tables of their fans and of earlier failures are left out."""
    others = re.compile(r"N/A:|.* info:\s*$")  # the legend, and the heads of further tables
    end = next((n for n, row in enumerate(shown.rows) if others.match(row)), None)
    whole = DisplayAnswer(shown.command, "\n".join(shown.rows[:end]))
    return _below(POWER, whole, _POWER_NAME)


def read_temperatures(shown: DisplayAnswer) -> Rows[Row]:
    """Read sensors of all boards: `name`, `slot`, `status`, `major`, `fatal` and `celsius`."""
    sensors: list[Row] = []
    unread: list[UnreadLine] = []
    heads = [n for n, line in enumerate(shown.lines) if TEMPERATURES.form_of(line)]
    if not heads:
        raise shown.wrong(1, "0 headings of its table instead of one")
    slot = ""
    for line in shown.lines:
        if match := re.search(r"Slot (\S+?),", line.text):
            slot = match[1]
        elif form := TEMPERATURES.form_of(line):
            current = form
        elif line.number > shown.lines[heads[0]].number and line.words[0][0] != "(":
            cells = [cell.name for cell in current.lines[0].cells]
            words = line.words
            if cells[0] == "slot" and len(words) == len(cells) - 1:
                words = (slot, *words)
            if len(words) != len(cells):
                unread.append(shown.unread(line, f"{line.text.strip()!r} is no sensor"))
                continue
            row = dict(zip(cells, words, strict=True))
            _checked(TEMPERATURES, shown, line.number, row)
            slot = row.setdefault("slot", slot)
            sensors.append(row)
    _require_end(shown, sensors)
    return Rows(sensors, unread)
