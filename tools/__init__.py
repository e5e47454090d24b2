# SPDX-License-Identifier: GPL-3.0-or-later
"""What build.py is made of. Nothing here needs more than Python itself."""
