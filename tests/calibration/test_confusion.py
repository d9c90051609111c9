"""Agreement, by tables worked out by hand and by formulas written another way."""

from collections import Counter
from math import isclose
from random import Random

import pytest

from reward_functions.calibration.figures import WAYS, ConfusionMatrix, confusion_matrix, summed

CLASSES = (0.0, 0.5, 1.0)

# People's 4, 3 and 3 cases; the judge left two unanswered. Worked out on paper:
#   wrong     5 of 10 right; F1 2·3/(4+4), 0/(3+1), 2·2/(3+3); chance (4·4 + 3·1 + 3·3)/100
#   left out  5 of 8;        F1 6/(3+4),   0/(2+1), 4/(3+3);   chance (3·4 + 2·1 + 3·3)/64
#   imputed   6 of 10;       F1 6/(4+4),   2/(3+3), 4/(3+3);   chance (4·4 + 3·3 + 3·3)/100
TABLE = ConfusionMatrix(((3, 0, 0, 1), (1, 0, 1, 1), (0, 1, 2, 0)))
BY_HAND = {
    "wrong": (5 / 10, [3 / 4, 0, 2 / 3], 17 / 36, 1 / 2, (50 - 28) / (100 - 28)),
    "left out": (5 / 8, [6 / 7, 0, 2 / 3], 32 / 63, 32 / 56, (40 - 23) / (64 - 23)),
    "imputed": (6 / 10, [3 / 4, 1 / 3, 2 / 3], 7 / 12, 6 / 10, (60 - 34) / (100 - 34)),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_figures_worked_out_by_hand(way):
    accuracy, f1, macro, weighted, kappa = BY_HAND[way]
    table = TABLE.counted(way, imputed=1)
    assert table.accuracy() == pytest.approx(accuracy)
    assert [table.f1(at) for at in range(3)] == pytest.approx(f1)
    assert table.macro_f1() == pytest.approx(macro)
    assert table.weighted_f1() == pytest.approx(weighted)
    assert table.kappa() == pytest.approx(kappa)


def by_definition(pairs):
    """Precision, recall and chance, counted from the pairs themselves."""
    people, judge = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    f1 = {}
    for label in CLASSES:
        hits = sum(one == other == label for one, other in pairs)
        if people[label] or judge[label]:
            precision = hits / judge[label] if judge[label] else 0.0
            recall = hits / people[label] if people[label] else 0.0
            f1[label] = 2 * precision * recall / (precision + recall) if hits else 0.0
    agreed = sum(one == other for one, other in pairs) / len(pairs)
    chance = sum(people[label] * judge[label] for label in CLASSES) / len(pairs) ** 2
    return {
        "accuracy": agreed,
        "macro_f1": sum(f1.values()) / len(f1),
        "weighted_f1": sum(f1.get(label, 0) * people[label] for label in CLASSES) / len(pairs),
        "kappa": (agreed - chance) / (1 - chance) if chance < 1 else None,
    }


@pytest.mark.parametrize("seed", range(20))
def test_the_figures_are_those_of_the_definitions(seed):
    random = Random(seed)
    pairs = [
        (random.choice(CLASSES), random.choice((*CLASSES, None)))
        for _ in range(random.randint(1, 60))
    ]
    ways = {
        "wrong": pairs,
        "left out": [pair for pair in pairs if pair[1] is not None],
        "imputed": [(one, 0.5 if other is None else other) for one, other in pairs],
    }
    for way, counted in ways.items():
        table = confusion_matrix(pairs, CLASSES).counted(way, imputed=1)
        if not counted:
            assert table.accuracy() is None
            continue
        for name, expected in by_definition(counted).items():
            found = getattr(table, name)()
            assert found == expected or isclose(found, expected, abs_tol=1e-12), (way, name)


def test_agreement_that_chance_alone_would_give_has_no_kappa():
    assert confusion_matrix([(1.0, 1.0)] * 5, CLASSES).kappa() is None


def test_a_table_of_nothing_has_no_figures():
    empty = confusion_matrix([], CLASSES)
    figures = (empty.accuracy(), empty.macro_f1(), empty.weighted_f1(), empty.kappa())
    assert figures == (None,) * 4


def test_a_class_that_nobody_names_is_not_in_the_mean():
    assert confusion_matrix([(0.0, 0.0), (1.0, 1.0)], CLASSES).macro_f1() == 1.0


def test_tables_add_up():
    halves = [
        confusion_matrix([(0.0, 0.5)], CLASSES),
        confusion_matrix([(0.0, None), (1.0, 1.0)], CLASSES),
    ]
    assert summed(halves, 3) == confusion_matrix([(0.0, 0.5), (0.0, None), (1.0, 1.0)], CLASSES)
