"""zero.utils.hooks.RemovableHandle."""

import copy
import gc
import pickle
from collections import OrderedDict

from zero.utils.hooks import RemovableHandle


def test_removes_its_entries_and_only_those():
    hooks, flags, more = OrderedDict(), OrderedDict(), OrderedDict()
    other = RemovableHandle(hooks)
    hooks[other.id] = "other"
    with RemovableHandle(hooks, extra_dict=[flags, more]) as handle:
        assert handle.id != other.id
        hooks[handle.id] = flags[handle.id] = more[handle.id] = "mine"
    assert list(hooks) == [other.id] and not flags and not more
    handle.remove()
    assert list(hooks) == [other.id]
    single = RemovableHandle(hooks, extra_dict=flags)
    hooks[single.id] = flags[single.id] = 1
    single.remove()
    assert list(hooks) == [other.id] and not flags


def test_keeps_no_dict_alive():
    hooks = OrderedDict()
    handle = RemovableHandle(hooks)
    del hooks
    gc.collect()
    assert handle.hooks_dict_ref() is None
    handle.remove()


def test_copies_belong_to_the_copied_dict():
    hooks = OrderedDict()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = "hook"
    for copied_hooks, copied in (
        copy.deepcopy((hooks, handle)),
        pickle.loads(pickle.dumps((hooks, handle))),
    ):
        copied.remove()
        assert not copied_hooks and list(hooks) == [handle.id]
    assert RemovableHandle(hooks).id > handle.id
