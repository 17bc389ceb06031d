"""Keys of an image: the guests' host key, and the key for the login of their user."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND = b"ssh-ed25519"


@dataclass(frozen=True)
class Key:
    """An Ed25519 key as OpenSSH writes it (private), as a line (public), and as dropbear reads it.

    Each image has its own, so that no two users share one.
    """

    private: bytes
    public: str
    dropbear: bytes


def new_key() -> Key:
    """Generate a new key."""
    key = Ed25519PrivateKey.generate()
    raw = key.private_bytes_raw()
    public = key.public_key()
    # dropbear's own format: the kind, and 64 bytes of private and public key (its ed25519.c).
    pair = raw + public.public_bytes_raw()
    return Key(
        private=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        ),
        public=public.public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        ).decode(),
        dropbear=_string(KIND) + _string(pair),
    )


def _string(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content
