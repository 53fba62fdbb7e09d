"""The temporal part of a model: what it makes of a node's snapshots up to a prediction time.

Each of the four has two forms that agree. `forward` takes the whole history [n, C, S] and gives
y [n, k, C] at k snapshots; it is what trains and exports. `advance` takes the rows [n, C] of one
snapshot after the other and keeps a state per node; it is what serves a stream.

  n, C, S, N   nodes; channels; snapshots; states per channel (width of a key for attention)
  u, y         input and output of a channel at a snapshot

Everything linear and time-invariant (coden, coden-r with a gate per channel) is a convolution
over the snapshots with a sum of exponentials, K[f,j] = sum_i weight exp(j log_decay). No lag
depends on another, so no error adds up over them. The gate that depends on the input is a loop: its
decays differ from node to node, and a quotient of their cumulative products overflows.

Gu, Gupta, Goel, Re: On the Parameterization and Initialization of Diagonal State Space Models,
NeurIPS 2022.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, softplus

from coden.model_files import ModelConfig


def make_temporal(config: ModelConfig) -> "Temporal":
    channels, states = config.channels, config.states
    match config.model, config.gate:
        case "coden", _:
            return StateSpace(channels, states)
        case "coden-r", "channel":
            return ChannelGate(channels)
        case "coden-r", _:
            return InputGate(channels)
        case "coden-a", _:
            return Attention(channels, states)
    return CurrentSnapshot(channels)


class Temporal(nn.Module):
    any_snapshots = True
    """Whether an exported model takes histories of any length."""

    def __init__(self, channels: int):
        super().__init__()
        self.channels = channels

    def forward(self, history: Tensor, at: Tensor) -> Tensor:
        raise NotImplementedError

    def start(self, rows: Tensor) -> Tensor:
        """The state before the first snapshot, for as many nodes as `rows` has."""
        return rows.new_zeros(rows.shape[0], self.channels)

    def advance(self, state: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The next state, and y."""
        raise NotImplementedError


class CurrentSnapshot(Temporal):
    """coden-s: y is u."""

    def forward(self, history: Tensor, at: Tensor) -> Tensor:
        return current(history, at)

    def advance(self, state: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        return state, rows


class Discrete(NamedTuple):
    log_decay: Tensor
    gain: Tensor


class StateSpace(Temporal):
    """coden: M <- exp(Delta A) M + expm1(Delta A) / A * B u, y = sum_i C M + D u."""

    def __init__(self, channels: int, states: int):
        super().__init__(channels)
        self.log_rate = nn.Parameter(torch.empty(channels, states))
        self.input = nn.Parameter(torch.empty(channels, states))
        self.output = nn.Parameter(torch.empty(channels, states))
        self.step = nn.Parameter(torch.empty(channels))
        self.skip = nn.Parameter(torch.empty(channels))

    def discretise(self) -> Discrete:
        # In double precision, since ONNX has no expm1 and a step may be short.
        rate = -torch.exp(self.log_rate.double())
        log_decay = softplus(self.step.double()).unsqueeze(1) * rate
        gain = torch.expm1(log_decay) / rate * self.input
        return Discrete(log_decay.to(self.input.dtype), gain.to(self.input.dtype))

    def forward(self, history: Tensor, at: Tensor) -> Tensor:
        log_decay, gain = self.discretise()
        kernel = exponentials(log_decay, self.output * gain, history)
        return convolve(kernel, history, at) + self.skip * current(history, at)

    def start(self, rows: Tensor) -> Tensor:
        return rows.new_zeros(rows.shape[0], *self.input.shape)

    def advance(self, state: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        log_decay, gain = self.discretise()
        state = torch.exp(log_decay) * state + gain * rows.unsqueeze(2)
        return state, (self.output * state).sum(2) + self.skip * rows


class ChannelGate(Temporal):
    """coden-r: M <- z M + (1 - z) u with one z = sigmoid(-gate) per channel, y = M."""

    def __init__(self, channels: int):
        super().__init__(channels)
        self.gate = nn.Parameter(torch.empty(channels))

    def forward(self, history: Tensor, at: Tensor) -> Tensor:
        log_decay, weight = -softplus(self.gate), torch.sigmoid(self.gate)
        kernel = exponentials(log_decay.unsqueeze(1), weight.unsqueeze(1), history)
        return convolve(kernel, history, at)

    def advance(self, state: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        return _gated(state, rows, self.gate)


class InputGate(Temporal):
    """coden-r: M <- z M + (1 - z) u with z = sigmoid(-(W u + b)), y = M."""

    any_snapshots = False

    def __init__(self, channels: int):
        super().__init__(channels)
        self.gate = nn.Linear(channels, channels)

    def forward(self, history: Tensor, at: Tensor) -> Tensor:
        state, outputs = self.start(history), []
        for rows in history.unbind(2):
            state, output = self.advance(state, rows)
            outputs.append(output)
        return torch.stack(outputs, dim=1).index_select(1, at)

    def advance(self, state: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        gate: Tensor = self.gate(rows)
        return _gated(state, rows, gate)


class Attention(Temporal):
    """coden-a: y = V sum_s softmax_s(q_t . k_s / sqrt(N)) u_s + D u_t over s <= t.

    A snapshot in which the node is not there yet, a row of zeros, takes no part, except as the
    current one. The state is the history so far.
    """

    def __init__(self, channels: int, states: int):
        super().__init__(channels)
        self.query = nn.Parameter(torch.empty(states, channels))
        self.key = nn.Parameter(torch.empty(states, channels))
        self.value = nn.Parameter(torch.empty(channels, channels))
        self.skip = nn.Parameter(torch.empty(channels))

    def forward(self, history: Tensor, at: Tensor) -> Tensor:
        rows, now = history.transpose(1, 2), current(history, at)
        keys = linear(rows, self.key).transpose(1, 2)
        scores = linear(now, self.query) @ keys / math.sqrt(self.query.shape[0])
        lag = lags(history, at)
        there = history.abs().amax(1).unsqueeze(1) > 0
        taking_part = (there & (lag > 0)) | (lag == 0)
        scores = scores.masked_fill(~taking_part, -math.inf)
        return linear(torch.softmax(scores, dim=2) @ rows, self.value) + self.skip * now

    def start(self, rows: Tensor) -> Tensor:
        return rows.new_zeros(rows.shape[0], self.channels, 0)

    def advance(self, state: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        state = torch.cat([state, rows.unsqueeze(2)], dim=2)
        last = torch.tensor([state.shape[2] - 1], device=rows.device)
        return state, self.forward(state, last).squeeze(1)


def current(history: Tensor, at: Tensor) -> Tensor:
    """u at the snapshots `at`, [n, k, C]."""
    return history.index_select(2, at).transpose(1, 2)


def lags(history: Tensor, at: Tensor) -> Tensor:
    """How many snapshots lie between s and t, [k, S]; below 0 where s is later than t."""
    return at.unsqueeze(1) - torch.arange(history.shape[2], device=history.device)


def exponentials(log_decay: Tensor, weight: Tensor, history: Tensor) -> Tensor:
    """The kernel [C, S] of states that decay, from [C, N]."""
    lag = torch.arange(history.shape[2], device=history.device)
    return (weight.unsqueeze(2) * torch.exp(log_decay.unsqueeze(2) * lag)).sum(1)


def convolve(kernel: Tensor, history: Tensor, at: Tensor) -> Tensor:
    """sum_(s <= t) K[f,t-s] u_s at the snapshots `at`, [n, k, C]."""
    lag = lags(history, at)
    triangle = kernel[:, lag.clamp(min=0)] * (lag >= 0)
    return torch.bmm(history.transpose(0, 1), triangle.transpose(1, 2)).permute(1, 2, 0)


def _gated(state: Tensor, rows: Tensor, gate: Tensor) -> tuple[Tensor, Tensor]:
    state = torch.sigmoid(-gate) * state + torch.sigmoid(gate) * rows
    return state, state
