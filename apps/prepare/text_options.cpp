#include "apps/prepare/text_options.h"

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::prepare {
namespace {

data::InputFormat input_format(const std::optional<std::string>& name) {
  if (!name) return data::InputFormat::by_name;
  require<ConfigError>(*name == "text" || *name == "jsonl", "prepare",
                       "--input-format: expected text or jsonl, got '", *name, "'",
                       did_you_mean(*name, {"text", "jsonl"}));
  return *name == "text" ? data::InputFormat::text : data::InputFormat::jsonl;
}

}  // namespace

void TextOptions::add_to(cli::Options& options) {
  options.group("Text")
      .add_paths("input", inputs_, "PATH",
                 "file or folder to read, - for standard input; may be given more than once")
      .add("input-format", format_, "FORMAT",
           "text: each file is one document; jsonl: each line is one document (default: by the "
           "ending of the name or the first lines; standard input and pipes: jsonl if they begin "
           "with a brace)")
      .add("ext", source_.endings, "ENDING",
           "of a folder read only files with these endings, such as h,cpp; none: names without a "
           "dot (default: all files)")
      .add("text-key", source_.jsonl.text_key, "KEY", "key of a JSON line that holds the text")
      .add_paths("subset", source_.jsonl.subsets, "NAME",
                 "of JSON Lines read only documents whose meta.pile_set_name is NAME, as in the "
                 "Pile; may be given more than once")
      .add("skip-bad-lines", source_.jsonl.skip_bad_lines,
           "skip lines that are not JSON, instead of stopping")
      .add("strict", source_.jsonl.is_strict, "stop at invalid UTF-8, instead of replacing it")
      .add("dedupe", source_.drop_duplicates,
           "keep only the first of several documents with the same text")
      .add("max-bytes", source_.max_bytes, "N",
           "read only the first N bytes of text (with --train-input and its companions: of each "
           "split); 0: no limit")
      .add("max-line", source_.jsonl.max_line_bytes, "BYTES",
           "refuse a line of JSON Lines that is longer. Also refuse a compressed text that is "
           "longer than this and than 250 times its file, and a stretch of a quarter of this that "
           "the tokenizer cannot cut. 0: no limit; memory grows with the longest line")
      .add("allow-binary", source_.jsonl.allow_binary,
           "read files that look binary as text. Without this such a file is an error, or left out "
           "if it is in a folder");
}

data::SourceOptions TextOptions::source(bool has_others) const {
  require<ConfigError>(has_others || !inputs_.empty(), "prepare",
                       "expected --input PATH, got none");
  require<ConfigError>(!has_others || inputs_.empty(), "prepare",
                       "--input: expected none beside --train-input, --valid-input and "
                       "--test-input, got ",
                       joined(inputs_, ", "), "; give it to one of these");
  data::SourceOptions source = source_;
  source.inputs.assign(inputs_.begin(), inputs_.end());
  source.format = input_format(format_);
  return source;
}

std::string megabytes(double bytes) { return fixed(bytes / 1e6, 1) + " MB"; }

}  // namespace farfield::prepare
