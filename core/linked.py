"""Compiles what kernels call as far as it takes to link it into them.

numba would optimise each of these functions and turn it into machine code as if Python called it,
and then do both again for every kernel that holds it: a fifth of what a first start waits for.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import codegen, compiler, compiler_machinery, typed_passes

# None of these has types.
Library: Any = codegen.JITCodeLibrary
Lowering: Any = typed_passes.NativeLowering
BaseCompiler: Any = compiler.CompilerBase
Passes: Any = compiler.DefaultPassBuilder
machinery: Any = compiler_machinery
dynfunc: Any = _dynfunc


class LinkedLibrary(Library):  # type: ignore[misc]
    """A module that is complete as it was written."""

    def _optimize_final_module(self) -> None:
        """Whoever links it does."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(Lowering):  # type: ignore[misc]
    """What `NativeLowering` does for functions that Python calls, without an address to call."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower, and have the function known to those that will link it."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        written = state.cr
        name = state.func_id.func_name
        function = dynfunc.make_function(
            written.fndesc.lookup_module(), name, name, 0, written.env, (state.library,)
        )
        state.targetctx.insert_user_function(function, written.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state.cr = written._replace(cfunc=function)
        return True


class LinkedCompiler(BaseCompiler):  # type: ignore[misc]
    """numba's own, but for how it lowers."""

    def define_pipelines(self) -> list[Any]:
        """The passes of the only mode there is."""
        manager = Passes.define_nopython_pipeline(self.state)
        manager.passes = [
            (LinkedLowering if one is Lowering else one, told) for one, told in manager.passes
        ]
        manager.finalize()
        return [manager]
