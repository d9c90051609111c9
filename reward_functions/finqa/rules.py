"""The ids of FinQA's rules, by the fault of a value.

They name the rows of docs/finqa.md. A verdict carries the id of the rule that decided it.
"""

from __future__ import annotations

from typing import Final

OF_FAULT: Final = {
    "": "finqa-rounded-to-printed-digits",
    "value": "finqa-near-miss",
    "unit": "finqa-other-unit",
    "sign": "finqa-sign",
    "scale": "finqa-other-scale",
    "precision": "finqa-two-digits",
}
