# SPDX-License-Identifier: GPL-3.0-or-later
"""Material node graphs: each is made, read back and has its nodes named in one place, for `build` and `collect` alike."""
