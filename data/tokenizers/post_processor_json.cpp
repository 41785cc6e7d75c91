#include <set>
#include <string_view>

#include "data/tokenizers/json_parts.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

// A template with the text once, and tokens before and behind it.
void read_template(const JsonPart& part, BpeDefinition& d) {
  bool has_text = false;
  for (const JsonPart& piece : part.member("single").list("the template of post_processor")) {
    const JsonPart special = piece.member("SpecialToken");
    if (special.is_null()) {
      part.require_that(!has_text && piece.member("Sequence").member("id").is("A"),
                        "expected a post_processor with the text once, got TemplateProcessing of "
                        "other sequences, which is not implemented");
      has_text = true;
      continue;
    }
    const std::string name = special.member("id").text("the id of a SpecialToken");
    const JsonPart token = part.member("special_tokens").member(name.c_str());
    part.require_that(token.has("ids"), "expected '", name, "' among the special_tokens of ",
                      "TemplateProcessing, got none");
    auto& ids = has_text ? d.end_of_text : d.begin_of_text;
    for (const JsonPart& id : token.member("ids").list("the ids of '" + name + "'"))
      ids.push_back(static_cast<int32_t>(id.number("an id of '" + name + "'")));
  }
  part.require_that(has_text, "expected a post_processor with the text once, got ",
                    "TemplateProcessing without it, which is not implemented");
}

class Template {
 public:
  explicit Template(const BpeDefinition& definition) : definition_(definition) {}

  void add_tokens(const std::vector<int32_t>& ids, int type_id) {
    for (const int32_t id : ids)
      pieces_.push_back(
          concat(R"({"SpecialToken": {"id": )", name_of(id), R"(, "type_id": )", type_id, "}}"));
  }
  void add_text(char name, int type_id) {
    pieces_.push_back(concat(R"({"Sequence": {"id": ")", name, R"(", "type_id": )", type_id, "}}"));
  }
  std::string text() const { return concat('[', joined(pieces_, ", "), ']'); }

  std::string name_of(int32_t id) const { return write_json(written(definition_, id)); }

 private:
  const BpeDefinition& definition_;
  std::vector<std::string> pieces_;
};

}  // namespace

void read_post_processor(const JsonPart& part, BpeDefinition& d) {
  for (const JsonPart& step : part.steps("processors", "post_processor")) {
    const std::string type = step.type("post_processor");
    if (type == "ByteLevel") continue;
    part.require_that(type == "TemplateProcessing", "expected post_processor to be ByteLevel or ",
                      "TemplateProcessing, got ", type,
                      ", which is not implemented; set post_processor to null: prepare itself ends "
                      "each document with a token");
    part.require_that(d.begin_of_text.empty() && d.end_of_text.empty(),
                      "expected one TemplateProcessing that adds tokens, got another behind it, "
                      "which is not implemented");
    read_template(step, d);
  }
}

std::string post_processor_text(const BpeDefinition& d) {
  std::vector<std::string> steps;
  if (d.alphabet == Alphabet::bytes) steps.push_back(byte_level_text(true, false, true));
  if (!d.begin_of_text.empty() || !d.end_of_text.empty()) {
    Template single(d), pair(d);
    for (Template* one : {&single, &pair}) {
      one->add_tokens(d.begin_of_text, 0);
      one->add_text('A', 0);
      one->add_tokens(d.end_of_text, 0);
    }
    pair.add_tokens(d.begin_of_text, 1);
    pair.add_text('B', 1);
    pair.add_tokens(d.end_of_text, 1);
    std::set<int32_t> ids(d.begin_of_text.begin(), d.begin_of_text.end());
    ids.insert(d.end_of_text.begin(), d.end_of_text.end());
    std::vector<std::string> special;
    for (const int32_t id : ids) {
      const std::string name = single.name_of(id);
      special.push_back(
          concat(name, R"(: {"id": )", name, R"(, "ids": [)", id, R"(], "tokens": [)", name, "]}"));
    }
    steps.push_back(concat(R"({"type": "TemplateProcessing", "single": )", single.text(),
                           R"(, "pair": )", pair.text(), R"(, "special_tokens": {)",
                           joined(special, ", "), "}}"));
  }
  return sequence_text("processors", steps);
}

}  // namespace farfield::data
