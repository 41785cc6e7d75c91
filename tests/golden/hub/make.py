"""Tiny checkpoints in the folder form of the Hugging Face hub, with the logits that its library computes.

    python3 make.py OUT

makes one folder below OUT for each row of MODELS: config.json and the weights (safetensors) as the
library `transformers` writes them, and expected.safetensors with `ids` [64] (I32) and `logits`
[64, vocab] (F32). Made with transformers 5.24.0, torch 2.15.0 and safetensors on an x86-64 CPU; the same
versions give the same bytes. Each parameter is drawn around its default with deviation 0.2, norms and
biases too, so that none can be lost or exchanged without a trace in the logits. The logits are computed
in float32, with attn_implementation="eager", from the weights as they were saved.
"""

import functools
import json
import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file
from transformers.models.mpt.modeling_mpt import MptModel

N_IDS = 64

NEOX = dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_attention_heads=2, bos_token_id=0, eos_token_id=0,
            max_position_embeddings=64)
LLAMA = dict(vocab_size=64, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, head_dim=16, bos_token_id=1, eos_token_id=2, max_position_embeddings=64)
ROPE = dict(rope_theta=10000.0)

# name: (class of the config, its options, dtype of the weights on disk, options of save_pretrained)
MODELS = {
    # The block of Pythia: attention and MLP side by side, 4 of 16 components rotated.
    "gpt_neox": ("GPTNeoXConfig", dict(
        NEOX, num_hidden_layers=2, rope_parameters=dict(ROPE, rope_type="default", partial_rotary_factor=0.25),
        tie_word_embeddings=False, use_parallel_residual=True), "float32", {}),
    # Old keys in config.json: see old_keys().
    "gpt_neox_sequential": ("GPTNeoXConfig", dict(
        NEOX, num_hidden_layers=2, hidden_act="gelu_new", tie_word_embeddings=True, use_parallel_residual=False,
        rope_parameters=dict(ROPE, rope_type="linear", factor=2.0, partial_rotary_factor=0.5)), "float32", {}),
    # Old keys once more, and a head_dim that is not hidden_size / heads.
    "llama": ("LlamaConfig", dict(
        LLAMA, tie_word_embeddings=True, rms_norm_eps=1e-5,
        rope_parameters=dict(rope_type="linear", factor=2.0, rope_theta=50000.0)), "float32", {}),
    "llama3": ("LlamaConfig", dict(
        LLAMA, tie_word_embeddings=False, attention_bias=True, mlp_bias=True,
        rope_parameters=dict(ROPE, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                             original_max_position_embeddings=32)), "bfloat16", {}),
    "llama_yarn": ("LlamaConfig", dict(
        LLAMA, max_position_embeddings=128, tie_word_embeddings=False,
        rope_parameters=dict(ROPE, rope_type="yarn", factor=4.0, original_max_position_embeddings=32)), "bfloat16", {}),
    # 64 ids are twice max_position_embeddings, so the base of the angles is changed.
    "llama_dynamic": ("LlamaConfig", dict(
        LLAMA, max_position_embeddings=32, tie_word_embeddings=False,
        rope_parameters=dict(ROPE, rope_type="dynamic", factor=2.0)), "bfloat16", {}),
    # Several files and an index; the window acts from the ninth token on.
    "mistral": ("MistralConfig", dict(
        LLAMA, sliding_window=8, tie_word_embeddings=False, rope_parameters=dict(ROPE, rope_type="default")),
        "bfloat16", dict(max_shard_size="20KB")),
    # Biases for q, k and v alone.
    "qwen2": ("Qwen2Config", dict(
        {k: v for k, v in LLAMA.items() if k != "head_dim"}, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=1000000.0)), "float16", {}),
    # The second of three layers has no rotation.
    "smollm3": ("SmolLM3Config", dict(
        {k: v for k, v in LLAMA.items() if k != "head_dim"} | dict(num_hidden_layers=3), pad_token_id=3,
        no_rope_layers=[1, 0, 1], rope_parameters=dict(rope_type="default", rope_theta=2000000.0)), "bfloat16", {}),
    # Six heads: slopes of a number that is no power of two.
    "bloom": ("BloomConfig", dict(vocab_size=64, hidden_size=24, n_layer=2, n_head=6), "float32", {}),
    "mpt": ("MptConfig", dict(
        vocab_size=64, d_model=24, n_heads=6, n_layers=2, expansion_ratio=2, max_seq_len=64), "float32", {}),
    # The library's forward pass ignores alibi_bias_max; with_bias_max() passes it on, as the code of MPT's authors does.
    "mpt_bias_max": ("MptConfig", dict(
        vocab_size=64, d_model=24, n_heads=6, n_layers=2, expansion_ratio=2, max_seq_len=64,
        attn_config=dict(alibi_bias_max=4)), "bfloat16", {}),
    "gpt2": ("GPT2Config", dict(
        vocab_size=64, n_positions=64, n_embd=24, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0), "float32", {}),
    # Long factors for 64 ids; short ones for the 32 of `logits_32`.
    "llama_longrope": ("LlamaConfig", dict(
        LLAMA, max_position_embeddings=128, tie_word_embeddings=False,
        rope_parameters=dict(ROPE, rope_type="longrope", factor=4.0, original_max_position_embeddings=32,
                             short_factor=[1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 1.7, 2.0],
                             long_factor=[1.0, 1.25, 1.75, 2.5, 4.0, 6.5, 9.0, 12.0])), "bfloat16", {}),
}


def redraw(model, seed):
    """Each parameter: its default (1 for the weights of norms, else 0) plus 0.2 times a normal number."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_norm = parameter.dim() == 1 and name.endswith("weight")
            parameter.copy_(float(is_norm) + 0.2 * torch.randn(parameter.shape, generator=generator))


def old_keys(folder):
    """Writes config.json with the keys of versions before 5: rope_scaling, torch_dtype and so on."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    if config["model_type"] == "gpt_neox":  # `type` is older still than `rope_type`
        config["rotary_emb_base"] = rope.pop("rope_theta")
        config["rotary_pct"] = rope.pop("partial_rotary_factor")
        config["rope_scaling"] = {"type": rope["rope_type"], "factor": rope["factor"]}
    else:
        config["rope_theta"] = rope.pop("rope_theta")
        config["rope_scaling"] = rope
    config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def with_bias_max(model):
    """Lets an MPT model use the alibi_bias_max of its config.json."""
    for module in model.modules():
        if isinstance(module, MptModel):
            maximum = module.config.attn_config.alibi_bias_max
            module.build_mpt_alibi_tensor = functools.partial(module.build_mpt_alibi_tensor, alibi_bias_max=maximum)


def make(out, name, seed):
    config_class, options, dtype, save_options = MODELS[name]
    folder = out / name
    config = getattr(transformers, config_class)(**options)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    redraw(model, seed)
    model.to(getattr(torch, dtype)).save_pretrained(folder, **save_options)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if name in ("gpt_neox_sequential", "llama"):
        old_keys(folder)

    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"], report
    with_bias_max(model)
    model.eval()
    ids = torch.randint(config.vocab_size, (N_IDS,), generator=torch.Generator().manual_seed(seed + 1000))
    with torch.no_grad():
        expected = {"logits": model(ids[None], use_cache=False).logits[0]}
        if name == "llama_longrope":
            expected["logits_32"] = model(ids[None, :32], use_cache=False).logits[0]
    expected = {key: value.float().contiguous() for key, value in expected.items()}
    save_file({"ids": ids.to(torch.int32)} | expected, folder / "expected.safetensors")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    for seed, name in enumerate(MODELS):
        make(pathlib.Path(sys.argv[1]), name, seed)


main()
