"""`python -m docs.site FOLDER`: write what Sphinx reads."""

import sys
from pathlib import Path

from docs.site.gather import gather

gather(Path(sys.argv[1]))
