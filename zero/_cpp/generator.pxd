from libc.stdint cimport uint64_t
from zero._cpp.error cimport raise_error

cdef extern from "zero/core/generator.h" namespace "zero":
    cdef cppclass GeneratorState "zero::Generator::State":
        unsigned char* data() noexcept
        size_t size() noexcept

    cdef cppclass CGenerator "zero::Generator":
        CGenerator(uint64_t seed) except +raise_error
        void manual_seed(uint64_t seed) except +raise_error
        uint64_t seed() except +raise_error
        uint64_t initial_seed() except +raise_error
        GeneratorState get_state() except +raise_error
        void set_state(const GeneratorState& state) except +raise_error

    CGenerator& default_generator() except +raise_error
