"""Ed25519 signatures, and the keys that make them: the only file that imports PyNaCl.

What is signed is the pre-authentication encoding of DSSE, `DSSEv1 LEN TYPE LEN BODY`, which binds the kind of
document: a signature under a checkpoint is none under an attestation.
Source: github.com/secure-systems-lab/dsse, protocol.md.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from events.errors import NotFoundError, StorageError, UsageError
from events.extras import install_hint

if TYPE_CHECKING:
    from pathlib import Path

ALGORITHM: Final = "ed25519"
_PRIVATE: Final = "ed25519-secret:"
_PUBLIC: Final = "ed25519:"
_KEY_BYTES: Final = 32
_KEY_ID_CHARS: Final = 16
_OTHERS: Final = 0o077
_NEW_KEY: Final = "germline checkpoint --new-key FILE"


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature (64 bytes, base64) and the id of the key that made it."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What checks signatures, and may be shown to anybody."""

    raw: bytes

    def __str__(self) -> str:
        return _PUBLIC + base64.b64encode(self.raw).decode()

    @property
    def id(self) -> str:
        """A short name: the first 16 hex digits of the key's SHA-256."""
        return sha256(self.raw).hexdigest()[:_KEY_ID_CHARS]

    def made(self, signature: Signature, kind: str, body: bytes) -> bool:
        """Tell whether this key made a signature under a document of a kind; raises UsageError without PyNaCl."""
        _require_nacl()
        from nacl.exceptions import BadSignatureError  # noqa: PLC0415 - an extra, for those who sign
        from nacl.signing import VerifyKey  # noqa: PLC0415 - the same

        try:
            VerifyKey(self.raw).verify(encoded(kind, body), base64.b64decode(signature.value, validate=True))
        except (BadSignatureError, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class SecretKey:
    """What makes signatures; never printed."""

    _seed: bytes

    def __repr__(self) -> str:
        return f"SecretKey({self.public.id})"

    @property
    def public(self) -> PublicKey:
        """The key that checks what this one signs."""
        from nacl.signing import SigningKey  # noqa: PLC0415 - an extra, for those who sign

        return PublicKey(bytes(SigningKey(self._seed).verify_key))

    def sign(self, kind: str, body: bytes) -> Signature:
        """Sign a document of a kind."""
        from nacl.signing import SigningKey  # noqa: PLC0415 - an extra, for those who sign

        signature = SigningKey(self._seed).sign(encoded(kind, body)).signature
        return Signature(self.public.id, base64.b64encode(signature).decode())


def encoded(kind: str, body: bytes) -> bytes:
    """Write down what is signed of a document of a kind."""
    name = kind.encode()
    return b"DSSEv1 %d %s %d %s" % (len(name), name, len(body), body)


def write_new_key(path: Path, seed: bytes) -> PublicKey:
    """Make a secret key of a seed (32 bytes) in a file that only its owner reads, beside it FILE.pub.

    Raises: UsageError if either file is there already, or without PyNaCl; StorageError if they cannot be written.
    """
    _require_nacl()
    key = SecretKey(seed)
    beside = path.with_name(f"{path.name}.pub")
    for place in (path, beside):
        if place.exists() or place.is_symlink():
            raise UsageError(f"{place} is there already, and a key is never overwritten", hint=_NEW_KEY)
    _write_once(path, f"{_PRIVATE}{base64.b64encode(seed).decode()}\n", 0o600)
    try:
        _write_once(beside, f"{key.public}\n", 0o644)
    except BaseException:
        path.unlink(missing_ok=True)  # else the next try would find a key, and one that nobody was shown
        raise
    return key.public


def read_secret_key(path: Path) -> SecretKey:
    """Read a secret key from its file.

    Raises: NotFoundError where there is none; UsageError where it is no key, others may read it, or PyNaCl misses.
    """
    _require_nacl()
    try:
        shared = path.stat().st_mode & _OTHERS
        text = path.read_bytes().decode("ascii", "replace").strip()
    except OSError as error:
        raise NotFoundError(f"the key {path} cannot be read: {error.strerror}", hint=_NEW_KEY) from error
    if text.startswith(_PUBLIC):
        raise UsageError(f"{path} holds a public key; the secret one signs", hint=f"--sign {path.with_suffix('')}")
    seed = _decoded(text, _PRIVATE)
    if seed is None:
        raise UsageError(f"{path} holds no Ed25519 key of germline's", hint=_NEW_KEY)
    if shared:
        raise UsageError(f"{path} can be read by others than its owner", hint=f"chmod 600 {path}")
    return SecretKey(seed)


def read_public_key(named: str, file: Path) -> PublicKey:
    """Read a public key from its text, `ed25519:…`, or else from the file of that name.

    Raises: NotFoundError, UsageError as for a secret key.
    """
    text = named.strip()
    if not text.startswith(_PUBLIC):
        try:
            text = file.read_bytes().decode("ascii", "replace").strip()
        except OSError as error:
            raise NotFoundError(
                f"{named} is no public key, nor a file that can be read", hint="--key ed25519:… or --key FILE.pub"
            ) from error
    raw = _decoded(text, _PUBLIC)
    if raw is None:
        raise UsageError(f"{named[:80]} is no Ed25519 public key", hint="--key ed25519:… or --key FILE.pub")
    return PublicKey(raw)


def _decoded(text: str, prefix: str) -> bytes | None:
    """Read the 32 bytes behind a prefix; None where there are none."""
    if not text.startswith(prefix):
        return None
    try:
        raw = base64.b64decode(text.removeprefix(prefix), validate=True)
    except ValueError:
        return None
    return raw if len(raw) == _KEY_BYTES else None


def _write_once(path: Path, text: str, mode: int) -> None:
    """Write a file that is not there yet, whole or not at all."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:  # Ctrl-C as well
            path.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StorageError(
            f"the key {path} cannot be written: {error.strerror}",
            hint="germline checkpoint --new-key ANOTHER-FILE",
        ) from error


def _require_nacl() -> None:
    """Say how to install what signs, where it is missing."""
    try:
        import nacl.signing  # noqa: F401, PLC0415 - an extra, for those who sign
    except ImportError as error:
        raise UsageError(
            "signatures are made and checked by PyNaCl, which is not installed",
            hint=install_hint("sign"),
        ) from error
