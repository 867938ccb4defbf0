"""Zephyrus in Prime Intellect's verifiers 0.4 (extra ``verifiers``), and with it in prime-rl.

`taskset` and `task` say what there is to do and how it is scored, `harness` runs our own loop in
the process of verifiers, with `session` as its policy; `env` chooses the runtime. An environment
package exports them, so that verifiers finds them by the package's name (`zephyrus-bench`).

`record` is the arithmetic between a trace and a `zephyrus.Trajectory`, and `traces` the files:
neither imports verifiers. `judges` takes a judge of verifiers into a Zephyrus environment.
"""
