#pragma once
// HTML and SVG as a reader takes them apart: whether elements are closed as they were opened, and
// their attributes.

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

namespace farfield::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< of its own, up to the first element within
};

struct Markup {
  std::vector<Element> elements;  ///< in the order of their beginning
  std::string fault;              ///< the error in it; empty: none

  std::vector<Element> named(const std::string& name) const {
    std::vector<Element> found;
    for (const Element& element : elements)
      if (element.name == name) found.push_back(element);
    return found;
  }
  /// Values of an attribute wherever it stands.
  std::vector<std::string> values(const std::string& attribute) const {
    std::vector<std::string> found;
    for (const Element& element : elements)
      if (const auto at = element.attributes.find(attribute); at != element.attributes.end())
        found.push_back(at->second);
    return found;
  }
};

inline std::map<std::string, std::string> attributes_of(const std::string& tag,
                                                        std::string& fault) {
  std::map<std::string, std::string> all;
  size_t at = tag.find_first_of(" \t\n/");
  while (at != std::string::npos && at < tag.size()) {
    at = tag.find_first_not_of(" \t\n/", at);
    if (at == std::string::npos) break;
    const size_t end = tag.find('=', at);
    const size_t quote = end == std::string::npos ? end : tag.find_first_of("'\"", end);
    const size_t close = quote == std::string::npos ? quote : tag.find(tag[quote], quote + 1);
    if (close == std::string::npos) {
      fault = "an attribute without a value in <" + tag + ">";
      break;
    }
    std::string name = tag.substr(at, end - at);
    name.erase(std::find_if(name.begin(), name.end(), [](char c) { return std::isspace(c); }),
               name.end());
    if (!all.emplace(name, tag.substr(quote + 1, close - quote - 1)).second)
      fault = name + " twice in <" + tag + ">";
    at = close + 1;
  }
  return all;
}

inline Markup parse_markup(const std::string& text) {
  const std::vector<std::string> empty = {"meta", "br", "link", "img", "hr"};
  Markup all;
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const size_t end = text.find('>', at);
    if (end == std::string::npos) {
      all.fault = "a tag that does not end";
      break;
    }
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.empty() || tag[0] == '!' || tag[0] == '?') continue;
    if (tag[0] == '/') {
      if (open.empty() || tag.substr(1) != open.back()) {
        all.fault = "<" + tag + "> closes " + (open.empty() ? "nothing" : "<" + open.back() + ">");
        break;
      }
      open.pop_back();
      continue;
    }
    Element element;
    element.name = tag.substr(0, tag.find_first_of(" \t\n/"));
    element.attributes = attributes_of(tag, all.fault);
    element.text = text.substr(at, text.find('<', at) - at);
    if (tag.back() != '/' && std::find(empty.begin(), empty.end(), element.name) == empty.end())
      open.push_back(element.name);
    all.elements.push_back(std::move(element));
  }
  if (all.fault.empty() && !open.empty()) all.fault = "<" + open.back() + "> is never closed";
  std::vector<std::string> ids = all.values("id");
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (all.fault.empty() && twice != ids.end()) all.fault = "two elements with the id " + *twice;
  for (const char* name : {"href", "xlink:href", "aria-labelledby"}) {
    for (const std::string& value : all.values(name)) {
      size_t from = 0;  // of words, for several ids
      while (from < value.size() && (value[0] == '#' || name[0] == 'a')) {
        const size_t to = std::min(value.find(' ', from), value.size());
        const std::string id =
            value.substr(from + (value[from] == '#'), to - from - (value[from] == '#'));
        if (all.fault.empty() && !std::binary_search(ids.begin(), ids.end(), id))
          all.fault = "nothing has the id " + id;
        from = to + 1;
      }
    }
  }
  return all;
}

}  // namespace farfield::test
