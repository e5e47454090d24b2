# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms in numpy, for one or for many: every function takes any number of leading axes.

Column vectors, quaternions w, x, y, z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[Any]

# Between rotations half a turn apart both ways are as short. Engines then take the signs as they are, whatever rounding says.
HALF_TURN = -1e-6
NEARLY_HALF_TURN = 0.01  # cosine of half the angle: 179 degrees

FARTHEST = 1e15  # its square is a float32, too


# --------------------------------------------------------------------------------------------------------- quaternions


def normalized(vectors: Array, fallback: tuple[float, ...] | None = None) -> Array:
    """Unit vectors (or quaternions); those of no length become `fallback`, or stay zero."""
    length = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]  # several times as fast as np.linalg.norm
    unit = vectors / np.where(length > 1e-20, length, 1)
    if fallback is not None:
        unit = np.where(length > 1e-20, unit, np.asarray(fallback, unit.dtype))
    return unit.astype(vectors.dtype, copy=False)


def quaternion_multiply(a: Array, b: Array) -> Array:
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        -1,
    )


def quaternion_conjugate(q: Array) -> Array:
    return q * np.array([1, -1, -1, -1], q.dtype)


def quaternion_to_matrix(q: Array) -> Array:
    """(…, 4) -> (…, 3, 3). Quaternions of any length; one of no length is no rotation."""
    w, x, y, z = np.moveaxis(normalized(q, (1, 0, 0, 0)), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def matrix_to_quaternion(m: Array) -> Array:
    """(…, 3, 3) rotations -> (…, 4), w not negative. Takes the largest of the four components first: always stable."""
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack([1 + m00 + m11 + m22, 1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22], -1)
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    candidates = np.stack(
        [
            np.stack([squares[..., 0], a, b, c], -1),
            np.stack([a, squares[..., 1], d, e], -1),
            np.stack([b, d, squares[..., 2], f], -1),
            np.stack([c, e, f, squares[..., 3]], -1),
        ],
        -2,
    )
    best = np.argmax(squares, -1)
    q = normalized(np.take_along_axis(candidates, best[..., None, None], -2)[..., 0, :], (1, 0, 0, 0))
    return np.where(q[..., :1] < 0, -q, q)


def continuous(q: Array) -> Array:
    """(k, 4) keys with signs such that each lies on the shorter way from the one before."""
    if len(q) < 2:
        return q
    flips = np.sum(q[1:] * q[:-1], -1) < HALF_TURN
    odd = np.concatenate([[False], np.logical_xor.accumulate(flips)])
    return np.where(odd[:, None], -q, q)


def slerp(a: Array, b: Array, t: Array) -> Array:
    """From a to b along the shorter arc; t has the leading axes of a and b."""
    a, b = normalized(a, (1, 0, 0, 0)), normalized(b, (1, 0, 0, 0))
    dot = np.sum(a * b, -1)
    b = np.where((dot < HALF_TURN)[..., None], -b, b)
    angle = np.arccos(np.clip(np.abs(dot), 0, 1))
    sine = np.sin(angle)
    near = sine < 1e-4
    safe = np.where(near, 1, sine)
    first = np.where(near, 1 - t, np.sin((1 - t) * angle) / safe)
    second = np.where(near, t, np.sin(t * angle) / safe)
    return normalized(first[..., None] * a + second[..., None] * b)


def nlerp(a: Array, b: Array, t: Array) -> Array:
    """From a to b in a straight line, then normalised; along the shorter way."""
    a, b = normalized(a, (1, 0, 0, 0)), normalized(b, (1, 0, 0, 0))
    b = np.where((np.sum(a * b, -1) < HALF_TURN)[..., None], -b, b)
    return normalized((1 - t)[..., None] * a + t[..., None] * b)


# ------------------------------------------------------------------------------------------------------------ matrices


def compose(location: Array, rotation: Array, scale: Array) -> Array:
    """T · R · S as (…, 4, 4)."""
    matrix = np.zeros((*np.broadcast_shapes(location.shape[:-1], rotation.shape[:-1], scale.shape[:-1]), 4, 4), location.dtype)
    matrix[..., :3, :3] = quaternion_to_matrix(rotation) * scale[..., None, :]
    matrix[..., :3, 3] = location
    matrix[..., 3, 3] = 1
    return matrix


def decompose(matrix: Array) -> tuple[Array, Array, Array]:
    """Location, rotation and scale of (…, 4, 4); a mirrored matrix gets a negative scale on all three axes, as in Blender."""
    linear = matrix[..., :3, :3].astype(np.float64)
    scale = np.linalg.norm(linear, axis=-2)
    # The direction of an axis that was squashed flat is noise: leave it to the other two.
    flat = scale <= 1e-6 * scale.max(-1, keepdims=True)
    scale, linear = np.where(flat, 0, scale), np.where(flat[..., None, :], 0, linear)
    scale = np.where((np.linalg.det(linear) < 0)[..., None], -scale, scale)
    axes = linear / np.where(np.abs(scale) > 1e-20, scale, 1)[..., None, :]
    rotation = matrix_to_quaternion(orthonormal(axes))
    return matrix[..., :3, 3].copy(), rotation.astype(matrix.dtype), scale.astype(matrix.dtype)


def orthonormal(linear: Array) -> Array:
    """The rotation nearest to each (…, 3, 3): the polar part, made proper. No rotation, where the numbers are none."""
    if not np.isfinite(linear).all():
        linear = np.where(np.isfinite(linear).all((-2, -1), keepdims=True), linear, np.eye(3, dtype=linear.dtype))
    u, _, vt = np.linalg.svd(linear)
    flip = np.linalg.det(u @ vt) < 0
    u = np.where(flip[..., None, None] & (np.arange(3) == 2), -u, u)
    return u @ vt


def bounded(matrices: Array) -> Array:
    """Matrices that can be inverted without an error, whatever became of their numbers."""
    return np.clip(np.nan_to_num(matrices, nan=0, posinf=FARTHEST, neginf=-FARTHEST), -FARTHEST, FARTHEST)


def transform_points(matrix: Array, points: Array) -> Array:
    """A (4, 4) applied to (n, 3)."""
    return points @ matrix[:3, :3].T.astype(points.dtype) + matrix[:3, 3].astype(points.dtype)


def transform_normals(matrix: Array, normals: Array) -> Array:
    """Normals turn with the inverse transpose; a flat or mirrored matrix keeps them finite."""
    linear = matrix[:3, :3].astype(np.float64)
    cofactors = np.stack([np.cross(linear[1], linear[2]), np.cross(linear[2], linear[0]), np.cross(linear[0], linear[1])])
    sign = -1 if np.linalg.det(linear) < 0 else 1
    return normalized(normals @ (sign * cofactors).T.astype(normals.dtype))


# ---------------------------------------------------------------------------------------------------------------- keys


def sample(frames: Array, values: Array, at: Array, rotation: str = "") -> Array:
    """Keys evaluated at the frames `at`: linear between, constant outside. rotation: "SLERP", "NLERP", or "" for vectors."""
    if len(frames) == 1:
        return np.repeat(normalized(values) if rotation else values, len(at), 0)
    right = np.clip(np.searchsorted(frames, at, "right"), 1, len(frames) - 1)
    left = right - 1
    span = frames[right] - frames[left]
    t = np.clip((at - frames[left]) / np.where(span > 0, span, 1), 0, 1).astype(values.dtype)
    if rotation == "SLERP":
        return slerp(values[left], values[right], t)
    if rotation == "NLERP":
        return nlerp(values[left], values[right], t)
    return values[left] + (values[right] - values[left]) * t[:, None]


def reduce_keys(frames: Array, values: Array, tolerance: float, rotation: str = "") -> Array:
    """The indices of the keys to keep so that interpolation gives the others back within `tolerance`.

    Starts with the two ends and adds, in every stretch that is off by more, its worst key, until none is. A channel that
    never leaves its first value keeps that one alone.
    """
    count = len(frames)
    if count < 2 or key_error(values[:1], values, rotation).max() <= tolerance:
        return np.zeros(min(count, 1), np.intp)
    keep = np.zeros(count, bool)
    keep[[0, -1]] = True
    while True:
        kept = np.flatnonzero(keep)
        error = key_error(sample(frames[kept], values[kept], frames, rotation), values, rotation)
        stretch = np.cumsum(keep) - 1
        if rotation:
            error += _unsure(values, kept)[stretch] * (1 + tolerance + _depth(kept))
        error[kept] = 0
        worst = np.zeros(len(kept), error.dtype)
        np.maximum.at(worst, stretch, error)
        add = (error > tolerance) & (error >= worst[stretch])
        if not add.any():
            return kept
        keep |= add


def _unsure(values: Array, kept: Array) -> Array:
    """After which keys it takes nearly half a turn to the next: engines may go either way there, as rounding will have it."""
    keys = normalized(values[kept].astype(np.float64))
    return np.append(np.abs(np.sum(keys[1:] * keys[:-1], -1)) < NEARLY_HALF_TURN, False)


def _depth(kept: Array) -> Array:
    """How many keys away the nearer end of its stretch is, of all keys from the first to the last that are kept."""
    every = np.arange(kept[-1] + 1)
    start = np.searchsorted(kept, every, "right") - 1
    return np.minimum(every - kept[start], kept[np.minimum(start + 1, len(kept) - 1)] - every)


def key_error(a: Array, b: Array, rotation: str) -> Array:
    """How far apart keys are: the largest component, or for rotations the angle."""
    if not rotation:
        return np.abs(a - b).max(-1)
    a, b = normalized(a.astype(np.float64)), normalized(b.astype(np.float64))
    chord = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return 4 * np.arcsin(np.clip(chord / 2, 0, 1))


# ------------------------------------------------------------------------------------------------------------- colours


def srgb_to_linear(color: Array) -> Array:
    return np.where(color <= 0.04045, color / 12.92, (np.maximum(color + 0.055, 0) / 1.055) ** 2.4)


def linear_to_srgb(color: Array) -> Array:
    return np.where(color <= 0.0031308, color * 12.92, 1.055 * np.maximum(color, 0) ** (1 / 2.4) - 0.055)


def linear_color(color: Array) -> tuple[float, float, float]:
    """The red, green and blue of an sRGB colour as a renderer computes with them."""
    red, green, blue = srgb_to_linear(np.asarray(color[:3], np.float64)).tolist()
    return red, green, blue
