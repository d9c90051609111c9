"""The rows of units and currencies, and the prefixes that stand before them."""

from __future__ import annotations

from typing import Final

# canonical name: (symbols, case-sensitive; words, in the singular, any case)
UNITS: Final[dict[str, tuple[str, str]]] = {
    # length and area
    "m": ("m 米 公尺", "meter metre"),
    "cm": ("cm 厘米 公分", "centimeter centimetre"),
    "mm": ("mm 毫米", "millimeter millimetre"),
    "km": ("km 千米 公里", "kilometer kilometre"),
    "dm": ("dm 分米", "decimeter decimetre"),
    "um": ("µm μm um", "micrometer micrometre micron"),
    "Angstrom": ("Å", "angstrom ångström"),
    "in": ("", "inch inches"),
    "ft": ("ft", "foot feet"),
    "yd": ("yd yds", "yard"),
    "mi": ("mi", "mile"),
    "AU": ("AU au", "astronomical-unit"),
    "ly": ("ly", "light-year lightyear"),
    "pc": ("pc", "parsec"),
    "ha": ("ha 公顷", "hectare"),
    "acre": ("", "acre"),
    # mass
    "g": ("g 克", "gram gramme"),
    "kg": ("kg kgs 千克 公斤", "kilogram kilogramme kilo"),
    "mg": ("mg 毫克", "milligram milligramme"),
    "t": ("t 吨", "tonne"),
    "ton": ("", "ton"),
    "lb": ("lb lbs", "pound-mass"),
    "oz": ("oz", "ounce"),
    # time
    "s": ("s sec secs 秒", "second"),
    "min": ("min mins 分钟", "minute"),
    "h": ("h hr hrs 小时", "hour"),
    "day": ("天 日", "day"),
    "week": ("wk wks 周 星期", "week"),
    "month": ("月 个月", "month"),
    "year": ("yr yrs 年 岁", "year"),
    # volume
    "L": ("L l 升", "liter litre"),
    "mL": ("mL ml 毫升", "milliliter millilitre"),
    "gal": ("gal", "gallon"),
    "qt": ("qt", "quart"),
    "pt": ("", "pint"),
    "cup": ("", "cup"),
    # physics
    "Hz": ("Hz", "hertz"),
    "N": ("N", "newton"),
    "kN": ("kN", "kilonewton"),
    "N*m": ("Nm", "newton-meter newton-metre"),
    "dyn": ("dyn", "dyne"),
    "J": ("J", "joule"),
    "kJ": ("kJ", "kilojoule"),
    "erg": ("erg", "erg"),
    "cal": ("cal", "calorie"),
    "eV": ("eV", "electronvolt electron-volt"),
    "W": ("W", "watt"),
    "kW": ("kW", "kilowatt"),
    "hp": ("hp", "horsepower"),
    "W*h": ("Wh", "watt-hour"),
    "kW*h": ("kWh", "kilowatt-hour kwh"),
    "Pa": ("Pa", "pascal"),
    "bar": ("bar", "bar"),
    "mmHg": ("mmHg", ""),
    "psi": ("psi", ""),
    "torr": ("", "torr"),
    "atm": ("atm", "atmosphere"),
    "V": ("V", "volt"),
    "kV": ("kV", "kilovolt"),
    "A": ("A", "ampere amp"),
    "kA": ("kA", "kiloampere kiloamp"),
    "A*h": ("Ah", "ampere-hour amp-hour"),
    "ohm": ("Ω ohm", "ohm"),
    "kohm": ("kΩ kohm", "kilohm kiloohm"),
    "Mohm": ("MΩ Mohm", "megohm megaohm"),
    "S": ("", "siemens"),
    "C": ("C", "coulomb"),
    "F": ("F", "farad"),
    "H": ("", "henry henries"),
    "Wb": ("Wb", "weber"),
    "T": ("T", "tesla"),
    "Gs": ("Gs", "gauss"),
    "K": ("K", "kelvin"),
    "degC": ("°C ℃", "celsius"),
    "degF": ("°F ℉", "fahrenheit"),
    "mol": ("mol", "mole"),
    "cd": ("cd", "candela"),
    "lm": ("lm", "lumen"),
    "lx": ("lx", "lux"),
    "dB": ("dB", "decibel"),
    "Bq": ("Bq", "becquerel"),
    "Gy": ("Gy", "gray"),
    "Sv": ("Sv", "sievert"),
    "rad": ("rad rads 弧度", "radian"),
    "sr": ("sr", "steradian"),
    "deg": ("° deg degs 度", "degree"),
    "mi/h": ("mph", ""),
    "km/h": ("kph kmh", ""),
    "rpm": ("rpm", ""),
    # information
    "bit": ("", "bit"),
    "byte": ("", "byte"),
    "kB": ("kB KB", "kilobyte"),
    "MB": ("MB", "megabyte"),
    "GB": ("GB", "gigabyte"),
    "TB": ("TB", "terabyte"),
    "PB": ("PB", "petabyte"),
    "KiB": ("KiB", "kibibyte"),
    "MiB": ("MiB", "mebibyte"),
    "GiB": ("GiB", "gibibyte"),
    "TiB": ("TiB", "tebibyte"),
    "kb": ("kb Kb kbit Kbit", "kilobit"),
    "Mb": ("Mb Mbit", "megabit"),
    "Gb": ("Gb Gbit", "gigabit"),
    "kb/s": ("kbps Kbps", ""),
    "Mb/s": ("Mbps", ""),
    "Gb/s": ("Gbps", ""),
    # one of a thing, named only as such
    "unit": ("", "unit"),
    "bps": ("bps", "basis-point"),
}

_PREFIXED_BY: Final = {
    "fpnumkMGT": "Hz J eV W Pa cal bar mol ohm Ω Nm Wh Bq Gy Sv pc m",
    "pnumkMGT": "g",
    "numkMGT": "V",
    "fpnum": "s L A C F T",
    "pnum": "N S K Wb Ah",
    "num": "H",
}
"""Which prefixes stand before the symbols of a unit; two capitals, as in TA, are rather names."""

_PRODUCTS: Final = {"Ω": "ohm", "Nm": "N*m", "Wh": "W*h", "Ah": "A*h"}
"""The units whose symbol is not their name."""

PREFIXED: Final[dict[str, tuple[str, str]]] = {
    symbol: (_PRODUCTS.get(symbol, symbol), letters)
    for letters, symbols in _PREFIXED_BY.items()
    for symbol in symbols.split()
}
"""The units that take a prefix, by the symbol behind it, and the letters of those prefixes."""

PREFIXES: Final[dict[str, tuple[str, str]]] = {
    "f": ("f", "femto"),
    "p": ("p", "pico"),
    "n": ("n", "nano"),
    "u": ("u µ μ", "micro"),
    "m": ("m", "milli"),
    "k": ("k", "kilo"),
    "M": ("M", "mega"),
    "G": ("G", "giga"),
    "T": ("T", "tera"),
}
"""The letter of a prefix in a canonical name: its symbols, and its word."""

PARTS: Final[dict[str, tuple[int, str]]] = {
    "week": (7, "day"),
    "day": (24, "h"),
    "h": (60, "min"),
    "min": (60, "s"),
    "year": (12, "month"),
    "mi": (1760, "yd"),
    "yd": (3, "ft"),
    "ft": (12, "in"),
    "km": (1000, "m"),
    "m": (10, "dm"),
    "dm": (10, "cm"),
    "cm": (10, "mm"),
    "t": (1000, "kg"),
    "kg": (1000, "g"),
    "lb": (16, "oz"),
    "pound": (16, "oz"),
    "L": (1000, "mL"),
    "gal": (4, "qt"),
    "qt": (2, "pt"),
    "pt": (2, "cup"),
    "USD": (100, "cent"),
    "EUR": (100, "cent"),
}
"""How many of the next smaller unit a unit has, for amounts in several: 2 h 30 min, 5 ft 3 in."""

CURRENCIES: Final[dict[str, tuple[str, str]]] = {
    "USD": ("$ US$ USD 美元", "dollar buck"),
    "cent": ("¢ ct cts", "cent penny pennies"),
    "EUR": ("€ EUR 欧元", "euro"),
    "GBP": ("£ GBP", "sterling"),
    "JPY": ("¥ JPY 日元", "yen"),
    "CNY": ("CNY RMB 元 人民币", "yuan renminbi"),
    "INR": ("₹ INR Rs Rs.", "rupee"),
    "KRW": ("₩ KRW", "won"),
    "RUB": ("₽ RUB", "ruble rouble"),
    "CHF": ("CHF", "franc"),
    "CAD": ("CAD C$", ""),
    "AUD": ("AUD A$", ""),
    "PHP": ("₱ PHP", "peso"),
    # The word weighs and buys: its own name, which `same_unit` lets stand for either.
    "pound": ("", "pound quid"),
}
