"""Old names and new ones, as `names.toml` lists them, so that a rename is not reported as a change.

Names are replaced once: a table may exchange two of them.
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).with_name("names.toml")


@dataclass(frozen=True)
class Names:
    """One table for each kind of name, from old to new; see `names.toml`."""

    attributes: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)
    values: dict = field(default_factory=dict)
    metrics: dict = field(default_factory=dict)
    rules: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    reasons: dict = field(default_factory=dict)
    engine: dict = field(default_factory=dict)

    def renewed(self, line):
        """A line of an old record under the new names."""
        return {
            **line,
            "parameters": self.parameters_renamed(line["parameters"]),
            "metrics": [[self.metrics.get(name, name), *rest] for name, *rest in line["metrics"]],
            "rule": self.rules.get(line["rule"], line["rule"]),
            "error": self.errors.get(line["error"], line["error"]),
            "reason": self._reason(line["reason"]),
        }

    def parameters_renamed(self, parameters):
        """Arguments of a reward, their values included, under the new names."""
        return {
            self.parameters.get(name, name): self._value(value)
            for name, value in parameters.items()
        }

    def rests_on_the_engine(self, line):
        """Whether the outcome of a line depends on the machine."""
        return line["error"] in self.engine.get("errors", ()) or any(
            words in line["reason"] for words in self.engine.get("reasons", ())
        )

    def _value(self, value):
        return self.values.get(value, value) if isinstance(value, str) else value

    def _reason(self, reason):
        if not self.reasons:
            return reason
        longest_first = sorted(self.reasons, key=len, reverse=True)
        fragments = re.compile("|".join(map(re.escape, longest_first)))
        return fragments.sub(lambda found: self.reasons[found[0]], reason)


def read(path=FILE):
    """The tables of a file."""
    return Names(**tomllib.loads(path.read_text(encoding="utf-8")))
