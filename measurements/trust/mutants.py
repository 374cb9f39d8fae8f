"""Small mistakes, planted one at a time, to see whether the tests notice.

A mutant is a module with one change in its syntax tree: a comparison, an operation, a number, a function. No file is
changed: the process that runs the tests compiles the changed tree when it imports the module.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec
    from types import ModuleType

SOURCES = Path(__file__).parents[2] / "src"
VARIABLE = "SURESHOT_MUTANT"  # of the environment: which module, and which of its mutants

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CALLED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "ceil": "floor",
    "floor": "ceil",
    "any": "all",
    "all": "any",
    "log": "sqrt",
    "sqrt": "abs",
    "argmax": "argmin",
    "argmin": "argmax",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where, and what the line says before and after."""

    module: str
    number: int
    line: int
    before: str
    after: str


def path_of(module: str) -> Path:
    """Return the file of a module."""
    return SOURCES.joinpath(*module.split(".")).with_suffix(".py")


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node."""
    if isinstance(node, ast.Compare):
        for other in COMPARED.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield ast.Constant(2 * node.value + 1e-3)
    elif isinstance(node, ast.Attribute) and node.attr in CALLED:
        yield ast.Attribute(node.value, CALLED[node.attr], node.ctx)
    elif isinstance(node, ast.Name) and node.id in CALLED and isinstance(node.ctx, ast.Load):
        yield ast.Name(CALLED[node.id], node.ctx)


def places(tree: ast.AST) -> Iterator[tuple[Any, str, int | None, ast.AST]]:
    """Yield every node that can be changed, with its parent, the field it is in, and its place in a list.

    Types say nothing at run time: annotations are passed over.
    """
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.AST):
                yield tree, name, place, child
                yield from places(child)


def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module, as it is."""
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    number = itertools.count()
    for _, _, _, node in places(tree_of(module)):
        for changed in changes(node):
            before, after = ast.unparse(node), ast.unparse(changed)
            yield Mutant(module, next(number), getattr(node, "lineno", 0), before, after)


def mutated(module: str, number: int) -> ast.Module:
    """Return the syntax tree of a module with one of its changes made."""
    tree = tree_of(module)
    every = ((place, changed) for place in places(tree) for changed in changes(place[-1]))
    (parent, name, place, node), changed = next(itertools.islice(every, number, None))
    ast.copy_location(changed, node)
    if place is None:
        setattr(parent, name, changed)
    else:
        getattr(parent, name)[place] = changed
    return ast.fix_missing_locations(tree)


class MutantImporter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module with its change, and leaves all others alone."""

    def __init__(self, module: str, number: int) -> None:
        self.module = module
        self.tree = mutated(module, number)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return how the module is loaded."""
        if name != self.module:
            return None
        return importlib.util.spec_from_file_location(name, path_of(name), loader=self)

    def create_module(self, _spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed module."""
        exec(compile(self.tree, str(path_of(self.module)), "exec"), module.__dict__)  # noqa: S102


def install(words: str) -> None:
    """Plant the mutant that ``module:number`` names, before the module is imported."""
    module, _, number = words.partition(":")
    if module in sys.modules:
        raise ImportError(f"{module} was imported before its mutant could be")
    sys.meta_path.insert(0, MutantImporter(module, int(number)))
