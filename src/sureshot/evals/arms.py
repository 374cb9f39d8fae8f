"""What is compared: for each arm the arguments of an evaluation, and a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def settings_of(arms: Sequence[Any], refused: Collection[str]) -> list[dict[str, Any]]:
    """Return the arguments that each arm stands for: a mapping as it is, anything else as a model.

    Examples
    --------
    >>> settings_of(["small", {"model": "small", "temperature": 1}], refused=["limit"])
    [{'model': 'small'}, {'model': 'small', 'temperature': 1}]
    """
    settings = [dict(arm) if isinstance(arm, Mapping) else {"model": arm} for arm in arms]
    if not settings:
        raise ValueError("arms must have at least one model, got none")
    for one in settings:
        refuse(one, refused, "an arm")
        if not one:
            raise ValueError("an arm must have arguments, got an empty mapping")
        if isinstance(one.get("model"), list | tuple):
            message = f"an arm must have one model, got {one['model']!r}: make several arms of it"
            raise TypeError(message)
    return settings


def refuse(given: Mapping[str, Any], refused: Collection[str], who: str) -> None:
    """Raise an error for arguments that the search itself decides."""
    found = [name for name in given if name in refused]
    if found:
        raise ValueError(f"{who} must not have {', '.join(found)}: the search decides that")


def names_of(names: Sequence[str] | None, settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each arm: the given one, or its model and its other arguments.

    Examples
    --------
    >>> names_of(None, [{"model": "small"}, {"model": "small", "temperature": 1}])
    ['small', 'small, temperature=1']
    """
    if names is None:
        return [_name(one) for one in settings]
    if len(names) != len(settings):
        message = f"names must have one name for each of {len(settings)} arms, got {len(names)}"
        raise ValueError(message)
    return [str(name) for name in names]


def _name(settings: Mapping[str, Any]) -> str:
    model = settings.get("model")
    shown = [_shown(model)] if "model" in settings else []
    rest = [f"{name}={value}" for name, value in settings.items() if name != "model"]
    return ", ".join(shown + rest)


def _shown(model: Any) -> str:
    """Return what a model is called: one that does not say so would show its address."""
    text = str(model)
    return type(model).__name__ if text.startswith("<") and " at 0x" in text else text


def chosen(argument: str, known: Collection[str], given: str | None) -> str:
    """Return which of several names an argument means: the only one if none is given.

    Examples
    --------
    >>> chosen("metric", ["acc"], None), chosen("metric", ["acc", "f1"], "f1")
    ('acc', 'f1')
    """
    if given is None and len(known) == 1:
        return next(iter(known))
    if given is None or given not in known:
        got = "none was given" if given is None else f"got {given!r}"
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, known))}; {got}")
    return given
