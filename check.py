import pathlib, subprocess, sys, warnings
import torch, transformers
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()
torch.manual_seed(1)
TOLERANCE = 1e-4
worst = {}


def opened(folder, kind='eager', **options):
    model, info = AutoModelForCausalLM.from_pretrained(
        folder, trust_remote_code=True, attn_implementation=kind, output_loading_info=True, **options)
    left = {key: value for key, value in info.items() if value}
    if type(model).__name__ != 'FarfieldForCausalLM' or left or model.config._attn_implementation != kind:
        sys.exit(f'{folder}: expected our class with all tensors, got {type(model).__name__}, {left}')
    return model.eval()


def near(what, folder, got, want, tolerance=TOLERANCE):
    error = float((got - want).abs().max())
    worst[what] = max(worst.get(what, 0), error)
    if not error <= tolerance:
        sys.exit(f'{folder}: {what}: expected the logits within {tolerance}, got {error}')


def new_ids(model, ids, n, **options):
    return model.generate(ids, max_new_tokens=n, do_sample=False, **options)[:, ids.shape[1]:].tolist()


@torch.no_grad()
def check(folder, kind):
    expected = load_file(folder / 'expected.safetensors')
    ids, want = expected['ids'].long()[None], expected['logits']
    n = ids.shape[1]
    model = opened(folder, kind)
    near('one pass', folder, model(ids).logits[0], want)

    parts, cache = [], None
    for begin, end in zip((0, 5, 8, *range(9, n)), (5, 8, *range(9, n + 1))):
        out = model(ids[:, begin:end], past_key_values=cache, use_cache=True)
        parts, cache = parts + [out.logits], getattr(out, 'cache' if 'cache' in out else 'past_key_values')
    near('token by token', folder, torch.cat(parts, 1)[0], want)

    n_pad = n // 3
    short = ids[:, :n - n_pad]
    both = torch.cat([ids, torch.cat([torch.zeros_like(ids[:, :n_pad]), short], 1)])
    mask = torch.ones_like(both)
    mask[1, :n_pad] = 0
    padded = model(both, attention_mask=mask).logits
    near('beside padding', folder, padded[0], want)
    near('left padding', folder, padded[1, n_pad:], want[:n - n_pad])

    if 'generated' in expected:
        made = expected['generated'].tolist()
        if new_ids(model, ids, len(made)) != [made]:
            sys.exit(f'{folder}: expected {made} of generate(), got {new_ids(model, ids, len(made))}')
        got, alone = new_ids(model, both, 4, attention_mask=mask), new_ids(model, short, 4)
        if got != [made[:4], alone[0]]:
            sys.exit(f'{folder}: expected {[made[:4], alone[0]]} of padded rows, got {got}')


folders = sorted(pathlib.Path('models').glob('*/hub')) + [pathlib.Path('hub', x) for x in ('kerple', 'swiglu', 'lora')]
for folder in folders:
    for kind in ('eager', 'sdpa'):
        check(folder, kind)
print(len(folders), 'folders;', *(f'{what}: {error:.1e};' for what, error in worst.items()))

# Without leave to run the code, the model is not known.
try:
    AutoModelForCausalLM.from_pretrained('hub/kerple')
    sys.exit('expected an error without trust_remote_code')
except (ValueError, OSError) as error:
    print('without trust_remote_code:', str(error).split('\n')[0][:80])

model = opened('hub/kerple')
ids = load_file('hub/kerple/expected.safetensors')['ids'].long()[None]
length = model.config.max_position_embeddings
if length != 4 * 64:
    sys.exit(f'expected tables for four training lengths, got {length}')
try:
    model(torch.zeros(1, length + 1, dtype=torch.long))
    sys.exit('expected an error for a long input')
except ValueError as error:
    if f'at most {length} tokens' not in str(error):
        sys.exit(f'expected the length in: {error}')
model(torch.zeros(1, length, dtype=torch.long))

# The loss is that of the next tokens, and training moves the weights.
out = model(ids, labels=ids)
want = torch.nn.functional.cross_entropy(out.logits[0, :-1], ids[0, 1:])
if not abs(float(out.loss - want)) < 1e-6:
    sys.exit(f'expected the loss {float(want)}, got {float(out.loss)}')
out.loss.backward()
if any(p.grad is None or not torch.isfinite(p.grad).all() for p in model.parameters()):
    sys.exit('expected a gradient of every parameter')

# Tables stay in float32 whatever the type of the weights.
rough = load_file('hub/kerple/expected.safetensors')['logits']
for name, half in (('loaded', opened('hub/kerple', dtype=torch.bfloat16)),
                   ('cast', opened('hub/kerple').to(torch.bfloat16)),
                   ('exported', opened('hub/bf16', dtype='auto')),
                   ('loaded in float16', opened('hub/kerple', dtype=torch.float16)),
                   ('fused', opened('hub/kerple', 'sdpa', dtype=torch.bfloat16))):
    table = half.gpt_neox.encoding.bias_0
    if table.dtype != torch.float32 or not torch.equal(table, model.gpt_neox.encoding.bias_0):
        sys.exit(f'{name}: expected the tables unchanged, got {table.dtype}')
    if half.gpt_neox.layers[0].mlp.dense_h_to_4h.weight.dtype not in (torch.bfloat16, torch.float16):
        sys.exit(f'{name}: expected half precision')
    with torch.no_grad():
        near(f'half precision, {name}', name, half(ids).logits[0].float(), rough, 0.3)

# What transformers saves opens again, and becomes a run again.
with torch.no_grad():
    model.gpt_neox.layers[0].attention.dense.weight += 0.1
    model.save_pretrained('saved')
    again = opened('saved')
    near('saved', 'saved', again(ids).logits, model(ids).logits, 0)
subprocess.run([sys.argv[1], 'import', 'saved', '--tokenizer', 'bpe.json', '--out', 'runs/saved'], check=True)
subprocess.run([sys.argv[1], 'export', 'runs/saved', '--out', 'hub/saved'], check=True)
with torch.no_grad():
    near('saved and exported', 'saved', opened('hub/saved')(ids).logits, model(ids).logits, 0)

tokenizer = AutoTokenizer.from_pretrained('hub/kerple')
text = open('text.txt').read()[:200]
if tokenizer.decode(tokenizer(text)['input_ids']) != text or tokenizer.model_max_length != length:
    sys.exit('expected the tokenizer of the run')
print('all is well')
