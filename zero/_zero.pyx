# distutils: language = c++
"""The compiled half of zero: tensors, operators, autograd. Use it through the package `zero`."""
from cpython.object cimport PyObject, visitproc, Py_EQ, Py_GT, Py_LE, Py_LT, Py_NE
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional
from libcpp.string cimport string
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from zero._cpp cimport allocator, blas, cpu, denormal, engine, grad_mode, inplace, meta, ops
from zero._cpp cimport batch_norm as batch_norms, embedding as embeddings
from zero._cpp cimport pages, parallel, profile as profiles, table
from zero._cpp cimport activation as activations, attention as attentions, loss as losses
from zero._cpp cimport linalg as linalgs
from zero._cpp cimport function as functions, hooks as hooks_cpp, optim as optimizers
from zero._cpp cimport pooling as pools, resample as resampling
from zero._cpp cimport recurrent as recurrents
from zero._cpp cimport dtype as dtypes, generator as generators, shape as shapes, tensor as core
from zero._cpp.attention cimport CAttentionBackend
from zero._cpp.blocking cimport keep_while_blocking, set_blocking_hook
from zero._cpp.device cimport CDevice
from zero._cpp.dtype cimport CDType, category, dtype_name, is_floating, itemsize, promote
from zero._cpp.embedding cimport CBagMode
from zero._cpp.error cimport error_classes, raise_error
from zero._cpp.inplace cimport COverlap, CTarget
from zero._cpp.generator cimport CGenerator, GeneratorState
from zero._cpp.node cimport CEdge, CNode, NodeRef, OutputSpec, gradient_edge, share_node
from zero._cpp.profile cimport CSpanKind
from zero._cpp.ops cimport CCombine, COperand, CReduction, CUnique
from zero._cpp.optim cimport COptimizerKind
from zero._cpp.recurrent cimport CRecurrentMode
from zero._cpp.scalar cimport CScalar, ScalarKind
from zero._cpp.shape cimport CDims
from zero._cpp.tensor cimport CTensor, CTensorOptions, CTensors

# In the order of dependency. Module functions such as sum, max and abs hide Python's own in all
# parts.
include "_bind/errors.pxi"
include "_bind/dtype.pxi"
include "_bind/wrap.pxi"
include "_bind/arguments.pxi"
include "_bind/convert.pxi"
include "_bind/buffer.pxi"
include "_bind/dlpack.pxi"
include "_bind/memory.pxi"
include "_bind/index.pxi"
include "_bind/autograd.pxi"
include "_bind/hooks.pxi"
include "_bind/function.pxi"
include "_bind/runtime.pxi"
include "_bind/creation.pxi"
include "_bind/like.pxi"
include "_bind/unary.pxi"
include "_bind/functions.pxi"
include "_bind/binary.pxi"
include "_bind/pointwise.pxi"
include "_bind/parts.pxi"
include "_bind/special.pxi"
include "_bind/compare.pxi"
include "_bind/reduce.pxi"
include "_bind/accumulate.pxi"
include "_bind/order.pxi"
include "_bind/search.pxi"
include "_bind/draw.pxi"
include "_bind/shape.pxi"
include "_bind/queries.pxi"
include "_bind/linalg.pxi"
include "_bind/products.pxi"
include "_bind/loss.pxi"
include "_bind/activation.pxi"
include "_bind/normalize.pxi"
include "_bind/convolution.pxi"
include "_bind/batch_norm.pxi"
include "_bind/embedding.pxi"
include "_bind/attention.pxi"
include "_bind/pooling.pxi"
include "_bind/dropout.pxi"
include "_bind/recurrent.pxi"
include "_bind/join.pxi"
include "_bind/arrange.pxi"
include "_bind/strided.pxi"
include "_bind/select.pxi"
include "_bind/scatter.pxi"
include "_bind/lists.pxi"
include "_bind/optim.pxi"
include "_bind/autocast.pxi"
include "_bind/module.pxi"
include "_bind/tensor.pxi"
include "_bind/device.pxi"
include "_bind/methods.pxi"
include "_bind/calls.pxi"
include "_bind/profile.pxi"
include "_bind/watch.pxi"
