"""own_class.py MODEL: checks the folders models/*/hub and hub/* of own_class.sh."""

import pathlib
import subprocess
import sys

import torch
import transformers
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()
TOLERANCE = 1e-4
worst = {}


def opened(folder, kind="eager", **options):
    model, info = AutoModelForCausalLM.from_pretrained(
        folder,
        trust_remote_code=True,
        attn_implementation=kind,
        output_loading_info=True,
        **options,
    )
    left = {key: value for key, value in info.items() if value}
    name = type(model).__name__
    if name != "FarfieldForCausalLM" or left or model.config._attn_implementation != kind:
        sys.exit(f"{folder}: expected our class with all tensors, got {name}, {left}")
    return model.eval()


def near(what, folder, got, want, tolerance=TOLERANCE):
    error = float((got - want).abs().max())
    worst[what] = max(worst.get(what, 0), error)
    if not error <= tolerance:
        sys.exit(f"{folder}: {what}: expected the logits within {tolerance}, got {error}")


def new_ids(model, ids, n, **options):
    made = model.generate(ids, max_new_tokens=n, do_sample=False, **options)
    return made[:, ids.shape[1] :].tolist()


@torch.no_grad()
def check(folder, kind):
    expected = load_file(folder / "expected.safetensors")
    ids, want = expected["ids"].long()[None], expected["logits"]
    n = ids.shape[1]
    model = opened(folder, kind)
    near("one pass", folder, model(ids).logits[0], want)

    parts, cache = [], None
    for begin, end in zip((0, 5, 8, *range(9, n)), (5, 8, *range(9, n + 1))):
        out = model(ids[:, begin:end], past_key_values=cache, use_cache=True)
        parts.append(out.logits)
        cache = out["cache" if "cache" in out else "past_key_values"]
    near("token by token", folder, torch.cat(parts, 1)[0], want)

    n_pad = n // 3
    short = ids[:, : n - n_pad]
    both = torch.cat([ids, torch.cat([torch.zeros_like(ids[:, :n_pad]), short], 1)])
    mask = torch.ones_like(both)
    mask[1, :n_pad] = 0
    padded = model(both, attention_mask=mask).logits
    near("beside padding", folder, padded[0], want)
    near("left padding", folder, padded[1, n_pad:], want[: n - n_pad])

    if "generated" in expected:
        made = expected["generated"].tolist()
        got = new_ids(model, ids, len(made))
        if got != [made]:
            sys.exit(f"{folder}: expected {made} of generate(), got {got}")
        want = [made[:4], *new_ids(model, short, 4)]
        got = new_ids(model, both, 4, attention_mask=mask)
        if got != want:
            sys.exit(f"{folder}: expected {want} of padded rows, got {got}")


folders = sorted(pathlib.Path("models").glob("*/hub"))
folders += [pathlib.Path("hub", name) for name in ("kerple", "swiglu", "lora")]
for folder in folders:
    for kind in ("eager", "sdpa"):
        check(folder, kind)
print(len(folders), "folders;", *(f"{what}: {error:.1e};" for what, error in worst.items()))

# Without leave to run the code, the model is not known.
try:
    AutoModelForCausalLM.from_pretrained("hub/kerple", trust_remote_code=False)
    sys.exit("expected an error without trust_remote_code")
except (ValueError, OSError) as error:
    print("without trust_remote_code:", " ".join(str(error).split())[:120])

model = opened("hub/kerple")
expected = load_file("hub/kerple/expected.safetensors")
ids, logits = expected["ids"].long()[None], expected["logits"]
length = model.config.max_position_embeddings
if length != 4 * 64:
    sys.exit(f"expected tables for four training lengths, got {length}")
model(torch.zeros(1, length, dtype=torch.long))
try:
    model(torch.zeros(1, length + 1, dtype=torch.long))
    sys.exit("expected an error for a long input")
except ValueError as error:
    if f"at most {length} tokens" not in str(error):
        sys.exit(f"expected the length in: {error}")
for wrong in ({"attention_mask": torch.ones(1, 3)}, {"inputs_embeds": torch.zeros(1, 2, 32)}):
    try:
        model(ids, **wrong)
        sys.exit(f"expected an error for {list(wrong)}")
    except ValueError as error:
        print(error)

# Without the tables of a file there are no logits.
bare = AutoModelForCausalLM.from_config(model.config, trust_remote_code=True)
if not bare(ids).logits.isnan().all():
    sys.exit("expected NaN without tables")

# The loss is that of the next tokens, and it has a gradient in every parameter.
out = model(ids, labels=ids)
want = torch.nn.functional.cross_entropy(out.logits[0, :-1], ids[0, 1:])
if not abs(out.loss.item() - want.item()) < 1e-6:
    sys.exit(f"expected the loss {want.item()}, got {out.loss.item()}")
out.loss.backward()
if any(p.grad is None or not torch.isfinite(p.grad).all() for p in model.parameters()):
    sys.exit("expected a gradient of every parameter")

# Tables stay in float32 whatever the type of the weights.
bfloat16, table = torch.bfloat16, model.gpt_neox.encoding.bias_0
for name, half in (
    ("loaded in bfloat16", opened("hub/kerple", dtype=bfloat16)),
    ("cast to bfloat16", opened("hub/kerple").to(bfloat16)),
    ("exported in bfloat16", opened("hub/bf16", dtype="auto")),
    ("loaded in float16", opened("hub/kerple", dtype=torch.float16)),
    ("bfloat16 by sdpa", opened("hub/kerple", "sdpa", dtype=bfloat16)),
):
    got = half.gpt_neox.encoding.bias_0
    if got.dtype != torch.float32 or not torch.equal(got, table):
        sys.exit(f"{name}: expected the tables unchanged, got {got.dtype}")
    if half.gpt_neox.layers[0].mlp.dense_h_to_4h.weight.dtype == torch.float32:
        sys.exit(f"{name}: expected half precision")
    with torch.no_grad():
        near(name, "hub/kerple", half(ids).logits[0].float(), logits, 0.1)

# What transformers saves opens again, and becomes a run again.
with torch.no_grad():
    model.gpt_neox.layers[0].attention.dense.weight += 0.1
    moved = model(ids).logits
    model.save_pretrained("saved")
    near("saved", "saved", opened("saved")(ids).logits, moved, 0)
    program = [sys.argv[1]]
    subprocess.run(
        [*program, "import", "saved", "--tokenizer", "bpe.json", "--out", "runs/saved"], check=True
    )
    subprocess.run([*program, "export", "runs/saved", "--out", "hub/saved"], check=True)
    near("saved and exported", "hub/saved", opened("hub/saved")(ids).logits, moved, 0)

tokenizer = AutoTokenizer.from_pretrained("hub/kerple", trust_remote_code=True)
with open("text.txt") as file:
    text = file.read(200)
if tokenizer.decode(tokenizer(text)["input_ids"]) != text or tokenizer.model_max_length != length:
    sys.exit("expected the tokenizer of the run")
print(*(f"{what}: {error:.1e};" for what, error in worst.items()))
print("all is well")
