"""Writes the pages of the API reference, docs/api/*.rst, from the names that zero exports.

So a new function is in the reference as soon as it is in ``__all__``. Functions of ``zero`` are
grouped by the source that defines them. Those of the compiled module get the types of its stub.
"""

import ast
import inspect
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.inspect import signature, stringify_signature
from sphinx.util.nodes import make_refnode

import zero

# Source -> title; the order is that of the page. Another source comes last, under its own name.
FAMILIES = {
    "types": "Types",
    "creation": "Creation",
    "draw": "Creation",
    "like": "Creation",
    "convert": "From other data",
    "buffer": "From other data",
    "exchange": "From other data",
    "unary": "Elementwise, of one tensor",
    "functions": "Elementwise, of one tensor",
    "parts": "Elementwise, of one tensor",
    "special": "Elementwise, of one tensor",
    "numbers": "Elementwise, of one tensor",
    "binary": "Elementwise, of several tensors",
    "pointwise": "Elementwise, of several tensors",
    "compare": "Comparison and logic",
    "reduce": "Reduction",
    "accumulate": "Reduction",
    "linalg": "Products of matrices and vectors",
    "products": "Products of matrices and vectors",
    "matrices": "Linear algebra",
    "lowrank": "Linear algebra",
    "eigenpairs": "Linear algebra",
    "statistics": "Reduction",
    "shape": "Shapes and dtypes",
    "queries": "Shapes and dtypes",
    "arrange": "Shapes and dtypes",
    "contract": "Products of matrices and vectors",
    "strided": "Shapes and dtypes",
    "diagonal": "Shapes and dtypes",
    "order": "Order and search",
    "search": "Order and search",
    "views": "Shapes and dtypes",
    "copies": "Views as copies",
    "embed": "Selection",
    "windows": "Creation",
    "grids": "Combinations, differences and integrals on grids",
    "join": "Joining",
    "select": "Selection",
    "scatter": "Selection",
    "loss": "Softmax and losses",
    "losses": "Softmax and losses",
    "distances": "Distances",
    "activation": "Activation functions",
    "activations": "Activation functions",
    "normalize": "Normalisation",
    "convolution": "Convolution",
    "batch_norm": "Normalisation",
    "norms": "Normalisation",
    "embedding": "Rows of tables",
    "tables": "Rows of tables",
    "dropout": "Dropout",
    "recurrent": "Recurrent layers",
    "pooling": "Pooling, padding and resampling",
    "sampling": "Pooling, padding and resampling",
    "shuffle": "Pooling, padding and resampling",
    "methods": "Copies",
    "autograd": "Recording",
    "autocast_mode": "Mixed precision",
    "grad_scaler": "Mixed precision",
    "state": "Mixed precision",
    "runtime": "Random state, threads, memory",
    "dtype": "Devices",
    "settings": "Settings that PyTorch has",
    "tensor_str": "Printing",
    "info": "Limits of dtypes",
    "files": "Files",
    "legacy": "Older names",
}
MODULES = {
    "zero.nn": "Layers and the base class of models.",
    "zero.nn.functional": "Layers and losses as functions.",
    "zero.nn.attention": "The engines of attention, and which of them is taken.",
    "zero.nn.init": "Starting values of parameters.",
    "zero.nn.utils": "Functions on parameters and gradients.",
    "zero.nn.utils.parametrize": "Parameters that are computed from others.",
    "zero.nn.utils.parametrizations": "Ready-made ones: weight and spectral normalisation.",
    "zero.nn.utils.rnn": "Sequences of different lengths, padded or packed.",
    "zero.nn.utils.prune": "Parameters with elements that stay 0.",
    "zero.nn.utils.stateless": "Calls of a module with other parameters.",
    "zero.nn.modules.utils": "Changes of state_dicts.",
    "zero.optim": "Optimizers.",
    "zero.optim.optimizer": "Hooks of all optimizers.",
    "zero.optim.lr_scheduler": "Learning rates that change during training.",
    "zero.optim.swa_utils": "Averages of models over training.",
    "zero.distributions": "Probability distributions, and divergences between them.",
    "zero.distributions.utils": "What distributions share.",
    "zero.distributions.constraints": "Sets that parameters and samples lie in.",
    "zero.distributions.constraint_registry": "Transforms onto such sets.",
    "zero.linalg": "Linear algebra: products, factors of matrices, equations, norms.",
    "zero.special": "Special functions: gamma, error and Bessel functions, orthogonal polynomials.",
    "zero.signal.windows": "Windows of signal processing.",
    "zero.autograd": "Backward passes, custom functions, checks of gradients.",
    "zero.autograd.function": "Operations whose gradient you write.",
    "zero.autograd.functional": "Jacobians, Hessians and products with them.",
    "zero.func": "Transforms of functions: gradients, Jacobians, batches of calls.",
    "zero.autograd.graph": "Nodes, and hooks on what they save.",
    "zero.autograd.anomaly_mode": "Where a NaN came from.",
    "zero.autograd.profiler_util": "The events of a profile.",
    "zero.profiler": "Where the time and the memory go.",
    "zero.amp": "Mixed precision.",
    "zero.backends.winograd": "Winograd's algorithm for convolutions: on or off.",
    "zero.testing": "Comparison of tensors in tests.",
    "zero.utils.data": "Datasets, samplers and batches.",
    "zero.utils.data.datasets": "Published files, tables and folders of images.",
    "zero.utils.data.datasets.transforms": "Transforms of batches of images.",
    "zero.utils": "To look at models.",
    "zero.utils.checkpoint": "Less memory in backward, for a second forward pass.",
    "zero.utils.dlpack": "Memory shared with other array libraries.",
    "zero.utils.module_summary": "What ``summary`` returns.",
    "zero.utils.module_watch": "What ``watch`` returns.",
    "zero.utils.tensorboard": "Files for TensorBoard.",
    "zero.utils.viz": "Pictures of the autograd graph and of training.",
    "zero.serialization": "Checkpoints: tensors and plain values in files.",
    "zero.safetensors": "Files in the format of safetensors.",
    "zero.multiprocessing": "Tensors from process to process.",
    "zero.storage": "The memory behind tensors.",
    "zero.errors": "The exceptions.",
}
ELSEWHERE = {
    "ldexp": "pointwise",
    "float_power": "pointwise",
    "rsub": "pointwise",
    "load": "files",
    "save": "files",
    "igamma": "pointwise",
    "igammac": "pointwise",
}  # than their source says
HIDDEN_TYPES = ("Tensor", "Parameter")  # on a page of their own, or of zero.nn


def source_of(name, value):
    """The key of FAMILIES for a name of zero; None for constants and modules."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    code = getattr(inspect.unwrap(value), "__code__", None)
    if code is not None:
        return Path(code.co_filename).stem.lstrip("_")
    if not isinstance(value, type) or name in HIDDEN_TYPES:
        return None
    if issubclass(value, zero.no_grad.__mro__[1]):
        return "autograd"
    if value.__module__ not in ("zero", "zero._zero"):
        return value.__module__.rpartition(".")[2].lstrip("_")
    return "legacy" if name.endswith("Tensor") else "types"


def title(text, line):
    return [text, line * len(text), ""]


def entry(kind, name, *options):
    """`options` are such as ":members:"."""
    return [f".. {kind}:: {name}", *(f"   {option}" for option in options), ""]


def class_entry(name, value, *options):
    module, _, own = name.rpartition(".")
    if value.__name__ == own:
        return entry("autoclass", name, ":members:", *options)
    # Exported under another name than its own: autodoc would only say so.
    lines = [*entry("class", own, f":module: {module}"), *inspect.getdoc(value).splitlines(), ""]
    for member, of in vars(value).items():
        if not member.startswith("_"):
            kind = "automethod" if callable(of) else "autoattribute"
            lines += entry(kind, f"{name}.{member}")
    return [*lines[:3], *(f"   {line}" if line else "" for line in lines[3:])]


def functions_page():
    groups = {text: [] for text in FAMILIES.values()}
    for name in zero.__all__:
        value = getattr(zero, name)
        source = source_of(name, value)
        if source is not None:
            text = FAMILIES.get(source, source.replace("_", " ").capitalize())
            groups.setdefault(text, []).append((name, value))
    lines = title("zero", "=")
    lines += [
        "Most functions are methods of :class:`zero.Tensor` as well, with the tensor for `input`. "
        "A name that ends in `_` writes into its tensor.",
        "",
    ]
    for text, members in groups.items():
        if not members:
            continue
        lines += title(text, "-")
        if text == "Types":
            dtypes = [f"``{n}``" for n in zero.__all__ if isinstance(getattr(zero, n), zero.dtype)]
            lines += [f"The dtypes: {', '.join(dtypes)}.", ""]
        for name, value in members:
            if isinstance(value, type):
                lines += class_entry(f"zero.{name}", value)
            else:
                lines += entry("autofunction", f"zero.{name}")
    return lines


def tensor_page():
    own, shared = [], []
    for name in sorted(vars(zero.Tensor)):
        if name.startswith("_"):
            continue
        value = getattr(zero.Tensor, name)
        if getattr(zero, name, None) is value:
            shared.append(f":func:`~zero.{name}`")
        elif callable(value):
            own += entry("automethod", f"zero.Tensor.{name}")
        else:
            own += entry("autoattribute", f"zero.Tensor.{name}")
    lines = title("zero.Tensor", "=")
    lines += entry("autoclass", "zero.Tensor")
    lines += title("Functions that are methods", "-")
    lines += [", ".join(shared) + ".", ""]
    return lines + title("Other attributes and methods", "-") + own


def module_page(name, documented):
    """None for a module without functions and classes; `documented` ones get a link only."""
    module = __import__(name, fromlist=["_"])
    members = getattr(module, "__all__", None)
    if members is None:
        members = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == name]
    lines, shared = [], []
    for member in sorted(members, key=lambda n: n not in ("Module", "Optimizer", "Function")):
        value, full = getattr(module, member), f"{name}.{member}"
        if not callable(value):
            continue
        if value in documented:
            shared.append(f":py:obj:`{documented[value]}`")
            continue
        documented[value] = full
        if value is zero.nn.Module:  # it is made of several classes
            lines += entry("autoclass", full, ":members:", ":inherited-members: object")
        elif isinstance(value, type):
            lines += class_entry(full, value, ":show-inheritance:")
        else:
            lines += entry("autofunction", full)
    if not lines:
        return None
    head = title(name, "=") + entry("automodule", name)
    if shared:
        head += ["Also here: " + ", ".join(shared) + ".", ""]
    return head + lines


def write_pages(app):
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    pages = {"zero": functions_page(), "zero.Tensor": tensor_page()}
    documented = {
        getattr(zero, name): f"zero.{name}"
        for name in zero.__all__
        if source_of(name, getattr(zero, name)) is not None
    }
    for name in MODULES:
        page = module_page(name, documented)
        if page is not None:
            pages[name] = page
    index = title("API reference", "=")
    index += [
        "Names, arguments and defaults are PyTorch's; :doc:`../from-pytorch` says where they "
        "differ.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
        *(f"   {name}" for name in pages),
        "",
    ]
    index += [f":doc:`{name}`\n   {MODULES[name]}\n" for name in pages if name in MODULES]
    pages["index"] = index
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, lines in pages.items():
        path, text = folder / f"{name}.rst", "\n".join(lines)
        if (
            not path.exists() or path.read_text(encoding="utf-8") != text
        ):  # what is unchanged is not read again
            path.write_text(text, encoding="utf-8")


# ---- types from the stub -------------------------------------------------------------------------
ALIASES = {
    "_Number": "int | float",
    "_Index": "int",
    "_Dims": "Sequence[int]",
    "_Device": "device | str",
    "DTypeObject": "dtype",
    "DeviceObject": "device",
}


def stub_signatures():
    """'exp' or 'Tensor.item' -> (arguments, result) as text; not where there are overloads."""
    found = {}

    def add(prefix, body):
        for node in body:
            if isinstance(node, ast.ClassDef):
                add(node.name + ".", node.body)
            elif isinstance(node, ast.FunctionDef):
                several = prefix + node.name in found
                arguments = f"({readable(ast.unparse(node.args))})"
                result = readable(ast.unparse(node.returns)) if node.returns else None
                found[prefix + node.name] = None if several else (arguments, result)

    add("", ast.parse((Path(zero.__file__).parent / "_zero.pyi").read_text("utf-8")).body)
    return {name: signature for name, signature in found.items() if signature}


def readable(annotations):
    for name, meaning in ALIASES.items():
        annotations = re.sub(rf"\b{name}\b", meaning, annotations)
    return re.sub(r"\b_([A-Za-z]\w*)\b", r"\1", annotations)


def process_signature(app, what, name, obj, options, arguments, result):
    if what == "class" and issubclass(obj, CALLED_BY_INIT):  # not what __new__ takes
        taken = signature(obj.__init__, bound_method=True)
        return stringify_signature(
            taken, unqualified_typehints=True, show_return_annotation=False
        ), None
    if type(obj) is not type(zero.exp):  # compiled functions have no annotations
        return None
    parent, own = name.split(".")[-2:]
    key = f"{parent}.{own}" if what == "method" else own
    if key not in SIGNATURES:
        return None
    arguments, result = SIGNATURES[key]
    return re.sub(r"^\(self(, /)?(, )?", "(", arguments), result


COLON = "\ue000"  # stands for one while napoleon runs


def before_napoleon(app, what, name, obj, options, lines):
    if what in ("attribute", "property"):  # where text before a colon is taken for a type
        lines[:1] = [line.replace(": ", COLON) for line in lines[:1]]
    # Shapes, such as [N, *], are code: the asterisk would begin an emphasis.
    inside = False
    for i, line in enumerate(lines):
        if line and not line.startswith(" "):
            inside = line == "Shape:"
        elif inside:
            lines[i] = re.sub(r"\[.*?\]", r"``\g<0>``", line)


def after_napoleon(app, what, name, obj, options, lines):
    lines[:] = [line.replace(COLON, ": ") for line in lines]


def skip_member(app, what, name, obj, skip, options):
    """Fields of named tuples, which the class's docstring explains."""
    return True if (inspect.getdoc(obj) or "").startswith("Alias for field number") else None


def process_bases(app, name, obj, options, bases):
    bases[:] = [c for c in obj.__mro__[1:] if not c.__name__.startswith("_")][:1]


# ---- links ---------------------------------------------------------------------------------------
def resolve(app, env, node, content):
    """Finds what a docstring names without its module, such as :class:`Parameter`."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target:
        return None
    objects = env.get_domain("py").objects
    last = target.rpartition(".")[2]
    for name in (f"zero.{last}", f"zero.nn.{last}", f"zero.Tensor.{last}", f"zero.errors.{last}"):
        if name in objects:
            entry = objects[name]
            text = content if isinstance(content, nodes.Element) else nodes.Text(content)
            return make_refnode(
                app.builder, node["refdoc"], entry.docname, entry.node_id, text, name
            )
    return None


SIGNATURES = stub_signatures()
CALLED_BY_INIT = (zero.nn.Module, zero.optim.Optimizer)


def setup(app):
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-process-docstring", before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", after_napoleon, priority=600)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-bases", process_bases)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
