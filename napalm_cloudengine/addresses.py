"""Read the addresses of interfaces from a configuration."""


def addresses(config: str) -> dict[str, dict[str, list[tuple[str, int]]]]:
    """Configured addresses by interface and family (`ipv4`, `ipv6`), with the prefix length.

    Reads a saved or running configuration. An address without a length (link-local) is left out.
    """
    found: dict[str, dict[str, list[tuple[str, int]]]] = {}
    name = ""
    for line in config.splitlines():
        if not line.startswith(" "):
            name = line.removeprefix("interface ").strip() if line[:10] == "interface " else ""
        elif name and (read := _address(line.split())):
            family, address, length = read
            found.setdefault(name, {}).setdefault(family, []).append((address, length))
    return found


def _address(words: list[str]) -> tuple[str, str, int] | None:
    match words:
        case ["ip", "address", address, mask, *_] if address[0].isdigit():
            length = int(mask) if mask.isdecimal() else _length(mask)
            return "ipv4", address, length
        case ["ipv6", "address", address, *rest]:
            address, slash, length6 = address.partition("/")
            length6 = length6 if slash else (rest or [""])[0]
            return ("ipv6", address, int(length6)) if length6.isdecimal() else None
    return None


def _length(mask: str) -> int:
    return sum(int(part).bit_count() for part in mask.split("."))
