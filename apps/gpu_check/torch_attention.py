"""Attention by PyTorch, which apps/gpu_check.sh sets beside `bench attention`.

By each backend of scaled_dot_product_attention and of FlexAttention: forward with what a gradient
needs, and what the gradient adds. Encodings as in posenc/encodings:

  none        causal softmax(q k / sqrt(K)) v
  alibi       a fixed bias -slope_h d
  kerple_log  a learned bias -r1_h ln(1 + r2_h d)
  bias_wht    scores times a learned weight exp(-r3_h d^r4_h), then a learned bias -r1_h d^r2_h.
              The weight multiplies scores, not probabilities: a score_mod of FlexAttention can do
              that, attn_mask of scaled_dot_product_attention, which is added, cannot.
"""

import argparse
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention import flex_attention as flex

from torch_timing import Rows, add_options, median, milliseconds

N_HEAD, HEAD_DIM = 12, 64
SDPA = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cuDNN": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}


class Encoding:
    """tables(L) gives bias and weight [H, L] by distance, or None."""

    def __init__(self, name, n_head, device):
        def learned(low, high):
            drawn = torch.rand(n_head, 1, device=device) * (high - low) + low
            return drawn.requires_grad_()

        self.name = name
        self.parameters = []
        if name == "kerple_log":
            self.parameters = [learned(0.1, 2), learned(0.1, 1)]
        elif name == "bias_wht":
            self.parameters = [learned(0.1, 1), learned(0.5, 2), learned(0.01, 1), learned(0.5, 2)]
        elif name not in ("none", "alibi"):
            raise ValueError(f"expected none, alibi, kerple_log or bias_wht, got '{name}'")
        heads = torch.arange(1, n_head + 1, device=device).unsqueeze(1)
        self.slope = torch.exp2(-8.0 * heads / n_head)

    def tables(self, length):
        r = self.parameters
        d = torch.arange(length, device=self.slope.device, dtype=torch.float32)
        if self.name == "alibi":
            return -self.slope * d, None
        if self.name == "kerple_log":
            return -r[0] * torch.log1p(r[1] * d), None
        if self.name == "bias_wht":
            d = d.clamp(min=1e-6)  # the gradient of d^r at 0
            return -r[0] * d ** r[1], torch.exp(-r[2] * d ** r[3])
        return None, None


def by_sdpa(backend, encoding, q, k, v):
    """A bias becomes a mask [H, T, T] that is made of its table each time."""
    length = q.shape[2]
    with sdpa_kernel(backend):
        bias, weight = encoding.tables(length)
        if weight is not None:
            raise NotImplementedError("attn_mask is added to scores; it cannot multiply them")
        if bias is None:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        at = torch.arange(length, device=q.device)
        d = at[:, None] - at[None, :]
        mask = bias[:, d.clamp(min=0)].masked_fill(d < 0, float("-inf")).to(q.dtype)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask.unsqueeze(0))


def flex_backends():
    """Names of backends that this torch can be asked for; None: it cannot be asked."""
    options = getattr(flex, "FlexKernelOptions", None)
    if options is None or "BACKEND" not in getattr(options, "__annotations__", {}):
        return {"Triton": None}
    return {"Triton": "TRITON", "FLASH": "FLASH"}


def by_flex(backend, length, device):
    """attend(q, k, v, bias, weight), to be compiled. The tables come from outside: not every version
    compiles those that are made in the same graph."""
    mask = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device=device)
    options = {"kernel_options": {"BACKEND": backend}} if backend else {}

    def attend(q, k, v, bias, weight):
        def score_mod(score, b, h, i, j):
            d = torch.abs(i - j)
            if weight is not None:
                score = score * weight[h, d]
            return score + bias[h, d]

        return flex.flex_attention(
            q, k, v, score_mod=score_mod if bias is not None else None, block_mask=mask, **options
        )

    return attend


def times_of(attend, encoding, shape, options):
    """Milliseconds of both, of forward and of backward."""
    dtype = torch.bfloat16 if options.device == "cuda" else torch.float32
    q, k, v = (
        torch.randn(shape, device=options.device, dtype=dtype).requires_grad_() for _ in range(3)
    )
    dout = torch.randn(shape, device=options.device, dtype=dtype)
    inputs = [q, k, v, *encoding.parameters]

    def both():
        torch.autograd.grad(attend(q, k, v), inputs, dout)

    for _ in range(3):
        both()
    rounds = []
    for _ in range(options.rounds):
        forward = milliseconds(lambda: attend(q, k, v), options.device)
        rounds.append((forward, milliseconds(both, options.device)))
    return {
        "ms": f"{median(all_ms for _, all_ms in rounds):.4f}",
        "forward": f"{median(forward for forward, _ in rounds):.4f}",
        "backward": f"{median(all_ms - forward for forward, all_ms in rounds):.4f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--lengths", default="512,2048,8192", help="separated by commas")
    parser.add_argument("--posenc", default="none,alibi,kerple_log,bias_wht")
    parser.add_argument("--heads", type=int, default=N_HEAD)
    parser.add_argument("--head-dim", type=int, default=HEAD_DIM)
    add_options(parser)
    options = parser.parse_args()
    rows = Rows(options)
    version = "torch " + torch.__version__.split("+")[0]

    for length in map(int, options.lengths.split(",")):
        shape = (max(1, options.tokens // length), options.heads, length, options.head_dim)
        for name in options.posenc.split(","):
            what = f"attention {name} {length}"
            for backend, kind in SDPA.items():

                def sdpa():
                    encoding = Encoding(name, options.heads, options.device)
                    return times_of(
                        lambda q, k, v: by_sdpa(kind, encoding, q, k, v), encoding, shape, options
                    )

                is_usual = backend == "flash" and name == "none"
                rows.measure(what, f"{version} {backend}", sdpa, must_run=is_usual)
            for backend, kind in flex_backends().items():

                def flexible():
                    torch._dynamo.reset()
                    encoding = Encoding(name, options.heads, options.device)
                    attend = torch.compile(by_flex(kind, length, options.device), dynamic=False)
                    return times_of(
                        lambda q, k, v: attend(q, k, v, *encoding.tables(length)),
                        encoding,
                        shape,
                        options,
                    )

                rows.measure(what, f"{version} flex {backend}", flexible)
            if options.device == "cuda":
                torch.cuda.empty_cache()
    if len(flex_backends()) == 1:
        rows.skip("attention", f"{version} flex FLASH", "this version has no kernel option BACKEND")
    return 1 if rows.failed else 0


if __name__ == "__main__":
    sys.exit(main())
