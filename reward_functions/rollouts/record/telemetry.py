"""Spans and figures of rollouts, for OpenTelemetry.

    telemetry.use()                          # or REWARD_ROLLOUTS_OTEL=1 where a handler runs

They go to the providers of the process, beside those of Strands or of botocore, and each is a child
of the span that is current where it begins. `spans` lists them; fields of a model call have the
names of OpenTelemetry's GenAI conventions.

| figure | kind |
| --- | --- |
| `rollout.reward` | histogram: rewards that were reported, by `rollout.event` |
| `rollout.feedback.retries` | counter: attempts of a report after its first |
| `rollout.text_tool_calls` | counter: tool calls that were found in text |
| `rollout.outbox.pending` | gauge: reports that wait in this process's outbox |
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.extras import require

require("opentelemetry", by=__name__)

from opentelemetry import metrics, trace

from reward_functions.rollouts.record import spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation
    from opentelemetry.trace import Tracer, TracerProvider

SCOPE: Final = "reward_functions.rollouts"

HISTOGRAMS: Final = {"rollout.reward": "1"}
"""By name, their unit; a figure that is added to and is not here is a counter."""

LONGEST: Final = 256
"""Characters of an attribute: a model's service names itself."""


def use(
    tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """Trace rollouts from now on, in every thread of the process.

    Args:
        tracer_provider: OpenTelemetry's own of the process where None.
        meter_provider: likewise.
    """
    tracer = trace.get_tracer(SCOPE, tracer_provider=tracer_provider)
    spans.use(_Hook(tracer, metrics.get_meter(SCOPE, meter_provider=meter_provider)))


def stop() -> None:
    """Trace nothing any more."""
    spans.use(None)


class _Span:
    """A span of OpenTelemetry."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, attributes: Mapping[str, Any], /) -> None:
        self._span.set_attributes(_clean(attributes))

    @contextmanager
    def current(self) -> Iterator[None]:
        with trace.use_span(self._span, record_exception=False, set_status_on_exception=False):
            yield

    def end(self, error: BaseException | None = None, /) -> None:
        if error is not None:
            # Its type alone: a message may quote a prompt.
            self._span.set_attribute("error.type", type(error).__name__)
            self._span.set_status(trace.Status(trace.StatusCode.ERROR))
        self._span.end()


class _Hook:
    """Where spans and figures go: a tracer, and a meter."""

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self._meter = meter
        self._figures: dict[str, Callable[..., None]] = {}
        self._lock = Lock()

    def begin(self, name: str, attributes: Mapping[str, Any], began: float | None, /) -> _Span:
        kind = trace.SpanKind.CLIENT if name in CALLS else trace.SpanKind.INTERNAL
        start = None if began is None else int(began * 1e9)
        return _Span(
            self._tracer.start_span(
                name, kind=kind, attributes=_clean(attributes), start_time=start
            )
        )

    def add(self, name: str, number: float, attributes: Mapping[str, Any], /) -> None:
        self._figure(name)(number, _clean(attributes))

    def watch(self, name: str, read: Callable[[], float | None], /) -> None:
        def observed(_options: CallbackOptions) -> Iterable[Observation]:
            figure = read()
            return () if figure is None else (metrics.Observation(figure),)

        self._meter.create_observable_gauge(name, callbacks=[observed])

    def _figure(self, name: str) -> Callable[..., None]:
        with self._lock:
            if name not in self._figures:
                if name in HISTOGRAMS:
                    made = self._meter.create_histogram(name, unit=HISTOGRAMS[name])
                    self._figures[name] = made.record
                else:
                    self._figures[name] = self._meter.create_counter(name).add
            return self._figures[name]


CALLS: Final = frozenset({"policy.call", "feedback.complete", "feedback.reward"})
"""Spans of what is asked of another process."""


def _clean(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as OpenTelemetry takes them: scalars, or lists of scalars; others are left out."""
    clean: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, str):
            clean[name] = value[:LONGEST]
        elif isinstance(value, bool | int | float):
            clean[name] = value
        elif isinstance(value, list | tuple):
            clean[name] = [each[:LONGEST] if isinstance(each, str) else each for each in value]
    return clean
