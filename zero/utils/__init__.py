"""Tools around training."""

from zero import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.utils import (
        _pytree as _pytree,
        checkpoint as checkpoint,
        data as data,
        dlpack as dlpack,
        hooks as hooks,
        viz as viz,
    )
    from zero.utils.module_summary import summary as summary
    from zero.utils.module_watch import watch as watch
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.utils",
        [],
        modules="checkpoint data dlpack hooks viz",
        names={"_pytree": "", "module_summary": "summary", "module_watch": "watch"},
    )
