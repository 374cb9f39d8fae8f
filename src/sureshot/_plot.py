"""Pictures of results, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sureshot.result import TopK


def elimination_race(result: TopK, axes: Any = None) -> Any:
    """Draw how many arms were read and how many undecided, against the numbers read."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra
        from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter  # noqa: PLC0415
    except ImportError as error:
        message = "plot() needs matplotlib: pip install 'sureshot[report]'"
        raise ImportError(message) from error
    if axes is None:
        axes = plt.subplots(layout="constrained")[1]
    for position, query in enumerate(result.queries):
        read = [info.numbers_read for info in query.rounds]
        active = [info.active for info in query.rounds]
        undecided = [info.arms for info in query.rounds]
        (line,) = axes.step(read, active, where="post", marker=".", label=f"query {position}")
        axes.step(read, undecided, where="post", linestyle=":", color=line.get_color())
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))  # 50k, 2M
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yscale("symlog", linthresh=1)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    most = max(1, *(info.arms for info in result.rounds))
    axes.set_ylim(0, 1.5 * most)  # so that the first line does not lie on the frame
    axes.set_xlabel("numbers read")
    axes.set_ylabel("arms read (solid), undecided (dotted)")
    axes.set_title(f"top {result.scores.shape[-1]}: {result.work.share:.2%} of the numbers read")
    if 1 < len(result.queries) <= 10:
        axes.legend()
    return axes
