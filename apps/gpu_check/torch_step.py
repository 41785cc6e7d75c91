"""A training step by PyTorch, which apps/gpu_check.sh sets beside `bench step`.

The preset neox-162m of layers/config.cpp: float32 weights, bfloat16 activations, the model compiled,
clipping and fused AdamW. `none` attends by scaled_dot_product_attention, others by FlexAttention.
"""

import argparse
import sys

import torch
import torch.nn.functional as F
from torch import nn

from torch_attention import Encoding, by_flex
from torch_timing import Rows, add_options, median, milliseconds


class Block(nn.Module):
    def __init__(self, width, n_head):
        super().__init__()
        self.n_head = n_head
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.dense = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x, attend, tables):
        n_batch, length, width = x.shape
        heads = self.qkv(self.attention_norm(x)).view(n_batch, length, self.n_head, 3, -1)
        q, k, v = heads.permute(3, 0, 2, 1, 4)
        y = attend(q, k, v, *tables).transpose(1, 2).reshape(n_batch, length, width)
        x = x + self.dense(y)
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Model(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.embed_in = nn.Embedding(options.vocab_size, options.width)
        self.blocks = nn.ModuleList(
            Block(options.width, options.heads) for _ in range(options.layers)
        )
        self.final_norm = nn.LayerNorm(options.width)
        self.embed_out = nn.Linear(options.width, options.vocab_size, bias=False)
        for p in self.parameters():
            nn.init.normal_(p, std=0.02) if p.dim() > 1 else None

    def loss(self, ids, attend, tables):
        x = self.embed_in(ids)
        for block in self.blocks:
            x = block(x, attend, tables)
        logits = self.embed_out(self.final_norm(x))
        return F.cross_entropy(logits.float().flatten(0, 1), ids.flatten())


def parameter_count(options):
    """As layers/config.cpp counts."""
    d = options.width

    def linear(n_in, n_out):
        return n_in * n_out + n_out

    block = 4 * d + linear(d, 3 * d) + linear(d, d) + linear(d, 4 * d) + linear(4 * d, d)
    return 2 * options.vocab_size * d + options.layers * block + 2 * d


def causal(q, k, v, bias, weight):
    assert bias is None and weight is None
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def time_of(name, options):
    """Milliseconds of a step and the most memory that it has."""
    device = options.device
    if device == "cuda":
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.set_float32_matmul_precision("high")
    torch.manual_seed(1)
    model = Model(options).to(device)
    n = sum(p.numel() for p in model.parameters())
    assert n == parameter_count(options), f"expected {parameter_count(options)} parameters, got {n}"
    said = f"{n * 1e-6:.1f}M"
    if options.parameters not in (None, said):
        raise RuntimeError(f"expected the {options.parameters} parameters of bench, got {said}")
    encoding = Encoding(name, options.heads, device)
    attend = causal if name == "none" else by_flex(None, options.length, device)
    weights = [*model.parameters(), *encoding.parameters]
    optimizer = torch.optim.AdamW(weights, lr=1e-4, weight_decay=0, fused=True)
    ids = torch.randint(options.vocab_size, (options.batch, options.length), device=device)
    loss_of = torch.compile(lambda x, *tables: model.loss(x, attend, tables), dynamic=False)

    def step():
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = loss_of(ids, *encoding.tables(options.length))
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(3):
        step()
    ms = median(milliseconds(step, device, times=5) for _ in range(options.rounds))
    mib = torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else 0
    return {"ms": f"{ms:.3f}", "peak MiB": f"{mib:.0f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    # Those of the preset; tests/structure/gpu_check.sh holds them against layers/config.cpp.
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--vocab-size", type=int, default=50304)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--posenc", default="none,kerple_log")
    parser.add_argument("--parameters", help="how many bench says that it has: 162.3M")
    add_options(parser)
    options = parser.parse_args()
    rows = Rows(options)
    by = f"torch {torch.__version__.split('+')[0]} compiled"
    for name in options.posenc.split(","):
        rows.measure(
            f"step {name}", by, lambda: time_of(name, options), must_run=name == "none"
        )
    return 1 if rows.failed else 0


if __name__ == "__main__":
    sys.exit(main())
