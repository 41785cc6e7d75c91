#include "apps/run/config.h"

#include "apps/run/architecture.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/config.h"

namespace farfield::run {

void add_options(cli::Options& options, RunConfig& c) {
  options.group("Model")
      .add("preset", c.preset, "NAME",
           "size, batch, learning rate and steps: " + joined(presets(), ", ", &Preset::name))
      .add("posenc", c.posenc, "EXPR",
           "positional encoding: a name, or an expression such as \"rope + window(64)\"")
      .add("n-layer", c.n_layer, "N", "blocks (default: from the preset)")
      .add("n-head", c.n_head, "N", "attention heads (default: from the preset)")
      .add("d-model", c.d_model, "N", "width (default: from the preset)")
      .add("d-ff", c.d_ff, "N", "inner width of the MLP (default: from the preset, or 4 d-model)")
      .add("architecture", c.architecture, "WORD,...",
           "what the model has otherwise than GPT-NeoX, instead of the preset's: a family (" +
               joined(architecture_families(), ", ") +
               "), then words: norm=rms, norm-eps=X, mlp=gelu|gelu_tanh|relu|swiglu, kv-heads=N "
               "(grouped queries), head-dim=N, bias=none or some of qkv+dense+mlp+norm, parallel "
               "(attention and MLP side by side), tied (embedding and head), embedding-norm, "
               "no-final-norm, scaled-embedding (default: from the preset)")
      .add("cutoffs", c.cutoffs, "N,N,...|none",
           "adaptive input and softmax: token ids at which a new band of the vocabulary begins. "
           "Each band's embedding is a quarter as wide as the last; needs token ids sorted by "
           "falling frequency (default: from the preset)")
      .add("mask", c.mask, "causal|none",
           "none: an encoder, whose tokens see later ones too. With --data some tokens are hidden, "
           "and the loss is of these (masked language modelling); with --task the answers are. "
           "Positions are absolute, rotary or none (default: causal)")
      .add("masked", c.masked, "X",
           "with --mask none and --data: the share of the tokens of each sequence that the loss is "
           "of. 80 % of these are replaced by a mask token, 10 % by a random token (default: "
           "0.15)");
  options.group("Initial weights")
      .add("init-from", c.init_from, "RUN",
           "start from the weights of this run. Model, data and optimisation are those of RUN "
           "where options do not say otherwise (default: random weights)")
      .add("init-step", c.init_step, "N", "take the checkpoint of this step (default: the newest)")
      .add("init-hash", c.init_hash, "HASH", "expect weights of this hash. config.conf records it")
      .add("imported", c.imported, "KIND",
           "the kind of model that the weights are of: config.conf of a run that `model import` "
           "made records it (default: none)")
      .add("map", c.map, "FROM=TO,...",
           "with another --posenc: give a learned value of RUN a place of another name")
      .add("drop-learned", c.drop_learned,
           "with another --posenc: leave out learned values of RUN that it has no place for, and "
           "start its other parameters where it says");
  options.group("Low-rank adapters")
      .add("lora", c.lora, "KEY=VALUE,...",
           "freeze the weights of --init-from and train low-rank adapters (LoRA): "
           "rank=16,alpha=32,targets=q,v. Targets are some of " +
               joined(adapter_targets(), ", ") +
               "; dropout=X drops inputs of adapters; rslora scales by alpha / sqrt(rank); dora "
               "also trains the length of each adapted row (default: train all weights)")
      .add("train-also", c.train_also, "KIND,...",
           "with --lora: also train some of " + joined(trainable_kinds(), ", ") +
               " (default: adapters alone)")
      .add("base-precision", c.base_precision, "fp32|bf16",
           "with --lora: precision in which frozen weights of the blocks are held. bf16 halves "
           "their memory and needs --precision bf16 (default: fp32)");
  options.group("Data")
      .add_paths(
          "data", c.data, "PATH[:WEIGHT]",
          "corpus: a folder made by `prepare`, a Megatron or GPT-NeoX .bin/.idx pair, a .bin of "
          "nanoGPT or llm.c. Several corpora (repeat the option) are mixed by weight")
      .add("task", c.task, "NAME(...)",
           "instead of --data: new samples of a synthetic task in every step, such as "
           "\"parity(form=scratchpad)\"; `prepare task --list` explains them. The loss is of the "
           "answers alone")
      .add("task-lengths", c.task_lengths, "N,A..B,...",
           "lengths of the samples, one for each step (default: the task's own)")
      .add("tokenizer", c.tokenizer, "NAME|PATH",
           "tokenizer of a corpus that does not name one (default: the tokenizer stored with the "
           "corpus)")
      .add("vocab-size", c.vocab_size, "N",
           "instead of --tokenizer, if that cannot be read: its number of token ids. Losses are "
           "then per token only, not per byte")
      .add("end-of-text", c.end_of_text, "TOKEN",
           "token that ends a document of such a corpus, if the tokenizer does not say; with "
           "--vocab-size its id")
      .add("data-type", c.data_type, "u16|u32",
           "how nanoGPT's files store token ids; the files do not say it (default: none, such "
           "files are refused)")
      .add("data-split", c.data_split, "A,B,C",
           "shares of train, valid and test, if the corpus has no splits of its own (default: "
           "949,50,1)")
      .add("order", c.order, "shuffled|neox|documents",
           "order of the sequences: shuffled by the seed; the order of GPT-NeoX, bit for bit; or "
           "one sequence from the beginning of each document that is long enough, shuffled "
           "(default: shuffled)")
      .add("train-len", c.train_len, "N", "tokens per sequence (default: from the preset)")
      .add("lengths", c.lengths, "SHARE:N,...",
           "sequences of several lengths: 0.5:64,0.5:96 trains half of the steps on 64 tokens and "
           "half on 96. --train-len stays the length that validation and eval refer to (default: "
           "all steps have --train-len)")
      .add("batch", c.batch, "N", "sequences per step (default: from the preset)")
      .add("accumulate", c.accumulate, "N",
           "micro-batches per step (gradient accumulation), which saves memory")
      .add("seed", c.seed, "N", "seed of the initial weights and of the order of the data");
  options.group("Optimisation")
      .add("steps", c.steps, "N", "optimizer steps (default: from the preset)")
      .add("lr", c.lr, "X", "peak learning rate (default: from the preset)")
      .add("warmup", c.warmup, "X",
           "share of the steps spent warming up (default: from the preset)")
      .add("lr-start", c.lr_start, "X",
           "learning rate at the start of the warm-up (default: from the preset)")
      .add("lr-end", c.lr_end, "X", "learning rate at the end (default: from the preset)")
      .add("schedule", c.schedule, "neox|fairseq",
           "cosine decay after the warm-up. neox: its period counts the warm-up too, so it stops "
           "short of its end; fairseq: it ends with the last step (default: from the preset)")
      .add("optimizer", c.optimizer, "adamw|nag",
           "AdamW, or Nesterov's accelerated gradient (default: from the preset)")
      .add("momentum", c.momentum, "X", "momentum of nag (default: 0.99)")
      .add("weight-decay", c.weight_decay, "X",
           "decoupled weight decay, applied to matrices only (default: from the preset)")
      .add("clip", c.clip, "X", "clip gradients to this norm; 0: never (default: from the preset)")
      .add("hidden-dropout", c.hidden_dropout, "X",
           "dropout of the embedding and of each residual branch (default: from the preset)")
      .add("attention-dropout", c.attention_dropout, "X",
           "dropout of the attention probabilities (default: from the preset)")
      .add("activation-dropout", c.activation_dropout, "X",
           "dropout of the MLP's inner layer (default: from the preset)")
      .add("tail-dropout", c.tail_dropout, "X",
           "dropout of the input of the tails of an adaptive softmax (default: from the preset)")
      .add("nonfinite", c.nonfinite, "POLICY",
           "if a loss or gradient is not finite: stop; skip (leave this batch out); rewind (return "
           "to the last checkpoint and leave the batch out)");
  options.group("Machine")
      .add("device", c.device, "cpu|cuda|cuda:N", "where to compute")
      .add("precision", c.precision, "fp32|bf16",
           "precision of activations and matrix products (default: fp32 on the CPU, bf16 on CUDA)")
      .add("logits", c.logits, "fp32|bf16",
           "precision of the logits in training. bf16 needs --precision bf16; it halves the memory "
           "traffic of the loss and changes the loss a little. Evaluation always uses fp32 "
           "(default: fp32)")
      .add("tune", c.tune, "off|on|FILE",
           "on CUDA. on: when the run starts, time up to eight cuBLASLt algorithms for each matrix "
           "product and use the fastest for the whole run (recorded in its products.json). FILE: "
           "the products.json of another run, to get the same bits. off: cuBLASLt chooses "
           "(default: off)")
      .add("cuda-graph", c.cuda_graph, "auto|off",
           "on CUDA, record a step once as a CUDA graph and replay it, if the encoding allows it; "
           "the numbers stay the same")
      .add("deterministic-reduce", c.deterministic_reduce, "on|off",
           "sum gradients in an order that does not depend on the number of processes, so that 1, "
           "2, 4 or 8 processes train the same bits (default: on on the CPU, off on CUDA)")
      .add("tensor-parallel", c.tensor_parallel, "N",
           "tensor parallelism: so many processes share one model, each with a part of the heads, "
           "of the MLPs and of the vocabulary. N must divide the number of heads and of processes "
           "(default: 1)")
      .add("checkpoint-activations", c.checkpoint_activations,
           "activation checkpointing: keep only the input of each block and recompute the rest in "
           "the backward pass; less memory, a third more time")
      .add("threads", c.threads, "N", "threads (default: FARFIELD_THREADS, or all processors)");
  options.group("Records")
      .add("name", c.name, "LABEL",
           "name of the run in tables, legends and file names (default: its encoding); --resume "
           "may change it")
      .add("log-every", c.log_every, "N", "steps between rows of metrics.csv")
      .add("valid-every", c.valid_every, "N", "steps between validations, 0: never")
      .add("valid-windows", c.valid_windows, "N", "sequences of the valid split in a validation")
      .add("checkpoint-every", c.checkpoint_every, "N", "steps between checkpoints, 0: at the end")
      .add("keep", c.keep, "N", "keep the N newest checkpoints")
      .add("keep-every", c.keep_every, "N",
           "also keep the checkpoint of every N-th step for good (default: no others)")
      .add("async-save", c.async_save, "on|off",
           "write checkpoints in the background, from a copy in host memory, while training goes "
           "on (default: on)");
}

Settings to_settings(const RunConfig& config) {
  RunConfig shown;  // with the defaults first, for resolved() to know them
  cli::Options options("train", "");
  add_options(options, shown);
  shown = config;
  return parse_settings("config", options.resolved());
}

RunConfig to_run_config(const std::string& name, const Settings& settings) {
  RunConfig config;
  cli::Options options("train", "");
  add_options(options, config);
  try {
    options.read_config(name, settings);
  } catch (const ConfigError& error) {
    refuse_config_file(name, error);
  }
  return config;
}

void refuse_config_file(const std::string& file, const ConfigError& error) {
  std::string_view what = error.what();  // may end with a line that points at a place
  for (const std::string& begin : {std::string("[config] "), file + ": "})
    if (what.starts_with(begin)) what.remove_prefix(begin.size());
  fail<IoError>("config", file, ": the file was changed or is damaged: ", what);
}

Settings identity(const Settings& settings) {
  RunConfig config = to_run_config("config", settings);
  if (!config.hidden_dropout) config.hidden_dropout = 0;  // what runs from before the option have
  const Settings all = to_settings(config);
  return without(
      all, {"name", "init-from", "data", "tokenizer", "vocab-size", "end-of-text", "cuda-graph",
            "checkpoint-activations", "tensor-parallel", "threads", "log-every", "valid-every",
            "valid-windows", "checkpoint-every", "keep", "keep-every", "async-save", "nonfinite"});
}

}  // namespace farfield::run
