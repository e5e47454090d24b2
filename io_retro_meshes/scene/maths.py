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

FLAT = 1e-18  # the determinant of a matrix without an inverse

# How far the products of axes are from those of a rotation: near enough for Newton's iteration, and where it ends.
NEARLY_RIGHT = 0.1
RIGHT = 1e-12

FARTHEST = 1e15  # its square is a float32, too


# --------------------------------------------------------------------------------------------------------- quaternions


def normalized(vectors: Array, fallback: tuple[float, ...] | None = None) -> Array:
    """Unit vectors (or quaternions); those of no length become `fallback`, or stay zero."""
    length = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]  # several times as fast as np.linalg.norm
    short = ~(length > 1e-20)
    if not short.any():
        return (vectors / length).astype(vectors.dtype, copy=False)
    unit = vectors / np.where(short, 1, length)
    if fallback is not None:
        unit = np.where(short, np.asarray(fallback, unit.dtype), unit)
    return unit.astype(vectors.dtype, copy=False)


def quaternion_multiply(a: Array, b: Array) -> Array:
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    w = aw * bw - ax * bx - ay * by - az * bz
    found = np.empty((*w.shape, 4), w.dtype)
    found[..., 0], found[..., 1] = w, aw * bx + ax * bw + ay * bz - az * by
    found[..., 2], found[..., 3] = aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw
    return found


def quaternion_conjugate(q: Array) -> Array:
    return q * np.array([1, -1, -1, -1], q.dtype)


def quaternion_to_matrix(q: Array) -> Array:
    """(…, 4) -> (…, 3, 3). Quaternions of any length; one of no length is no rotation."""
    w, x, y, z = np.moveaxis(normalized(q, (1, 0, 0, 0)), -1, 0)
    found = np.empty((*w.shape, 3, 3), w.dtype)
    found[..., 0, 0], found[..., 0, 1], found[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    found[..., 1, 0], found[..., 1, 1], found[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    found[..., 2, 0], found[..., 2, 1], found[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return found


def matrix_to_quaternion(m: Array) -> Array:
    """(…, 3, 3) rotations -> (…, 4), w not negative. Takes the largest of the four components first: always stable."""
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    found = np.empty((*m00.shape, 4, 4), m.dtype)  # a candidate a row
    found[..., 0, 0], found[..., 1, 1] = 1 + m00 + m11 + m22, 1 + m00 - m11 - m22
    found[..., 2, 2], found[..., 3, 3] = 1 - m00 + m11 - m22, 1 - m00 - m11 + m22
    found[..., 0, 1] = found[..., 1, 0] = m[..., 2, 1] - m[..., 1, 2]
    found[..., 0, 2] = found[..., 2, 0] = m[..., 0, 2] - m[..., 2, 0]
    found[..., 0, 3] = found[..., 3, 0] = m[..., 1, 0] - m[..., 0, 1]
    found[..., 1, 2] = found[..., 2, 1] = m[..., 1, 0] + m[..., 0, 1]
    found[..., 1, 3] = found[..., 3, 1] = m[..., 0, 2] + m[..., 2, 0]
    found[..., 2, 3] = found[..., 3, 2] = m[..., 2, 1] + m[..., 1, 2]
    best = np.argmax(np.einsum("...ii->...i", found), -1)
    q = normalized(np.take_along_axis(found, best[..., None, None], -2)[..., 0, :], (1, 0, 0, 0))
    return np.where(q[..., :1] < 0, -q, q)


def continuous(q: Array) -> Array:
    """(…, k, 4) keys with signs such that each lies on the shorter way from the one before."""
    flips = np.sum(q[..., 1:, :] * q[..., :-1, :], -1) < HALF_TURN
    if not flips.any():
        return q
    odd = np.zeros(q.shape[:-1], bool)
    np.logical_xor.accumulate(flips, -1, out=odd[..., 1:])
    return np.where(odd[..., None], -q, q)


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
    scale = np.sqrt(np.einsum("...ij,...ij->...j", linear, linear))
    # The direction of an axis that was squashed flat is noise: leave it to the other two.
    flat = scale <= 1e-6 * scale.max(-1, keepdims=True)
    scale, linear = np.where(flat, 0, scale), np.where(flat[..., None, :], 0, linear)
    scale = np.where((determinant(linear) < 0)[..., None], -scale, scale)
    axes = linear / np.where(np.abs(scale) > 1e-20, scale, 1)[..., None, :]
    rotation = matrix_to_quaternion(orthonormal(axes))
    return matrix[..., :3, 3].copy(), rotation.astype(matrix.dtype), scale.astype(matrix.dtype)


def determinant(linear: Array) -> Array:
    """Of (…, 3, 3)."""
    a, b, c = linear[..., 0, :], linear[..., 1, :], linear[..., 2, :]
    found: Array = (
        a[..., 0] * (b[..., 1] * c[..., 2] - b[..., 2] * c[..., 1])
        + a[..., 1] * (b[..., 2] * c[..., 0] - b[..., 0] * c[..., 2])
        + a[..., 2] * (b[..., 0] * c[..., 1] - b[..., 1] * c[..., 0])
    )
    return found


def inverse(matrices: Array) -> Array:
    """Inverses of (…, 4, 4) transforms; of one that has none, the nearest thing.

    Written out: numpy's own takes ten times as long for many small matrices, and starts threads for each.
    """
    linear = matrices[..., :3, :3]
    size, flat = determinant(linear), is_flat(matrices)
    found = np.zeros(matrices.shape, matrices.dtype)
    for row, column in np.ndindex(3, 3):
        i, j, k, m = (column + 1) % 3, (row + 1) % 3, (column + 2) % 3, (row + 2) % 3
        minor = linear[..., i, j] * linear[..., k, m] - linear[..., i, m] * linear[..., k, j]
        found[..., row, column] = minor / np.where(flat, 1, size)
    found[..., :3, 3:] = -found[..., :3, :3] @ matrices[..., :3, 3:]
    found[..., 3, 3] = 1
    if flat.any():
        found[flat] = np.linalg.pinv(matrices[flat])
    return found


def is_flat(matrices: Array) -> npt.NDArray[np.bool_]:
    """Which of (…, 4, 4) have no inverse: a scale of zero."""
    found: npt.NDArray[np.bool_] = np.abs(determinant(matrices[..., :3, :3])) < FLAT
    return found


def orthonormal(linear: Array) -> Array:
    """The rotation nearest to each (…, 3, 3): the polar part, made proper. No rotation, where the numbers are none."""
    if not np.isfinite(linear).all():
        linear = np.where(np.isfinite(linear).all((-2, -1), keepdims=True), linear, np.eye(3, dtype=linear.dtype))
    gram = np.swapaxes(linear, -1, -2) @ linear - np.eye(3, dtype=linear.dtype)
    apart = np.abs(gram).max((-2, -1))
    far = (apart > NEARLY_RIGHT) | (determinant(linear) < 0)
    found = linear
    while (~far & (apart > RIGHT)).any():  # each step of Newton's squares what is left: one or two are enough
        found = found - found @ gram / 2
        gram = np.swapaxes(found, -1, -2) @ found - np.eye(3, dtype=linear.dtype)
        apart = np.abs(gram).max((-2, -1))
    if far.any():
        found = found.copy()
        found[far] = _nearest_rotation(linear[far])
    return found


def _nearest_rotation(linear: Array) -> Array:
    """Of any matrices whatever, (n, 3, 3)."""
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
    left, right, t = around(frames, at)
    return interpolated(values[left], values[right], t.astype(values.dtype), rotation)


def around(frames: Array, at: Array) -> tuple[Array, Array, Array]:
    """The keys before and behind each of the frames `at`, and how far it is from the one to the other, 0 to 1."""
    if len(frames) == 1:
        return np.zeros(len(at), np.intp), np.zeros(len(at), np.intp), np.zeros(len(at), frames.dtype)
    right = np.clip(np.searchsorted(frames, at, "right"), 1, len(frames) - 1)
    left = right - 1
    span = frames[right] - frames[left]
    return left, right, np.clip((at - frames[left]) / np.where(span > 0, span, 1), 0, 1)


def interpolated(left: Array, right: Array, t: Array, rotation: str = "") -> Array:
    """From one value to another; t has their leading axes."""
    if rotation == "SLERP":
        return slerp(left, right, t)
    if rotation == "NLERP":
        return nlerp(left, right, t)
    return left + (right - left) * t[..., None]


def reduce_keys(frames: Array, values: Array, tolerance: float, rotation: str = "") -> Array:
    """The indices of the keys to keep so that interpolation gives the others back within `tolerance`."""
    return np.flatnonzero(needed_keys(frames, values[None], tolerance, rotation)[0])


def needed_keys(frames: Array, values: Array, tolerance: float, rotation: str = "") -> Array:
    """Which keys of many channels on the same frames have to be kept: (n, k, 3 or 4) -> (n, k).

    Starts with the two ends of each and adds, in every stretch that is off by more than `tolerance`, its worst key, until none
    is. A channel that never leaves its first value keeps that one alone.
    """
    channels, count = values.shape[:2]
    keep = np.zeros((channels, count), bool)
    keep[:, :1] = True
    if count < 2 or not channels:
        return keep
    moving = np.flatnonzero(key_error(values[:, :1], values, rotation).max(1) > tolerance)
    keep[moving, -1] = True
    keys, flat = keep.reshape(-1), values.reshape(-1, values.shape[2])
    # The keys between the ends of stretches that are not known to be good, one channel after the other, and those ends.
    between = (moving[:, None] * count + np.arange(1, count - 1)).reshape(-1)
    left = np.repeat(moving * count, count - 2)
    right = left + count - 1
    while len(between):
        error = _strays(frames, flat, between, left, right, tolerance, rotation)
        starts = np.flatnonzero(np.diff(left, prepend=-1))
        worst = np.repeat(np.maximum.reduceat(error, starts), np.diff(starts, append=len(left)))
        added = between[(worst > tolerance) & (error == worst)]
        keys[added] = True
        open_ = (worst > tolerance) & (error < worst)
        between, left, right = between[open_], left[open_], right[open_]
        place = np.searchsorted(added, between)
        ends = np.concatenate([[-1], added, [len(keys)]])
        left, right = np.maximum(left, ends[place]), np.minimum(right, ends[place + 1])
    return keep


def _strays(frames: Array, flat: Array, between: Array, left: Array, right: Array, tolerance: float, rotation: str) -> Array:
    """How far each of these keys is from what its stretch makes of it; `flat` has the keys of all channels."""
    count = len(frames)
    first = frames[left % count]
    t = ((frames[between % count] - first) / (frames[right % count] - first)).astype(flat.dtype)
    error = key_error(interpolated(flat[left], flat[right], t, rotation), flat[between], rotation)
    if rotation:
        # Nearly half a turn: engines may go either way there, as rounding will have it. The middle key is needed most.
        unsure = np.abs(np.sum(normalized(flat[left]) * normalized(flat[right]), -1)) < NEARLY_HALF_TURN
        error += unsure * (1 + tolerance + np.minimum(between - left, right - between))
    return error


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
