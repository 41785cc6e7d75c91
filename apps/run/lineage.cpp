#include "apps/run/lineage.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield::run {

std::vector<Ancestor> lineage_of(const RunFolder& run) {
  const Json manifest = read_manifest(run);
  std::vector<Ancestor> lineage;
  if (!manifest.is_object() || !manifest.contains("lineage")) return lineage;
  const Json& list = manifest["lineage"];
  require<IoError>(list.is_array(), "manifest", run.manifest().string(),
                   ": expected a list 'lineage'");
  for (const Json& one : list) {
    const std::optional<int64_t> step = whole_member<int64_t>(one, "step");
    Ancestor ancestor{.run = text_member(one, "run"),
                      .place = read_place(one),
                      .step = step.value_or(-1),
                      .hash = text_member(one, "weights"),
                      .posenc = text_member(one, "posenc")};
    require<IoError>(ancestor.step >= 0 && !ancestor.hash.empty(), "manifest",
                     run.manifest().string(),
                     ": expected members 'step' and 'weights' of each run in 'lineage'");
    lineage.push_back(std::move(ancestor));
  }
  return lineage;
}

Json to_json(const std::vector<Ancestor>& lineage) {
  Json list = Json::array();
  for (const Ancestor& ancestor : lineage) {
    Json one = {{"run", ancestor.run},
                {"step", ancestor.step},
                {"weights", ancestor.hash},
                {"posenc", ancestor.posenc}};
    set_place(one, ancestor.place);
    list.push_back(std::move(one));
  }
  return list;
}

std::string lineage_text(const std::vector<Ancestor>& lineage, bool with_hash) {
  std::string text;
  for (auto one = lineage.rbegin(); one != lineage.rend(); ++one) {
    if (!text.empty()) text += ", from ";
    text += concat("step ", one->step, " of ", one->run);
    if (with_hash) text += concat(" (weights ", one->hash, ')');
  }
  return text;
}

}  // namespace farfield::run
