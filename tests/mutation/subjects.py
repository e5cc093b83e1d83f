# SPDX-License-Identifier: MIT
"""What is mutated, and the tests that must notice.

The files are those that decide: whether the log may write (the gate), whether and when something is
tried again (retry and what wraps a database in it), for how long and how often (the budget and the
policy), and what a failure means (the classifier with its tables). Their defaults and constants are
in headers. Of the tests those that are quick and measure no time; run alone, this prints them.
"""

SUBJECTS = [
    (
        ["sinks/gate.cpp", "sinks/gate.h", "include/spillway/overload_policy.h",
         "sinks/wait_bounds.h"],
        ["sinks_gate_test", "sinks_error_class_test", "sinks_overload_timeline_test"],
    ),
    (
        ["d1/retry.cpp", "include/spillway/retry.h"],
        ["d1_retry_test", "d1_retrying_database_test"],
    ),
    (
        ["d1/retry_budget.cpp", "include/spillway/retry_budget.h"],
        ["d1_retry_budget_test", "d1_retry_test"],
    ),
    (
        ["d1/retry_policy.cpp", "include/spillway/retry_policy.h"],
        ["d1_retry_policy_test", "d1_retry_test"],
    ),
    (
        ["d1/retrying_database.cpp"],
        ["d1_retrying_database_test", "d1_read_only_test", "d1_allocation_fault_test"],
    ),
    (
        ["d1/classify.cpp", "d1/failure_text.cpp", "d1/failure_text.h"],
        ["d1_classify_test"],
    ),
    (
        ["d1/sqlite_status.cpp"],
        ["d1_sqlite_status_test", "d1_classify_test"],
    ),
]

if __name__ == "__main__":
    print(*sorted({name for _, programs in SUBJECTS for name in programs}))
