"""Images: the operator's own, with our tools on top, with a component's dependencies on top."""

from __future__ import annotations

import hashlib
import shlex
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue

from docker import APIClient
from docker.errors import APIError, ImageNotFound

from verification.adapters.sandbox.container import FAULTS, Container, Output
from verification.adapters.sandbox.opening import Opened, opened
from verification.adapters.sandbox.settings import SandboxSettings
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.stages import Ended

TOOLS, DEPS = "loomverify/tools", "loomverify/deps"
TOOLS_SECONDS = 600
PULL_SECONDS = 600
FOLDER = Path(__file__).with_name("tools")
NO_SUCH_PACKAGE = 44
# Whoever runs the work has a name, as people have.
_SHARED = """mkdir -p /deps /workspace && chmod 1777 /deps /workspace && {
grep -q '^[^:]*:[^:]*:1000:' /etc/passwd || echo 'work:x:1000:1000::/tmp:/bin/sh' >> /etc/passwd
grep -q '^[^:]*:[^:]*:1000:' /etc/group || echo 'work:x:1000:' >> /etc/group
}"""
_COMMANDS: Mapping[str, str] = {
    "python": "python3 -m venv /opt/loomverify/python && "
    "/opt/loomverify/python/bin/python -m pip install --no-input --no-cache-dir --require-hashes "
    "-r /opt/loomverify/python.txt && mkdir -p /opt/loomverify/bin && "
    "ln -s ../python/bin/ruff /opt/loomverify/bin/ && "
    # Programs, kept where no test finds a package of theirs; what they search by is made ready.
    "/opt/loomverify/python/bin/python -m pip install --no-input --no-cache-dir --require-hashes "
    "--no-deps --no-compile --target /opt/loomverify/look -r /opt/loomverify/look.txt && "
    "/opt/loomverify/look/kingfisher/bin/kingfisher rules compile-cache --quiet --no-update-check "
    "--confidence low --rule-cache-dir /opt/loomverify/look/cache && "
    "chmod -R a+rX /opt/loomverify/look",
    # What nearly every package is compiled against is compiled once, not in every run.
    "go": "cd /opt/loomverify && PATH=/usr/local/go/bin:/usr/lib/go/bin:$PATH "
    "GOCACHE=/opt/loomverify/go-cache GOTOOLCHAIN=local GOFLAGS=-mod=mod go test ./... && "
    "chmod -R a+rX /opt/loomverify",
    # Of a toolchain without its linter no lint says anything; one by rustup can be asked for it.
    "rust": 'ln -s "$(rustc --print sysroot)" /opt/loomverify/rust && '
    "{ ! command -v rustup >/dev/null || rustup component add clippy; }",
}
_FILES: Mapping[str, tuple[str, ...]] = {
    "python": (
        "python.txt",
        "fits.py",
        "run_mypy.py",
        "run_pytest.py",
        "run_unittest.py",
        "look.txt",
        "look.py",
        "look_languages.py",
        "look_levels.py",
        "look_report.py",
        "look_tool.py",
        *sorted(f"rules/{one.name}" for one in (FOLDER / "rules").glob("*.yaml")),
    ),
    "node": ("node_tap.mjs",),
    "go": ("go.mod", "warm_test.go"),
    "gradle": ("loomverify.gradle",),
    "ruby": ("compile.rb", "rspec_end.rb", "run_minitest.rb"),
}


@dataclass(frozen=True, slots=True)
class Images:
    client: APIClient
    settings: SandboxSettings

    def tools(self, language: str) -> str:
        """The operator's image of a language with our tools in it; made once.

        Raises:
            SandboxLost: there is no such image, or the tools could not be installed.
        """
        base = self.settings.images.get(language, "")
        if not base:
            raise SandboxLost(f"No image is named for {language}.")
        files = [(name, (FOLDER / name).read_bytes()) for name in _FILES.get(language, ())]
        command = " && ".join(filter(None, (_SHARED, _COMMANDS.get(language, ""))))
        image = f"{TOOLS}:{language}-{_digest([self._id(base), command, *map(repr, files)])}"
        if not self.has(image):
            ended = self._make(base, image, command, files)
            if ended.exit_code != 0:
                raise SandboxLost(f"The tools could not be installed in {base}: {_said(ended)}")
        return image

    def judging(self, tools: str, judges: Sequence[str]) -> str:
        """Return the tools with what judges the work beside them, unless nobody published that.

        Raises:
            SandboxLost: they could not be had.
        """
        if not judges:
            return tools
        command = _judges(judges)
        image = self.deps(tools, [command])
        if self.has(image):
            return image
        ended = self._make(tools, image, command)
        if ended.exit_code == NO_SUCH_PACKAGE:
            return tools
        if ended.exit_code != 0:
            raise SandboxLost(f"{' and '.join(judges)} could not be had: {_said(ended)}")
        return image

    def has(self, image: str) -> bool:
        return self.told(image) is not None

    def told(self, image: str) -> str | None:
        """What was said of it as it was kept; None where it is not there."""
        try:
            found = self.client.inspect_image(image)  # type: ignore[no-untyped-call]
        except ImageNotFound:
            return None
        except FAULTS as error:
            raise SandboxLost(f"The Docker engine did not answer: {error}") from error
        return str(found.get("Comment", ""))

    def deps(self, tools: str, said: Iterable[str]) -> str:
        """The name of the image in which this was installed on top of the tools."""
        return f"{DEPS}:{_digest([tools, *said])}"

    def _id(self, base: str) -> str:
        if not self.has(base):
            self._pull(base)
        try:
            return str(self.client.inspect_image(base)["Id"])  # type: ignore[no-untyped-call]
        except FAULTS as error:
            raise SandboxLost(f"The image {base} is not there: {error}") from error

    def _pull(self, base: str) -> None:
        """The client waits forever for a registry: somebody else waits for the client."""
        ended: SimpleQueue[Exception | None] = SimpleQueue()

        def pull() -> None:
            try:
                self.client.pull(base)
                ended.put(None)
            except Exception as error:
                ended.put(error)

        threading.Thread(target=pull, daemon=True).start()
        try:
            error = ended.get(timeout=PULL_SECONDS)
        except Empty:
            raise SandboxLost(f"The image {base} did not come within {PULL_SECONDS} s.") from None
        if error is not None:
            why = error.explanation if isinstance(error, APIError) else type(error).__name__
            raise SandboxLost(f"The image {base} could not be pulled: {why}") from error

    def _make(
        self, base: str, image: str, command: str, files: Iterable[tuple[str, bytes]] = ()
    ) -> Ended:
        """Run a command as root in one image; where it ends well, that is the other image."""
        wanted = Opened(base, is_open=True, user="0:0")
        roomy = replace(self.settings, bounds=replace(self.settings.bounds, cpus=0))
        with opened(self.client, roomy, wanted) as container:
            container.put(files, "/opt/loomverify")
            ended = container.run(
                command, seconds=TOOLS_SECONDS, folder="/", environment=self.outbound()
            )
            if ended.exit_code == 0:
                container.commit(*image.split(":", 1))
        return ended

    def outbound(self) -> dict[str, str]:
        """The environment of what may reach the network."""
        proxy = self.settings.proxy
        names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy") if proxy else ()
        return {"PIP_NO_CACHE_DIR": "1", **dict.fromkeys(names, proxy)}


def _judges(named: Iterable[str]) -> str:
    """A version that nobody published is the work's affair: its own install fails by it, too."""
    return f"""mkdir /opt/loomverify/npm && cd /opt/loomverify/npm || exit
code=0
npm install --ignore-scripts --no-audit --no-fund {shlex.join(named)} 2> /tmp/said || code=$?
cat /tmp/said >&2
rm -rf /tmp/.npm
chmod -R a+rX /opt/loomverify/npm
[ $code -eq 0 ] || ! grep -Eq ' code (ETARGET|E404|EINVALIDTAGNAME)$' /tmp/said || exit {NO_SUCH_PACKAGE}
exit $code"""


def installed_in(
    container: Container,
    command: str,
    *,
    seconds: float,
    environment: Mapping[str, str],
    output: Output,
) -> Ended:
    """Install within bounds of time and of what is written."""
    most = container.bounds.installed_bytes

    def is_within() -> bool:
        return container.written_bytes() <= most

    return container.run(
        command, seconds=seconds, environment=environment, output=output, watch=is_within
    )


def _said(ended: Ended) -> str:
    return ended.err.decode(errors="replace").strip()[-500:]


def _digest(said: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:24]
