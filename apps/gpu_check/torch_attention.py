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
import gc
import importlib.util

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention import flex_attention as flex

from torch_timing import Rows, add_options, finish, median, milliseconds

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


def causal_mask(bias):
    """mask[h, i, j] = bias[h, i - j], -inf for j > i, of a table [H, T]: windows of the table written
    backwards. Gathered by an index its gradient would be a scatter into T places of T^2 each."""
    n_head, length = bias.shape
    backwards = torch.cat([bias.flip(1), bias.new_full((n_head, length - 1), float("-inf"))], 1)
    return backwards.unfold(1, length, 1).flip(1)


def sdpa_of(backends, encoding, length, dtype):
    """attend(q, k, v). A bias is a mask [H, T, T]: a fixed one is made once, of a learned one each
    time, in float32, so that its gradient is summed in that."""

    def mask_of(bias):
        return causal_mask(bias).to(dtype).unsqueeze(0)

    bias, weight = encoding.tables(length)
    if weight is not None:
        raise NotImplementedError("attn_mask is added to scores; it cannot multiply them")
    fixed = mask_of(bias) if bias is not None and not encoding.parameters else None

    def attend(q, k, v):
        with sdpa_kernel(backends, set_priority=True):
            if bias is None:
                return F.scaled_dot_product_attention(q, k, v, is_causal=True)
            mask = fixed if fixed is not None else mask_of(encoding.tables(length)[0])
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    return attend


def flex_backends():
    """For each backend its name, the value of the kernel option that selects it, and None or the reason
    why this torch lacks it. Versions without the option have Triton only."""
    options = getattr(flex, "FlexKernelOptions", None)
    if options is None or "BACKEND" not in getattr(options, "__annotations__", {}):
        return {"Triton": (None, None), "FLASH": ("FLASH", "this version has no kernel option BACKEND")}
    try:
        has_flash = importlib.util.find_spec("flash_attn.cute") is not None
    except ImportError:  # no flash_attn
        has_flash = False
    return {"Triton": ("TRITON", None), "FLASH": ("FLASH", None if has_flash else "there is no flash_attn.cute")}


def by_flex(backend, encoding, length, device):
    """attend(q, k, v, bias, weight), to be compiled. The tables are arguments: not every version compiles
    tables that are made in the same graph."""
    mask = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device=device)
    # True of a causal mask: each row has itself, and blocks are those up to the diagonal.
    options = {"ROWS_GUARANTEED_SAFE": True, "BLOCKS_ARE_CONTIGUOUS": True}
    if backend:
        options["BACKEND"] = backend
    slope = encoding.slope.squeeze(1)

    def alibi(score, b, h, i, j):  # a product is cheaper than a table
        return score - slope[h] * (i - j)

    def attend(q, k, v, bias, weight):
        def by_tables(score, b, h, i, j):
            d = torch.abs(i - j)
            if weight is not None:
                score = score * weight[h, d]
            return score + bias[h, d]

        score_mod = None if bias is None else alibi if encoding.name == "alibi" else by_tables
        return flex.flex_attention(
            q, k, v, score_mod=score_mod, block_mask=mask, kernel_options=dict(options)
        )

    return attend


def allocated(device):
    return torch.cuda.memory_allocated() if device == "cuda" else 0


def forget(device):
    """Gives back what earlier measurements left: their graphs are in cycles."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()


def times_of(attend, encoding, shape, options):
    """Milliseconds of both, of forward and of backward; memory beyond inputs, output and gradients."""
    device = options.device
    dtype = dtype_of(device)
    q, k, v = (torch.randn(shape, device=device, dtype=dtype).requires_grad_() for _ in range(3))
    dout = torch.randn(shape, device=device, dtype=dtype)
    inputs = [q, k, v, *encoding.parameters]

    def both():
        torch.autograd.grad(attend(q, k, v), inputs, dout)

    for _ in range(3):
        both()
    held = allocated(device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    rounds = []
    for _ in range(options.rounds):
        forward = milliseconds(lambda: attend(q, k, v), device)
        rounds.append((forward, milliseconds(both, device)))
    times = {
        "ms": f"{median(all_ms for _, all_ms in rounds):.4f}",
        "forward": f"{median(forward for forward, _ in rounds):.4f}",
        "backward": f"{median(all_ms - forward for forward, all_ms in rounds):.4f}",
    }
    if device == "cuda":
        results = 4 * q.numel() * q.element_size()
        times["peak MiB"] = f"{(torch.cuda.max_memory_allocated() - held - results) / 2**20:.0f}"
    return times


def dtype_of(device):
    return torch.bfloat16 if device == "cuda" else torch.float32


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="8192:16384,2048:131072,512:131072", help="LENGTH:TOKENS,...")
    parser.add_argument("--posenc", default="none,alibi,kerple_log,bias_wht")
    parser.add_argument("--heads", type=int, default=N_HEAD)
    parser.add_argument("--head-dim", type=int, default=HEAD_DIM)
    add_options(parser)
    options = parser.parse_args()
    rows = Rows(options)
    version = "torch " + torch.__version__.split("+")[0]
    device = options.device
    width = [] if options.head_dim == HEAD_DIM else [str(options.head_dim)]  # as table.sh has it

    for size in options.sizes.split(","):
        length, tokens = map(int, size.split(":"))
        shape = (max(1, tokens // length), options.heads, length, options.head_dim)
        for name in options.posenc.split(","):
            what = " ".join(["attention"] + width + [name, str(length)])
            for backend, kind in SDPA.items():

                def sdpa():
                    encoding = Encoding(name, options.heads, device)
                    attend = sdpa_of([kind], encoding, length, dtype_of(device))
                    return times_of(attend, encoding, shape, options)

                is_usual = backend == "flash" and name == "none"
                rows.measure(what, f"{version} {backend}", sdpa, must_run=is_usual)
                forget(device)
            for backend, (asked, why_not) in flex_backends().items():
                if why_not:
                    rows.skip(what, f"{version} flex {backend}", why_not)
                    continue

                def flexible():
                    torch._dynamo.reset()
                    encoding = Encoding(name, options.heads, device)
                    compiled = torch.compile(by_flex(asked, encoding, length, device), dynamic=False)
                    fixed = None if encoding.parameters else encoding.tables(length)
                    return times_of(
                        lambda q, k, v: compiled(q, k, v, *(fixed or encoding.tables(length))),
                        encoding,
                        shape,
                        options,
                    )

                rows.measure(what, f"{version} flex {backend}", flexible, least_s=10)
                forget(device)
    finish(rows)


if __name__ == "__main__":
    main()
