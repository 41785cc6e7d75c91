"""Times on a device, and rows of apps/gpu_check's table, for torch_step.py and torch_attention.py."""

import csv
import os
import signal
import statistics
import sys
import time
import warnings

import torch

COLUMNS = ["what", "by", "ms", "forward", "backward", "TFLOP/s", "MFU", "peak MiB", "remark"]


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def milliseconds(work, device, times=10):
    """Of one work(), the mean of several in a row, as apps/bench/repeated.h measures; of fewer
    where they take long."""
    first = milliseconds_once(work, device)
    times = max(1, min(times, int(100 / first)))
    begin = time.perf_counter()
    for _ in range(times):
        work()
    synchronize(device)
    return 1e3 * (time.perf_counter() - begin) / times


def milliseconds_once(work, device):
    synchronize(device)
    begin = time.perf_counter()
    work()
    synchronize(device)
    return 1e3 * (time.perf_counter() - begin)


def median(values):
    return statistics.median(values)


def add_options(parser):
    parser.add_argument("--csv", required=True, help="the file to write")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="cpu: to try the script")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--until", type=float, default=float("inf"), help="seconds since 1970: what would end later has no row"
    )


def finish(rows):
    """Ends the program, without waiting for processes of torch's compiler that are still at work."""
    rows.file.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if rows.failed else 0)


def reason_of(error, said):
    """One line; backends of attention say why they refuse in warnings."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
    if lines[0].startswith(("No available kernel", "No viable backend")):
        why = [str(one.message).split(" (Triggered")[0] for one in said]
        lines = [one for one in why if "because" not in one and "not" in one] or lines
    return lines[0][:160]


class OutOfTime(BaseException):
    """Passes through handlers of Exception, of which torch's compiler has many."""


class Rows:
    """The file: a row for each measurement, or for the reason why there is none."""

    def __init__(self, options):
        self.until = options.until
        self.took_s = {}  # by whom: the latest measurement, most of it compiling
        self.failed = False
        self.skipped = set()
        self.file = open(options.csv, "w", newline="", encoding="utf-8")
        self.writer = csv.writer(self.file, lineterminator="\n", quoting=csv.QUOTE_NONE, escapechar="\\")
        self.writer.writerow(COLUMNS)

    def add(self, what, by, **values):
        plain = {name: str(value).replace(",", ";") for name, value in values.items()}
        self.writer.writerow([what, by] + [plain.get(name, "") for name in COLUMNS[2:]])
        self.file.flush()

    def skip(self, what, by, reason):
        """A backend that is skipped for a reason that it had before has no row."""
        print(f"{what}, {by}: skipped: {reason}", file=sys.stderr)
        if (by, reason) not in self.skipped:
            self.add(what, by, remark=f"skipped here and below: {reason}")
            self.skipped.add((by, reason))

    def measure(self, what, by, measure, must_run=False, least_s=3):
        """A row of what measure() returns. One that this version of torch, or this card, lacks
        leaves the others; `must_run` says that every one has it. None is begun with less than
        `least_s` left, or less than the last one by the same took."""
        begin = time.time()
        if self.until - begin < max(least_s, self.took_s.get(by, 0)):
            return self.skip(what, by, "no time left")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                values = self.in_time(measure)
            except OutOfTime:
                self.skip(what, by, "no time left")
            except Exception as error:  # whatever a backend throws
                self.skip(what, by, reason_of(error, said))
                self.failed |= must_run
            else:
                self.add(what, by, **values)
                self.took_s[by] = time.time() - begin

    def in_time(self, measure):
        if self.until == float("inf"):
            return measure()

        def stop(*_):
            raise OutOfTime

        signal.signal(signal.SIGALRM, stop)
        # Again each second: where it is raised in a destructor it is lost.
        signal.setitimer(signal.ITIMER_REAL, max(1e-3, self.until - time.time()), 1)
        try:
            return measure()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
