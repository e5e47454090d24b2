# SPDX-License-Identifier: GPL-3.0-or-later
"""Converting many files: which they are and what the results are called (plan), conversion in other processes (run, worker)
or on other machines (cluster), and what is told of it (report). Nothing is imported here: signals are caught before all else.
"""
