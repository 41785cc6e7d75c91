#pragma once

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "tests/support/golden.h"

namespace farfield::test {

/// f(case, rule) for the cases of golden/attention.json that `rules` names; each must be there.
template <class Rule, class F>
void for_each_golden_case(const std::map<std::string, Rule>& rules, const F& f) {
  size_t found = 0;
  for (const nlohmann::json& one : golden("attention.json").at("cases")) {
    const auto rule = rules.find(one.at("name").get<std::string>());
    if (rule == rules.end()) continue;
    ++found;
    f(one, rule->second);
  }
  BOOST_TEST(found == rules.size());
}

}  // namespace farfield::test
