"""How is a Dask scheduler reached: at which address, encrypted or not, and what is wrong if it is not reached?

A client of Dask may wait forever for a server that accepts a connection and never answers; here every wait has an end.
An address that begins with `tls://` is for an encrypted connection, in which both sides show certificates.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dagpost._tools.spelling import either
from dagpost.errors import InputError

#: Addresses that clients of Dask can reach: a host and a port, perhaps with a protocol; a scheduler in this process.
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx|ucxx)://)?(?:\[[^\]\s]+\]|[^\s:/]+):\d{1,5}/?|inproc://\S+")
#: How often to try to connect to a scheduler that is there.
CONNECTION_ATTEMPTS = 10


def load_distributed() -> Any:
    """The library of Dask, or an error that says how to install it."""
    try:
        import distributed
    except ImportError:
        raise InputError('The Dask engine needs Dask, which is not installed: pip install "dagpost[dask]"') from None
    return distributed


def patience() -> float:
    """Seconds to wait for a scheduler, and for a worker: Dask's own setting, 30 by default."""
    import dask
    from dask.utils import parse_timedelta

    return float(parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"), "s"))


def connected(address: str, security: Any = None) -> Any:
    """A client of the scheduler at an address; `security`, a `distributed.Security`, has the certificates."""
    distributed = load_distributed()
    _require_address(distributed, address, security)
    security = distributed.Security() if security is None else security
    options = _options_of(security, address)
    if address.startswith("tls://") and options["ssl_context"] is None:
        raise InputError(
            f"The Dask scheduler at {address!r} asks for a certificate, and none was given. "
            f"{either(_CERTIFICATES_IN_PYTHON, _CERTIFICATES_IN_OPTIONS)}, or name the files in Dask's configuration "
            "(distributed.comm.tls)."
        )
    try:
        _require_answer(distributed, address, options)
        return _new_client(distributed, address, security)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        said = str(error) or type(error).__name__
        if _refused(error):
            raise InputError(
                f"The Dask scheduler at {address!r} and this process do not trust each other's certificates ({said}). "
                "Use certificates of one authority on all machines, and the certificate of that authority as 'ca'."
            ) from None
        place = address.removeprefix("tcp://")
        encrypted = "" if "://" in place else f"; if it uses certificates, its address is 'tls://{place}'"
        raise InputError(
            f"No Dask scheduler answers at {address!r} ({said}). Start one with 'dask scheduler', which prints its "
            f"address, or leave the address out for a cluster on this machine{encrypted}."
        ) from None


_CERTIFICATES_IN_PYTHON = (
    "Give DaskEngine(address, security=distributed.Security(tls_ca_file=..., tls_client_cert=..., tls_client_key=...))"
)
_CERTIFICATES_IN_OPTIONS = "Give --tls-ca-file, --tls-cert and --tls-key"


def _require_address(distributed: Any, address: str, security: Any) -> None:
    if _ADDRESS.fullmatch(address) is None:
        page = " (the address of its diagnostics page is another one)" if address.startswith("http") else ""
        raise InputError(
            f"{address!r} is not the address of a Dask scheduler. Give the one that it prints when it starts, such as "
            f"'tcp://10.0.0.1:8786'{page}."
        )
    if security is not None and not isinstance(security, distributed.Security):
        raise InputError(f"The 'security' of a Dask engine must be a distributed.Security. Got {security!r} instead.")
    if security is not None and security.require_encryption and not address.startswith(("tls://", "wss://")):
        plain = address.rpartition("//")[2]
        raise InputError(
            f"Certificates are for an encrypted connection, and {address!r} is not one. Give 'tls://{plain}', and "
            "start the scheduler and its workers with certificates too; or leave the certificates out."
        )


def _options_of(security: Any, address: str) -> dict[str, Any]:
    """How to connect, with the certificates read."""
    try:
        options: dict[str, Any] = security.get_connection_args("client")
    except (OSError, ValueError) as error:
        # Python does not say which file it was.
        files = security.get_tls_config_for_role("client")
        named = [files[part] for part in ("ca_file", "cert", "key") if files[part] and "\n" not in files[part]]
        missing = next((f"{name}: there is no such file" for name in named if not Path(name).is_file()), str(error))
        raise InputError(
            f"The certificates for the Dask scheduler at {address!r} cannot be used ({missing}). Give files in PEM "
            "format: the certificate of the authority, that of the client, and its key."
        ) from None
    return options


def _refused(error: BaseException) -> bool:
    """Whether an error, or its cause, says that a certificate was not accepted."""
    import ssl

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return True
        seen = seen.__cause__
    return False


def _require_answer(distributed: Any, address: str, options: dict[str, Any]) -> None:
    """Refuse a server that accepts connections but never answers: a client of Dask would wait for it forever."""
    if address.startswith("inproc://"):
        return
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def connect() -> None:
        # Where no server accepts the connection, Dask gives up first and says more about it.
        comm = await asyncio.wait_for(distributed.connect(address, timeout=patience(), **options), patience() + 1)
        await comm.close()

    # In a thread of its own: a notebook runs an event loop in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, connect()).result()


def _new_client(distributed: Any, address: str, security: Any) -> Any:
    """A client that is connected to the scheduler.

    While a client connects, the scheduler may tell all clients something else, for instance that a task was cancelled.
    A client that receives this together with the greeting fails an assertion of Dask's; it is then made again.
    """
    for attempts_left in reversed(range(CONNECTION_ATTEMPTS)):
        # In two steps: a client whose constructor fails could not be reached, and would never be closed.
        client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(address, timeout=patience(), set_as_default=False, security=security)
            break
        except BaseException as error:
            # A client that fails before it starts to connect has nothing to close.
            if getattr(client, "status", "newly-created") != "newly-created":
                client.close()
            if not attempts_left or not isinstance(error, AssertionError):
                raise
    return client
