"""Names as an enemy writes them: what a page shows of data has to stand all of this."""

SCRIPT = "</title></style></svg><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x"
TERMINAL = "\x1b[31mred\x1b]0;title\x07\x00\x9b1m"
BIDI = "ab\u202edc\u2066\u2069\u200f\ufeff\u2028\u0085\ud800end"
UNBROKEN = "w" * 400

NAME = f"{SCRIPT} {TERMINAL} {BIDI}"
"""All but the length."""
