"""`reward data upload`: files to S3."""

from __future__ import annotations

from typing import Annotated

import typer

from reward_functions.aws import s3
from reward_functions.cli._echo import say
from reward_functions.cli._progress import counted


def upload(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="What to upload.")],
    destination: Annotated[
        str, typer.Argument(metavar="s3://BUCKET/KEY", help="Where to; below it, if it ends in /.")
    ],
    *,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of your AWS configuration.")
    ] = None,
    region: Annotated[str | None, typer.Option(metavar="REGION", help="Of the bucket.")] = None,
) -> None:
    """Upload training data to S3, each file whole or not at all, held to a checksum.

    Credentials, region and endpoint are found as the AWS command line finds them.

    Exit status: 0 all files are there; 2 one is not, and those after it were not sent.
    """
    placed = s3.destinations(files, destination)
    total = sum(path.stat().st_size for path in placed)
    client = s3.s3_client(profile, region)
    with counted("uploading", total, size=True) as advance:
        for place in s3.upload(client, placed, advance):
            say(str(place))
