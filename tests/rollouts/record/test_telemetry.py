"""Spans and figures: what each of them says, whose child it is, and what is in none of them."""

import json
import subprocess
import sys

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from reward_functions.local.runtime_double import RuntimeSettings, serving
from reward_functions.rollouts import rollout_handler
from reward_functions.rollouts.policy.calls import policy_call, tool_ended
from reward_functions.rollouts.record import spans, telemetry
from reward_functions.rollouts.record.types import ToolResult
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter, reporting
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from tests.rollouts.crossing import JOB, episode, metadata

SECRET = "s3cret-text"


@pytest.fixture
def traced(credentials):
    """(exporter of spans, reader of figures) of rollouts that are traced."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider, meters = TracerProvider(), MeterProvider([reader])
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry.use(provider, meters)
    yield provider, exporter, reader
    telemetry.stop()
    provider.shutdown()
    meters.shutdown()


def by_name(exporter):
    return {span.name: span for span in exporter.get_finished_spans()}


def figures(reader):
    """(name, attributes) and the sum of every figure."""
    data = reader.get_metrics_data()
    metrics = [
        metric
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
    ]
    return {
        (metric.name, *point.attributes.values()): getattr(point, "sum", None)
        if hasattr(point, "sum")
        else point.value
        for metric in metrics
        for point in metric.data.data_points
    }


@rollout_handler(reward="math")
def agent(payload, ctx):
    request = {"model": "default", "temperature": 0.5, "messages": [{"content": SECRET}]}
    with policy_call(request) as call:
        message = {"role": "assistant", "content": SECRET}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        call.answered({"model": "policy-1", "choices": [choice], "usage": usage})
    tool_ended(ToolResult(call_id="call_1", content=SECRET, seconds=0.5), "calculator")
    return f"{SECRET} \\boxed{{42}}"


@pytest.fixture
def run(traced, monkeypatch):
    """Run an episode of the agent, and give its spans by their names."""
    provider, exporter, reader = traced
    settings = RolloutSettings(outbox="memory:", otel=True)
    with serving(RuntimeSettings()) as double:
        own = Reporter(settings, open_outbox("memory:"), transports=open_transport)
        with reporting(own):
            monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", double.endpoint)
            double.register(JOB, "rollout-0")
            with provider.get_tracer("caller").start_as_current_span("caller"):
                agent({"prompt": SECRET, "instance": {"answer": "42"}, "metadata": metadata()})
            read = figures(reader)
            own.close()
    return by_name(exporter), read


PARENTS = {
    "rollout": "caller",
    "policy.call": "rollout",
    "tool": "rollout",
    "reward.compute": "rollout",
    "feedback.complete": "rollout",
    "feedback.reward": "rollout",
}


def test_an_episode_is_one_tree_and_its_figures(run):
    found, read = run
    assert found.keys() == {*PARENTS, "caller"}
    for name, parent in PARENTS.items():
        assert found[name].parent.span_id == found[parent].context.span_id, name
    shown = dict(found["rollout"].attributes)
    assert shown["rollout.job"] == JOB
    assert shown["rollout.trajectory"] == "rollout-0"
    assert (shown["rollout.reward"], shown["rollout.turns"]) == (1.0, 1)
    call = dict(found["policy.call"].attributes)
    wanted = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "default",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.response.model": "policy-1",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "rollout.turn": 0,
        "rollout.attempt": 1,
    }
    assert {name: call.get(name) for name in wanted} == wanted
    assert found["tool"].attributes["gen_ai.tool.name"] == "calculator"
    assert found["tool"].end_time - found["tool"].start_time >= 4e8
    assert found["feedback.reward"].attributes["rollout.status"] == "Reported"
    assert 1.0 in [value for name, value in read.items() if name[0] == "rollout.reward"]
    assert read["rollout.outbox.pending",] == 0


def test_nothing_of_a_prompt_or_a_response_is_in_a_span(run):
    found, _ = run
    assert SECRET not in json.dumps([json.loads(span.to_json()) for span in found.values()])


def test_each_attempt_has_a_span_and_its_error_by_type(traced):
    _, exporter, _ = traced
    with episode(), policy_call({"messages": []}):
        with policy_call({}) as call:
            call.failed(TimeoutError(SECRET))
        with policy_call({}) as call:
            call.answered({"choices": [{"message": {}}]})
    first, second = exporter.get_finished_spans()
    assert (first.attributes["error.type"], first.status.is_ok) == ("TimeoutError", False)
    assert [span.attributes["rollout.attempt"] for span in (first, second)] == [1, 2]
    assert "error.type" not in second.attributes
    assert SECRET not in first.to_json()


def test_a_call_that_nobody_records_the_answer_of_has_a_span(traced):
    _, exporter, _ = traced
    with episode(), policy_call() as call:
        call.answering()
    assert [span.name for span in exporter.get_finished_spans()] == ["policy.call"]


def test_where_nobody_traces_nothing_is_made():
    assert not spans.tracing()
    assert spans.begin("rollout", {}) is spans.NOTHING


def test_a_handler_loads_no_opentelemetry():
    program = (
        "import sys, reward_functions.rollouts.episode.handler;"
        "import reward_functions.rollouts.report.reporter;"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
