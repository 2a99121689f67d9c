"""The linear and integer programs, solved by HiGHS."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import highspy
import numpy as np

from nodewright_least_cost.filling import fill
from nodewright_least_cost.problem import Filling, Offer, Problem, Purchase

_FILLING_GAP = 0.003
_FILLING_SECONDS = 0.05
_EPSILON = 1e-6

#: An offer, by its number, and a way to fill one of its nodes.
Column = tuple[int, Filling]


@dataclass(frozen=True, kw_only=True)
class Relaxed:
    """The answer if parts of nodes could be bought."""

    #: What one more pod of each set would cost.
    pods: tuple[float, ...]
    #: What one more node of each offer, above its limit and the room of the cluster, would save.
    nodes: tuple[float, ...]
    #: The whole nodes in it, parts left off.
    purchases: tuple[Purchase, ...]


@dataclass(frozen=True, kw_only=True)
class Whole:
    """The best answer in whole nodes that was found in time."""

    purchases: tuple[Purchase, ...]
    #: No answer made of the same columns is cheaper.
    bound: float


def relaxed(problem: Problem, columns: Sequence[Column]) -> Relaxed | None:
    """Solve with parts of nodes; None if HiGHS could not."""
    model = _solver()
    model.passModel(_model(problem, columns, whole=False))
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = model.getSolution()
    duals = list(solution.row_dual)
    sets, offers = len(problem.demand), len(problem.offers)
    room = -duals[sets + offers]
    return Relaxed(
        pods=tuple(max(0.0, dual) for dual in duals[:sets]),
        nodes=tuple(max(0.0, room - dual) for dual in duals[sets : sets + offers]),
        purchases=_purchases(columns, [int(value + _EPSILON) for value in solution.col_value[: len(columns)]]),
    )


def whole(
    problem: Problem, columns: Sequence[Column], start: Sequence[Purchase], seconds: float, gap: float
) -> Whole | None:
    """Solve in whole nodes, from the plan *start*, until proven to within *gap*; None if nothing was found in time."""
    model = _solver()
    model.setOptionValue("time_limit", max(0.01, seconds))
    model.setOptionValue("mip_rel_gap", gap)
    model.passModel(_model(problem, columns, whole=True))
    numbers = {column: number for number, column in enumerate(columns)}
    values = [0.0] * len(columns)
    for each in start:
        values[numbers[each.offer, each.filling]] += each.nodes
    hint = highspy.HighsSolution()
    hint.col_value = [*values, *map(float, problem.left(start))]
    model.setSolution(hint)
    model.run()
    info = model.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    counts = [round(value) for value in model.getSolution().col_value[: len(columns)]]
    return Whole(purchases=_purchases(columns, counts), bound=info.mip_dual_bound)


def best_filling(
    problem: Problem, offer: Offer, worth: Sequence[float], seconds: float, *, exact: bool
) -> tuple[Filling, float] | None:
    """Return a filling of one node whose pods are worth much, and a bound of what any is worth.

    If *exact*, both are as good as time allows; else parts of pods are reckoned with, and then left off. None if there
    was too little time.
    """
    sets = [index for index, most in enumerate(offer.most) if most and worth[index] > 0]
    if not sets:
        return (0,) * len(problem.demand), 0.0
    model = _solver()
    # A filling that is nearly the best will do, as long as the bound is right.
    model.setOptionValue("mip_rel_gap", _FILLING_GAP)
    model.setOptionValue("time_limit", max(0.001, min(seconds, _FILLING_SECONDS)))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(sets), len(offer.free)
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = np.array([worth[index] for index in sets])
    lp.col_lower_ = np.zeros(len(sets))
    lp.col_upper_ = np.array([float(min(offer.most[index], problem.demand[index])) for index in sets])
    # As shares of the node, so that bytes and CPUs are of one order.
    scale = [max(1, free) for free in offer.free]
    lp.row_lower_ = np.full(len(offer.free), -highspy.kHighsInf)
    lp.row_upper_ = np.array([free / unit for free, unit in zip(offer.free, scale, strict=True)])
    entries = [
        [(row, amount / scale[row]) for row, amount in enumerate(problem.sizes[index]) if amount] for index in sets
    ]
    _fill_matrix(lp, entries)
    if exact:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * len(sets)
    model.passModel(lp)
    model.run()
    info = model.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    values = dict(zip(sets, model.getSolution().col_value, strict=True))
    whole_pods = tuple(int(values.get(index, 0.0) + _EPSILON) for index in range(len(problem.demand)))
    filling = fill(problem, offer, sets, whole_pods)
    # What was left off makes room, first of all for the pods of which most was.
    by_part = sorted(sets, key=lambda index: whole_pods[index] - values[index])
    filling = fill(problem, offer, by_part, problem.demand, filling)
    return filling, info.mip_dual_bound if exact else info.objective_function_value


def _purchases(columns: Sequence[Column], counts: Sequence[int]) -> tuple[Purchase, ...]:
    return tuple(
        Purchase(offer=offer, filling=filling, nodes=count)
        for (offer, filling), count in zip(columns, counts, strict=True)
        if count > 0
    )


def _solver() -> highspy.Highs:
    """Return a solver that is silent, and that finds the same answer each time it is given as much time as it takes."""
    model = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0)):
        model.setOptionValue(option, value)
    return model


def _model(problem: Problem, columns: Sequence[Column], *, whole: bool) -> highspy.HighsLp:
    """Buy nodes by column, or leave pods out by set, so that each set has its demand and no limit is passed.

    Rows are the sets, then the offers, then all nodes together.
    """
    sets, offers = len(problem.demand), len(problem.offers)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(columns) + sets, sets + offers + 1
    lp.col_cost_ = np.array([problem.offers[offer].price for offer, _ in columns] + [problem.penalty] * sets)
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.array(
        [float(problem.offers[offer].limit) for offer, _ in columns] + [*map(float, problem.demand)]
    )
    limits = [float(offer.limit) for offer in problem.offers]
    room = highspy.kHighsInf if problem.room is None else float(problem.room)
    lp.row_lower_ = np.array([*map(float, problem.demand)] + [-highspy.kHighsInf] * (offers + 1))
    lp.row_upper_ = np.array([highspy.kHighsInf] * sets + limits + [room])
    entries = [
        [(index, float(count)) for index, count in enumerate(filling) if count]
        + [(sets + offer, 1.0), (sets + offers, 1.0)]
        for offer, filling in columns
    ]
    _fill_matrix(lp, entries + [[(index, 1.0)] for index in range(sets)])
    if whole:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * len(columns) + [highspy.HighsVarType.kContinuous] * sets
    return lp


def _fill_matrix(lp: highspy.HighsLp, entries: Sequence[Sequence[tuple[int, float]]]) -> None:
    """Set the matrix from its entries, (row, value) by column."""
    flat = list(chain.from_iterable(entries))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.cumsum([0, *map(len, entries)], dtype=np.int32)
    lp.a_matrix_.index_ = np.array([row for row, _ in flat], dtype=np.int32)
    lp.a_matrix_.value_ = np.array([value for _, value in flat])
