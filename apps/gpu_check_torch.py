"""What apps/gpu_check.sh compares with: attention by PyTorch, on the same card.

Writes rows `what,ms,peer`; `what` is as gpu_check.sh names the rows of `bench`. Times are medians
of device time, forward and backward together.
"""

import argparse
import csv
import statistics
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

N_HEAD, HEAD_DIM = 12, 64


def median_ms(work, warm_up=5, rounds=21):
    """Milliseconds that work() takes on the device."""
    for _ in range(warm_up):
        work()
    times = []
    for _ in range(rounds):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def random(*shape, dtype=torch.bfloat16, grad=False):
    return torch.randn(*shape, device="cuda", dtype=dtype).requires_grad_(grad)


def with_backward(forward, inputs, dy):
    """Runs forward() and its gradient, without adding gradients up."""

    def work():
        torch.autograd.grad(forward(), inputs, dy)

    return work


def attention_inputs(tokens, length):
    shape = (tokens // length, N_HEAD, length, HEAD_DIM)
    return [random(*shape, grad=True) for _ in range(3)], random(*shape)


def flash(tokens, length):
    inputs, dout = attention_inputs(tokens, length)

    def forward():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return F.scaled_dot_product_attention(*inputs, is_causal=True)

    return with_backward(forward, inputs, dout)


def flex(tokens, length):
    """A bias table [head, distance] that is learned, as KERPLE has."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    inputs, dout = attention_inputs(tokens, length)
    table = random(N_HEAD, length, dtype=torch.float32, grad=True)

    def add_bias(score, b, h, q, k):
        return score + table[h, torch.abs(q - k)]

    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, length, length, device="cuda")
    compiled = torch.compile(flex_attention)
    return with_backward(
        lambda: compiled(*inputs, score_mod=add_bias, block_mask=mask), [*inputs, table], dout
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--lengths", default="512,2048,8192", help="separated by commas")
    parser.add_argument("--csv", required=True, help="the file to write")
    options = parser.parse_args()

    works = []
    for length in map(int, options.lengths.split(",")):
        works.append((f"attention none {length}", "flash", lambda n=length: flash(options.tokens, n)))
        works.append(
            (f"attention kerple_log {length}", "flex", lambda n=length: flex(options.tokens, n))
        )

    failed = []
    with open(options.csv, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["what", "ms", "peer"])
        for what, peer, make in works:
            try:
                rows.writerow([what, f"{median_ms(make()):.4f}", f"torch {torch.__version__} {peer}"])
            except Exception as error:  # one that this version lacks leaves the others
                failed.append(f"{what}: {str(error).splitlines()[0] if str(error) else error!r}")
            file.flush()
            torch.cuda.empty_cache()
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
