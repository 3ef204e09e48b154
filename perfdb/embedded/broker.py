"""Embedded Valkey (or Redis): broker and cache on a socket, with an append-only file."""

import signal
from collections.abc import Mapping

import redis

from perfdb.embedded.binaries import broker_program
from perfdb.embedded.processes import Child, Processes, Service

# Loading the append-only file at the start takes about a second per million messages.
START_LIMIT_S = 60.0


class Broker:
    """An embedded broker; `durable=False` is for tests.

    Attributes:
        environment: Variables that lead to the broker (REDIS_URL).
    """

    def __init__(self, processes: Processes, env: Mapping[str, str], *, durable: bool = True) -> None:
        self.processes = processes
        self.env = env
        self.durable = durable
        self.program = broker_program()
        self.data = processes.home.path / "broker"
        self.socket = processes.home.sockets / "broker.sock"
        self.environment = {"REDIS_URL": f"unix://{self.socket}"}

    def start(self) -> Child:
        """Start the broker. Raise LauncherError on failure."""
        self.data.mkdir(exist_ok=True)
        self.socket.unlink(missing_ok=True)
        argv = [str(self.program), "--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"]
        argv += ["--dir", str(self.data), "--save", "", "--appendonly", "yes" if self.durable else "no"]
        return self.processes.start(
            Service(
                name="broker",
                argv=argv,
                env=self.env,
                cwd=self.data,
                outlives_others=True,
                # The kernel sends this when the launcher was killed: it still writes what it has.
                death_signal=signal.SIGTERM,
            )
        )

    def wait(self, child: Child) -> None:
        """Wait until the broker answers."""
        self.processes.wait_until(child, self._answers, START_LIMIT_S)

    def _answers(self) -> bool:
        client = redis.Redis(unix_socket_path=str(self.socket))
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()
