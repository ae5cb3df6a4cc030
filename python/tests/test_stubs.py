"""Type stubs and documentation are whole."""

import ast
import inspect
from pathlib import Path

import frisson
import pytest
from frisson import _native

STUB = ast.parse((Path(frisson.__file__).parent / "_native.pyi").read_text())


def public(names):
    return {n for n in names if not n.startswith("_")}


def test_stubs_name_what_the_module_has_and_nothing_else():
    functions = {n.name for n in STUB.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in STUB.body if isinstance(n, ast.ClassDef)}
    assert functions | set(classes) == public(dir(_native))
    for name, node in classes.items():
        stubbed = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
        assert public(stubbed) == public(dir(getattr(_native, name))), name


def parameters(node):
    taken = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    return [a for a in taken if a != "self"]


def test_stubs_have_the_names_of_the_parameters():
    checked = 0
    for node in STUB.body:
        members = [(node, _native)] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.ClassDef):
            found = (m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_"))
            members = [(m, getattr(_native, node.name)) for m in found if not m.decorator_list]
        for function, owner in members:
            signature = inspect.signature(getattr(owner, function.name))
            assert parameters(function) == [p for p in signature.parameters if p != "self"], function.name
            checked += 1
    assert checked > 20


@pytest.mark.parametrize("name", frisson.__all__)
def test_everything_offered_is_explained(name):
    offered = getattr(frisson, name)
    if name != "__version__":
        assert (inspect.getdoc(offered) or "").strip(), name
    if inspect.isclass(offered):
        for member, value in vars(offered).items():
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                assert (inspect.getdoc(value) or "").strip(), f"{name}.{member}"
