# Random numbers, threads, memory, configuration.
set_blocking_hook()


# ---- random numbers ------------------------------------------------------------------------------
cdef uint64_t seed_of(object seed, str op) except? 0:
    """A seed: any 64 bits; a negative one counts from 2**64 down."""
    if not PyIndex_Check(seed):
        seed = as_int(seed, op, "seed")
    seed = seed.__index__()
    if not -0x8000000000000000 <= seed <= 0xFFFFFFFFFFFFFFFF:
        raise ZeroValueError(f"{op}: the seed does not fit in 64 bits; got {short_repr(seed)}, "
                             "expected -2**63 to 2**64 - 1")
    return seed & 0xFFFFFFFFFFFFFFFF


cdef class Generator:
    """A source of random numbers of its own.

    A draw depends on the seed and on how many numbers were drawn before, never on threads.

    Args:
        device: 'cpu'.

    Example:
        >>> import zero
        >>> g = zero.Generator().manual_seed(5)
        >>> a = zero.rand(3, generator=g)
        >>> bool((zero.rand(3, generator=g.manual_seed(5)) == a).all())
        True
    """

    def __cinit__(self, device=None):
        if device is not None and as_device(device, "Generator") != CDevice.Cpu:
            raise RuntimeError(f"Generator: no random numbers on this device; got {device!r}, "
                               "expected 'cpu'")
        self.generator = new CGenerator(DEFAULT_SEED)
        self.owned = True

    def __dealloc__(self):
        if self.owned:
            del self.generator

    @property
    def device(self):
        """The CPU."""
        return device_cpu

    def manual_seed(self, seed):
        """Starts the sequence that belongs to a seed; returns the generator."""
        self.generator.manual_seed(seed_of(seed, "manual_seed"))
        return self

    def seed(self):
        """Seeds from the system's entropy; returns the seed."""
        return self.generator.seed()

    def initial_seed(self):
        """The seed of the running sequence."""
        return self.generator.initial_seed()

    def get_state(self):
        """Seed and position, as a uint8 tensor for set_state."""
        cdef GeneratorState state = self.generator.get_state()
        cdef CTensorOptions options
        cdef CDims sizes
        options.dtype = CDType.UInt8
        sizes.push_back(<int64_t> state.size())
        cdef CTensor result = core.empty(sizes, options)
        memcpy(result.data(), state.data(), state.size())
        return wrap(result)

    def set_state(self, Tensor new_state not None):
        """Goes to a state that get_state returned."""
        cdef GeneratorState state
        if new_state.c.dtype() != CDType.UInt8 or new_state.c.numel() != <int64_t> state.size() \
                or new_state.c.is_meta():
            raise ZeroValueError(f"set_state: not a generator's state; got "
                                 f"{dtype_object(new_state.c.dtype()).name} "
                                 f"{tuple_of(new_state.c.sizes())}, expected uint8 "
                                 f"({state.size()},)")
        cdef CTensor flat = ops.contiguous(new_state.c)
        memcpy(state.data(), flat.data(), state.size())
        self.generator.set_state(state)
        return self

    def clone_state(self):
        """Another generator in the same state, which goes on by itself."""
        return Generator().set_state(self.get_state())

    def __reduce__(self):
        return _rebuild_generator, (self.get_state(),)


cdef enum:
    DEFAULT_SEED = 67280421310721  # of a new Generator, as in PyTorch


def _rebuild_generator(state):  # for pickle
    return Generator().set_state(state)


cdef Generator the_default_generator = Generator.__new__(Generator)
del the_default_generator.generator
the_default_generator.generator = &generators.default_generator()
the_default_generator.owned = False
default_generator = the_default_generator


def manual_seed(seed):
    """Seeds the generator that all random functions use by default.

    Args:
        seed: an int of 64 bits, with or without sign.

    Returns:
        The generator.

    Example:
        >>> import zero
        >>> g = zero.manual_seed(0)
        >>> a = zero.rand(2)
        >>> g = zero.manual_seed(0)
        >>> bool((zero.rand(2) == a).all())
        True
    """
    return the_default_generator.manual_seed(seed)


def seed():
    """Seeds the default generator from the system's entropy; returns the seed.

    Example:
        >>> import zero
        >>> zero.seed() == zero.initial_seed()
        True
    """
    return the_default_generator.seed()


def initial_seed():
    """The seed of the default generator.

    Example:
        >>> import zero
        >>> zero.manual_seed(7).initial_seed() == zero.initial_seed() == 7
        True
    """
    return the_default_generator.initial_seed()


def get_rng_state():
    """The state of the default generator as a uint8 tensor.

    Example:
        >>> import zero
        >>> state = zero.get_rng_state()
        >>> a = zero.rand(2)
        >>> zero.set_rng_state(state)
        >>> bool((zero.rand(2) == a).all())
        True
    """
    return the_default_generator.get_state()


def set_rng_state(new_state):
    """Sets the state of the default generator to what get_rng_state returned.

    Args:
        new_state: a uint8 tensor.

    Raises:
        ValueError: not such a state.

    Example:
        >>> import zero
        >>> zero.set_rng_state(zero.get_rng_state())
    """
    the_default_generator.set_state(new_state)


# ---- threads -------------------------------------------------------------------------------------
def get_num_threads():
    """How many threads an operation may use.

    Example:
        >>> import zero
        >>> zero.get_num_threads() >= 1
        True
    """
    return parallel.num_threads()


def set_num_threads(n):
    """Sets how many threads an operation may use. Results do not depend on it.

    Args:
        n: at least 1; more than there are cores is obeyed.

    Raises:
        ValueError: n is less than 1.

    Example:
        >>> import zero
        >>> before = zero.get_num_threads()
        >>> zero.set_num_threads(1)
        >>> zero.get_num_threads()
        1
        >>> zero.set_num_threads(before)
    """
    cdef int64_t count = as_int(n, "set_num_threads", "n")
    if count > 0x7FFFFFFF:
        raise ZeroValueError(f"set_num_threads: too many threads; got {count}, expected at most "
                             "2**31 - 1")
    parallel.set_num_threads(<int> count if count > 0 else 0)


# ---- memory and the machine ----------------------------------------------------------------------
def memory_stats():
    """Counts of the allocator, in bytes and calls.

    Example:
        >>> import zero
        >>> x = zero.empty(1000, 1000)
        >>> zero.memory_stats()["live_bytes"] >= 4_000_000
        True
    """
    cdef allocator.MemoryStats stats = allocator.memory_stats()
    return {
        "live_bytes": stats.live_bytes,
        "peak_bytes": stats.peak_bytes,
        "cached_bytes": stats.cached_bytes,
        "system_bytes": stats.system_bytes,
        "peak_system_bytes": stats.peak_system_bytes,
        "allocations": stats.allocations,
        "live_blocks": stats.live_blocks,
        "system_allocations": stats.system_allocations,
        "cache_limit": stats.cache_limit,
    }


def reset_peak_memory_stats():
    """Starts the peaks of memory_stats again from what is in use now.

    Example:
        >>> import zero
        >>> zero.reset_peak_memory_stats()
    """
    allocator.reset_peak_memory_stats()


def empty_cache():
    """Returns memory that is kept for later tensors to the system.

    Example:
        >>> import zero
        >>> zero.empty_cache()
    """
    allocator.empty_cache()


def set_flush_denormal(mode):
    """Whether arithmetic treats subnormal floats as zero. It does at start: they are up to 100
    times slower.

    Args:
        mode: True or False.

    Returns:
        Whether this processor can.

    Example:
        >>> import zero
        >>> supported = zero.set_flush_denormal(True)
    """
    return denormal.set_flush_denormal(flag_of(mode, "set_flush_denormal", "mode")) != 0


def get_default_dtype():
    """The dtype of new tensors of Python floats.

    Example:
        >>> import zero
        >>> zero.get_default_dtype()
        zero.float32
    """
    return dtype_object(CTensorOptions().dtype)


def set_default_dtype(d):
    """Sets the dtype of new tensors of Python floats.

    Args:
        d: a floating point dtype.

    Raises:
        TypeError: not a floating point dtype.

    Example:
        >>> import zero
        >>> zero.set_default_dtype(zero.float64)
        >>> zero.tensor(1.5).dtype
        zero.float64
        >>> zero.set_default_dtype(zero.float32)
    """
    dtypes.set_default_dtype(as_dtype(d, "set_default_dtype"))


def show_config():
    """Prints what zero runs on: threads and why so many, instruction set, BLAS, memory.

    Example:
        >>> import zero
        >>> zero.show_config()  # doctest: +ELLIPSIS
        threads: ...
    """
    cdef allocator.MemoryStats stats = allocator.memory_stats()
    print(f"threads: {parallel.num_threads()} ({parallel.thread_reason().decode()})\nprocessor: "
          f"{cpu.cpu_features().name.decode() or 'unknown'}\nkernels: "
          f"{table.kernels().isa.decode()}\nBLAS: {blas.blas_description().decode()}\ndenormals: "
          f"{'flushed to zero' if denormal.flush_denormal() else 'kept'}\nmemory: "
          f"{stats.live_bytes / 2**20:.1f} MiB in tensors, {stats.cached_bytes / 2**20:.1f} MiB "
          "cached, at most "
          f"{stats.cache_limit / 2**20:.0f} MiB cached")
