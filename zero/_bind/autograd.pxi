# The graph, the backward pass and the modes.
cdef class Node:
    """One recorded operation: what a tensor's grad_fn is.

    Example:
        >>> import zero
        >>> x = zero.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> y.grad_fn.name()
        'MulBackward0'
        >>> [node.name() for node, _ in y.grad_fn.next_functions if node]
        ['AccumulateGrad']
    """

    def __cinit__(self):
        if type(self) is Node:
            raise TypeError("Node: nodes are made by operations on tensors that require grad")

    def __dealloc__(self):
        if self.owned.get() is not NULL and node_wrapper(self.node[0]) == <PyObject*> self:
            set_node_wrapper(self.node[0], NULL)

    def name(self):
        """The operation's name, such as 'AddBackward0'."""
        return node_of(self).name().decode()

    @property
    def next_functions(self):
        """For each input the node that made it, or None, and which of its outputs it is."""
        cdef CNode* node = node_of(self)
        cdef list result = []
        cdef int64_t i
        for i in range(node.next_.size()):
            result.append((wrap_node(node.next_[i].node), node.next_[i].output_nr))
        return tuple(result)

    @property
    def metadata(self):
        """A dict for notes of the user's."""
        cdef dict fresh = {}
        return node_hooks(node_of(self)[0], METADATA, <PyObject*> fresh)

    @property
    def variable(self):
        """The leaf of an 'AccumulateGrad' node."""
        cdef CTensor leaf = engine.accumulated_leaf(node_of(self)[0])
        if not leaf.defined():
            raise AttributeError(f"Node: only AccumulateGrad has a variable; got {self.name()}")
        return wrap(move(leaf))

    def _sequence_nr(self):
        """Later operations have larger numbers."""
        return node_of(self).sequence_nr()

    def register_hook(self, fn):
        """Calls fn(grad_inputs, grad_outputs) after the node ran in a backward pass.

        Args:
            fn: gets two tuples: the gradients of the operation's inputs and those of its outputs.
                It may return a tuple that replaces the former.

        Returns:
            A handle whose remove() takes the hook away.

        Example:
            >>> import zero
            >>> x = zero.ones(2, requires_grad=True)
            >>> y = x * 3
            >>> handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
            >>> y.sum().backward()
            >>> x.grad
            tensor([30., 30.])
        """
        return add_node_hook(self, POST_HOOKS, fn, "register_hook")

    def register_prehook(self, fn):
        """Calls fn(grad_outputs) before the node runs in a backward pass.

        Args:
            fn: gets a tuple of the gradients of the operation's outputs, and may return another
                that replaces it.

        Returns:
            A handle whose remove() takes the hook away.

        Example:
            >>> import zero
            >>> x = zero.ones(2, requires_grad=True)
            >>> y = x * 3
            >>> handle = y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
            >>> y.sum().backward()
            >>> x.grad
            tensor([30., 30.])
        """
        return add_node_hook(self, PRE_HOOKS, fn, "register_prehook")

    def __repr__(self):
        if self.node is NULL:
            return object.__repr__(self)
        return f"<{self.name()} object at {<size_t> self.node:#x}>"


cdef CNode* node_of(Node self) except NULL:
    if self.node is NULL:
        raise RuntimeError(f"{type_name(self)}: the node has ended; got the context of a custom "
                           "function whose outputs are gone, expected one in a graph")
    return self.node


cdef object wrap_node(NodeRef node):
    cdef Node result
    cdef object context
    cdef PyObject* known
    if node.get() is NULL:
        return None
    context = function_context(node.get()[0])
    if context is not None:
        return context
    known = node_wrapper(node.get()[0])
    if known is not NULL and (<object> known).__class__ is Node:
        return <object> known
    result = <Node> allocate_wrapper(Node)  # without __cinit__
    result.node = node.get()
    result.owned = node
    set_node_wrapper(node.get()[0], <PyObject*> result)
    return result


def _gradient_edge(Tensor tensor not None):
    """Where the tensor's gradient goes: the node and which of its outputs the tensor is."""
    cdef CEdge edge = gradient_edge(tensor.c)
    if edge.node.get() is NULL:
        raise RuntimeError("get_gradient_edge: the tensor does not require grad; got a tensor of "
                           f"shape {tuple_of(tensor.c.sizes())}, expected one that does")
    return wrap_node(edge.node), edge.output_nr


def _stand_in(Node node not None, output_nr):
    """A tensor that stands for an output of a node where a backward pass begins or ends."""
    return wrap(engine.stand_in(share_node(node_of(node)),
                                as_int(output_nr, "GradientEdge", "output_nr")))


def _current_pass():
    """The number of the backward pass that runs in this thread; 0 where none does."""
    return engine.current_pass()


def _pass_reaches(Node node not None):
    """Whether the backward pass that runs in this thread comes by a node."""
    return engine.pass_reaches(node_of(node)[0])


def _pass_is_partial():
    """Whether the backward pass that runs in this thread goes to some inputs only."""
    return engine.pass_is_partial()


def _last_sequence_nr():
    """The number of the node that this thread recorded last."""
    return engine.last_sequence_nr()


cdef CTensors tensors_of(object x, str op, str name, bint allow_none) except *:
    """A tensor or a sequence of tensors; None becomes an undefined tensor."""
    cdef CTensors result
    if x is None:
        return result
    if isinstance(x, Tensor):
        x = (x,)
    elif not isinstance(x, (tuple, list)):
        try:
            x = tuple(x)
        except TypeError:
            raise TypeError(f"{op}: {name} is not a tensor or a sequence of tensors; got "
                            f"{type_name(x)}, expected a Tensor or a tuple of them") from None
    for item in x:
        if item is None and allow_none:
            result.push_back(CTensor())
        elif isinstance(item, Tensor):
            result.push_back((<Tensor> item).c)
        else:
            raise TypeError(f"{op}: {name} holds what is not a tensor; got {type_name(item)}, "
                            "expected a Tensor")
    return result


cdef int check_grads(CTensors& roots, CTensors& grads, str op) except -1:
    """As many gradients as roots; none at all stands for all of them undefined."""
    cdef int64_t i
    if grads.size() == 0:
        for i in range(roots.size()):
            grads.push_back(CTensor())
    if grads.size() != roots.size():
        raise ShapeError(f"{op}: the numbers of tensors and gradients differ; got {roots.size()} "
                         "tensors and "
                         f"{grads.size()} gradients, expected one for each or None")
    return 0


def _backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """zero.autograd.backward: adds gradients to the .grad of leaves."""
    cdef CTensors roots = tensors_of(tensors, "backward", "tensors", False)
    cdef CTensors grads = tensors_of(grad_tensors, "backward", "grad_tensors", True)
    cdef CTensors only = tensors_of(inputs, "backward", "inputs", False)
    if inputs is not None and only.size() == 0:
        raise RuntimeError("backward: inputs is empty; got no tensors, expected at least one or "
                           "None")
    check_grads(roots, grads, "backward")
    engine.backward(roots, grads, create_graph if retain_graph is None else retain_graph,
                    create_graph, only)


def _grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,
          allow_unused=None, materialize_grads=False):
    """zero.autograd.grad: returns the gradients of inputs."""
    cdef CTensors roots = tensors_of(outputs, "grad", "outputs", False)
    cdef CTensors wanted = tensors_of(inputs, "grad", "inputs", False)
    cdef CTensors grads = tensors_of(grad_outputs, "grad", "grad_outputs", True)
    cdef CTensors result
    cdef int64_t i
    if materialize_grads and allow_unused is False:
        raise ZeroValueError("grad: materialize_grads makes zeros for unused inputs; got "
                             "allow_unused=False, expected True or None")
    check_grads(roots, grads, "grad")
    result = engine.grad(roots, grads, wanted,
                         create_graph if retain_graph is None else retain_graph,
                         create_graph, bool(allow_unused) or materialize_grads)
    if materialize_grads:
        for i in range(result.size()):
            if not result[i].defined():
                result[i] = ops.zeros(wanted[i].sizes(), wanted[i].options())
    return wrap_all(result)


# ---- modes ---------------------------------------------------------------------------------------
cdef enum:
    CO_GENERATOR = 0x20  # of a code object; the module inspect is slow to load


def is_grad_enabled():
    """Whether operations are recorded in this thread.

    Example:
        >>> import zero
        >>> with zero.no_grad():
        ...     zero.is_grad_enabled()
        False
    """
    return grad_mode.grad_enabled() != 0


def _decorated(mode, function):
    """`function` run under a mode of its own at each call; a generator's steps run under it too."""
    import functools

    if isinstance(function, type) or not callable(function):
        raise TypeError(f"{type_name(mode)}: only functions can be decorated; got "
                        f"{short_repr(function)}")
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & CO_GENERATOR:
        @functools.wraps(function)
        def generate(*args, **kwargs):
            return _resumed(mode, function(*args, **kwargs))
        return generate

    @functools.wraps(function)
    def call(*args, **kwargs):
        with mode.clone():
            return function(*args, **kwargs)
    return call


def _resumed(mode, generator):
    """The generator, each of whose steps runs under the mode; between them the caller's holds."""
    step, value = generator.send, None
    while True:
        try:
            with mode.clone():
                item = step(value)
        except StopIteration as stop:
            return stop.value
        try:
            step, value = generator.send, (yield item)
        except GeneratorExit:
            with mode.clone():
                generator.close()
            raise
        except BaseException as error:
            step, value = generator.throw, error


cdef class GradMode:
    """What no_grad, enable_grad and set_grad_enabled have in common."""
    cdef bint mode
    cdef bint entered  # set_grad_enabled has changed the mode already
    cdef list before   # modes to return to; one object may be entered several times

    def __cinit__(self):
        self.before = []

    def clone(self):
        """A new object of the same mode."""
        cdef GradMode other = GradMode.__new__(type(self))
        other.mode = self.mode
        return other

    def __enter__(self):
        if not self.entered:
            self.before.append(grad_mode.grad_enabled() != 0)
        self.entered = False
        grad_mode.set_grad_enabled(self.mode)

    def __exit__(self, exc_type, exc_value, traceback):
        grad_mode.set_grad_enabled(self.before.pop())

    def __call__(self, function):
        if self.entered:  # @set_grad_enabled(False): the mode is for the function's calls only
            self.__exit__(None, None, None)
            self.entered = False
        return _decorated(self, function)


cdef object grad_mode_or_decorated(type cls, bint mode, object function):
    cdef GradMode result = GradMode.__new__(cls)
    result.mode = mode
    return result if function is None else _decorated(result, function)


class no_grad(GradMode):
    """Context manager or decorator under which operations are not recorded.

    Example:
        >>> import zero
        >>> x = zero.ones(2, requires_grad=True)
        >>> with zero.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
        >>> @zero.no_grad()
        ... def double(x):
        ...     return x * 2
        >>> double(x).requires_grad
        False
    """

    __slots__ = ()

    def __new__(cls, orig_func=None):
        return grad_mode_or_decorated(cls, False, orig_func)


class enable_grad(GradMode):
    """Context manager or decorator under which operations are recorded again, inside no_grad.

    Example:
        >>> import zero
        >>> x = zero.ones(2, requires_grad=True)
        >>> with zero.no_grad(), zero.enable_grad():
        ...     y = x * 2
        >>> y.requires_grad
        True
    """

    __slots__ = ()

    def __new__(cls, orig_func=None):
        return grad_mode_or_decorated(cls, True, orig_func)


cdef class set_grad_enabled(GradMode):
    """Turns recording on or off: at once, or for a while as a context manager or decorator.

    Args:
        mode: whether to record.

    Example:
        >>> import zero
        >>> x = zero.ones(2, requires_grad=True)
        >>> with zero.set_grad_enabled(False):
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    def __init__(self, mode):
        self.mode = mode
        self.entered = True
        self.before.append(grad_mode.grad_enabled() != 0)
        grad_mode.set_grad_enabled(self.mode)


def is_inference_mode_enabled():
    """Whether this thread is in inference_mode.

    Example:
        >>> import zero
        >>> with zero.inference_mode():
        ...     zero.is_inference_mode_enabled()
        True
    """
    return grad_mode.inference_enabled() != 0


def is_inference(Tensor input not None):
    """Whether a tensor was made in inference_mode.

    Args:
        input: any tensor.

    Example:
        >>> import zero
        >>> zero.is_inference(zero.ones(2))
        False
    """
    return input.c.impl().is_inference_ != 0


cdef class InferenceMode:
    """What inference_mode returns."""
    cdef bint mode
    cdef list before  # modes to return to

    def __cinit__(self):
        self.before = []

    def clone(self):
        """A new object of the same mode."""
        cdef InferenceMode other = InferenceMode.__new__(type(self))
        other.mode = self.mode
        return other

    def __enter__(self):
        self.before.append((grad_mode.inference_enabled() != 0, grad_mode.grad_enabled() != 0))
        grad_mode.set_inference_enabled(self.mode)
        grad_mode.set_grad_enabled(not self.mode)

    def __exit__(self, exc_type, exc_value, traceback):
        inference, grad = self.before.pop()
        grad_mode.set_inference_enabled(inference)
        grad_mode.set_grad_enabled(grad)

    def __call__(self, function):
        return _decorated(self, function)


class inference_mode(InferenceMode):
    """Context manager or decorator for code whose results no gradient will ever be asked for.

    As :class:`no_grad`; moreover, tensors made under it are inference tensors: they cannot be
    saved for a backward pass, nor be written to in place outside.

    Args:
        mode: False leaves inference mode for a while, with recording on.

    Example:
        >>> import zero
        >>> w = zero.ones(2, requires_grad=True)
        >>> with zero.inference_mode():
        ...     y = w * 2
        >>> y.requires_grad, y.is_inference()
        (False, True)
        >>> @zero.inference_mode()
        ... def predict(x):
        ...     return x * w
        >>> predict(zero.ones(2)).is_inference()
        True
    """

    __slots__ = ()

    def __new__(cls, mode=True):
        cdef InferenceMode result = InferenceMode.__new__(cls)
        result.mode = True
        if callable(mode):
            return _decorated(result, mode)
        result.mode = flag_of(mode, "inference_mode", "mode")
        return result
