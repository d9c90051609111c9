r"""Records as the public files hold them, from the templates of `templates.toml`.

GSM8K: a story with small numbers, worked out in two or three steps. MATH: a short problem, and a
solution with its exact answer in a box; the answers are of the kinds that MATH has. FinQA: a page
of the report of a firm that does not exist, and a question with its program for each template; the
executed answer is what the program computes. Spider: a question about the shop that ships with
`sql_result`, and its gold query.
"""

from __future__ import annotations

import tomllib
from datetime import datetime
from fractions import Fraction
from functools import cache
from math import gcd, isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.finqa.program import execute, parse, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from random import Random

PAID: Final = 0.4
"""The share of bills that are paid."""

TEMPLATES: Final = Path(__file__).with_name("templates.toml")


@cache
def templates() -> dict[str, Any]:
    """The templates, by data set."""
    return tomllib.loads(TEMPLATES.read_text(encoding="utf-8"))


def story(random: Random) -> dict[str, Any]:
    """A record of GSM8K's shape: `question` and `answer`, the solution ending in `#### n`."""
    own = templates()["gsm8k"]
    while True:
        drawn = random.choice(own["stories"])
        values = {name: random.randint(*ends) for name, ends in drawn["ranges"].items()}
        worked = _worked(drawn, values | {"hundred": 100}, random.choice(own["who"]))
        if worked:
            return worked


def _worked(drawn: Mapping[str, Any], values: dict[str, int], who: str) -> dict[str, Any] | None:
    """The record; None where a result is not a whole number above zero."""
    question = drawn["text"].format(who=who, **values)
    lines = []
    for name, left_name, operator, right_name, sentence in drawn["steps"]:
        left, right = values[left_name], values[right_name]
        result = _computed(left, operator, right)
        if result is None:
            return None
        sum_ = f"{left}{operator}{right}"
        lines.append(sentence.format(who=who, work=f"{sum_}=<<{sum_}={result}>>{result}"))
        values[name] = result
    solution = "\n".join(lines)
    return {"question": question, "answer": f"{solution}\n#### {result}"}


def _computed(left: int, operator: str, right: int) -> int | None:
    if operator == "/":
        return left // right if left % right == 0 else None
    result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return result if result > 0 else None


def _percent(value: Fraction | str) -> str:
    return f"{float(value) * 100:.1f}%"


def _figure(value: Fraction | str) -> str:
    return f"{float(value):.1f}".removesuffix(".0")


WRITTEN: Final[Mapping[str, Callable[[Fraction | str], str]]] = {
    "percent": _percent,
    "figure": _figure,
    "text": str,
}
"""How a person writes the answer to a question about a filing."""


def filing(random: Random, page: int) -> Iterator[dict[str, Any]]:
    """The records of one page, in FinQA's shape.

    Args:
        random: draws.
        page: its number; no two pages share one.
    """
    own = templates()["finqa"]
    ticker, firm = random.choice(list(own["firms"].items()))
    old = random.randint(2005, 2023)
    lines = [_line(item, random) for item in random.sample(own["items"], 4)]
    (item, item_old, item_new), (other, other_old, other_new) = random.sample(lines, 2)
    figures = {
        "item_old": item_old,
        "item_new": item_new,
        "other_old": other_old,
        "other_new": other_new,
    }
    filename = f"{ticker}/{old + 1}/page_{page}.pdf"
    words = {"old": old, "new": old + 1, "firm": firm}
    rows = [[name, f"$ {new:,}", f"{earlier:,}"] for name, earlier, new in lines]
    for number, asked in enumerate(own["questions"], 1):
        program = asked["program"].format(**figures)
        result = execute(parse(program), ())
        yield {
            "id": f"{filename}-{number}",
            "filename": filename,
            "pre_text": [random.choice(own["before"]).format(**words)],
            "post_text": [each.format(**words) for each in random.sample(own["after"], 2)],
            "table": [["", str(old + 1), str(old)], *rows],
            "qa": {
                "question": asked["text"].format(**words, item=item, other=other),
                "answer": WRITTEN[asked["written"]](result),
                "exe_ans": rounded(result),
                "program": program,
            },
        }


def _line(item: str, random: Random) -> tuple[str, int, int]:
    """An item of a page in its two years."""
    old = random.randint(150, 9000)
    return item, old, max(101, round(old * random.uniform(0.72, 1.38)))


def asked(random: Random) -> dict[str, Any]:
    """A record of Spider's shape: `db_id`, `question`, `query`."""
    own = templates()["spider"]
    drawn = random.choice(own["questions"])
    one, other = random.sample(own["columns"], 2)
    values = {name: random.choice(own[name]) for name in ("day", "item", "order", "way")}
    return {
        "db_id": own["database"],
        "question": drawn["text"].format(one=one, other=other, **values),
        "query": drawn["query"].format(one=one, other=other, **values),
    }


def bill(random: Random) -> dict[str, Any]:
    """A bill: `page`, what is printed, and `fields`, what it says."""
    own = templates()["invoices"]
    number, year, day = (
        random.randint(1000, 99_999),
        random.randint(2019, 2026),
        random.randint(1, 28),
    )
    month, paid = random.choice(own["month"]), random.random() < PAID
    items = random.sample(own["item"], random.randint(1, 4))
    lines = [
        {"item": each, "count": random.randint(1, 20), "price": random.randint(100, 20_000) / 100}
        for each in items
    ]
    fields = {
        "number": f"R-{number}",
        "date": datetime.strptime(f"{day} {month} {year}", "%d %B %Y").date().isoformat(),  # noqa: DTZ007
        "buyer": random.choice(own["buyer"]),
        "paid": paid,
        "lines": lines,
        "total": round(sum(each["count"] * each["price"] for each in lines), 2),
    }
    page = [
        f"Bill R-{number}, {day} {month} {year}",
        f"To: {fields['buyer']}",
        *(f"{each['count']} x {each['item']} at {each['price']:.2f}" for each in lines),
        f"Total: {fields['total']:,.2f}",
        random.choice(own["paid" if paid else "due"]),
    ]
    return {"page": "\n".join(page), "fields": fields}


def problem(random: Random) -> dict[str, Any]:
    """A record of MATH's shape: `problem`, `level`, `type`, `solution`."""
    drawn = random.choice(templates()["math"]["problems"])
    values = DRAWS[drawn["draws"]](random)
    working, answer = (drawn[part].format(**values) for part in ("working", "answer"))
    return {
        "problem": drawn["text"].format(**values),
        "level": drawn["level"],
        "type": drawn["subject"],
        "solution": rf"{working} So the answer is $\boxed{{{answer}}}$.",
    }


def _linear_equation(random: Random) -> dict[str, Any]:
    a, b, x = random.randint(2, 19), _nonzero(random, 60), _nonzero(random, 40)
    c = a * x + b
    return {"a": a, "b": b, "c": c, "x": x, "plus_b": _signed(b), "rest": c - b}


def _remainder(random: Random) -> dict[str, Any]:
    n, m = random.randint(200, 9999), random.randint(7, 97)
    return {"n": n, "m": m, "times": n // m, "rest": n % m}


def _greatest_divisor(random: Random) -> dict[str, Any]:
    shared = random.randint(3, 45)
    a, b = shared * random.randint(2, 40), shared * random.randint(2, 40)
    return {"a": a, "b": b, "divisor": gcd(a, b)}


def _sum_of_fractions(random: Random) -> dict[str, Any]:
    while True:
        (a, c), (b, d) = random.sample(range(1, 20), 2), random.sample(range(3, 25), 2)
        result = Fraction(a, b) + Fraction(c, d)
        if result.denominator > 1 and gcd(a, b) == gcd(c, d) == 1:
            return {"a": a, "b": b, "c": c, "d": d, "multiple": b * d} | _parts(result)


def _probability(random: Random) -> dict[str, Any]:
    while True:
        red, blue, green = (random.randint(2, 30) for _ in range(3))
        every = red + blue + green
        result = Fraction(red, every)
        if result.numerator > 1:
            return {"red": red, "blue": blue, "green": green, "all": every} | _parts(result)


def _product_of_binomials(random: Random) -> dict[str, Any]:
    a, b = _nonzero(random, 25), _nonzero(random, 25)
    while a + b == 0:
        b = _nonzero(random, 25)
    total, product = a + b, a * b
    return {
        "plus_a": _signed(a),
        "plus_b": _signed(b),
        "plus_product": _signed(product),
        "total": total,
        "product": product,
        "sign": "+" if total > 0 else "-",
        "middle": "x" if abs(total) == 1 else f"{abs(total)}x",
    }


def _distance(random: Random) -> dict[str, Any]:
    while True:
        x, y, dx, dy = (random.randint(-20, 20) for _ in range(4))
        square = dx * dx + dy * dy
        if square and isqrt(square) ** 2 != square:
            break
    outer = max(n for n in range(1, isqrt(square) + 1) if square % (n * n) == 0)
    return {
        "x": x,
        "y": y,
        "to_x": x + dx,
        "to_y": y + dy,
        "square": square,
        "outer": outer if outer > 1 else "",
        "inner": square // (outer * outer),
    }


def _midpoint(random: Random) -> dict[str, Any]:
    x, y, dx, dy = (_nonzero(random, 40) for _ in range(4))
    return {
        "x": x,
        "y": y,
        "from_x": x - dx,
        "from_y": y - dy,
        "to_x": x + dx,
        "to_y": y + dy,
    }


def _interval(random: Random) -> dict[str, Any]:
    middle, reach = _nonzero(random, 60), random.randint(2, 45)
    return {
        "middle": middle,
        "minus_middle": _signed(-middle),
        "reach": reach,
        "low": middle - reach,
        "high": middle + reach,
    }


def _roots(random: Random) -> dict[str, Any]:
    low, high = sorted(random.sample([n for n in range(-25, 26) if n], 2))
    total, product = low + high, low * high
    return {
        "low": low,
        "high": high,
        "total": total,
        "product": product,
        "linear": f"{_signed(-total)}x " if total else "",
        "plus_product": _signed(product),
    }


def _percentage(random: Random) -> dict[str, Any]:
    whole, share = 20 * random.randint(2, 60), 5 * random.randint(1, 19)
    return {
        "whole": whole,
        "part": whole * share // 100,
        "share": share,
        "quotient": share / 100,
    }


def _decimal_product(random: Random) -> dict[str, Any]:
    a, b = random.randint(11, 99), random.choice([n for n in range(11, 99) if n % 10])
    while a % 10 == 0 or a * b % 10 == 0:
        a, b = a + 1, b + (b % 10 == 5)  # noqa: PLR2004 - no product ends in 0
    product = a * b
    return {
        "a": a,
        "b": b,
        "left": a / 10,
        "right": b / 10,
        "product": product,
        "whole": product // 100,
        "places": product % 100,
    }


DRAWS: Final[Mapping[str, Callable[[Random], dict[str, Any]]]] = {
    "linear_equation": _linear_equation,
    "interval": _interval,
    "roots": _roots,
    "product_of_binomials": _product_of_binomials,
    "remainder": _remainder,
    "greatest_divisor": _greatest_divisor,
    "sum_of_fractions": _sum_of_fractions,
    "percentage": _percentage,
    "decimal_product": _decimal_product,
    "probability": _probability,
    "distance": _distance,
    "midpoint": _midpoint,
}
"""What is drawn and computed for a problem, by its name in the templates."""


def _nonzero(random: Random, most: int) -> int:
    return random.choice((-1, 1)) * random.randint(1, most)


def _signed(number: int) -> str:
    """`+ 3` or `- 3`."""
    return f"{'+' if number >= 0 else '-'} {abs(number)}"


def _parts(value: Fraction) -> dict[str, int]:
    return {"numerator": value.numerator, "denominator": value.denominator}
