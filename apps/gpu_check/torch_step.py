"""A training step by PyTorch, which apps/gpu_check.sh sets beside `bench step --logits bf16`.

The preset neox-162m of layers/config.cpp: float32 weights, bfloat16 activations, residual stream and
logits, clipping and fused AdamW. Each block is compiled, which all share, and so are head and loss:
the whole model at once takes minutes to compile and is no faster at this size.
"""

import argparse
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend

from torch_attention import Encoding, by_flex, forget, sdpa_of
from torch_timing import Rows, add_options, finish, median, milliseconds_once

FLASH, CUDNN = SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION
# For each encoding the attention functions and their names: the likely fastest first, since time
# may run out.
WAYS = {
    "none": {"cuDNN": [CUDNN, FLASH], "flash": [FLASH]},
    "alibi": {"flex": None, "mask": [CUDNN, SDPBackend.EFFICIENT_ATTENTION]},
    "kerple_log": {"flex": None},
}
CPU_WAYS = [SDPBackend.MATH]


class Block(nn.Module):
    def __init__(self, width, n_head, attend):
        super().__init__()
        self.n_head = n_head
        self.attend = attend
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.dense = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x, bias, weight):
        n_batch, length, width = x.shape
        heads = self.qkv(self.attention_norm(x)).view(n_batch, length, self.n_head, 3, -1)
        q, k, v = heads.permute(3, 0, 2, 1, 4)
        y = self.attend(q, k, v, bias, weight).transpose(1, 2).reshape(n_batch, length, width)
        x = x + self.dense(y)
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Model(nn.Module):
    def __init__(self, options, attend):
        super().__init__()
        self.embed_in = nn.Embedding(options.vocab_size, options.width)
        self.blocks = nn.ModuleList(
            Block(options.width, options.heads, attend) for _ in range(options.layers)
        )
        self.final_norm = nn.LayerNorm(options.width)
        self.embed_out = nn.Linear(options.width, options.vocab_size, bias=False)
        for p in self.parameters():
            nn.init.normal_(p, std=0.02) if p.dim() > 1 else None
        for block in self.blocks:
            block.compile(dynamic=False)  # one graph for all: they differ in their weights alone
        self.head = torch.compile(self.head_loss, dynamic=False)

    def head_loss(self, x, ids):
        logits = self.embed_out(self.final_norm(x))
        return F.cross_entropy(logits.float().flatten(0, 1), ids.flatten())

    def loss(self, ids, bias, weight):
        x = self.embed_in(ids).to(torch.bfloat16)
        for block in self.blocks:
            x = block(x, bias, weight)
        return self.head(x, ids)


def parameter_count(options):
    """As layers/config.cpp counts."""
    d = options.width

    def linear(n_in, n_out):
        return n_in * n_out + n_out

    block = 4 * d + linear(d, 3 * d) + linear(d, d) + linear(d, 4 * d) + linear(4 * d, d)
    return 2 * options.vocab_size * d + options.layers * block + 2 * d


def attention_of(backends, encoding, options):
    if backends is None:
        return by_flex(None, encoding, options.length, options.device)
    attend = sdpa_of(backends if options.device == "cuda" else CPU_WAYS, encoding, options.length, torch.bfloat16)
    return lambda q, k, v, bias, weight: attend(q, k, v)


def time_of(name, backends, options):
    """Milliseconds of a step, the median of single ones, and the most memory that they have."""
    device = options.device
    torch._dynamo.reset()
    if device == "cuda":
        torch.set_float32_matmul_precision("high")
    torch.manual_seed(1)
    encoding = Encoding(name, options.heads, device)
    model = Model(options, attention_of(backends, encoding, options)).to(device)
    n = sum(p.numel() for p in model.parameters())
    assert n == parameter_count(options), f"expected {parameter_count(options)} parameters, got {n}"
    said = f"{n * 1e-6:.1f}M"
    if options.parameters not in (None, said):
        raise RuntimeError(f"expected the {options.parameters} parameters of bench, got {said}")
    weights = [*model.parameters(), *encoding.parameters]
    optimizer = torch.optim.AdamW(weights, lr=1e-4, weight_decay=0, fused=True)
    ids = torch.randint(options.vocab_size, (options.batch, options.length), device=device)

    def step():
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model.loss(ids, *encoding.tables(options.length))
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(3):
        step()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    ms = median(milliseconds_once(step, device) for _ in range(3 * options.rounds))
    mib = torch.cuda.max_memory_allocated() / 2**20 if device == "cuda" else 0
    return {"ms": f"{ms:.3f}", "peak MiB": f"{mib:.0f}"}


def in_turn(names):
    """(encoding, way) with the first way of each encoding before the second of any."""
    ways = [[(name, way) for way in WAYS[name].items()] for name in names]
    return [one for same in itertools.zip_longest(*ways) for one in same if one]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    # Sizes of the preset; tests/structure/gpu_check.sh compares them with layers/config.cpp.
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--vocab-size", type=int, default=50304)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--posenc", default="none,kerple_log,alibi")
    parser.add_argument("--parameters", help="how many bench says that it has: 162.3M")
    add_options(parser)
    options = parser.parse_args()
    rows = Rows(options)
    version = torch.__version__.split("+")[0]
    for name, (way, backends) in in_turn(options.posenc.split(",")):
        rows.measure(
            f"step {name} bf16 logits",
            f"torch {version} {way}",
            lambda: time_of(name, backends, options),
            must_run=way == "flash",
            least_s=10,
        )
        forget(options.device)
    finish(rows)


if __name__ == "__main__":
    main()
