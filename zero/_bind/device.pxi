# Methods of Tensor about where its elements are, and of what type; methods.pxi adds them.

cdef CTensor to_target(Tensor x, tuple args, object dtype, object device, object other,
                       object non_blocking,
                       object copy) except *:
    """The three forms of to(): (dtype, …), (device, dtype, …) and (other, …)."""
    cdef CDType t = x.c.dtype()
    cdef CDevice where = x.c.device()
    cdef list rest = list(args)
    cdef object first
    if rest:
        first = rest.pop(0)
        if isinstance(first, Tensor):
            other = only_once(other, first, "other")
        elif first is None or isinstance(first, (str, int, DeviceObject)):
            device = only_once(device, first, "device")
            if rest:
                dtype = only_once(dtype, rest.pop(0), "dtype")
        else:
            as_dtype(first, "to")
            dtype = only_once(dtype, first, "dtype")
    if rest:
        non_blocking = rest.pop(0)
    if rest:
        copy = rest.pop(0)
    if rest:
        raise TypeError(f"to: too many arguments; got {len(args)}, expected (device, dtype, "
                        "non_blocking, copy)")
    if other is not None:
        if not isinstance(other, Tensor):
            raise TypeError(f"to: other is not a tensor; got {type_name(other)}, expected a Tensor")
        t = (<Tensor> other).c.dtype()
        where = (<Tensor> other).c.device()
    if dtype is not None:
        t = as_dtype(dtype, "to")
    if device is not None:
        where = as_device(device, "to")
    flag_of(non_blocking, "to", "non_blocking")  # every copy has ended when the call returns
    return ops.to(x.c, t, where, flag_of(copy, "to", "copy"))


cdef object only_once(object by_name, object by_position, str name):
    if by_name is not None:
        raise TypeError(f"to: {name} is given twice; got {by_position!r} and {by_name!r}, expected "
                        "one")
    return by_position


class DeviceMethods:
    # ---- what a tensor is ------------------------------------------------------------------------
    @property
    def layout(Tensor self not None):
        """How the elements are arranged: zero.strided."""
        return strided

    @property
    def is_cpu(Tensor self not None):
        """Whether the elements are in the CPU's memory."""
        return not self.c.is_meta()

    @property
    def is_meta(Tensor self not None):
        """Whether the tensor has a shape only, and no elements."""
        return self.c.is_meta() != 0

    @property
    def is_cuda(Tensor self not None):
        """False: zero computes on CPUs only."""
        return False

    @property
    def is_mps(Tensor self not None):
        """False: zero computes on CPUs only."""
        return False

    @property
    def is_xpu(Tensor self not None):
        """False: zero computes on CPUs only."""
        return False

    @property
    def is_sparse(Tensor self not None):
        """False: there are no sparse tensors."""
        return False

    @property
    def is_sparse_csr(Tensor self not None):
        """False: there are no sparse tensors."""
        return False

    @property
    def is_quantized(Tensor self not None):
        """False: there are no quantized tensors."""
        return False

    @property
    def is_nested(Tensor self not None):
        """False: there are no nested tensors."""
        return False

    def get_device(Tensor self not None):
        """-1: the number of an accelerator, which zero doesn't use."""
        return -1

    def is_signed(Tensor self not None):
        """Whether the dtype has negative numbers."""
        return dtype_object(self.c.dtype()).is_signed

    def is_pinned(Tensor self not None):
        """Whether the memory is locked, so that the system never moves it out; see
        :meth:`pin_memory`."""
        return is_locked(self)

    # ---- conversions -----------------------------------------------------------------------------
    def to(Tensor self not None, *args, dtype=None, device=None, other=None, non_blocking=False,
           copy=False, memory_format=None):
        """The tensor with another dtype or on another device; itself if nothing changes.

        Args:
            *args: ``(dtype, non_blocking, copy)``, ``(device, dtype, non_blocking, copy)`` or
                ``(other, …)``.
            dtype: of the result.
            device: of the result; meta drops the elements.
            other: a tensor to take both from.
            non_blocking: no difference: copies have ended when the call returns.
            copy: whether to copy even if nothing changes.
            memory_format: contiguous_format gives a tensor in row-major order, channels_last one
                with the channels last; preserve_format, like None, keeps the order.

        Raises:
            RuntimeError: there is no such device; zero computes on CPUs.

        Example:
            >>> import zero
            >>> zero.ones(2).to(zero.int64)
            tensor([1, 1])
        """
        cdef Format format = format_of(memory_format, "to")
        cdef CTensor result = to_target(self, args, dtype, device, other, non_blocking, copy)
        return wrap(in_format(result, format, "to"))

    def type(Tensor self not None, dtype=None, non_blocking=False):
        """The name of the tensor's type, such as 'zero.FloatTensor'; or the tensor as another type.

        Args:
            dtype: None for the name; else a dtype, a name, or a class such as zero.LongTensor.
            non_blocking: no difference: the copy has ended when the call returns.

        Raises:
            ValueError: there is no type of this name.

        Example:
            >>> import zero
            >>> zero.ones(2).type(), zero.ones(2).type(zero.LongTensor)
            ('zero.FloatTensor', tensor([1, 1]))
        """
        from zero import _legacy
        flag_of(non_blocking, "type", "non_blocking")
        return _legacy.type_of(self) if dtype is None else _legacy.to_type(self, dtype)

    def new(Tensor self not None, *data, device=None):
        """A tensor of the same dtype and device from sizes or data, as in older programs.

        Args:
            *data: sizes as ints or a Size, for a tensor whose elements are undefined; or nested
                lists, an array or a tensor of the same type.
            device: this tensor's.

        Raises:
            TypeError: a tensor of another type, or neither data nor sizes.

        Example:
            >>> import zero
            >>> x = zero.arange(3)
            >>> x.new([1, 2]), x.new(2, 3).shape
            (tensor([1, 2]), zero.Size([2, 3]))
        """
        from zero import _legacy
        return _legacy.new_like(self, data, device)

    def type_as(Tensor self not None, Tensor other not None):
        """The tensor with other's dtype, on its device."""
        return wrap(ops.to(self.c, other.c.dtype(), other.c.device(), False))

    def cpu(Tensor self not None, memory_format=None):
        """The tensor on the CPU, where it is unless it is a meta tensor.

        Args:
            memory_format: as for :meth:`to`.
        """
        cdef Format format = format_of(memory_format, "cpu")
        cdef CTensor result = ops.to(self.c, self.c.dtype(), CDevice.Cpu, False)
        return wrap(in_format(result, format, "cpu"))

    def cuda(Tensor self not None, device=None, non_blocking=False, memory_format=None):
        """An error: zero computes on CPUs only."""
        no_device("cuda", "cuda" if device is None else device)

    def pin_memory(Tensor self not None):
        """A copy in pinned memory: pages of its own that the system keeps in memory until the last
        tensor on them is gone. The tensor itself if it is pinned.

        Where the system locks no more memory (`ulimit -l`), the copy is an ordinary one, and a
        warning says so once. Nothing computes faster on pinned memory: it waits for devices that
        copy from it, and keeps a program's latency free of swapping.

        Raises:
            RuntimeError: a meta tensor.

        Example:
            >>> import zero
            >>> x = zero.ones(3).pin_memory()
            >>> x.pin_memory() is x
            True
        """
        return self if is_locked(self) else wrap(pinned_copy(self.c))

    def is_shared(Tensor self not None):
        """Whether other processes can see the memory; see :meth:`share_memory_`."""
        return in_shared_memory(self)

    def share_memory_(Tensor self not None):
        """Moves the memory of the tensor and all its views to where other processes can see it.

        What a forked process, or one that gets the tensor through :mod:`zero.multiprocessing`,
        writes to it is then seen by all others. Nothing happens if the memory is shared.

        Returns:
            The tensor.

        Raises:
            RuntimeError: a meta tensor, or one whose memory NumPy uses too.
            OutOfMemoryError: there is no room for it.

        Example:
            >>> import zero
            >>> x = zero.zeros(4)
            >>> x[1:].share_memory_().is_shared(), x.is_shared()
            (True, True)
        """
        if not in_shared_memory(self):
            from zero.multiprocessing._blocks import share
            share(self, "share_memory_")
        return self
