#include "apps/run/config.h"

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
      .add("cutoffs", c.cutoffs, "N,N,...|none",
           "token ids at which bands of the vocabulary begin, each a quarter as wide as the one "
           "before: adaptive input and softmax, for ids by falling frequency (default: from the "
           "preset)");
  options.group("Data")
      .add_paths(
          "data", c.data, "PATH[:WEIGHT]",
          "corpus: a folder made by `prepare`, a Megatron or GPT-NeoX .bin/.idx pair, a .bin "
          "of nanoGPT or llm.c. Given more than once, rows are mixed by weight")
      .add("tokenizer", c.tokenizer, "NAME|PATH",
           "of a corpus that does not say its own (default: the tokenizer that lies with it)")
      .add("vocab-size", c.vocab_size, "N",
           "in place of --tokenizer, where it cannot be read: the number of its ids. Losses are "
           "then per token alone")
      .add("end-of-text", c.end_of_text, "TOKEN",
           "what ends a document of such a corpus, where the tokenizer does not say; its id with "
           "--vocab-size")
      .add("data-type", c.data_type, "u16|u32",
           "how nanoGPT's files store ids, which they do not say (default: refused)")
      .add("data-split", c.data_split, "A,B,C",
           "shares of train, valid and test, of a corpus that is one row of documents (default: "
           "949,50,1)")
      .add("order", c.order, "shuffled|neox",
           "of the sequences: our own, or that of GPT-NeoX bit for bit (default: shuffled)")
      .add("train-len", c.train_len, "N", "tokens per sequence (default: from the preset)")
      .add("batch", c.batch, "N", "sequences per step (default: from the preset)")
      .add("accumulate", c.accumulate, "N", "compute each batch in N pieces, which saves memory")
      .add("seed", c.seed, "N", "of the initial weights and the order of the data");
  options.group("Optimisation")
      .add("steps", c.steps, "N", "optimizer steps (default: from the preset)")
      .add("lr", c.lr, "X", "peak learning rate (default: from the preset)")
      .add("warmup", c.warmup, "X",
           "share of the steps spent warming up (default: from the preset)")
      .add("lr-start", c.lr_start, "X",
           "learning rate of the first step, where steps warm up (default: from the preset)")
      .add("lr-end", c.lr_end, "X", "what the learning rate falls to (default: from the preset)")
      .add("schedule", c.schedule, "neox|fairseq",
           "after the warm-up a cosine: neox's has the period of all steps and stops short of its "
           "end, fairseq's ends with the last step (default: from the preset)")
      .add("optimizer", c.optimizer, "adamw|nag",
           "AdamW, or Nesterov's accelerated gradient (default: from the preset)")
      .add("momentum", c.momentum, "X", "of nag (default: 0.99)")
      .add("weight-decay", c.weight_decay, "X", "decoupled, of matrices (default: from the preset)")
      .add("clip", c.clip, "X",
           "gradient norm above which gradients are scaled down, 0: never (default: from the "
           "preset)")
      .add("hidden-dropout", c.hidden_dropout, "X",
           "share of the embedding and of each residual branch that is set to 0 in training "
           "(default: from the preset)")
      .add(
          "attention-dropout", c.attention_dropout, "X",
          "share of the probabilities of attention that is set to 0 in training (default: from the "
          "preset)")
      .add("activation-dropout", c.activation_dropout, "X",
           "share of the MLP's inner layer that is set to 0 in training (default: from the preset)")
      .add("tail-dropout", c.tail_dropout, "X",
           "the same of what the tails of an adaptive softmax read (default: from the preset)")
      .add("nonfinite", c.nonfinite, "POLICY",
           "when a loss or gradient is not finite: stop, skip the batch, or rewind to the last "
           "checkpoint and leave the batch out");
  options.group("Machine")
      .add("device", c.device, "cpu|cuda|cuda:N", "where to compute")
      .add("precision", c.precision, "fp32|bf16",
           "of activations and matrix products (default: fp32 on the CPU, bf16 on CUDA)")
      .add("logits", c.logits, "fp32|bf16",
           "of the head in training: bf16, with --precision bf16, halves the memory that its loss "
           "reads and writes and moves the loss a little; evaluation has fp32 (default: fp32)")
      .add(
          "tune", c.tune, "off|on|FILE",
          "on CUDA, measure up to eight algorithms of cuBLASLt for each matrix product when the "
          "run is started, and keep the fastest for all of it in its products.json; FILE: those of "
          "another run, for the same bits (default: off, cuBLASLt's own choice)")
      .add("cuda-graph", c.cuda_graph, "auto|off",
           "on CUDA, record a step once and repeat it by one call, where the encoding allows it: "
           "the same numbers")
      .add("deterministic-reduce", c.deterministic_reduce, "on|off",
           "sum gradients in pieces of the batch and an order that do not depend on the number of "
           "processes: 1, 2, 4 or 8 of them train the same bits (default: on on the CPU, off on "
           "CUDA)")
      .add("tensor-parallel", c.tensor_parallel, "N",
           "of several processes, have so many compute each piece of the batch together, each with "
           "a part of the heads, of the MLPs and of the vocabulary; it divides the heads and the "
           "number of processes (default: 1)")
      .add("checkpoint-activations", c.checkpoint_activations,
           "keep only the input of each block: less memory, a third more time")
      .add("threads", c.threads, "N", "threads (default: FARFIELD_THREADS, or all processors)");
  options.group("Records")
      .add("name", c.name, "LABEL",
           "what tables, legends and file names call the run (default: its encoding); --resume may "
           "change it")
      .add("log-every", c.log_every, "N", "steps between rows of metrics.csv")
      .add("valid-every", c.valid_every, "N", "steps between losses on the valid split, 0: never")
      .add("valid-windows", c.valid_windows, "N", "sequences of the valid split to measure on")
      .add("checkpoint-every", c.checkpoint_every, "N", "steps between checkpoints, 0: at the end")
      .add("keep", c.keep, "N", "checkpoints to keep, the newest ones")
      .add("keep-every", c.keep_every, "N",
           "and those of every N-th step, for good (default: no others)")
      .add("async-save", c.async_save, "on|off",
           "write checkpoints beside the steps that follow, from a copy in host memory (default: "
           "on)");
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
      all, {"name", "data", "tokenizer", "vocab-size", "end-of-text", "cuda-graph",
            "checkpoint-activations", "tensor-parallel", "threads", "log-every", "valid-every",
            "valid-windows", "checkpoint-every", "keep", "keep-every", "async-save", "nonfinite"});
}

}  // namespace farfield::run
