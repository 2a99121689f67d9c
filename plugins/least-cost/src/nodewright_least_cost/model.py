"""Linear and integer programs, built row by row and solved by HiGHS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import highspy

#: A variable, by its number, and its factor in a row.
Entry = tuple[int, float]


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What HiGHS found."""

    #: By variable.
    values: Sequence[float]
    #: Dual value of each row; only for linear programs.
    duals: Sequence[float]
    objective: float
    #: A lower bound on the objective.
    bound: float
    optimal: bool


class Model:
    """A program whose cost is minimized."""

    def __init__(self) -> None:
        self._costs: list[float] = []
        self._upper: list[float] = []
        self._whole: list[bool] = []
        self._rows: list[Sequence[Entry]] = []
        self._row_lower: list[float] = []
        self._row_upper: list[float] = []

    def variable(self, *, cost: float = 0.0, upper: float = inf, whole: bool = False) -> int:
        """Add a variable from 0 to *upper*, and return its number."""
        self._costs.append(cost)
        self._upper.append(upper)
        self._whole.append(whole)
        return len(self._costs) - 1

    def row(self, entries: Sequence[Entry], *, lower: float = -inf, upper: float = inf) -> int:
        """Add a row: the sum of *entries* is between the bounds. Returns its number."""
        self._rows.append(entries)
        self._row_lower.append(lower)
        self._row_upper.append(upper)
        return len(self._rows) - 1

    def solve(
        self, seconds: float, *, whole: bool, gap: float = 0.0, start: Mapping[int, float] | None = None
    ) -> Solution | None:
        """Return the best solution found in *seconds*, or the first within *gap* of the best; None if there is none.

        If not *whole*, variables may be fractional. The search begins with *start*, which may leave out variables.
        Given enough time, the same program always has the same solution.
        """
        # HiGHS loads slowly, so it is imported when there is something to solve.
        import highspy

        solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("parallel", "off"),
            ("random_seed", 0),
            ("time_limit", max(0.001, seconds)),
            ("mip_rel_gap", gap),
        ):
            solver.setOptionValue(option, value)
        solver.passModel(self._program(whole=whole))
        if start:
            solver.setSolution(len(start), list(start), list(start.values()))
        solver.run()
        info = solver.getInfo()
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None
        solution = solver.getSolution()
        whole = whole and any(self._whole)
        return Solution(
            values=list(solution.col_value),
            duals=list(solution.row_dual),
            objective=info.objective_function_value,
            bound=info.mip_dual_bound if whole else info.objective_function_value,
            optimal=solver.getModelStatus() == highspy.HighsModelStatus.kOptimal,
        )

    def _program(self, *, whole: bool) -> "highspy.HighsLp":
        import highspy
        import numpy as np

        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(self._costs), len(self._rows)
        program.col_cost_ = np.array(self._costs)
        program.col_lower_ = np.zeros(len(self._costs))
        program.col_upper_ = np.array(self._upper, dtype=np.float64)
        program.row_lower_ = np.array(self._row_lower, dtype=np.float64)
        program.row_upper_ = np.array(self._row_upper, dtype=np.float64)
        flat = list(chain.from_iterable(self._rows))
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.cumsum([0, *map(len, self._rows)], dtype=np.int32)
        program.a_matrix_.index_ = np.array([number for number, _ in flat], dtype=np.int32)
        program.a_matrix_.value_ = np.array([value for _, value in flat], dtype=np.float64)
        if whole and any(self._whole):
            kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
            program.integrality_ = [kinds[each] for each in self._whole]
        return program
