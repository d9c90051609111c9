"""The target of an artifact: a processor, a Python, and who compiles for it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.cdk.artifact.interpreter import here
from reward_functions.cdk.artifact.packages import uv
from reward_functions.cdk.artifact.pins import PROJECT, our_pins

if TYPE_CHECKING:
    from pathlib import Path

    from reward_functions.aws.catalogue import Architecture

PLATFORMS: Final[dict[Architecture, str]] = {
    "arm64": "aarch64-manylinux_2_28",
    "x86_64": "x86_64-manylinux_2_28",
}
"""uv's names. Lambda's Python 3.12 and later run on Amazon Linux 2023, whose glibc is 2.34."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """The target of an artifact.

    Args:
        architecture: Lambda's name of the processor.
        python: the runtime's minor version, such as `3.13`.
        interpreter: of that version, to compile with; without one there is no bytecode.
        installed: take our pins from this environment, where it holds just them and is the target.
    """

    architecture: Architecture
    python: str
    interpreter: Path | None
    installed: bool = False

    def facts(self) -> dict[str, object]:
        """The facts of it that make another artifact.

        Bytecode differs between patch releases of Python; the digest knows only whether there is
        any. A package that is installed on another system than Lambda's makes another artifact.
        """
        return {
            "system": sys.platform if self.installed and self.is_here else "linux",
            "architecture": self.architecture,
            "python": self.python,
            "bytecode": self.interpreter is not None,
        }

    @property
    def is_here(self) -> bool:
        """Whether this interpreter, on this machine, is the target."""
        return (self.architecture, self.python) == here()

    @property
    def runner(self) -> Path | None:
        """The interpreter, where this machine can run what is built for the target."""
        machine, _ = here()
        runs = sys.platform == "linux" and machine == self.architecture
        return self.interpreter if runs else None

    def platform(self) -> tuple[str, ...]:
        """The platform, in uv's words, to choose wheels."""
        return (
            *("--only-binary", ":all:", "--python", sys.executable),
            *("--python-version", self.python),
            *("--python-platform", PLATFORMS[self.architecture]),
        )

    def resolution(self, folder: Path) -> tuple[str, ...]:
        """The options by which uv resolves: the platform, our pins as limits, and not ourselves.

        Args:
            folder: for the files that say so.
        """
        ourselves, limits = folder / "ourselves.txt", folder / "pins.txt"
        ourselves.write_text(PROJECT, encoding="utf-8")
        limits.write_text(
            "\n".join(f"{pin.name}=={pin.version}" for pin in our_pins()), encoding="utf-8"
        )
        return (*self.platform(), "--excludes", str(ourselves), "--constraints", str(limits))

    def install(self, tree: Path, *arguments: str, doing: str | None = None) -> None:
        """Install wheels for the target into a folder.

        Raises:
            BadPackage: one cannot be had.
        """
        uv(
            *("pip", "install", "--target", str(tree), "--no-deps", "--link-mode", "copy"),
            "--no-compile-bytecode",  # which would name this machine
            *self.platform(),
            *arguments,
            doing=doing or f"installing for {self.architecture} and Python {self.python}",
        )
