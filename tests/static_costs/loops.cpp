#include <algorithm>
#include <map>
#include <set>

#include "tests/static_costs/sass.h"

namespace farfield::static_costs {
namespace {

using Edges = std::vector<std::vector<size_t>>;

Edges successors_of(const std::vector<Instruction>& code) {
  std::map<int64_t, size_t> at;
  for (size_t i = 0; i < code.size(); ++i) at[code[i].address] = i;
  Edges next(code.size());
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].goes_on && i + 1 < code.size()) next[i].push_back(i + 1);
    if (!code[i].target) continue;
    if (const auto found = at.find(*code[i].target); found != at.end())
      next[i].push_back(found->second);
  }
  return next;
}

// What is reached from the first instruction, backwards; and the back edges, by where they lead.
struct Search {
  Edges previous;
  std::map<size_t, std::vector<size_t>> back;

  explicit Search(const Edges& next) : previous(next.size()) {
    enum class State { unseen, on_path, done };
    std::vector<State> state(next.size(), State::unseen);
    std::vector<std::pair<size_t, size_t>> path;  // an instruction and its next edge
    const auto enter = [&](size_t i) {
      state[i] = State::on_path;
      path.emplace_back(i, 0);
    };
    if (!next.empty()) enter(0);
    while (!path.empty()) {
      const auto [from, edge] = path.back();
      if (edge == next[from].size()) {
        state[from] = State::done;
        path.pop_back();
        continue;
      }
      ++path.back().second;
      const size_t to = next[from][edge];
      previous[to].push_back(from);
      if (state[to] == State::on_path) back[to].push_back(from);
      if (state[to] == State::unseen) enter(to);
    }
  }
};

}  // namespace

std::vector<Loop> loops_of(const std::vector<Instruction>& code) {
  const Search search(successors_of(code));
  std::vector<Loop> result;
  for (const auto& [header, ends] : search.back) {
    std::set<size_t> loop = {header};
    std::vector<size_t> open = ends;  // what reaches the end of the loop without its header
    while (!open.empty()) {
      const size_t i = open.back();
      open.pop_back();
      if (!loop.insert(i).second) continue;
      open.insert(open.end(), search.previous[i].begin(), search.previous[i].end());
    }
    const bool holds_another = std::any_of(loop.begin(), loop.end(), [&, h = header](size_t i) {
      return i != h && search.back.contains(i);
    });
    result.push_back({{loop.begin(), loop.end()}, !holds_another});
  }
  return result;
}

}  // namespace farfield::static_costs
